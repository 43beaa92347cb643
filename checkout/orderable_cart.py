"""The orderable part of a cart, at today's prices and stock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cart.entities import Cart, Line
from cart.priced_cart import PriceConsent, PricedLine, get_priced_cart
from checkout.snapshot import CheckoutSnapshot
from inventory.entities import Backorder
from inventory.shortages import get_known_shortages, read_clock, remember_shortages
from pricing import delivery, quotes, tax
from pricing.money import to_minor_units
from pricing.quotes import QuotedLine
from promotions.entities import AppliedPromotions


@dataclass(frozen=True)
class OrderableCart:
    """The orderable part of a cart, and sentences about its differences from the cart's lines."""

    lines: tuple[QuotedLine, ...]
    reasons: Mapping[UUID, str]  # keyed by variant: the reason why the line differs from the cart
    # risen prices that the shopper has not accepted
    price_rises: Sequence[PriceConsent] = ()
    applied: AppliedPromotions = field(default_factory=AppliedPromotions)
    # the units by variant and warehouse that the page has read
    stock: Mapping[UUID, Mapping[str, int]] = field(default_factory=dict)
    # keyed by variant: the backorder of its line
    backorders: Mapping[UUID, Backorder] = field(default_factory=dict)

    def has_unseen_price_rises(self, snapshot: CheckoutSnapshot | None) -> bool:
        """Return whether a price is higher than in the cart and also higher than on the shown page."""
        lines = snapshot.lines if snapshot else ()
        seen_prices = {(str(variant_id), price) for variant_id, _quantity, price in lines}
        return any((rise.key, rise.new_price) not in seen_prices for rise in self.price_rises)

    def calculate_sums(
        self, method: delivery.DeliveryMethod, tax_rates: tax.TaxRates
    ) -> quotes.Quote:
        """Return the sums of the orderable lines. Raises ValueError if there are none."""
        return quotes.compute_quote(self.lines, tax_rates, method, self.applied.promotions)

    def take_snapshot(
        self,
        sums: quotes.Quote,
        promised: delivery.PromisedDelivery,
        owner_id: UUID,
        order_id: UUID,
    ) -> CheckoutSnapshot:
        """Return the snapshot of a page that shows this cart with these sums."""
        lines = tuple(
            (line.variant_id, line.quantity, to_minor_units(line.unit_price)) for line in self.lines
        )
        return CheckoutSnapshot(
            order_id,
            owner_id,
            lines,
            to_minor_units(sums.delivery),
            to_minor_units(sums.tax),
            to_minor_units(sums.discount),
            to_minor_units(sums.total),
            sums.total.currency.code,
            promise=(promised.label, promised.first.isoformat(), promised.last.isoformat()),
        )


def get_orderable_cart(
    cart: Cart,
    shortages: Mapping[UUID, int] | None = None,
    *,
    customer_keys: Sequence[str] = (),
    refused: str = "",
) -> OrderableCart:
    """Return the orderable part of a cart, at today's prices and stock; `shortages` has newer stock of some variants.

    `customer_keys` are the customer's keys for vouchers (promotions.operations.voucher_customer_keys), if known. `refused`
    is the reason why the cart's voucher gives no discount, if known. Raises CassandraUnavailable.
    """
    has_reserved_nothing = cart.checkout_id is None
    if shortages is None and has_reserved_nothing:
        shortages = get_known_shortages(line.variant_id for line in cart.lines)
        if all(shortages.get(line.variant_id) == 0 for line in cart.lines):
            return OrderableCart(
                (), {line.variant_id: _sold_out_reason(line) for line in cart.lines}
            )
    asked_at = read_clock()
    priced_cart = get_priced_cart(
        cart, shortages, customer_keys=customer_keys, refusal_reason=refused
    )
    if has_reserved_nothing:
        remember_shortages(
            {
                each.line.variant_id: each.available
                for each in priced_cart.lines
                if (each.is_sold_out or each.is_short)
                and each.line.variant_id not in (shortages or {})
            },
            asked_at,
        )
    reasons = {
        each.line.variant_id: reason for each in priced_cart.lines if (reason := _reason(each))
    }
    stock = {
        variant_id: found.by_warehouse
        for each in priced_cart.lines
        for variant_id, found in each.product_with_stock.stock.items()
    }
    backorders = {
        each.line.variant_id: backorder
        for each in priced_cart.lines
        if (backorder := each.backorder)
    }
    return OrderableCart(
        priced_cart.quoted_lines,
        reasons,
        priced_cart.price_consents,
        priced_cart.applied_promotions,
        stock,
        backorders,
    )


def _reason(each: PricedLine) -> str:
    label = each.line.label
    if each.is_gone:
        return _("%(item)s is no longer sold and was left out.") % {"item": label}
    if each.is_sold_out:
        return _sold_out_reason(each.line)
    if each.is_short:
        return ngettext(
            "Only %(available)s of %(item)s is left. You wanted %(wanted)s.",
            "Only %(available)s of %(item)s are left. You wanted %(wanted)s.",
            each.available,
        ) % {"available": each.available, "item": label, "wanted": each.line.quantity}
    return ""


def _sold_out_reason(line: Line) -> str:
    return _("%(item)s is sold out and was left out.") % {"item": line.label}
