"""Measures a mailbox of 100,000 conversations beside one of 100: listing a label, relabelling a hundred, emptying a label.

    python -m benchmarks.conversations
    python -m benchmarks.conversations --conversations 10000     # quicker

In a keyspace of its own, two members' mailboxes are filled: rows, counts and copies under two labels; the newest hundred have
conversations behind them. Then each act is done in turn in both, in this process. Ends with status 1 if a statement or round differs,
if an act takes more than 1.25 times the CPU of the small mailbox, or if a count is wrong afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from benchmarks.setup import make_parser, own_keyspace, report_missed
from cassandra_db import count_statements, current_time

if TYPE_CHECKING:
    from conversations.entities import Label

KEYSPACE = "stoa_conversations"
FEW = 100
MOST_CPU = 1.25
TIMES = {"list a label": 200, "relabel a hundred": 12, "empty a label": 12}
_BATCH = 200


@dataclass
class Case:
    """A mailbox, and what was measured in it, by act."""

    user_id: UUID
    count: int
    newest: list[UUID] = field(default_factory=list)
    statements: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def measured(self, act: str) -> Iterator[None]:
        began, cpu = perf_counter(), process_time()
        with count_statements() as meter:
            yield
        self.cpu.setdefault(act, []).append(process_time() - cpu)
        self.seconds.setdefault(act, []).append(perf_counter() - began)
        self.statements.setdefault(act, set()).add((meter.statement_count, meter.round_count))


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("conversations", __doc__)
    parser.add_argument("--conversations", type=int, default=100_000)
    args = parser.parse_args()
    with own_keyspace(KEYSPACE):
        cases = [Case(uuid4(), FEW), Case(uuid4(), args.conversations)]
        for case in cases:
            fill_mailbox(case)
        for act, times in TIMES.items():
            run = ACTS[act]
            for number in range(times):
                for case in cases:
                    run(case, number)
        return report(*cases)


def fill_mailbox(case: Case) -> None:
    """Write a member's mailbox by plain writes, and the newest hundred conversations by the shop's own."""
    from conversations.entities import Customer, NewMessage, Sender, Topic
    from conversations.operations.labels import create_label
    from conversations.operations.mailboxes import relabel
    from conversations.operations.messages import start_conversation
    from conversations.states import CUSTOMER

    customer = Customer(case.user_id, f"{case.user_id}@example.com", "Ada", is_member=True)
    create_label(case.user_id, "Kept", "blue")
    now = current_time()
    for number in range(FEW):
        first = NewMessage(uuid4(), CUSTOMER, Sender(case.user_id, "Ada"), f"Message {number}")
        at = now - timedelta(minutes=FEW - number)
        case.newest.append(start_conversation(customer, f"No {number}", Topic(), first, at))
    relabel(case.user_id, case.newest, [get_label(case, "kept").label_id], [])
    if case.count > FEW:
        _write_older(case)


def _write_older(case: Case) -> None:
    from cassandra.util import uuid_from_time

    from cassandra_db.bulk import BulkWriter
    from cassandra_db.session import get_session
    from conversations.operations.entries import INSERT_COPY
    from conversations.rules import INBOX

    row = get_session().prepare(
        """INSERT INTO labels_by_user (user_id, kind, key, labels, placed_at, unread, version, change_id, copied, former_places)
           VALUES (?, 'conversation', ?, ?, ?, false, ?, ?, ?, '')"""
    )
    count = get_session().prepare(
        "UPDATE labels_by_user SET count = ? WHERE user_id = ? AND kind = 'label' AND key = ?"
    )
    labels = [get_label(case, key) for key in (INBOX, "kept")]
    ids, change_id = {label.label_id for label in labels}, uuid4()
    start = current_time().replace(month=1, day=1, hour=0)
    step = (current_time() - timedelta(days=1) - start) / case.count
    version = int(start.timestamp() * 1_000_000)
    with BulkWriter(at_once=16) as bulk:
        batches: dict[str, list[object]] = {}
        for number in range(case.count - FEW):
            at = start + number * step
            at = at.replace(microsecond=at.microsecond // 1000 * 1000)
            ident = uuid_from_time(at)
            values = case.user_id, ident.hex, ids, at, version, change_id, version
            batches.setdefault("", []).append(row.bind(values))
            for label in labels:
                batches.setdefault(label.key, []).append(
                    INSERT_COPY.bind(
                        user_id=case.user_id,
                        label_id=label.label_id,
                        year=at.year,
                        last_at=at,
                        conversation_id=ident,
                        sender="Ada",
                        subject=f"Older {number}",
                        excerpt="A hundred and sixty characters at most",
                        topic="other",
                        unread=False,
                        has_files=False,
                        labels=ids,
                        version=version,
                    )
                )
            if number % _BATCH == _BATCH - 1 or number == case.count - FEW - 1:
                for batch in batches.values():
                    bulk.send(*batch)
                batches = {}
        for label in labels:
            bulk.send(count.bind((case.count, case.user_id, label.key)))


def get_label(case: Case, key: str) -> Label:
    """Return a label of the mailbox as it is now."""
    from conversations import queries

    return queries.find_label(case.user_id, queries.get_labels(case.user_id), key)


def list_label(case: Case, number: int) -> None:
    """List a page: the labels, then the page."""
    from conversations import queries

    with case.measured("list a label"):
        label = get_label(case, "kept")
        page = queries.label_page(queries.prefetch_label_page(case.user_id, label))
    if [row.conversation_id for row in page.rows] != case.newest[: -queries.PAGE_SIZE - 1 : -1]:
        raise RuntimeError("another page than the newest")


def relabel_hundred(case: Case, number: int) -> None:
    """Put the star on a hundred conversations, or take it off."""
    from conversations.operations.mailboxes import relabel
    from conversations.rules import STARRED

    star = {get_label(case, STARRED).label_id}
    add, remove = (set(), star) if number % 2 else (star, set())
    with case.measured("relabel a hundred"):
        changed = relabel(case.user_id, case.newest, add, remove)
    if changed != FEW:
        raise RuntimeError(f"{changed} conversations were relabelled")


def empty_one(case: Case, number: int) -> None:
    """Empty the label that all conversations have, with what the worker does. Later times, it is empty already."""
    from conversations.operations.deletion import finish_emptied
    from conversations.operations.labels import empty_label
    from conversations.operations.pending import EMPTIED

    label = get_label(case, "kept")
    if not number and label.count != case.count:
        raise RuntimeError(f"{label.count} conversations instead of {case.count}")
    now = current_time()
    with case.measured("empty a label"):
        empty_label(case.user_id, label.label_id)
    rows = EMPTIED.list_between(now - timedelta(minutes=1), current_time())
    (row,) = (row for row in rows if row.label_id == label.label_id)
    with case.measured("empty a label, the worker"):
        finish_emptied(row, now)


ACTS: dict[str, Callable[[Case, int], None]] = {
    "list a label": list_label,
    "relabel a hundred": relabel_hundred,
    "empty a label": empty_one,
}


def report(small: Case, large: Case) -> int:
    """Print the figures, and return the exit status."""
    from conversations.rules import INBOX, STARRED

    missed = []
    print(f"{'':26} statements, rounds      CPU ms, {small.count:,} and {large.count:,}     ms")
    for act in large.cpu:
        cpu = [median(case.cpu[act]) * 1000 for case in (small, large)]
        seconds = [median(case.seconds[act]) * 1000 for case in (small, large)]
        counts = [sorted(case.statements[act]) for case in (small, large)]
        print(
            f"{act:26} {counts[1]!s:20} {cpu[0]:8.2f} {cpu[1]:8.2f}   {seconds[0]:8.1f} {seconds[1]:8.1f}"
        )
        if counts[0] != counts[1]:
            missed.append(f"{act}: {counts[0]} and {counts[1]} statements and rounds")
        if cpu[1] > MOST_CPU * cpu[0]:
            missed.append(f"{act}: {cpu[1] / cpu[0]:.2f} times the CPU")
    for case in (small, large):
        found = [get_label(case, key).count for key in (INBOX, "kept", STARRED)]
        if found != [case.count, 0, 0]:
            missed.append(f"the counts are {found}")
    return report_missed(missed)


if __name__ == "__main__":
    raise SystemExit(main())
