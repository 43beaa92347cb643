"""What the checkout offers: a cart at today's prices and stock, and the token that binds what a page showed to what is charged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.core import signing
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import Money

from cart.entities import Cart, Line
from cart.priced_cart import PriceConsent, PricedLine, get_priced_cart
from inventory.entities import Backorder
from inventory.shortages import get_known_shortages, read_clock, remember_shortages
from payments import gateways
from payments.methods import CASH_ON_DELIVERY
from pricing import delivery, quotes, tax
from pricing.money import from_minor_units, to_minor_units
from pricing.quotes import QuotedLine
from pricing.templatetags.money import format_money
from promotions.entities import AppliedPromotions

_SALT = "orders.checkout"
# How long a checkout page may stay open.
VALID_SECONDS = 24 * 3600


@dataclass(frozen=True)
class CheckoutSnapshot:
    """What a checkout page showed: (variant, quantity, unit price) for each line, and the sums, in minor units.

    `promise` is how it is delivered: the method in words, and the days on which it was expected. `review_fingerprint` is of everything on the review page, which has the button that orders; empty before.
    """

    order_id: UUID
    owner_id: UUID
    lines: tuple[tuple[UUID, int, int], ...]
    delivery: int
    tax: int
    discount: int
    total: int
    currency: str
    review_fingerprint: str = ""
    promise: tuple[str, ...] = ()

    def to_token(self) -> str:
        """Return the signed snapshot, for the form."""
        lines = [[variant_id.hex, quantity, price] for variant_id, quantity, price in self.lines]
        sums = [self.delivery, self.tax, self.discount, self.total, self.currency]
        content = [
            self.order_id.hex,
            self.owner_id.hex,
            lines,
            sums,
            self.review_fingerprint,
            self.promise,
        ]
        return signing.dumps(content, salt=_SALT, compress=True)

    @property
    def content(self) -> list[Any]:
        """The part of it that belongs to the order's content."""
        lines = [[str(variant_id), quantity, price] for variant_id, quantity, price in self.lines]
        sums = [self.delivery, self.tax, self.discount, self.total]
        return [str(self.owner_id), *lines, *sums, *self.promise]


def is_snapshot_token(token: str) -> bool:
    """Return whether a page of the checkout gave this token out, to whomever, and may still be open."""
    try:
        signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
    except signing.BadSignature:
        return False
    return True


def snapshot_from_token(token: str, owner_id: UUID | None) -> CheckoutSnapshot | None:
    """Return what a page showed; None if its token is not ours, is too old, or was made for another owner."""
    try:
        order_id, owner, lines, sums, review_fingerprint, promise = signing.loads(
            token, salt=_SALT, max_age=VALID_SECONDS
        )
        delivery_cents, tax, discount, total, currency = sums
    except (signing.BadSignature, ValueError, TypeError):
        return None
    if owner_id is None or owner != owner_id.hex:
        return None
    quoted = tuple((UUID(hex=variant_id), quantity, price) for variant_id, quantity, price in lines)
    return CheckoutSnapshot(
        UUID(hex=order_id),
        owner_id,
        quoted,
        delivery_cents,
        tax,
        discount,
        total,
        currency,
        review_fingerprint,
        tuple(promise),
    )


def find_other_owner_id(token: str, owner_id: UUID | None) -> UUID | None:
    """Return whose cart a page showed; None if it was this owner's, or its token is not ours or too old."""
    try:
        _order_id, owner, *_rest = signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
        found = UUID(hex=owner)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return None if found == owner_id else found


