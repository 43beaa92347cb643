"""A person's sums, the number of paid orders and the amount spent by currency, and the person's row in the list of customers.

The worker computes both from the orders. With each paid order, a row is written that names the person to the worker.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import current_microseconds, write, write_batch
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE
from orders import queries
from orders.customers import SHOP, customer_from_orders, find_listed_at, partition_of

# The row has the time of its writing as its timestamp, so that deleting it keeps a later one of the same minute.
MARKED = write(
    "Q11",
    """INSERT INTO pending_user_stats_by_minute (minute, user_id, written) VALUES (:minute, :user_id, :written)
       USING TIMESTAMP :written""",
)
UNMARKED = write(
    "Q11",
    """DELETE FROM pending_user_stats_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND user_id = :user_id""",
)
DUE_USER_STATS = DueRows(
    job="customer sums",
    label="sums of user",
    select=queries.PENDING_USER_STATS,
    insert=MARKED,
    delete=UNMARKED,
    wait=2 * MINUTE,
)
# Timestamped when the orders were read, so that of two concurrent counts the newer one stays.
STATS_EMPTIED = write("Q11", "DELETE FROM user_stats USING TIMESTAMP :at WHERE user_id = :user_id")
STATS = write(
    "Q11",
    """INSERT INTO user_stats (user_id, currency, order_count, total_spent)
       VALUES (:user_id, :currency, :count, :spent) USING TIMESTAMP :at""",
)
LISTED_AT = write(
    "Q11",
    "UPDATE user_stats USING TIMESTAMP :at SET listed_at = :listed_at WHERE user_id = :user_id",
)
LISTED = write(
    "Q11",
    """INSERT INTO customers_by_last_order (month, shard, last_order_at, user_id, order_count, spent, country, tags)
       VALUES (:month, :shard, :last_order_at, :user_id, :order_count, :spent, :country, :tags) USING TIMESTAMP :at""",
)
UNLISTED = write(
    "Q11",
    """DELETE FROM customers_by_last_order USING TIMESTAMP :at
       WHERE month = :month AND shard = :shard AND last_order_at = :last_order_at AND user_id = :user_id""",
)
MONTH = write("Q11", "INSERT INTO customer_months (shop, month) VALUES (:shop, :month)")
_DELETED_AT_ONCE = 100


def mark_statement(user_id: UUID) -> BoundStatement:
    """Return the write that makes the worker count a person's sums again, some minutes of real time later."""
    return MARKED.bind(**DUE_USER_STATS.date_row({"user_id": user_id}))


def count_user_stats(user_id: UUID) -> None:
    """Compute a person's sums from the orders, store them, and move the person in the list of customers.

    A second call changes nothing. Raises CassandraUnavailable.
    """
    read_at = current_microseconds()
    listed_at = find_listed_at(user_id)
    paid = queries.compute_user_stats(user_id)
    batch = [
        STATS_EMPTIED.bind(user_id=user_id, at=read_at - 1),
        *(
            STATS.bind(user_id=user_id, currency=currency, count=count, spent=spent, at=read_at)
            for currency, (count, spent) in paid.sums.items()
        ),
    ]
    customer = customer_from_orders(user_id, paid)
    if customer:
        key = partition_of(customer.last_order_at, user_id)
        batch += [
            LISTED_AT.bind(user_id=user_id, listed_at=customer.last_order_at, at=read_at),
            MONTH.bind(shop=SHOP, month=key["month"]),
            LISTED.bind(
                user_id=user_id,
                last_order_at=customer.last_order_at,
                order_count=customer.order_count,
                spent=customer.spent,
                country=customer.country,
                tags=json.dumps(customer.tags),
                at=read_at,
                **key,
            ),
        ]
    # Of two concurrent counts, one may have listed the person at an order after `listed_at`, or at any if both are the first.
    former = [
        each
        for each in (listed_at, *paid.paid_at)
        if each
        and (not listed_at or listed_at <= each)
        and (not customer or each != customer.last_order_at)
    ]
    gone = _unlist(user_id, former, read_at)
    for start in range(_DELETED_AT_ONCE, len(gone), _DELETED_AT_ONCE):
        write_batch(gone[start : start + _DELETED_AT_ONCE])
    write_batch([*batch, *gone[:_DELETED_AT_ONCE]])


def _unlist(user_id: UUID, times: Iterable[datetime], at: int) -> list[BoundStatement]:
    return [
        UNLISTED.bind(user_id=user_id, last_order_at=time, at=at, **partition_of(time, user_id))
        for time in set(times)
    ]


def delete_user_stats(user_id: UUID, placed_at: Sequence[datetime] = ()) -> None:
    """Delete a person's sums and place in the list of customers. `placed_at` says when their orders were placed.

    A count under way may have listed the person at any of them. Raises CassandraUnavailable.
    """
    at, listed_at = current_microseconds(), find_listed_at(user_id)
    for start in range(0, len(placed_at), _DELETED_AT_ONCE):
        write_batch(_unlist(user_id, placed_at[start : start + _DELETED_AT_ONCE], at))
    write_batch(
        [
            STATS_EMPTIED.bind(user_id=user_id, at=at),
            *_unlist(user_id, [listed_at] if listed_at else [], at),
        ]
    )


def unlist_customer(user_id: UUID, last_order_at: datetime) -> None:
    """Delete a person's row at a former last order. Only the consistency check uses this. Raises CassandraUnavailable."""
    write_batch(_unlist(user_id, [last_order_at], current_microseconds()))
