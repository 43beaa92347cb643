"""The staff's search for customers follows their names: in the request, and, if that dies, by the worker.

A note is written before the name is, and removed when the search has followed it; the worker finds those that were left, and
writes anew what follows from the users' rows (accounts.jobs). All of it carries the time before the user was read, so what was read last stays.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from cassandra.query import BoundStatement

from accounts import queries
from accounts.search_terms import HEAD, list_name_terms
from cassandra_db import current_microseconds, current_time, read, scan, write, write_batch
from jobs.rows import guard_row

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
    """Write a user's name within, and have the search follow it; if either dies, a note leads the worker. Raises CassandraUnavailable."""
    note = {"hour": floor_to_hour(current_time()), "written": current_microseconds()}
    INSERT_NOTE.run(user_id=user_id, **note)
    yield
    save_search_terms(user_id)
    DELETE_NOTE.run(user_id=user_id, **note)


def finish_names(since: datetime, until: datetime) -> int:
    """Have the search follow the names whose requests have died in this time (UTC); return how many. Raises CassandraUnavailable."""
    hours = range((until - floor_to_hour(since)) // HOUR + 1)
    notes = queries.list_named_users(floor_to_hour(since) + hour * HOUR for hour in hours)
    left = [each for each in notes if each.written <= until.timestamp() * 1_000_000]
    for note in left:
        with guard_row(f"search terms of user {note.user_id}", partial(_note_again, note.user_id)):
            save_search_terms(note.user_id)
        DELETE_NOTE.run(hour=note.hour, user_id=note.user_id, written=note.written)
    return len(left)


def _note_again(user_id: UUID) -> None:
    """Have a later run go on with a user's name."""
    INSERT_NOTE.run(
        user_id=user_id, hour=floor_to_hour(current_time()), written=current_microseconds()
    )


def floor_to_hour(moment: datetime) -> datetime:
    """Return when the hour of a moment began."""
    return moment.replace(minute=0, second=0, microsecond=0)


def save_search_terms(user_id: UUID) -> None:
    """Have a customer found by the words of their name as it is now, and by no others; nobody finds one who is erased.

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
    """Have nobody find a user who is being erased, also by a name that is being written just now. Raises CassandraUnavailable."""
    at = current_microseconds()
    stored = {each.term for each in TERMS.all(user_id=user_id)}
    delete_search_terms(user_id, {*stored, *list_name_terms(name)}, at)


def delete_search_terms(user_id: UUID, terms: Iterable[str], write_timestamp: int) -> None:
    """Take a customer out of the search under these words, as of a timestamp in microseconds. Raises CassandraUnavailable."""
    key = {"user_id": user_id, "at": write_timestamp}
    found = sorted(terms)
    if found:
        write_batch([DELETE_ROW.bind(head=term[:HEAD], term=term, **key) for term in found])
        # Last: what leads to the rows is there until they are gone.
        write_batch([DELETE_TERM.bind(term=term, **key) for term in found])


def rebuild_account_search(now: datetime) -> str:
    """Write the search terms of all users; return how many users that were. Raises CassandraUnavailable."""
    count = 0
    for row in USER_IDS.iterate_table():
        save_search_terms(row.user_id)
        count += 1
    return f"{count} accounts"
