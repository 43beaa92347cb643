"""A person's sums: the number of paid orders and the amount spent, by currency.

The worker computes the sums from the orders. With each paid order, a row is written that names the person to the worker.
"""

from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import current_microseconds, write, write_batch
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE
from orders import queries

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


def mark_statement(user_id: UUID) -> BoundStatement:
    """Return the write that makes the worker count a person's sums again, some minutes of real time later."""
    return MARKED.bind(**DUE_USER_STATS.date_row({"user_id": user_id}))


def count_user_stats(user_id: UUID) -> None:
    """Compute a person's sums from the orders and store them. A second call changes nothing. Raises CassandraUnavailable."""
    read_at = current_microseconds()
    sums = queries.compute_user_stats(user_id)
    write_batch(
        [
            STATS_EMPTIED.bind(user_id=user_id, at=read_at - 1),
            *(
                STATS.bind(user_id=user_id, currency=currency, count=count, spent=spent, at=read_at)
                for currency, (count, spent) in sums.items()
            ),
        ]
    )


def delete_user_stats(user_id: UUID) -> None:
    """Delete a person's sums. Raises CassandraUnavailable."""
    STATS_EMPTIED.run(user_id=user_id, at=current_microseconds())
