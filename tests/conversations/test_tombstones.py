"""How many deleted rows a page of a label meets, by the node's own counts."""

import random
import re
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID, uuid1, uuid4

from cassandra_db import Statement, count_statements, current_time, write_batch
from cassandra_db.session import get_session
from conversations import queries
from conversations.entities import Label
from conversations.operations import entries, gaps, labels
from conversations.operations.deletion import finish_emptied
from conversations.operations.pending import EMPTIED
from conversations.rules import SHOP_MAILBOX
from tests.conversations.mailboxes import get_label

MOVES = 10_000


class Mover:
    """Writes and moves copies under a label as `write_copies` does, in large batches."""

    def __init__(self, user_id: UUID, label: Label) -> None:
        self.key = {"user_id": user_id, "label_id": label.label_id}
        self.version = int((current_time() - timedelta(hours=1)).timestamp() * 1_000_000)
        self.start = current_time().replace(month=1, day=1) + timedelta(hours=1)
        self.places: dict[UUID, int] = {}
        self.batch: list[object] = []

    def put(self, ident: UUID, place: int) -> None:
        self.drop(ident)
        self.places[ident] = place
        columns = {"sender": "", "subject": "", "excerpt": "", "topic": "other"}
        marks = {"unread": False, "has_files": False, "labels": {self.key["label_id"]}}
        self._add(entries.INSERT_COPY, ident, place, **columns, **marks)

    def drop(self, ident: UUID) -> None:
        if ident in self.places:
            self._add(entries.DELETE_COPY, ident, self.places.pop(ident))

    def _add(self, statement: Statement, ident: UUID, place: int, **columns: object) -> None:
        self.version += 2
        at = self.start + timedelta(milliseconds=10 * place)
        row = {"year": at.year, "last_at": at, "conversation_id": ident, "version": self.version}
        self.batch.append(statement.bind(**self.key, **row, **columns))
        if len(self.batch) >= 1000:
            self.flush()

    def flush(self) -> None:
        if self.batch:
            write_batch(self.batch)
        self.batch = []


def met(user_id: UUID, label: Label, *, oldest_first: bool = False) -> tuple[int, int]:
    """Return how many live and how many deleted rows the first page of a label meets."""
    pending = queries.prefetch_label_page(user_id, label, oldest_first=oldest_first)
    if not pending.reading:
        return 0, 0
    statement = queries.OLDEST_LISTED if oldest_first else queries.NEWEST_LISTED
    bound = statement.bind(**pending.start.keywords, year=current_time().year, most=pending.most)
    reading = get_session().execute_async(bound, trace=True)
    reading.result()
    (found,) = (
        found
        for event in reading.get_query_trace(max_wait=10).events
        if (found := re.match(r"Read (\d+) live rows and (\d+) tombstone", event.description))
    )
    return int(found[1]), int(found[2])


def test_x366_a_page_meets_at_most_200_deleted_rows_after_10_000_moves() -> None:
    user_id = uuid4()
    label = labels.create_label(user_id, "Moved", "red")
    mover, idents = Mover(user_id, label), [uuid1() for _ in range(20)]
    for place, ident in enumerate(idents):
        mover.put(ident, place)
    for place in range(MOVES):
        mover.put(random.choice(idents[1:]), len(idents) + place)  # the first one stays behind
    mover.flush()
    full = Label(**{**vars(label), "count": len(idents)})
    assert met(user_id, full)[1] > 9000
    gaps.clear_gaps_of(user_id, full, current_time())
    live, deleted = met(user_id, full)
    assert live == len(idents)
    assert deleted <= 200


def test_x366_the_oldest_waiting_conversations_are_found_behind_10_000_answered_ones() -> None:
    waiting = get_label(SHOP_MAILBOX, " waiting_for_us")
    label = Label(**{**vars(waiting), "label_id": uuid4(), "count": 60})
    mover, idents = Mover(SHOP_MAILBOX, label), [uuid1() for _ in range(MOVES + 60)]
    for place, ident in enumerate(idents):
        mover.put(ident, place)
    for ident in idents[:MOVES]:
        mover.drop(ident)
    mover.flush()
    gaps.clear_gaps_of(SHOP_MAILBOX, label, current_time())
    live, deleted = met(SHOP_MAILBOX, label, oldest_first=True)
    assert live == 51
    assert deleted <= 200


def test_x367_a_label_of_10_000_is_emptied_by_one_deletion_a_year_and_leaves_nothing_to_meet() -> (
    None
):
    user_id = uuid4()
    label = labels.create_label(user_id, "Emptied", "red")
    mover = Mover(user_id, label)
    for place in range(MOVES):
        mover.put(uuid1(), place)
    mover.flush()
    full = Label(**{**vars(label), "count": MOVES})
    unfinished = {"user_id": user_id, "label_id": label.label_id, "is_trash": False}
    row = SimpleNamespace(**unfinished, first_year=label.first_year)
    assert not finish_emptied(row, current_time()), "a process died before it changed the label"
    assert met(user_id, full) == (51, 0)
    with count_statements() as meter:
        labels.empty_label(user_id, label.label_id)
    assert meter.statement_count <= 4
    now = current_time()
    (row,) = (
        row
        for row in EMPTIED.list_between(now - timedelta(minutes=1), now)
        if row.user_id == user_id
    )
    with count_statements() as meter:
        assert finish_emptied(row, now)
    assert meter.statement_count == 1 + 2, "the labels, this year and the next"
    assert met(user_id, full) == (0, 0)
    assert met(user_id, get_label(user_id, "emptied")) == (0, 0)
