"""What the worker does for orders: it finishes what a crash has left half done, and gives back what nobody pays for."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from cassandra_db import CassandraUnavailable, Row
from cassandra_db.jobs import Job
from cassandra_db.leases import moved, position
from inventory import operations as inventory
from inventory import queries as stock
from inventory.operations import minute_of
from inventory.queries import Allocation
from orders import operations, queries
from orders.errors import GatewayAway, StaleOrder
from orders.operations.hints import Hint, microseconds
from orders.states import CANCELLED, EXPIRED, PENDING

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
_MINUTE = timedelta(minutes=1)
_AT_ONCE = 100  # minutes read side by side


def settle(now: datetime) -> str:
    """Look after the orders that may owe something: their payment, stock, lists and mail."""
    return _swept("orders", now, orders_looked_after)


def orders_looked_after(minutes: list[datetime], now: datetime) -> set[datetime]:
    """Look after the orders with a hint in these minutes; return the minutes in which something is left to do."""
    left = set()
    for minute, ids in queries.to_settle(minutes).items():
        if not _all(_looked_after, _looked_at_later, minute, ids, now):
            left.add(minute)
    return left


def expire(now: datetime) -> str:
    """Look after the holds that have run out: give them back, and end the orders that were not paid in time."""
    return _swept("holds", now, holds_looked_after)


def holds_looked_after(minutes: list[datetime], now: datetime) -> set[datetime]:
    """Look after the holds that run out in these minutes; return the minutes in which something is left to do."""
    left = set()
    for minute, rows in stock.holds_due(minutes).items():
        by_order: dict[UUID, list[Row]] = {}
        for row in rows:
            by_order.setdefault(row.order_id, []).append(row)
        if not _all(_holds_ended, _ended_later, minute, list(by_order.values()), now):
            left.add(minute)
    return left


def _swept(job: str, now: datetime, look: Callable[[list[datetime], datetime], set[datetime]]) -> str:
    """Look at the minutes since the last run; where something is left to do, the next run looks again."""
    was = position(job)
    first = minute_of(datetime.fromisoformat(was) if was else now - FIRST_LOOK_BACK)
    # Younger hints may be of events that are still under way: dropped now, they would be missing after a crash.
    last = minute_of(now) - 2 * _MINUTE
    minutes = [first + _MINUTE * n for n in range((last - first) // _MINUTE + 1)]
    left: set[datetime] = set()
    for start in range(0, len(minutes), _AT_ONCE):
        left |= look(minutes[start : start + _AT_ONCE], now)
    reached = min({minute_of(now - LATEST_HINT), *left})
    if reached.isoformat() != was:
        moved(job, reached.isoformat())
    return f"{len(left)} minutes left over" if left else ""


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
        log.error("put off by %s: %s: %s", AGAIN, each, error, exc_info=not isinstance(error, GatewayAway))
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
    """Ask the bank about payments under way, then do all that is owed for the order. Raises CassandraUnavailable."""
    order = queries.order(order_id)
    if order is None:
        # A checkout that never became an order: what it holds is found by its holds' hints.
        return
    attempts = queries.attempts(order_id)
    for attempt in attempts:
        if attempt.state != "started":
            continue
        order = operations.payment_settled(order_id, attempt.payment_id, now) or order
        age = now - attempt.started_at
        if order.state in (PENDING, EXPIRED, CANCELLED) and age < ASK_FOR:
            operations.hint_written(order_id, now + max(operations.ASK_AFTER, age))
    if order.payment == "unpaid" and attempts and attempts[-1].state == "declined":
        operations.failure_noted(order, now)
    operations.settled(order_id, now)


def _holds_ended(minute: datetime, holds: list[Row], now: datetime) -> bool:
    """End an order's holds whose time has come, or note when to look again. False: look again at the next run."""
    order_id = holds[0].order_id
    order = queries.order(order_id)
    if order and order.state == PENDING and now >= order.pay_until:
        order = _expired(order, now)
        if order.state == PENDING:
            return False
    if order is None:
        if not operations.checkout_abandoned(order_id):
            return False  # somebody is placing it just now
        _given_back(holds)
    elif order.state == PENDING:
        inventory.hinted(order_id, [_allocation(hold) for hold in holds], order.pay_until)
    else:
        # Paid, or ended: what belongs to the order follows it; what a try of its own has left over is given back.
        own = {each.hold_id for each in order.allocations(queries.items(order))}
        if any(hold.hold_id in own for hold in holds):
            operations.settled(order_id, now)
        left_over = [hold for hold in holds if hold.hold_id not in own]
        claim = None
        if left_over and order.state == EXPIRED and not (claim := operations.holding_claimed(order)):
            return False  # a payment has come, and somebody takes the units again just now
        _given_back(left_over)
        if claim:
            operations.holding_unclaimed(order, claim)
    _hints_removed(minute, holds)
    return True


def _ended_later(minute: datetime, holds: list[Row], now: datetime) -> None:
    inventory.hinted(holds[0].order_id, [_allocation(hold) for hold in holds], now + AGAIN)
    _hints_removed(minute, holds)


def _hints_removed(minute: datetime, holds: list[Row]) -> None:
    for hold in holds:
        inventory.hint_removed(minute, hold.variant_id, hold.warehouse_id, hold.hold_id)


def _given_back(holds: list[Row]) -> None:
    """Release holds that belong to no order, and let the products' pages know."""
    inventory.released([_allocation(hold) for hold in holds])
    numbers = [stock.numbers_started(hold.variant_id, hold.warehouse_id) for hold in holds]
    for product_id in {row.product_id for pending in numbers if (row := pending.one())}:
        inventory.stock_copied(product_id)


def _expired(order: queries.Order, now: datetime) -> queries.Order:
    """End an order that was not paid in time, unless the bank says it was; return what it is then."""
    for attempt in queries.attempts(order.order_id):
        if attempt.state == "started":
            order = operations.payment_settled(order.order_id, attempt.payment_id, now) or order
    if order.state != PENDING:
        return order
    try:
        return operations.order_moved(order, "expired", actor="system", now=now)
    except StaleOrder as stale:
        return stale.order


def _allocation(hold: Row) -> Allocation:
    # Neither line nor product matter to a hold that ends.
    return Allocation(0, hold.variant_id, hold.variant_id, hold.warehouse_id, hold.quantity, hold.hold_id)


def tidy(now: datetime) -> str:
    """Forget the days on which a column of the board is empty."""
    removed = operations.empty_days_removed(now)
    return f"{removed} empty days removed" if removed else ""


JOBS = [
    Job("orders", timedelta(seconds=10), settle),
    Job("holds", timedelta(seconds=15), expire),
    Job("order days", timedelta(hours=1), tidy),
]