@dataclass(frozen=True)
class OrderableCart:
    """What of a cart can be ordered now, and in words how it differs from the cart's own lines."""

    lines: tuple[QuotedLine, ...]
    reasons: Mapping[UUID, str]  # by variant: why it differs from the cart
    # prices higher than in the cart, which nobody has accepted
    price_rises: Sequence[PriceConsent] = ()
    applied: AppliedPromotions = field(default_factory=AppliedPromotions)
    # units by variant and warehouse, as the page has read them
    stock: Mapping[UUID, Mapping[str, int]] = field(default_factory=dict)
    # by variant: what its line waits for
    backorders: Mapping[UUID, Backorder] = field(default_factory=dict)

    def has_unseen_price_rises(self, snapshot: "CheckoutSnapshot | None") -> bool:
        """Return whether a price is higher than in the cart and than on the page that was shown."""
        shown_prices = (
            {(str(variant_id), price) for variant_id, _, price in snapshot.lines}
            if snapshot
            else set()
        )
        return any((each.key, each.new_price) not in shown_prices for each in self.price_rises)

    def calculate_sums(
        self, method: delivery.DeliveryMethod, tax_rates: tax.TaxRates
    ) -> quotes.Quote:
        """Return the sums of what can be ordered. Raises ValueError if nothing is left to order."""
        return quotes.compute_quote(self.lines, tax_rates, method, self.applied.promotions)

    def take_snapshot(
        self,
        sums: quotes.Quote,
        promised: delivery.PromisedDelivery,
        owner_id: UUID,
        order_id: UUID,
    ) -> CheckoutSnapshot:
        """Return the snapshot of a page that shows this."""
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
    """Return what of a cart can be ordered at today's prices and stock; `shortages` has newer stock of some variants.

    `customer_keys` are whose (promotions.operations.voucher_customer_keys), none where that is not known yet; `refused` is why the
    cart's voucher is known to give no discount. Raises CassandraUnavailable.
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


def describe_changes(
    snapshot: CheckoutSnapshot,
    orderable: OrderableCart,
    sums: quotes.Quote | None,
    promise: tuple[str, ...] = (),
) -> list[str]:
    """Say exactly what has changed since the snapshot; nothing if all is the same.

    `sums` and `promise` are those of now, where they are to be compared.
    """
    now = {line.variant_id: line for line in orderable.lines}
    found = []
    for variant_id, quantity, price in snapshot.lines:
        line = now.pop(variant_id, None)
        if line is None:
            found.append(
                orderable.reasons.get(
                    variant_id, _("An item was removed from your cart, so it isn’t in this order.")
                )
            )
            continue
        if line.quantity != quantity:
            found.append(
                orderable.reasons.get(variant_id)
                or _("Your cart now has %(now)s of %(item)s. It was %(before)s before.")
                % {"now": line.quantity, "item": line.label, "before": quantity}
            )
        if to_minor_units(line.unit_price) != price:
            old = from_minor_units(price, snapshot.currency)
            found.append(
                _("%(item)s now costs %(now)s. It was %(before)s before.")
                % {
                    "item": line.label,
                    "now": format_money(line.unit_price),
                    "before": format_money(old),
                }
            )
    found += [
        _("%(item)s was added to your cart, so it’s now in this order.") % {"item": line.label}
        for line in now.values()
    ]
    if promise and snapshot.promise and promise != snapshot.promise:
        found.append(
            _("Delivery is now %(now)s. It was %(before)s before.")
            % {"now": _promise_text(promise), "before": _promise_text(snapshot.promise)}
        )
    return found + (_describe_sum_changes(snapshot, orderable, sums) if sums else [])


def _promise_text(promise: tuple[str, ...]) -> str:
    label, *days = promise
    first, last = (date_format(date.fromisoformat(day), "l j F") for day in days)
    if first == last:
        return _("%(method)s, on %(day)s") % {"method": label, "day": first}
    return _("%(method)s, %(first)s to %(last)s") % {
        "method": label,
        "first": first,
        "last": last,
    }


def _describe_sum_changes(
    snapshot: CheckoutSnapshot, orderable: OrderableCart, sums: quotes.Quote
) -> list[str]:
    """Say what has changed since the snapshot besides the lines."""
    found = []
    if to_minor_units(sums.discount) != snapshot.discount:
        found.append(
            orderable.applied.refusal_reason
            or _("Your discount is now %(now)s. It was %(before)s before.")
            % _now_and_before(sums.discount, snapshot.discount, snapshot)
        )
    if to_minor_units(sums.delivery) != snapshot.delivery:
        found.append(
            _("Delivery now costs %(now)s. It was %(before)s before.")
            % _now_and_before(sums.delivery, snapshot.delivery, snapshot)
        )
    if not found and to_minor_units(sums.tax) != snapshot.tax:
        found.append(
            _("The tax is now %(now)s. It was %(before)s before.")
            % _now_and_before(sums.tax, snapshot.tax, snapshot)
        )
    if to_minor_units(sums.total) != snapshot.total:
        found.append(
            _("The total is now %(now)s. It was %(before)s before.")
            % _now_and_before(sums.total, snapshot.total, snapshot)
        )
    return found


def _now_and_before(now: Money, before: int, snapshot: CheckoutSnapshot) -> dict[str, str]:
    return {
        "now": format_money(now),
        "before": format_money(from_minor_units(before, snapshot.currency)),
    }


def cart_snapshot(cart: Cart, owner_id: UUID) -> CheckoutSnapshot:
    """Return a snapshot of the cart's lines, as the cart's page showed them."""
    lines = tuple(
        (line.variant_id, line.quantity, to_minor_units(line.price)) for line in cart.lines
    )
    return CheckoutSnapshot(
        cart.cart_id,
        owner_id,
        lines,
        0,
        0,
        0,
        to_minor_units(cart.subtotal),
        cart.subtotal.currency.code,
    )


# The countries with cash on delivery. Elsewhere carriers do not offer it, or not to a shop abroad.
CASH_COUNTRIES = ("DE", "AT", "CZ", "ES", "IT", "PL", "PT")


def list_payment_methods(country: str) -> tuple[gateways.PaymentMethod, ...]:
    """Return the payment methods for an order to a country, the default first; none if the shop takes no payments."""
    return tuple(
        method
        for method in gateways.list_enabled_methods()
        if method.code != CASH_ON_DELIVERY or country in CASH_COUNTRIES
    )
