"""The pages of filters and of colours."""

from collections import Counter

from catalogue.filter_values import Term, list_terms, spell_terms
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.filter_forms import ColourForm, FilterForm
from adminpanel.parameters import cut_page
from adminpanel.settings.editing import edit_setting, get_posted
from catalogue.colour_settings import COLOURS, PARTITION, find_colour
from catalogue.colours import FAMILY_LABELS, OTHER, colour_key
from catalogue.filter_settings import COLOUR, FILTERS, KIND_LABELS, OFF, FilterName
from catalogue.filter_tokens import value_token
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post
from web.rendering import render_page

PAGE_LENGTH = 50


@staff_required(CATALOGUE_STAFF)
@require_safe
def filters(request: HttpRequest) -> HttpResponse:
    """List the options and details that products have, those that are filters first."""
    saved = get_settings_at_quorum().get_values(FILTERS)
    terms = list_terms()
    counts = Counter(_name_key(term) for term in terms)
    # The most frequent value of each name is its example.
    examples = {_name_key(term): term for term in reversed(terms)}
    names = {key: saved.get(key, FilterName(key, key, OFF)) for key in (*saved, *examples)}
    ranked = sorted(names.values(), key=lambda each: (each.kind == OFF, each.position, each.key))
    shown, page, page_count = cut_page(ranked, request.GET, PAGE_LENGTH)
    spelled = spell_terms(examples[each.key] for each in shown if each.key in examples)
    lines = [
        (
            each,
            KIND_LABELS[each.kind],
            spelled.get(examples.get(each.key, ("", ""))),
            counts[each.key],
        )
        for each in shown
    ]
    context = {"lines": lines, "page": page, "page_count": page_count}
    return render_page(request, "adminpanel/catalogue/filters.html", context)


def _name_key(term: Term) -> str:
    return term[1].partition("=")[0]


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def filter_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change an option or a detail as a filter."""
    saved = get_settings_at_quorum().get_values(FILTERS).get(key)
    spelled = {} if saved else spell_terms(list_terms(value_token(key, ""))[:1])
    names = [saved] if saved else [FilterName(key, each.name, OFF) for each in spelled.values()]
    if not names:
        raise Http404("no such option or detail")
    form = FilterForm(names[0], get_posted(request))
    form.initial["version"] = FILTERS.fingerprint(saved)
    return edit_setting(request, form, key, "adminpanel:filters")


@staff_required(CATALOGUE_STAFF)
@require_safe
def colours(request: HttpRequest) -> HttpResponse:
    """List the colours that products have. The unknown ones come first, then family by family."""
    names = get_settings_at_quorum().get_values(FILTERS).values()
    snapshot = get_settings_at_quorum(PARTITION)
    found = {
        term: find_colour(term[1].partition("=")[2], snapshot)
        for name in names
        if name.kind == COLOUR
        for term in list_terms(value_token(name.key, ""))
    }
    order = [OTHER, *FAMILY_LABELS]
    ranked = sorted(found, key=lambda term: (order.index(found[term][1]), term[1]))
    shown, page, page_count = cut_page(ranked, request.GET, PAGE_LENGTH)
    lines = [
        (value, colour_key(value.value), found[term][0], FAMILY_LABELS[found[term][1]])
        for term, value in spell_terms(shown).items()
    ]
    context = {
        "lines": lines,
        "unknown_count": sum(family == OTHER for _hex, family in found.values()),
        "other": FAMILY_LABELS[OTHER],
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
    more = {"name": key.capitalize(), "hex": hex6, "family": FAMILY_LABELS[family]}
    return edit_setting(request, form, key, "adminpanel:colours", **more)
