"""What an event makes of an order. Pure: nothing here reads or writes, so what is true after each event can be tried out.

`after` is the one door through which an order changes: the state says whether a thing may happen at all (orders.states),
the folds whether it may happen to these parcels (orders.parcels), these returns (orders.returns), this money
(orders.balance). Whoever writes the event guards it by the version of the order that was asked.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from accounts.addresses import address
from orders import balance, parcels, returns
from orders.entities import Order
from orders.errors import MoveRefused
from orders.events import Event
from orders.states import MOVES
from pricing.money import money
from pricing.quotes import Discount
from pricing.tax import TaxPart


def after(order: Order, event: Event, allocated: str = "") -> Order:
    """Return what the order is after the event, which stands on top of its events then, with its place on the board.

    `allocated` is which units are kept for it from now on, as its header has them; '' leaves them.
    Raises MoveRefused when this cannot happen to the order as it is.
    """
    move = MOVES[event.kind]
    if not move.allowed(order):
        raise MoveRefused(order, event.kind)
    if why := _problem(order, event):
        raise MoveRefused(order, event.kind, why)
    axes, sums = move.after(order), balance.after(order, event.kind, event.details)
    then = replace(
        order,
        state=axes.state,
        payment=sums.payment,
        captured=sums.captured,
        refunded=sums.refunded,
        version=order.version + 1,
        allocated=allocated or order.allocated,
        events=(event, *order.events),
    )
    if event.kind == "changed":
        then = _changed(then, event.details)
    then = replace(then, fulfilment=parcels.fulfilment(then.kept, then.parcels()))
    return replace(then, events=(replace(event, board_after=then.column), *order.events))


def _problem(order: Order, event: Event) -> str:
    if event.kind == "packed" or event.kind in parcels.STEPS:
        return parcels.problem(event, order.parcels(), order.kept)
    if event.kind in returns.KINDS:
        return returns.problem(event, order.parcels(), order.returns)
    if event.kind == "changed":
        return _change_problem(order, event.details)
    if event.kind == "late" and (order.late or not order.to_pack):
        return "it is not to pack, or late already"
    return ""


def _change_problem(order: Order, details: dict[str, Any]) -> str:
    """Only what is not packed changes, and only to less; what is left is at least one thing."""
    fewer = {int(line): int(count) for line, count in details["lines"].items()}
    boxed, there = parcels.by_line(parcels.boxed(order.parcels())), order.quantities
    if order.payment == "authorized" and fewer:
        return "its payment is being taken at this moment"
    if details.get("address") and boxed:
        return "something of it is packed already"
    for line, count in fewer.items():
        if not boxed.get(line, 0) <= count < there.get(line, 0):
            return "so much is packed already, or was not ordered"
    if not any((there | fewer).values()):
        return "nothing would be left of it"
    return ""


def _changed(order: Order, details: dict[str, Any]) -> Order:
    """Return the order with another address, and with the sums of what is left of it."""
    if kept := details.get("address"):
        there = address(kept)
        order = replace(order, delivery_address=there, name=there.name)
    sums = details["sums"]
    currency = order.total.currency.code
    return replace(
        order,
        subtotal=money(sums["subtotal"], currency),
        discount=money(sums["discount"], currency),
        total=money(sums["total"], currency),
        tax=money(sums["tax"], currency),
        taxes=tuple(
            TaxPart(
                Decimal(part["rate"]), money(part["net"], currency), money(part["tax"], currency)
            )
            for part in sums["taxes"]
        ),
        discounts=tuple(
            Discount(part["name"], money(part["amount"], currency)) for part in sums["discounts"]
        ),
        item_count=sums["item_count"],
    )
