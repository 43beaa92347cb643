"""The rows of products on the front page. Staff choose which products are pinned first in each row."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.pins import PinsChanged, PinsForm, describe_pins, list_pin_lines
from cassandra_db import PendingResult, current_time
from catalogue import operations, queries
from catalogue.entities import Product
from catalogue.errors import ProductRefused
from catalogue.operations import FEATURE_TYPES, FEATURED_LENGTH
from web.decorators import post_only
from web.rendering import render_or_redirect, render_page

# The rows in their order on the front page: each with its title, and a sentence about its other products.
ROWS = {
    "new_arrivals": (gettext_lazy("New arrivals"), gettext_lazy("The newest products follow.")),
    "popular": (
        gettext_lazy("Popular now"),
        gettext_lazy(
            "The most bought and viewed products of the last 30 days follow, updated every night."
        ),
    ),
    "deals": (
        gettext_lazy("On sale"),
        gettext_lazy(
            "Products with the largest reductions follow. A pinned product is shown while its price is reduced."
        ),
    ),
    "featured": (
        gettext_lazy("Our favourites"),
        gettext_lazy("Products marked for the front page follow, newest first."),
    ),
}
assert ROWS.keys() == set(FEATURE_TYPES)


@staff_required(CATALOGUE_STAFF)
@require_safe
def front_page_rows(request: HttpRequest) -> HttpResponse:
    """Show each row of the front page with its pinned products."""
    return _page(request)


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:front_page_rows")
def pin_on_front_page(request: HttpRequest, row: str) -> HttpResponse:
    """Pin, move or unpin products in one row of the front page."""
    if row not in ROWS:
        raise Http404("no such row")
    pinned = queries.get_front_page_pins([row])[row]
    form = PinsForm(pinned, FEATURED_LENGTH, request.POST)
    if not form.is_valid():
        return _page(request, row, form, 422)
    try:
        saved = operations.pin_on_front_page(row, form.apply_to)
    except PinsChanged as changed:
        form = form.rebased(queries.get_front_page_pins([row])[row])
        form.add_error(None, str(changed))
        return _page(request, row, form, 409)
    except ProductRefused as refused:
        form.add_error(None, str(refused))
        return _page(request, row, form, 422)
    note_changes(request, {"pinned": describe_pins(pinned)}, {"pinned": describe_pins(saved)})
    messages.success(request, _("Saved. Shoppers see it within a minute."))
    return render_or_redirect(
        request,
        f"{reverse('adminpanel:front_page_rows')}#{row}",
        "adminpanel/catalogue/front_page_rows.html",
        lambda: {
            "row": _row_context(
                row, PinsForm(saved, FEATURED_LENGTH), queries.prefetch_featured(row)
            )
        },
        part="row",
    )


def _page(
    request: HttpRequest,
    submitted_row: str = "",
    submitted: PinsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the page with all rows. A request by htmx gets only the submitted row."""
    reading = {name: queries.prefetch_featured(name) for name in ROWS}
    pins = queries.get_front_page_pins(ROWS)
    forms = {name: PinsForm(pins[name], FEATURED_LENGTH) for name in ROWS}
    if submitted:
        forms[submitted_row] = submitted
    rows = {name: _row_context(name, form, reading[name]) for name, form in forms.items()}
    context = {"rows": rows.values(), "row": rows.get(submitted_row), "form": submitted}
    part = "row" if submitted else ""
    return render_page(
        request, "adminpanel/catalogue/front_page_rows.html", context, part=part, status=status
    )


def _row_context(name: str, form: PinsForm, reading: PendingResult) -> dict[str, object]:
    # The page has several forms with the same field names.
    form.auto_id = f"{name}-%s"
    (title, rule), now = ROWS[name], current_time()

    def why_hidden(product: Product) -> str:
        if operations.can_be_shown(name, product, now):
            return ""
        return _("Out of stock") if product.availability == "out" else _("Not reduced")

    return {
        "name": name,
        "title": title,
        "rule": rule,
        "form": form,
        "lines": list(list_pin_lines(form, now, why_hidden)),
        "next_cards": [
            each
            for each in map(queries.card_from_row, reading.rows())
            if each.product_id not in form.pinned
        ],
    }
