"""What the worker does for orders: it finishes what a crash has left half done, and gives back what nobody pays for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from accounts import queries as accounts
from accounts.operations import proof_dropped
from cassandra_db import CassandraUnavailable, Row
from inventory import operations as inventory
from inventory import queries as stock
from jobs.leases import moved, position
from jobs.minutes import MINUTE, minute_of, minutes_between
from jobs.registry import Job, shared
from jobs.shares import Share
from orders import operations, queries
from orders.entities import Order
from orders.errors import MoveRefused, StaleOrder
from orders.operations.hints import Hint, microseconds
from orders.operations.leaving import allocation_of, holds_given_back
from orders.states import CANCELLED, EXPIRED, LATE_AFTER, PENDING
from orders.transitions import Transition
from payments import gateways
from payments.errors import GatewayAway, NoGateway
from promotions.operations import vouchers_released

T = TypeVar("T")
log = logging.getLogger(__name__)

# A hint may be written this long after its minute, by a process that was held up; so long a minute is looked at again.
LATEST_HINT = timedelta(minutes=5)
# How far a worker looks back that has never run here. Later it goes on where it was.
FIRST_LOOK_BACK = timedelta(days=1)
# How long the bank is asked about a payment of which it has not decided.
ASK_FOR = timedelta(hours=24)
# When an order that could not be looked after has its next turn.
AGAIN = timedelta(minutes=5)
_AT_ONCE = 100  # minutes read side by side
ALL_ORDERS, ALL_HOLDS = Share("orders"), Share("holds")


@dataclass
class Swept:
    """What a sweep did: how many orders it looked after, and the minutes in which something is left to do."""

    looked_after: int = 0
    left: set[datetime] = field(default_factory=set)

    def __iadd__(self, other: Swept) -> Swept:
        self.looked_after += other.looked_after
        self.left |= other.left
        return self

    def __str__(self) -> str:
        if not self.looked_after:
            return ""
        return f"{self.looked_after} orders looked after{f', {len(self.left)} minutes left over' if self.left else ''}"


def settle(now: datetime, share: Share = ALL_ORDERS) -> str:
    """Look after the orders of a share that may owe something: their payment, stock, lists and mail."""
    return _swept(share, now, _orders_in)


def orders_looked_after(
    minutes: list[datetime], now: datetime, share: Share = ALL_ORDERS
) -> set[datetime]:
    """Look after the orders with a hint in these minutes; return the minutes in which something is left to do."""
    return _orders_in(minutes, now, share).left


def _orders_in(minutes: list[datetime], now: datetime, share: Share) -> Swept:
    swept = Swept()
    for minute, found in queries.to_settle(minutes).items():
        ids = [order_id for order_id in found if share.has(order_id)]
        swept.looked_after += len(ids)
        if not _all(_looked_after, _looked_at_later, minute, ids, now):
            swept.left.add(minute)
    return swept


def expire(now: datetime, share: Share = ALL_HOLDS) -> str:
    """Look after the holds of a share that have run out: give them back, and end the orders that were not paid in time."""
    return _swept(share, now, _holds_in)


def holds_looked_after(
    minutes: list[datetime], now: datetime, share: Share = ALL_HOLDS
) -> set[datetime]:
    """Look after the holds that run out in these minutes; return the minutes in which something is left to do."""
    return _holds_in(minutes, now, share).left


def _holds_in(minutes: list[datetime], now: datetime, share: Share) -> Swept:
    swept = Swept()
    for minute, rows in stock.holds_due(minutes).items():
        by_order: dict[UUID, list[Row]] = {}
        for row in rows:
            # An order's holds are one thing: whoever looks after one looks after all of them.
            if share.has(row.order_id):
                by_order.setdefault(row.order_id, []).append(row)
        swept.looked_after += len(by_order)
        if not _all(_holds_ended, _ended_later, minute, list(by_order.values()), now):
            swept.left.add(minute)
    return swept


def _swept(
    share: Share, now: datetime, look: Callable[[list[datetime], datetime, Share], Swept]
) -> str:
    """Look at the minutes since the last run; where something is left to do, the next run looks again."""
    was = position(share.job)
    # Younger hints may be of events that are still under way: dropped now, they would be missing after a crash.
    minutes = minutes_between(
        datetime.fromisoformat(was) if was else now - FIRST_LOOK_BACK, now - 2 * MINUTE
    )
    swept = Swept()
    # Orders that need a bank which hangs are put off: each would keep all others waiting for it.
    with gateways.waiting_once():
        for start in range(0, len(minutes), _AT_ONCE):
            swept += look(minutes[start : start + _AT_ONCE], now, share)
    reached = min({minute_of(now - LATEST_HINT), *swept.left})
    if reached.isoformat() != was:
        moved(share.job, reached.isoformat())
    return str(swept)


def _all(
    look_after: Callable[[datetime, T, datetime], bool],
    put_off: Callable[[datetime, T, datetime], None],
    minute: datetime,
    things: list[T],
    now: datetime,
) -> bool:
    """Look after each, and tell whether all are done. One that fails is put off: it must not keep others from their turn."""
    done = True
    for each in things:
        try:
            done = _one(look_after, put_off, minute, each, now) and done
        except CassandraUnavailable as away:
            log.warning("left for the next run: %s: %s", each, away)
            done = False
    return done


def _one(
    look_after: Callable[[datetime, T, datetime], bool],
    put_off: Callable[[datetime, T, datetime], None],
    minute: datetime,
    each: T,
    now: datetime,
) -> bool:
    try:
        return look_after(minute, each, now)
    except CassandraUnavailable:
        raise
    except Exception as error:
        log.error(
            "put off by %s: %s: %s", AGAIN, each, error, exc_info=not isinstance(error, GatewayAway)
        )
    put_off(minute, each, now)
    return True


def _looked_after(minute: datetime, order_id: UUID, now: datetime) -> bool:
    hint = Hint(minute, order_id, microseconds())
    order_looked_after(order_id, now)
    operations.hint_dropped(hint)
    return True


def _looked_at_later(minute: datetime, order_id: UUID, now: datetime) -> None:
    hint = Hint(minute, order_id, microseconds())
    operations.hint_written(order_id, now + AGAIN)
    operations.hint_dropped(hint)


def order_looked_after(order_id: UUID, now: datetime) -> None:
    """Ask the bank about payments under way, then do all that is owed for the order.

    Raises CassandraUnavailable; GatewayAway, with all done that needs no bank.
    """
    order = queries.order(order_id)
    if order is None:
        # A checkout that never became an order: what it holds is found by its holds' hints.
        return
    attempts = queries.attempts(order_id)
    away: GatewayAway | None = None
    for attempt in attempts:
        if attempt.state != "started":
            continue
        age = now - attempt.started_at
        try:
            order = operations.payment_settled(order_id, attempt.payment_id, now) or order
        except (LookupError, ValueError, NoGateway) as gone:
            # Nobody can be asked. It is said for as long as one asks, and then let be: a notice may still tell.
            log.error(
                "order %s: %s knows nothing of its payment: %s", order.number, attempt.gateway, gone
            )
        except GatewayAway as error:
            away = error
            continue
        if order.state in (PENDING, EXPIRED, CANCELLED) and age < ASK_FOR:
            operations.hint_written(order_id, now + max(operations.ASK_AFTER, age))
    if order.payment == "unpaid" and attempts and attempts[-1].state == "declined":
        operations.failure_noted(order, now)
    operations.settled(order_id, now)
    if away:
        raise away


def _holds_ended(minute: datetime, holds: list[Row], now: datetime) -> bool:
    """End an order's holds whose time has come, or note when to look again. False: look again at the next run."""
    order_id = holds[0].order_id
    order = queries.order(order_id)
    if order and order.state == PENDING and now >= order.pay_until:
        order = operations.order_expired(order, now)
        if order.state == PENDING:
            return False
    if order is None:
        if not operations.checkout_abandoned(order_id):
            return False  # somebody is placing it just now
        vouchers_released(order_id)
        holds_given_back(holds)
    elif order.state == PENDING:
        inventory.hinted(order_id, [allocation_of(hold) for hold in holds], order.pay_until)
    else:
        # Paid, or ended: what belongs to the order follows it; what a try of its own has left over is given back.
        own = _own(order)
        if any(hold.hold_id in own for hold in holds):
            operations.settled(order_id, now)
        claim = None
        if order.state == EXPIRED and not (claim := operations.holding_claimed(order)):
            return False  # a payment has come, and somebody takes the units again just now
        # As it is now: goods may have arrived for it, and a hold be its own since.
        order = queries.order(order_id) or order
        if order.state == EXPIRED and claim is None:
            return False  # it has just ended
        own = _own(order)
        holds_given_back([hold for hold in holds if hold.hold_id not in own])
        vouchers_released(
            order_id, but="" if order.state in (CANCELLED, EXPIRED) else order.voucher
        )
        if claim:
            operations.holding_unclaimed(order, claim)
    _hints_removed(minute, holds)
    return True


