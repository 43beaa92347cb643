"""The page of the products that need attention."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import CATALOGUE_STAFF
from product_reports.entities import (
    NO_COST_PRICE,
    NO_PICTURE,
    NOT_BOUGHT,
    NOT_SOLD,
    REASONS,
    RETURNED,
    SOLD_OUT,
)
from product_reports.operations import MAX_LISTED, MIN_RETURN_RATE, MIN_SOLD, MIN_VISITORS
from product_reports.queries import (
    attention_from_rows,
    prefetch_attention,
    prefetch_attention_totals,
)
from web.rendering import render_page
from web.types import StrOrPromise

# Each reason's name, and the sentence that defines it.
LABELS: dict[str, tuple[StrOrPromise, StrOrPromise]] = {
    SOLD_OUT: (
        gettext_lazy("Sold out and wanted"),
        gettext_lazy("Sold out with visitors in 30 days, or with customers waiting for a variant."),
    ),
    NOT_BOUGHT: (
        gettext_lazy("Viewed, not bought"),
        gettext_lazy("Available, with %(visitors)d visitors or more and no order in 30 days."),
    ),
    RETURNED: (
        gettext_lazy("High returns"),
        gettext_lazy(
            "%(sold)d units or more sold in 90 days, of which %(rate)d %% or more were refunded."
        ),
    ),
    NO_PICTURE: (gettext_lazy("No picture"), gettext_lazy("An available variant has no picture.")),
    NOT_SOLD: (
        gettext_lazy("Not sold for 90 days"),
        gettext_lazy("On sale for 90 days without an order, most units on hand first."),
    ),
    NO_COST_PRICE: (
        gettext_lazy("No cost price"),
        gettext_lazy("Variants on hand that the stock value leaves out."),
    ),
}
_NUMBERS = {"visitors": MIN_VISITORS, "sold": MIN_SOLD, "rate": MIN_RETURN_RATE}


@staff_required(CATALOGUE_STAFF)
@require_safe
def products_needing_attention(request: HttpRequest) -> HttpResponse:
    """List the products that need attention for one reason, as counted in the night. An unknown reason is the first one."""
    reason = request.GET.get("reason", "")
    reason = reason if reason in REASONS else REASONS[0]
    reading, totals = prefetch_attention(reason), prefetch_attention_totals()
    counted = {name: pending.one() for name, pending in totals.items()}
    found = attention_from_rows(reason, reading.rows())
    label, definition = LABELS[reason]
    context = {
        "found": found,
        "label": label,
        "definition": str(definition) % _NUMBERS,
        "most": MAX_LISTED,
        "reasons": [
            (name, LABELS[name][0], name == reason, (row.total or 0) if row else 0)
            for name, row in counted.items()
        ],
    }
    return render_page(request, "adminpanel/catalogue/attention.html", context)
