"""I42, I43: notifications expire with their events and belong to members; watched prices and their watchers agree."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from accounts.queries import get_user
from cassandra_db import (
    SEND_AGAIN,
    conditional_write,
    current_microseconds,
    current_time,
    read,
    scan,
    write,
)
from catalogue.queries import get_product_at_quorum
from consistency.findings import Check, Violation, call, column_subjects
from notifications.entities import count_seconds_left, get_moment
from notifications.operations import INSERT_NOTIFICATION, delete_notifications
from price_alerts import queries
from price_alerts.operations import (
    DELETE_WATCHER,
    INSERT_WATCHER,
    is_gone,
    stop_watching,
    watcher_columns,
)

TOLD = scan(
    "I42",
    "SELECT DISTINCT user_id FROM notifications WHERE token(user_id) > :start AND token(user_id) <= :end",
)
ROWS = read(
    "I42",
    """SELECT notification_id, kind, ids, digest_at, TTL(kind) AS seconds FROM notifications
       WHERE user_id = :user_id""",
)
DELETE_ROW = write(
    "I42",
    "DELETE FROM notifications WHERE user_id = :user_id AND notification_id = :notification_id",
)
WATCHING = scan(
    "I43",
    "SELECT DISTINCT user_id FROM watched_products WHERE token(user_id) > :start AND token(user_id) <= :end",
)
WATCHED = scan(
    "I43",
    """SELECT DISTINCT product_id, partition FROM watchers_by_product
       WHERE token(product_id, partition) > :start AND token(product_id, partition) <= :end""",
)
WATCHER = read(
    "I43",
    """SELECT since FROM watchers_by_product
       WHERE product_id = :product_id AND partition = :partition AND user_id = :user_id""",
)
SET_COUNT = conditional_write(
    "I43",
    "UPDATE watched_products SET watch_count = :count WHERE user_id = :user_id IF watch_count = :seen",
)
# What is computed of the clock differs by the time between two statements.
TOLERANCE = timedelta(minutes=2)


def _check_told(user_id: UUID) -> Iterator[Violation]:
    rows = ROWS.all(user_id=user_id)
    if rows and get_user(user_id) is None:
        fault = "notifications of a member who is gone are kept"
        yield Violation("I42", f"user {user_id}", fault, fix=call(delete_notifications, user_id))
        return
    now = current_time()
    for row in rows:
        if row.notification_id is None:
            continue
        violation = partial(Violation, "I42", f"user {user_id} notification {row.notification_id}")
        if row.kind is None:
            ids = {"user_id": user_id, "notification_id": row.notification_id}
            yield violation("it has no kind", fix=call(DELETE_ROW.run, **ids))
            continue
        left = count_seconds_left(get_moment(row.notification_id), now)
        if row.seconds is None or row.seconds > left + TOLERANCE.total_seconds():
            values = {name: value for name, value in row._asdict().items() if name != "seconds"}
            fix = call(_write_again, user_id=user_id, seconds=max(left, 1), **values)
            yield violation("it does not expire with its event", f"{row.seconds} s", fix)


def _write_again(**values: object) -> None:
    INSERT_NOTIFICATION.run(**values, at=current_microseconds())


def _check_watched(user_id: UUID) -> Iterator[Violation]:
    now, rows = current_time(), queries.WATCHED.all(user_id=user_id)
    watched = [row for row in rows if row.product_id]
    seen = rows[0].watch_count if rows else 0
    if seen != len(watched):
        fix = call(
            SET_COUNT.apply, if_lost=SEND_AGAIN, user_id=user_id, count=len(watched), seen=seen
        )
        fault = "the number of watched products is not that of their rows"
        yield Violation("I43", f"user {user_id}", fault, f"{seen}, not {len(watched)}", fix)
    for row in watched:
        violation = partial(Violation, "I43", f"user {user_id} product {row.product_id}")
        key = watcher_columns(user_id, row.product_id, row.since)
        if is_gone(get_product_at_quorum(row.product_id), now):
            yield violation("it is gone", fix=call(stop_watching, user_id, row.product_id))
        elif _get_since(key) != row.since:
            fix = call(INSERT_WATCHER.run, **key, since=row.since)
            yield violation("its watcher is missing", fix=fix)


def _get_since(key: dict[str, object]) -> datetime | None:
    found = WATCHER.one(**{name: value for name, value in key.items() if name != "at"})
    return found.since if found else None


def _check_watchers(product_id: UUID) -> Iterator[Violation]:
    for row in queries.list_watched_partitions(product_id):
        for watchers in queries.iterate_watchers(product_id, row.partition):
            for each in watchers:
                own = queries.prefetch_watch(each.user_id, product_id).one()
                if own is None or own.since != each.since:
                    key = watcher_columns(each.user_id, product_id, each.since)
                    fix = call(DELETE_WATCHER.run, **key)
                    subject = f"product {product_id} user {each.user_id}"
                    yield Violation("I43", subject, "a watcher does not watch it", fix=fix)


CHECKS = (
    Check("notifications", ("I42",), column_subjects(TOLD, "user_id", "users"), _check_told),
    Check(
        "watched prices", ("I43",), column_subjects(WATCHING, "user_id", "users"), _check_watched
    ),
    Check(
        "watchers", ("I43",), column_subjects(WATCHED, "product_id", "products"), _check_watchers
    ),
)
