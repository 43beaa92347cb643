"""Writes of notifications: announcing, telling, marking, and the mails.

An app announces a subject when it applies the effects of an event; effects are repeated after a crash, and so is the announcement.
The worker asks the app for the subject's events and tells each member once: a notification's row is written last, and whoever
finds it does nothing (decision 087).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from uuid import UUID, uuid5

from cassandra.util import min_uuid_from_time
from django.conf import settings
from django.urls import reverse
from django.utils.timezone import localdate, make_aware
from django.utils.translation import ngettext

from cassandra_db import PendingResult, current_microseconds, current_time, wait_for_all, write
from jobs.due_rows import DueRows
from mail.operations import MailOptions, queue_mail
from notifications import queries
from notifications.entities import (
    DIGEST,
    MAIL,
    NOTHING,
    RETENTION,
    Kind,
    News,
    Notification,
    Recipient,
    count_seconds_left,
    get_moment,
)
from notifications.kinds import get_kinds, start_recipient
from notifications.links import unsubscribe_url

# The timestamp is the event's: a repeat changes nothing, and what an erasure has deleted stays deleted.
INSERT_NOTIFICATION = write(
    "N1",
    """INSERT INTO notifications (user_id, notification_id, kind, ids, digest_at)
       VALUES (:user_id, :notification_id, :kind, :ids, :digest_at) USING TIMESTAMP :at AND TTL :seconds""",
)
# A cell that outlived its row would be a row without a kind.
MARK_READ = write(
    "N1",
    """UPDATE notifications USING TTL :seconds SET read = true
       WHERE user_id = :user_id AND notification_id = :notification_id""",
)
# The timestamp is the marked notification's, so the later one wins, whichever tab is slower.
MARK_SEEN = write(
    "N2",
    """UPDATE notifications USING TIMESTAMP :at AND TTL :seconds SET seen_until = :until
       WHERE user_id = :user_id""",
)
MARK_ALL_READ = write(
    "N1",
    """UPDATE notifications USING TIMESTAMP :at AND TTL :seconds SET seen_until = :until, read_until = :until
       WHERE user_id = :user_id""",
)
DELETE_ALL = write("N1", "DELETE FROM notifications WHERE user_id = :user_id")
INSERT_PENDING = write(
    "N1",
    """INSERT INTO pending_notifications_by_minute (minute, subject_id, source, detail, written)
       VALUES (:minute, :subject_id, :source, :detail, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "N1",
    """DELETE FROM pending_notifications_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND subject_id = :subject_id AND source = :source AND detail = :detail""",
)
INSERT_DUE_DIGEST = write(
    "N3",
    """INSERT INTO due_digests_by_quarter (quarter, user_id, digest_at, written)
       VALUES (:quarter, :user_id, :digest_at, :written) USING TIMESTAMP :written""",
)
DELETE_DUE_DIGEST = write(
    "N3",
    """DELETE FROM due_digests_by_quarter USING TIMESTAMP :written
       WHERE quarter = :quarter AND user_id = :user_id AND digest_at = :digest_at""",
)
ANNOUNCED = DueRows(
    job="notifications",
    label="notifications of",
    select=queries.PENDING,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
)
# Until `wait` is over, a slow worker may still write a notification that belongs to the digest.
DIGESTS = DueRows(
    job="digests",
    label="digest of",
    select=queries.DUE_DIGESTS,
    insert=INSERT_DUE_DIGEST,
    delete=DELETE_DUE_DIGEST,
    column="quarter",
    length=timedelta(minutes=15),
    wait=timedelta(minutes=5),
)
_AT_ONCE = 10  # members told side by side


@dataclass(frozen=True)
class _Telling:
    """A notification that is about to be written, and what its reader has chosen."""

    news: News
    kind: Kind
    recipient: Recipient
    choice: str
    digest_at: datetime | None

    @property
    def note(self) -> Notification:
        """The notification as it will be read."""
        return Notification(
            self.news.user_id, self.news.notification_id, self.kind.name, self.news.ids
        )


def announce(source: str, subject_id: UUID, detail: str = "") -> None:
    """Let the worker ask the app `source` for events of a subject. A repeat changes nothing. Raises CassandraUnavailable."""
    ANNOUNCED.note(source=source, subject_id=subject_id, detail=detail)


def tell(news: Sequence[News]) -> int:
    """Write the notifications of these events, with the mails and digests that their readers have chosen. Return their number.

    Each event is told once, whatever is repeated. Members who are gone are told nothing. Raises CassandraUnavailable.
    """
    return sum(
        _tell_some(news[start : start + _AT_ONCE]) for start in range(0, len(news), _AT_ONCE)
    )


def _tell_some(news: Sequence[News]) -> int:
    tellings = _list_tellings(news)
    digests = [
        DIGESTS.date_row(
            {"user_id": each.recipient.user_id, "digest_at": each.digest_at}, each.digest_at
        )
        for each in tellings
        if each.digest_at
    ]
    wait_for_all([INSERT_DUE_DIGEST.start(**row) for row in digests])
    _queue_mails([each for each in tellings if each.choice == MAIL and not each.kind.has_own_mail])
    now = current_time()
    wait_for_all(
        [
            INSERT_NOTIFICATION.start(
                user_id=each.news.user_id,
                notification_id=each.news.notification_id,
                kind=each.kind.name,
                ids=each.news.dump_ids(),
                digest_at=each.digest_at,
                at=_microseconds(each.news.at),
                seconds=max(count_seconds_left(each.news.at, now), 1),
            )
            for each in tellings
        ]
    )
    return len(tellings)


