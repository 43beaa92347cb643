"""I35: a customer's sums, and their row in the list of customers, equal the orders."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from cassandra_db import Row, current_time, read, scan
from consistency.findings import Check, Scope, Violation, call, column_subjects, row_subjects
from jobs.minutes import MINUTE
from orders import queries
from orders.customers import customer_from_orders, find_listed_at, get_customer
from orders.operations import count_user_stats, unlist_customer
from orders.operations.user_stats import DUE_USER_STATS

STATS = scan(
    "I35",
    "SELECT DISTINCT user_id FROM user_stats WHERE token(user_id) > :start AND token(user_id) <= :end",
)
WRITTEN = read(
    "I35", "SELECT writetime(order_count) AS written FROM user_stats WHERE user_id = :user_id"
)
LISTED = scan(
    "I35",
    """SELECT user_id, last_order_at, writetime(order_count) AS written FROM customers_by_last_order
       WHERE token(month, shard) > :start AND token(month, shard) <= :end""",
)
# How long a customer's orders may wait to be added up: the worker usually needs three minutes.
COUNT_DELAY = timedelta(minutes=10)


def _iterate_others(scope: Scope | None) -> Iterator[UUID]:
    """Yield users who have sums but no orders: the worker may have written the sums after an erasure."""
    ids = scope.users if scope else (row.user_id for row in STATS.iterate_table())
    yield from (user_id for user_id in ids if not queries.list_order_years(user_id))


def _check_sums(user_id: UUID) -> Iterator[Violation]:
    paid = queries.compute_user_stats(user_id)
    found = {
        row.currency: (row.order_count, row.total_spent)
        for row in queries.prefetch_user_stats(user_id).rows()
        if row.currency
    }
    wanted, listed = (
        customer_from_orders(user_id, paid),
        get_customer(user_id, find_listed_at(user_id)),
    )
    if (paid.sums, wanted) == (found, listed):
        return
    now = current_time()
    due = DUE_USER_STATS.list_between(now - COUNT_DELAY, now + MINUTE)
    if any(row.user_id == user_id for row in due):
        return  # the worker is about to add up the orders
    yield Violation(
        "I35",
        f"user {user_id}",
        "the sums are not those of the orders"
        if found != paid.sums
        else "the list of customers is not that of the orders",
        f"{found}, {listed} instead of {paid.sums}, {wanted}",
        call(count_user_stats, user_id),
        max((row.written or 0 for row in WRITTEN.all(user_id=user_id)), default=0),
    )


def _check_place(row: Row) -> Iterator[Violation]:
    if find_listed_at(row.user_id) == row.last_order_at:
        return
    if get_customer(row.user_id, row.last_order_at) is None:
        return  # the person has moved since
    yield Violation(
        "I35",
        f"user {row.user_id}",
        "the list of customers has a row at a former order",
        str(row.last_order_at),
        call(unlist_customer, row.user_id, row.last_order_at),
        row.written or 0,
    )


CHECKS = (
    Check(
        "customers’ sums",
        ("I35",),
        column_subjects(queries.USERS_WITH_ORDERS, "user_id", "users"),
        _check_sums,
    ),
    Check("sums without orders", ("I35",), _iterate_others, _check_sums),
    Check("places of customers", ("I35",), row_subjects(LISTED), _check_place),
)
