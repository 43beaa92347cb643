"""The acts of bulk changes. An act, such as packing, adds at most one event to an order. This module reads and writes nothing."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from orders.carriers import choose_carrier
from orders.lifecycle import balance, parcels
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderError, TooManyTags, TransitionRefused
from orders.lifecycle.states import TRANSITION_RULES
from orders.lifecycle.transitions import Transition
from orders.tags import MAX_TAGS
from pricing.money import to_minor_units

# An act's kind is the kind of its event. But "untagged" adds an event `tagged`, and "mailed" a note (resent_mails.py).
KINDS = ("packed", "shipped", "held", "resumed", "cancelled", "tagged", "untagged", "mailed")
CONFIRMATION, DISPATCH = "confirmation", "dispatch"
# The state of an order after an act.
_STATES = {"held": "on_hold", "resumed": "confirmed", "cancelled": "cancelled"}


class ActRefused(OrderError):
    """A bulk change cannot do its act to an order. The message says why."""


@dataclass(frozen=True, slots=True)
class OrderAct:
    """The act that a bulk change does to each order. `kind` is one of KINDS. Each other field is used by some kinds only."""

    kind: str
    actor: str
    carrier: str = ""  # "": as each number's form, or else each order's delivery method says
    tags: tuple[str, ...] = ()
    note: str = ""
    mail: str = ""  # the mail to resend: CONFIRMATION or DISPATCH
    # Cancelling refunds an order without a known refundable amount only if it was paid until then (ISO format). "" refunds none.
    refunds_until: str = ""

    def pack(self) -> str:
        """Return the act as text, for `unpack_act`."""
        return json.dumps(asdict(self))


def unpack_act(text: str) -> OrderAct:
    """Return the act in a text of `OrderAct.pack`."""
    stored = json.loads(text)
    return OrderAct(**stored | {"tags": tuple(stored["tags"])})


def plan_event(
    act: OrderAct, order: Order, tracking: str, now: datetime, refundable: int | None = None
) -> Transition | None:
    """Return the transition for an act (any but "mailed") on an order; None if the act would change nothing. `now` is in UTC.

    `refundable` is the most that the act may refund, in minor units; None if it was not computed before. Raises ActRefused.
    """
    if act.kind in ("tagged", "untagged"):
        details = _plan_tags(act, order)
        kind = "tagged"
    else:
        kind = act.kind
        details = _plan_shipping(act, order, tracking) if kind == "shipped" else {}
        if order.state == _STATES.get(kind) or (kind == "packed" and _is_packed(order)):
            details = None
    if details is None:
        return None
    if not TRANSITION_RULES[kind].is_allowed(order):
        raise ActRefused(str(TransitionRefused(order, kind)))
    if kind == "cancelled":
        _check_refund(act, order, refundable)
    return Transition(kind, actor=act.actor, at=now, note=act.note, details=details)


def _check_refund(act: OrderAct, order: Order, refundable: int | None) -> None:
    """Raise ActRefused if a cancellation would refund more than the staff member who started it saw, or may refund."""
    cents = to_minor_units(balance.amount_to_give_up(order))
    if not cents:
        return
    if not act.refunds_until:
        raise ActRefused(_("It has been paid for, and your role can’t give money back."))
    # `refundable` is exact. Without it the time of payment decides, but a payment may be recorded after that time.
    if (
        balance.is_paid_since(order, datetime.fromisoformat(act.refunds_until))
        if refundable is None
        else cents > refundable
    ):
        raise ActRefused(_("It was paid for after this change was started."))


def _is_packed(order: Order) -> bool:
    return order.has_packed_parcel and not order.has_units_to_pack


def _plan_shipping(act: OrderAct, order: Order, tracking: str) -> dict[str, Any] | None:
    """Return the details of `shipped` for all packed parcels, else for all units to pack; None if there are neither."""
    packed = [each for each in order.parcels() if each.state == parcels.PACKED]
    count = len(packed) or len(order.units_to_pack)
    if not count:
        if order.fulfilment in ("shipped", "delivered"):
            _check_known(tracking, order)
            return None
        if order.state == "confirmed":
            raise ActRefused(_("Nothing of this order can be packed yet."))
    if tracking and count > 1:
        raise ActRefused(
            _("This order goes in several parcels. Give each its number on the order’s page.")
        )
    return {"carrier": choose_carrier(order, act.carrier, tracking), "tracking": tracking}


def _check_known(tracking: str, order: Order) -> None:
    """Raise ActRefused if no parcel of a shipped order has this tracking number. Otherwise the act would seem to have set it."""
    if tracking and tracking not in {each.tracking for each in order.parcels()}:
        raise ActRefused(_("This order has been shipped with another number, or none."))


def _plan_tags(act: OrderAct, order: Order) -> dict[str, Any] | None:
    added = sorted(set(act.tags).difference(order.tags)) if act.kind == "tagged" else []
    removed = sorted(set(act.tags).intersection(order.tags)) if act.kind == "untagged" else []
    if not added and not removed:
        return None
    if added and len(order.tags) + len(added) > MAX_TAGS:
        raise ActRefused(str(TooManyTags(MAX_TAGS)))
    return {"added": added, "removed": removed}