def _list_tellings(news: Sequence[News]) -> list[_Telling]:
    """Return the notifications that are missing, of members who want them."""
    kinds, now = get_kinds(), current_time()
    reading = [
        (each, kinds[each.kind], start_recipient(each.user_id), _start_told(each))
        for each in {each.notification_id: each for each in news}.values()
        if each.kind in kinds and each.at > now - RETENTION
    ]
    found = []
    for each, kind, get_recipient, told in reading:
        recipient = get_recipient()
        is_told = any(
            row.kind == each.kind and row.ids == each.dump_ids()
            for row in told.rows()
            if row.notification_id == each.notification_id or kind.quiet_for
        )
        choice = kind.choose(recipient.choices) if recipient else NOTHING
        if recipient and choice != NOTHING and not is_told:
            digest_at = find_next_digest(now) if choice == DIGEST else None
            found.append(_Telling(each, kind, recipient, choice, digest_at))
    return found


def _start_told(news: News) -> PendingResult:
    quiet_for = get_kinds()[news.kind].quiet_for
    since = min_uuid_from_time(news.at - quiet_for) if quiet_for else news.notification_id
    return queries.TOLD.start(user_id=news.user_id, since=since, until=news.notification_id)


def find_next_digest(now: datetime) -> datetime:
    """Return the moment of the next digest: at DIGEST_HOUR in the shop's time zone."""
    today = localdate(now)
    moments = (
        make_aware(datetime.combine(today + timedelta(days=days), time(settings.DIGEST_HOUR)))
        for days in (0, 1)
    )
    return next(each for each in moments if each > now)


def _queue_mails(tellings: Sequence[_Telling]) -> None:
    listed = queries.describe_notes([each.note for each in tellings])
    for each, described in zip(tellings, listed, strict=True):
        if not described.line.path:
            continue  # the thing is gone already
        end_url = unsubscribe_url(each.recipient.user_id, each.kind.name)
        queue_mail(
            uuid5(each.news.user_id, str(each.news.notification_id)),
            "notification",
            each.recipient.email,
            "notification",
            {
                "text": described.line.text,
                "url": settings.PUBLIC_URL + described.line.path,
                "label": each.kind.label,
                "end_url": end_url,
            },
            each.news.at,
            MailOptions(unsubscribe_url=end_url),
        )


def send_digest(user_id: UUID, digest_at: datetime) -> bool:
    """Queue a member's digest, once; return whether there was news for it. Raises CassandraUnavailable."""
    recipient = start_recipient(user_id)
    rows = queries.prefetch_newest(user_id).rows()
    notes = [each for each in queries.notes_from_rows(user_id, rows) if each.digest_at == digest_at]
    reader = recipient()
    listed = [each for each in queries.describe_notes(notes) if each.line.path] if reader else []
    if reader is None or not listed:
        return False
    kinds = get_kinds()
    named = dict.fromkeys(each.note.kind for each in listed)
    queue_mail(
        user_id,
        f"digest {digest_at.isoformat()}",
        reader.email,
        "digest",
        {
            "lines": [(each.line.text, settings.PUBLIC_URL + each.line.path) for each in listed],
            "label": ngettext(
                "%(count)s piece of news for you", "%(count)s pieces of news for you", len(listed)
            )
            % {"count": len(listed)},
            "ends": [(kinds[name].label, unsubscribe_url(user_id, name)) for name in named],
            "url": settings.PUBLIC_URL + reverse("accounts:notification_choices"),
        },
        digest_at,
        MailOptions(unsubscribe_url=unsubscribe_url(user_id, *named)),
    )
    return True


def start_marking_seen(user_id: UUID, notes: Iterable[Notification]) -> list[PendingResult]:
    """Start storing that a member has seen these notifications, the newest first. If none is new, nothing is written."""
    newest = next(iter(notes), None)
    if newest is None or not newest.is_new:
        return []
    return [MARK_SEEN.start(**_mark(user_id, newest.notification_id))]


def mark_all_read(user_id: UUID, until: UUID) -> None:
    """Mark as read all notifications up to `until`, however many. A mark that has expired is not written.

    Raises CassandraUnavailable.
    """
    now = current_time()
    if (
        until.version == 1
        and get_moment(until) <= now
        and count_seconds_left(get_moment(until), now) > 0
    ):
        MARK_ALL_READ.run(**_mark(user_id, until))


def _mark(user_id: UUID, until: UUID) -> dict[str, object]:
    at = get_moment(until)
    seconds = max(count_seconds_left(at, current_time()), 1)
    return {"user_id": user_id, "until": until, "at": _microseconds(at), "seconds": seconds}


def mark_read(note: Notification) -> None:
    """Mark a notification as read, for the rest of its time. Raises CassandraUnavailable."""
    seconds = count_seconds_left(note.at, current_time()) - 1
    if seconds > 0 and not note.is_read:
        MARK_READ.run(user_id=note.user_id, notification_id=note.notification_id, seconds=seconds)


def delete_notifications(user_id: UUID) -> None:
    """Delete all that a member was told. Raises CassandraUnavailable."""
    DELETE_ALL.run(user_id=user_id)


def _microseconds(moment: datetime) -> int:
    # No event is dated later than now: a timestamp in the future would survive an erasure.
    return min(int(moment.timestamp() * 1_000_000), current_microseconds())
