"""The changes between two pages of a checkout, in words."""

from datetime import date

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from moneyed import Money

from checkout.orderable_cart import OrderableCart
from checkout.snapshot import CheckoutSnapshot
from pricing import quotes
from pricing.money import from_minor_units, to_minor_units
from pricing.templatetags.money import format_money


def describe_changes(
    snapshot: CheckoutSnapshot,
    orderable: OrderableCart,
    sums: quotes.Quote | None,
    promise: tuple[str, ...] = (),
    terms: int | None = None,
) -> list[str]:
    """Return sentences about all changes since the snapshot.

    `sums`, `promise` and `terms` are the present sums, delivery promise and version of the terms; None and () are not compared.
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
    if terms not in (None, snapshot.terms):
        found.append(describe_changed_terms())
    return found + (_describe_sum_changes(snapshot, orderable, sums) if sums else [])


def describe_changed_terms() -> str:
    """Return what a shopper reads whose page showed another version of the terms."""
    return _("Our terms of sale have changed. Read them before you place your order.")


def _promise_text(promise: tuple[str, ...]) -> str:
    label, *days = promise
    first, last = (date_format(date.fromisoformat(day), "l j F") for day in days)
    if first == last:
        return _("%(method)s, on %(day)s") % {"method": label, "day": first}
    return _("%(method)s, %(first)s to %(last)s") % {"method": label, "first": first, "last": last}


def _describe_sum_changes(
    snapshot: CheckoutSnapshot, orderable: OrderableCart, sums: quotes.Quote
) -> list[str]:
    """Return sentences about changes of the sums: delivery, tax, discount and total."""
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