def _ended_later(minute: datetime, holds: list[Row], now: datetime) -> None:
    inventory.hinted(holds[0].order_id, [allocation_of(hold) for hold in holds], now + AGAIN)
    _hints_removed(minute, holds)


def _hints_removed(minute: datetime, holds: list[Row]) -> None:
    for hold in holds:
        inventory.hint_removed(minute, hold.variant_id, hold.warehouse_id, hold.hold_id)


def _own(order: Order) -> set[UUID]:
    """Return the holds that an order says are its own."""
    return {each.hold_id for each in order.allocations(queries.items(order))}


def arrive(now: datetime) -> str:
    """Keep what has arrived for the orders that wait for it, the oldest first."""
    served = operations.goods_allocated(now)
    return f"{served} orders got what they waited for" if served else ""


def late(now: datetime) -> str:
    """Put the orders that have been to pack for too long into a column of their own."""
    found = 0
    after = ""
    while True:
        tickets, after = queries.board("to_pack", after, limit=_AT_ONCE)
        old = [ticket for ticket in tickets if now - ticket.placed_at > LATE_AFTER]
        found += sum(_late(ticket.order_id, now) for ticket in old)
        if not after or len(old) < len(tickets):
            return f"{found} orders are late" if found else ""


def _late(order_id: UUID, now: datetime) -> bool:
    order = queries.order(order_id)
    # One that was paid, or resumed, less than two days ago is older than it has been to pack.
    if order is None or order.column != "to_pack" or now - order.to_pack_since <= LATE_AFTER:
        return False
    try:
        operations.order_moved(order, Transition("late", actor="system", at=now))
    # somebody packs it at this moment, or a copy is older than its order
    except (
        StaleOrder,
        MoveRefused,
    ):
        return False
    return True


