"""The pages of filters and of colours."""

from collections import Counter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.filter_forms import ColourForm, FilterForm
from adminpanel.parameters import cut_page
from adminpanel.settings.editing import edit_setting, get_posted
from cassandra_db import current_time
from catalogue.colour_settings import COLOURS, PARTITION, find_colour
from catalogue.colours import FAMILY_LABELS, OTHER, colour_key
from catalogue.filter_settings import COLOUR, FILTERS, KIND_LABELS, OFF, FilterName
from catalogue.operations import COLOURS_CHANGED, record_product_change
from catalogue.staff_search import list_values_in_use
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post
from web.rendering import render_page

PAGE_LENGTH = 50


@staff_required(CATALOGUE_STAFF)
@require_safe
def filters(request: HttpRequest) -> HttpResponse:
    """List the options and details that products have, those that are filters first."""
    saved, values = get_settings_at_quorum().get_values(FILTERS), list_values_in_use()
    counts = Counter(name for name, _, _ in values)
    examples = {name: value for name, value, _ in reversed(values)}
    names = [saved.get(key) or _not_a_filter(key) for key in {**saved, **examples}]
    names.sort(key=lambda each: (each.kind == OFF, each.position, each.key))
    shown, page, page_count = cut_page(names, request.GET, PAGE_LENGTH)
    lines = [
        (each, KIND_LABELS[each.kind], counts[each.key], examples.get(each.key)) for each in shown
    ]
    context = {"lines": lines, "page": page, "page_count": page_count}
    return render_page(request, "adminpanel/catalogue/filters.html", context)


def _not_a_filter(key: str) -> FilterName:
    return FilterName(key, key.capitalize(), OFF)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def filter_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change an option or a detail as a filter."""
    saved = get_settings_at_quorum().get_values(FILTERS).get(key)
    if saved is None and not list_values_in_use(f"{key}="):
        raise Http404("no such option or detail")
    form = FilterForm(saved or _not_a_filter(key), get_posted(request))
    form.initial["version"] = FILTERS.fingerprint(saved)
    _record_change(request)
    return edit_setting(request, form, key, "adminpanel:filters")


def _record_change(request: HttpRequest) -> None:
    # Recorded before the save, so that a crash leaves a record. The index looks once more when the save must have ended.
    if request.method == "POST":
        record_product_change(COLOURS_CHANGED, current_time())


@staff_required(CATALOGUE_STAFF)
@require_safe
def colours(request: HttpRequest) -> HttpResponse:
    """List the colours that products have. The unknown ones come first, then family by family."""
    names = get_settings_at_quorum().get_values(FILTERS).values()
    snapshot, order = get_settings_at_quorum(PARTITION), [OTHER, *FAMILY_LABELS]
    lines = [
        (value, colour_key(value), *find_colour(value, snapshot), count)
        for name in names
        if name.kind == COLOUR
        for _, value, count in list_values_in_use(f"{name.key}=")
    ]
    lines.sort(key=lambda line: (order.index(line[3]), line[1], line[0]))
    shown, page, page_count = cut_page(lines, request.GET, PAGE_LENGTH)
    context = {
        "lines": [(*line, FAMILY_LABELS[line[3]]) for line in shown],
        "unknown_count": sum(line[3] == OTHER for line in lines),
        "page": page,
        "page_count": page_count,
    }
    return render_page(request, "adminpanel/catalogue/colours.html", context)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def colour_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change a colour, whether products have it or not."""
    if key != colour_key(key):
        raise Http404("no such colour")
    snapshot = get_settings_at_quorum(PARTITION)
    form = ColourForm(snapshot.get_values(COLOURS).get(key), get_posted(request))
    hex6, family = find_colour(key, snapshot)
    _record_change(request)
    more = (("name", key.capitalize()), ("hex", hex6), ("family", FAMILY_LABELS[family]))
    return edit_setting(request, form, key, "adminpanel:colours", **dict[str, Any](more))
