"""Reads of notifications."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from cassandra_db import PendingResult, Row, page_key, page_token, read
from notifications.entities import Line, Notification
from notifications.kinds import get_kinds

# The panel sorts the newest 200, and shows 50 of them. A page of the list has 50.
NEWEST = 200
SHOWN = 50
# More new ones are not counted.
MAX_COUNTED = 100

_COLUMNS = "notification_id, kind, ids, read, digest_at, seen_until, read_until"
# N1: a member's newest notifications; those before one; one.
LISTED = read(
    "N1",
    f"SELECT {_COLUMNS} FROM notifications WHERE user_id = :user_id LIMIT :most",  # noqa: S608
)
LISTED_BEFORE = read(
    "N1",
    f"""SELECT {_COLUMNS} FROM notifications
        WHERE user_id = :user_id AND notification_id < :before LIMIT :most""",  # noqa: S608
)
ONE = read(
    "N1",
    f"""SELECT {_COLUMNS} FROM notifications
        WHERE user_id = :user_id AND notification_id = :notification_id""",  # noqa: S608
)
# N1: what a member was told from one moment to another.
TOLD = read(
    "N1",
    """SELECT notification_id, kind, ids FROM notifications
       WHERE user_id = :user_id AND notification_id >= :since AND notification_id <= :until""",
)
# N2: how many are new.
NEW = read(
    "N2",
    "SELECT notification_id, seen_until FROM notifications WHERE user_id = :user_id LIMIT :most",
)
# N1: subjects that the worker looks at. N3: members who get a digest.
PENDING = read(
    "N1",
    """SELECT minute, subject_id, source, detail, written FROM pending_notifications_by_minute
       WHERE minute = :minute""",
)
DUE_DIGESTS = read(
    "N3",
    "SELECT quarter, user_id, digest_at, written FROM due_digests_by_quarter WHERE quarter = :quarter",
)


@dataclass(frozen=True)
class ListedNotification:
    """A notification with its words. `path` leads to what it is about; "" if that is gone."""

    note: Notification
    line: Line


@dataclass(frozen=True)
class NotificationPage:
    """A page of a member's notifications, newest first, and the token of the next page; "" at the end."""

    notes: tuple[Notification, ...]
    next_token: str


def prefetch_new_count(user_id: UUID) -> PendingResult:
    """Start reading how many notifications are new, for `new_count_from_rows`."""
    return NEW.start(user_id=user_id, most=MAX_COUNTED)


def new_count_from_rows(rows: Sequence[Row]) -> int:
    """Return how many notifications are newer than the last one that was seen, MAX_COUNTED at most."""
    return sum(_is_after(row.notification_id, row.seen_until) for row in rows)


def prefetch_newest(user_id: UUID) -> PendingResult:
    """Start reading the newest notifications, for `notes_from_rows`."""
    return LISTED.start(user_id=user_id, most=NEWEST)


def prefetch_page(user_id: UUID, after: str) -> PendingResult:
    """Start reading a page of notifications, for `page_from_rows`. Raises InvalidPageToken."""
    if not after:
        return LISTED.start(user_id=user_id, most=SHOWN + 1)
    (before,) = page_key(after, _list_name(user_id))
    return LISTED_BEFORE.start(user_id=user_id, before=before, most=SHOWN + 1)


def page_from_rows(user_id: UUID, rows: Sequence[Row]) -> NotificationPage:
    """Return the page of notifications in these rows."""
    notes = tuple(notes_from_rows(user_id, rows[:SHOWN]))
    has_more = len(rows) > SHOWN and notes
    token = page_token([notes[-1].notification_id], _list_name(user_id)) if has_more else ""
    return NotificationPage(notes, token)


def _list_name(user_id: UUID) -> str:
    return f"N1 {user_id}"


def notes_from_rows(user_id: UUID, rows: Iterable[Row]) -> list[Notification]:
    """Return the notifications in these rows, newest first. Kinds of apps that are gone are left out."""
    known = get_kinds()
    return [
        Notification(
            user_id=user_id,
            notification_id=row.notification_id,
            kind=row.kind,
            ids=json.loads(row.ids or "{}"),
            is_read=bool(row.read) or not _is_after(row.notification_id, row.read_until),
            is_new=_is_after(row.notification_id, row.seen_until),
            digest_at=row.digest_at,
        )
        for row in rows
        if row.notification_id and row.kind in known
    ]


def sort_unread_first(notes: Iterable[Notification]) -> list[Notification]:
    """Return the notifications that the panel shows: unread ones first, each newest first."""
    return sorted(notes, key=lambda each: each.is_read)[:SHOWN]


def get_notification(user_id: UUID, notification_id: UUID) -> Notification | None:
    """Return a member's notification, or None. Raises CassandraUnavailable."""
    if notification_id.version != 1:
        return None
    rows = ONE.all(user_id=user_id, notification_id=notification_id)
    return next(iter(notes_from_rows(user_id, rows)), None)


def describe_notes(notes: Sequence[Notification]) -> list[ListedNotification]:
    """Return notifications with their words, in the same order: all kinds read at once. Raises CassandraUnavailable."""
    kinds = get_kinds()
    under_way = [
        kind.describe([each for each in notes if each.kind == name])
        for name, kind in kinds.items()
        if any(each.kind == name for each in notes)
    ]
    lines: dict[UUID, Line] = {}
    for collect in under_way:
        lines.update(collect())
    return [
        ListedNotification(
            each, lines.get(each.notification_id) or Line(str(kinds[each.kind].gone))
        )
        for each in notes
    ]


def _is_after(notification_id: UUID | None, mark: UUID | None) -> bool:
    """Return whether a notification is newer than the one that a mark names. Cassandra sorts them by time, then by bytes."""
    if notification_id is None:
        return False
    return mark is None or _sort_key(notification_id) > _sort_key(mark)


def _sort_key(notification_id: UUID) -> tuple[int, bytes]:
    # The bytes of the second half are signed.
    return notification_id.time, bytes(each ^ 0x80 for each in notification_id.bytes[8:])
