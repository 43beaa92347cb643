"""The page of a draft order: its lines, its sums, and the products that can be added."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from adminpanel.customers.draft_forms import DraftForm, DraftLine, check_units
from catalogue.entities import Product, Variant
from catalogue.queries import find_variant_by_sku, get_sellable_variant
from catalogue.rules import normalize_sku
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import find_products_for_staff
from drafts.entities import ACCEPTED, OPEN, SENT, DraftOrder
from drafts.operations import compute_sums
from inventory.products_with_stock import get_products_with_stock
from orders.lifecycle.entities import Order
from orders.queries import order_from_rows, prefetch_order
from pricing.quotes import Quote
from pricing.tax import get_tax_rates
from web.types import StrOrPromise

MAX_FOUND = 8
STATES: dict[str, tuple[StrOrPromise, str]] = {
    OPEN: (_("Draft"), ""),
    SENT: (_("Sent"), "accent"),
    ACCEPTED: (_("Being ordered"), "warn"),
}
ORDERED = (_("Ordered"), "good")


@dataclass(frozen=True)
class ListedDraft:
    """A draft in the list of drafts, and the order that was made from it, if any."""

    draft: DraftOrder
    order: Order | None

    @property
    def label(self) -> StrOrPromise:
        return ORDERED[0] if self.order else STATES[self.draft.state][0]

    @property
    def tone(self) -> str:
        return ORDERED[1] if self.order else STATES[self.draft.state][1]


def list_with_orders(drafts: list[DraftOrder]) -> list[ListedDraft]:
    """Return the drafts with the orders made from them, read concurrently. Raises CassandraUnavailable."""
    reading = [
        (each, prefetch_order(each.order_id) if each.state == ACCEPTED and each.order_id else None)
        for each in drafts
    ]
    return [
        ListedDraft(each, order_from_rows(pending.rows()) if pending else None)
        for each, pending in reading
    ]


def make_lines(
    units: Mapping[tuple[UUID, UUID], str],
    saved: DraftOrder | None = None,
    *,
    checked: bool = False,
) -> list[DraftLine]:
    """Return the form's lines with the variants on sale, read concurrently. Raises CassandraUnavailable."""
    products = get_products_with_stock({product_id for product_id, _variant in units})
    saved_lines = {line.variant_id: line for line in saved.lines} if saved else {}
    return [
        DraftLine(
            product_id,
            variant_id,
            typed,
            products[product_id],
            get_sellable_variant(products[product_id].product, variant_id),
            saved_lines.get(variant_id),
            check_units(typed) if checked else "",
        )
        for (product_id, variant_id), typed in units.items()
    ]


def draft_units(draft: DraftOrder) -> dict[tuple[UUID, UUID], str]:
    """Return the units of a saved draft, keyed and formatted as the form's typed units."""
    return {(line.product_id, line.variant_id): str(line.quantity) for line in draft.lines}


def quote_form(form: DraftForm, lines: list[DraftLine], draft: DraftOrder) -> Quote | None:
    """Return the sums of the draft in the form. Return None if it has no lines or no delivery method."""
    if form.method is None or not any(each.variant and each.units for each in lines):
        return None
    return compute_sums(draft, form.method, get_tax_rates(form.shipping_country))


def find_by_sku(typed: str) -> tuple[UUID, UUID] | None:
    """Return the (product id, variant id) with exactly the typed SKU, or None. Raises CassandraUnavailable."""
    row = find_variant_by_sku(normalize_sku(typed))
    return (row.product_id, row.variant_id) if row else None


def find_choices(words: str) -> list[tuple[Product, Variant]]:
    """Return the variants that a search finds and that can be added to the draft. Raises CassandraUnavailable."""
    try:
        found = find_products_for_staff(words, limit=MAX_FOUND).products
    except SearchIndexMissing:
        return []
    return [
        (product, variant)
        for product in found
        for variant in product.variants
        if get_sellable_variant(product, variant.variant_id)
    ]


def conflict_values(draft: DraftOrder, form: DraftForm) -> dict[str, Any]:
    """Return a form's values and its draft's lines in words, keyed by label."""
    lines = "\n".join(f"{line.quantity} × {line.label}" for line in draft.lines)
    return form.describe_values() | {str(_("Products")): lines}
