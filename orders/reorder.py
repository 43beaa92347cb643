"""Compares an order's lines with today's catalogue, so that the shopper can buy them again."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from moneyed import Money

from catalogue.entities import Product, Variant
from catalogue.queries import get_sellable_variant
from inventory.products_with_stock import get_products_with_stock
from orders.lifecycle.items import Item
from pricing.templatetags.money import format_money


@dataclass(frozen=True)
class ReorderItem:
    """A line of an order with today's variant; `available_units` can be bought now."""

    item: Item
    product: Product | None
    variant: Variant | None
    available_units: int

    @property
    def quantity(self) -> int:
        """The number of units that "Buy again" adds to a cart."""
        return min(self.item.quantity, self.available_units) if self.variant else 0

    @property
    def price(self) -> Money:
        """Today's unit price, or the order's for a variant that is no longer sold."""
        return self.variant.price if self.variant else self.item.unit_price

    @property
    def total(self) -> Money:
        return self.price * self.quantity

    @property
    def differences(self) -> list[str]:
        """The changes since the order, in words for the shopper."""
        if self.variant is None:
            return [_("no longer sold")]
        if self.available_units < 1:
            return [_("sold out")]
        found = []
        if self.available_units < self.item.quantity:
            found.append(
                _("only %(available)s left, you ordered %(quantity)s")
                % {"available": self.available_units, "quantity": self.item.quantity}
            )
        if self.price != self.item.unit_price:
            found.append(
                _("was %(before)s, now %(now)s")
                % {"before": format_money(self.item.unit_price), "now": format_money(self.price)}
            )
        return found


def list_reorder_items(items: Sequence[Item]) -> list[ReorderItem]:
    """Return an order's lines as they could be bought now. Raises CassandraUnavailable."""
    products = get_products_with_stock(item.product_id for item in items)
    found = []
    for item in items:
        today = products[item.product_id]
        stock = today.stock.get(item.variant_id)
        variant = get_sellable_variant(today.product, item.variant_id)
        found.append(ReorderItem(item, today.product, variant, stock.available if stock else 0))
    return found
