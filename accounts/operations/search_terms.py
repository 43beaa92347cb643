"""Search terms of customers' names, for the staff.

The request that writes a name also writes its search terms. A row in `named_users`, written first and removed last, leads the worker to
names whose request died (accounts.jobs). The terms' write timestamp is the time before the user was read, so that the latest read wins.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from cassandra.query import BoundStatement

from accounts import queries
from accounts.search_terms import HEAD, list_name_terms
from cassandra_db import current_microseconds, read, scan, write, write_batch
from jobs.due_rows import DueRows, Sweep

HOUR = timedelta(hours=1)
INSERT_NOTE = write(
    "customer search",
    """INSERT INTO named_users_by_hour (hour, user_id, written) VALUES (:hour, :user_id, :written)
       USING TIMESTAMP :written""",
)
DELETE_NOTE = write(
    "customer search",
    "DELETE FROM named_users_by_hour USING TIMESTAMP :written WHERE hour = :hour AND user_id = :user_id",
)
# Names that requests are writing. A request ends, or dies, within four minutes.
NAMES_UNDER_WAY = DueRows(
    job="account search",
    label="search terms of user",
    select=queries.NAMED_USERS,
    insert=INSERT_NOTE,
    delete=DELETE_NOTE,
    column="hour",
    length=HOUR,
    wait=timedelta(minutes=4),
    max_write_delay=timedelta(minutes=4),
)
INSERT_ROW = write(
    "customer search",
    """INSERT INTO users_by_search_term (head, term, user_id, name, since)
       VALUES (:head, :term, :user_id, :name, :since) USING TIMESTAMP :at""",
)
INSERT_TERM = write(
    "customer search",
    """INSERT INTO search_terms_by_user (user_id, term, name) VALUES (:user_id, :term, :name)
       USING TIMESTAMP :at""",
)
DELETE_ROW = write(
    "customer search",
    """DELETE FROM users_by_search_term USING TIMESTAMP :at
       WHERE head = :head AND term = :term AND user_id = :user_id""",
)
DELETE_TERM = write(
    "customer search",
    "DELETE FROM search_terms_by_user USING TIMESTAMP :at WHERE user_id = :user_id AND term = :term",
)
TERMS = read("customer search", "SELECT term FROM search_terms_by_user WHERE user_id = :user_id")
USER_IDS = scan(
    "customer search",
    "SELECT user_id FROM users WHERE token(user_id) > :start AND token(user_id) <= :end",
)


@contextmanager
def name_under_way(user_id: UUID) -> Iterator[None]:
    """Update the search terms after the block, which writes a user's name.

    If the request dies, the worker updates the search terms. Raises CassandraUnavailable.
    """
    note = NAMES_UNDER_WAY.note(user_id=user_id)
    yield
    save_search_terms(user_id)
    NAMES_UNDER_WAY.clear(note)


def finish_names(sweep: Sweep) -> None:
    """Update the search terms of names whose requests have died. Raises CassandraUnavailable."""
    latest = (sweep.now - sweep.table.wait).timestamp() * 1_000_000
    for rows in sweep.groups("user_id"):
        if left := [row for row in rows if row.written <= latest]:
            with sweep.handle(left, left[0].user_id):
                save_search_terms(left[0].user_id)


def save_search_terms(user_id: UUID) -> None:
    """Make the words of a customer's present name the only search terms; an erased customer has none.

    A second call changes nothing. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    row = queries.prefetch_profile(user_id).one()
    name = row.name or "" if row and not row.erasing_at else ""
    terms = list_name_terms(name)
    delete_search_terms(user_id, {each.term for each in TERMS.all(user_id=user_id)} - {*terms}, at)
    key = {"user_id": user_id, "name": name, "at": at}
    batch: list[BoundStatement] = []
    for term in terms:
        batch.append(INSERT_ROW.bind(head=term[:HEAD], term=term, since=row.created_at, **key))  # type: ignore[union-attr]
        batch.append(INSERT_TERM.bind(term=term, **key))
    if batch:
        write_batch(batch)


def forget_name(user_id: UUID, name: str) -> None:
    """Remove an erased user from the search, also under a name that is being written now. Raises CassandraUnavailable."""
    at = current_microseconds()
    stored = {each.term for each in TERMS.all(user_id=user_id)}
    delete_search_terms(user_id, {*stored, *list_name_terms(name)}, at)


def delete_search_terms(user_id: UUID, terms: Iterable[str], write_timestamp: int) -> None:
    """Delete search terms of a customer with a write timestamp in microseconds: terms written later stay. Raises CassandraUnavailable."""
    key = {"user_id": user_id, "at": write_timestamp}
    found = sorted(terms)
    if found:
        write_batch([DELETE_ROW.bind(head=term[:HEAD], term=term, **key) for term in found])
        # These rows lead to the terms, so they go last.
        write_batch([DELETE_TERM.bind(term=term, **key) for term in found])


def rebuild_account_search(now: datetime) -> str:
    """Write the search terms of all users; return the number of users. Raises CassandraUnavailable."""
    count = 0
    for row in USER_IDS.iterate_table():
        save_search_terms(row.user_id)
        count += 1
    return f"{count} accounts"