def tidy(now: datetime) -> str:
    """Forget the days on which a column of the board is empty."""
    removed = operations.empty_days_removed(now)
    return f"{removed} empty days removed" if removed else ""


def join(now: datetime) -> str:
    """Give members who have just proved an e-mail address, or come back, what they ordered with it as guests."""
    was = position("guest orders")
    minutes = minutes_between(datetime.fromisoformat(was) if was else now - FIRST_LOOK_BACK, now)
    joined = sum(
        joined_in(minutes[start : start + _AT_ONCE]) for start in range(0, len(minutes), _AT_ONCE)
    )
    # One may be written a little after its minute.
    reached = minute_of(now - LATEST_HINT).isoformat()
    if reached != was:
        moved("guest orders", reached)
    return f"{joined} guest orders joined" if joined else ""


def joined_in(minutes: list[datetime]) -> int:
    """Join what those who proved an address in these minutes ordered as guests; return how many orders that were."""
    joined = 0
    for minute, user_id, written in accounts.proved_in(minutes):
        member = accounts.user(user_id)
        if member and member.verified_at and member.is_active:
            joined += operations.guest_orders_joined(member.user_id, member.email)
        proof_dropped(minute, user_id, written)
    return joined


JOBS = [
    Job("guest orders", timedelta(seconds=5), join, trails=LATEST_HINT + MINUTE),
    *shared("orders", timedelta(seconds=10), settle, trails=LATEST_HINT + MINUTE),
    *shared("holds", timedelta(seconds=15), expire, trails=LATEST_HINT + MINUTE),
    Job("goods that arrive", timedelta(seconds=15), arrive),
    Job("late orders", timedelta(minutes=5), late),
    Job("order days", timedelta(hours=1), tidy),
]
