"""Keeps lists quick where many conversations have moved: deletes the gaps between the rows of a label as ranges.

Each move leaves a deleted row behind, and a page reads all of those between its rows. A deletion of a range hides them from reads.
It spares younger copies; older ones that are missing are written with a new version (`entries.FRESH_FOR`).
"""

from datetime import datetime, timedelta
from itertools import pairwise
from uuid import UUID

from cassandra_db import write, write_batch
from conversations import queries
from conversations.entities import Label
from conversations.operations.entries import FRESH_FOR
from conversations.rules import SHOP_MAILBOX
from conversations.states import WAITING_FOR_US

_MILLISECOND = timedelta(milliseconds=1)

DELETE_GAP = write(
    "M2",
    """DELETE FROM conversations_by_label USING TIMESTAMP :at
       WHERE user_id = :user_id AND label_id = :label_id AND year = :year AND last_at > :after AND last_at < :before""",
)


def clear_gaps(now: datetime) -> None:
    """Delete the gaps between the rows of the first page of each label in the shop's mailbox. Raises CassandraUnavailable."""
    labels = queries.get_labels(SHOP_MAILBOX)
    for label in labels.values():
        if label.is_stored:
            clear_gaps_of(SHOP_MAILBOX, label, now)


def clear_gaps_of(user_id: UUID, label: Label, now: datetime) -> None:
    """Delete the gaps between the rows of a label's first page, and those before its oldest row. Raises CassandraUnavailable."""
    oldest_first = label.key == f" {WAITING_FOR_US}"
    key = {"user_id": user_id, "label_id": label.label_id, "year": now.year}
    statement = queries.OLDEST_LISTED if oldest_first else queries.NEWEST_LISTED
    rows = statement.all(
        **key,
        last_at=queries.START if oldest_first else queries.END,
        conversation_id=queries.FIRST_ID,
        most=queries.PAGE_SIZE + 1,
    )
    times = {row.last_at for row in rows}
    if oldest_first or len(rows) <= queries.PAGE_SIZE:
        times.add(queries.START)
    at = int((now - 2 * FRESH_FOR).timestamp() * 1_000_000)
    gaps = [
        DELETE_GAP.bind(**key, at=at, after=after, before=before)
        for after, before in pairwise(sorted(times))
        if before - after > _MILLISECOND
    ]
    if gaps:
        write_batch(gaps)
