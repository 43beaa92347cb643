"""The audit log: who did what, on what, when, and how it ended.

A staff member's action is logged before it is done; if the logging fails, the action is not done. A second row has the
outcome of the action, and the changed values. No code changes or deletes an entry: the tables' TTL removes it after 400 days
(a test checks this), and its network address and browser after 90 days.
"""

import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from cassandra.util import (
    datetime_from_uuid1,
    max_uuid_from_time,
    min_uuid_from_time,
    uuid_from_time,
)
from django.utils.crypto import salted_hmac

from cassandra_db import (
    CassandraUnavailable,
    PendingResult,
    Row,
    Statement,
    page_key,
    page_token,
    read,
    write,
    write_batch,
)
from catalogue.words import split_words
from mail.addresses import email_key
from web.logs import current_request_id, escape_control_characters
from web.origin import Origin, current_origin

ENTERED = write(
    "audit log",
    """INSERT INTO audit_log (book, day, at, part, actor_id, actor, act, subject, fields, outcome, changes, request_id)
       VALUES (:book, :day, :at, :part, :actor_id, :actor, :act, :subject, :fields, :outcome, :changes, :request_id)""",
)
ENTERED_BY_ACTOR = write(
    "audit log",
    """INSERT INTO audit_log_by_actor (actor_id, month, at, part, book, actor, act, subject, fields, outcome, changes, request_id)
       VALUES (:actor_id, :month, :at, :part, :book, :actor, :act, :subject, :fields, :outcome, :changes, :request_id)""",
)
ORIGIN_ENTERED = write(
    "audit log",
    """INSERT INTO audit_log (book, day, at, part, address, device)
       VALUES (:book, :day, :at, :part, :address, :device) USING TTL :seconds""",
)
ORIGIN_ENTERED_BY_ACTOR = write(
    "audit log",
    """INSERT INTO audit_log_by_actor (actor_id, month, at, part, address, device)
       VALUES (:actor_id, :month, :at, :part, :address, :device) USING TTL :seconds""",
)
MONEY_ENTERED_BY_ACTOR = write(
    "audit log",
    """INSERT INTO audit_log_by_actor (actor_id, month, at, part, given_back)
       VALUES (:actor_id, :month, :at, 0, :given_back) USING TTL :seconds""",
)
MONEY_OF_ACTOR = read(
    "audit log",
    """SELECT given_back FROM audit_log_by_actor
       WHERE actor_id = :actor_id AND month = :month AND at >= :since""",
)
DAY = read(
    "audit log",
    """SELECT at, part, book, actor_id, actor, act, subject, fields, outcome, changes, request_id, address, device
       FROM audit_log
       WHERE book = :book AND day = :day LIMIT :most""",
)
DAY_BEFORE = read(
    "audit log",
    """SELECT at, part, book, actor_id, actor, act, subject, fields, outcome, changes, request_id, address, device
       FROM audit_log
       WHERE book = :book AND day = :day AND at < :before LIMIT :most""",
)
OF_ACTOR = read(
    "audit log",
    """SELECT at, part, book, actor_id, actor, act, subject, fields, outcome, changes, request_id, address, device
       FROM audit_log_by_actor
       WHERE actor_id = :actor_id AND month = :month LIMIT :most""",
)
OF_ACTOR_BEFORE = read(
    "audit log",
    """SELECT at, part, book, actor_id, actor, act, subject, fields, outcome, changes, request_id, address, device
       FROM audit_log_by_actor
       WHERE actor_id = :actor_id AND month = :month AND at < :before LIMIT :most""",
)
# A user's actions in a month, since a moment. A page view before the month began is missing: it is logged twice, at worst.
SINCE = read(
    "audit log",
    """SELECT act, subject FROM audit_log_by_actor
       WHERE actor_id = :actor_id AND month = :month AND at > :since LIMIT :most""",
)

STAFF, ACCOUNTS = "staff", "accounts"
# The most recent actions that are searched for an earlier page view. With more actions a view may be logged twice.
MAX_RECENT = 500
RETENTION = timedelta(days=400)  # the tables' TTL
# How long the IP address and the device are kept; the entry itself stays longer.
ORIGIN_RETENTION = timedelta(days=90)
# The sum of refunds needs one hour. No cell of an entry may outlive the entry.
MONEY_RETENTION = timedelta(days=1)
MAX_FIELDS, MAX_FIELD_LENGTH = 40, 200  # the most logged fields, and characters of each
# The number of an order's line in a field's name.
_LINE = re.compile(r"line_([0-9]{1,4})")
_SECRET = re.compile(r"passw|(?<!bar)code|token|secret|card|cvc|key", re.IGNORECASE)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AuditLogEntry:
    """An entry of the audit log."""

    at: UUID
    book: str
    actor_id: UUID | None
    actor: str
    act: str
    subject: str
    fields: Mapping[str, str]
    outcome: str
    request_id: UUID | None
    origin: Origin = field(default_factory=Origin)
    changes: Mapping[str, str] = field(default_factory=dict)

    @property
    def moment(self) -> datetime:
        """The time at which the action was logged, in UTC."""
        made: datetime = datetime_from_uuid1(self.at)
        return made.replace(tzinfo=UTC)


def open_entry(
    act: str,
    now: datetime,
    *,
    by: UUID | None = None,
    name: str = "",
    subject: str = "",
    fields: Mapping[str, Sequence[str]] | None = None,
    book: str = STAFF,
    is_about_people: bool = True,
) -> AuditLogEntry:
    """Log an action before it is done; return the entry, which `close_entry` completes. `now` is in UTC.

    `is_about_people=False` keeps names and notes among the logged fields, because they are not a customer's. Raises
    CassandraUnavailable: then the action must not be done.
    """
    entry = AuditLogEntry(
        uuid_from_time(now),
        book,
        by,
        _plain(name),
        act,
        _plain(subject),
        _loggable_fields(fields or {}, is_about_people=is_about_people),
        "",
        current_request_id(),
        current_origin(),
    )
    _enter(entry, 0, "")
    return entry


def close_entry(
    entry: AuditLogEntry, outcome: str, changes: Mapping[str, str] | None = None
) -> None:
    """Log how an action ended, and its changes (`describe_changes`). Without Cassandra the entry stays without an outcome."""
    try:
        _enter(entry, 1, _plain(outcome), changes or {})
    except CassandraUnavailable:
        log.exception(
            "no outcome in the audit log: %s by %s, %s", entry.act, entry.actor_id, outcome
        )


def enter_money(entry: AuditLogEntry, cents: int) -> None:
    """Log how much money an action gives back, before it is done; 0 cancels an amount that was logged before.

    Raises CassandraUnavailable: then the action must not be done.
    """
    MONEY_ENTERED_BY_ACTOR.run(
        actor_id=entry.actor_id,
        month=entry.moment.date().replace(day=1),
        at=entry.at,
        given_back=cents,
        seconds=int(MONEY_RETENTION.total_seconds()),
    )


def sum_money(actor_id: UUID, since: datetime, until: datetime) -> int:
    """Return the money that a user has given back since a moment, in minor units. Raises CassandraUnavailable.

    Each action is logged before the sum is read: of two actions at once, at least one sees the other. Failed actions count, too.
    """
    first = min_uuid_from_time(since)
    reading = [
        MONEY_OF_ACTOR.start(actor_id=actor_id, month=month, since=first)
        for month in {each.date().replace(day=1) for each in (since, until)}
    ]
    return sum(row.given_back or 0 for pending in reading for row in pending.rows())


def describe_changes(
    before: Mapping[str, object], after: Mapping[str, object], *, personal: Collection[str] = ()
) -> dict[str, str]:
    """Return the changed fields: the values before and after, keyed by field. For a `personal` field say only that it changed."""
    return {
        name: "changed"
        if name in personal
        else _plain(f"{before.get(name, '')} → {after.get(name, '')}")
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }


def add_entry(
    act: str,
    now: datetime,
    *,
    by: UUID | None = None,
    name: str = "",
    subject: str = "",
    outcome: str = "done",
    fields: Mapping[str, Sequence[str]] | None = None,
    book: str = ACCOUNTS,
) -> None:
    """Log an event that has just happened, such as a login, in one row. `now` is in UTC. Raises CassandraUnavailable."""
    at = uuid_from_time(now)
    entry = AuditLogEntry(
        at,
        book,
        by,
        _plain(name),
        act,
        _plain(subject),
        _loggable_fields(fields or {}),
        "",
        current_request_id(),
        current_origin(),
    )
    _enter(entry, 0, _plain(outcome))


def can_log_all_fields(sent: Mapping[str, Sequence[str]], lists: Collection[str] = ()) -> bool:
    """Return whether an entry can hold all fields of a form. A field that `lists` does not name may be sent only once."""
    names = [name for name in sent if not _LINE.fullmatch(name)]
    return len(names) <= MAX_FIELDS and all(
        len(values) == 1 or name in lists for name, values in sent.items()
    )


def mailbox_pseudonym(email: str) -> str:
    """Return the audit log's pseudonym for an unproved e-mail address. An address always gets the same pseudonym."""
    return f"mailbox {salted_hmac('accounts.audit', email_key(email), algorithm='sha256').hexdigest()[:12]}"


def words_pseudonym(words: str) -> str:
    """Return the audit log's pseudonym for words that may be a customer's name. The same words always get the same pseudonym."""
    folded = " ".join(split_words(words))
    return (
        f"words {salted_hmac('accounts.audit.words', folded, algorithm='sha256').hexdigest()[:12]}"
    )


def list_day_entries(
    book: str, on: date, after: str, limit: int
) -> tuple[list[AuditLogEntry], str]:
    """Return a page of a day's entries in one book of the log, and the next token. Raises InvalidPageToken, CassandraUnavailable."""
    partition = {"book": book, "day": on}
    return _page(DAY, DAY_BEFORE, partition, f"audit {book} {on}", after, limit)


def list_actor_entries(
    actor_id: UUID, month: date, after: str, limit: int
) -> tuple[list[AuditLogEntry], str]:
    """Return a page of a user's entries in a month, newest first, and the token of the next page. `month` is its first day.

    Raises InvalidPageToken, CassandraUnavailable.
    """
    partition = {"actor_id": actor_id, "month": month}
    return _page(OF_ACTOR, OF_ACTOR_BEFORE, partition, f"audit {actor_id} {month}", after, limit)


def prefetch_acts(
    actor_id: UUID, since: datetime, now: datetime, most: int = MAX_RECENT
) -> PendingResult:
    """Start reading a user's logged actions of `now`'s month since a moment (UTC), newest first: `act` and `subject`."""
    month = now.date().replace(day=1)
    since_id = max_uuid_from_time(since)
    return SINCE.start(actor_id=actor_id, month=month, since=since_id, most=most)


def _enter(
    entry: AuditLogEntry, part: int, outcome: str, changes: Mapping[str, str] | None = None
) -> None:
    moment = entry.moment.date()
    row: dict[str, Any] = {
        "at": entry.at,
        "part": part,
        "book": entry.book,
        "actor_id": entry.actor_id,
        "actor": entry.actor,
        "act": entry.act,
        "subject": entry.subject,
        "fields": json.dumps(entry.fields, ensure_ascii=False),
        "outcome": outcome,
        "changes": json.dumps(changes, ensure_ascii=False) if changes else "",
        "request_id": entry.request_id,
    }
    month = moment.replace(day=1)
    rows = [ENTERED.bind(day=moment, **row)]
    if entry.actor_id:
        rows.append(ENTERED_BY_ACTOR.bind(month=month, **row))
    if part == 0 and entry.origin.address:
        origin = {
            "at": entry.at,
            "part": part,
            "address": entry.origin.address,
            "device": _plain(entry.origin.device),
            "seconds": int(ORIGIN_RETENTION.total_seconds()),
        }
        rows.append(ORIGIN_ENTERED.bind(book=entry.book, day=moment, **origin))
        if entry.actor_id:
            rows.append(
                ORIGIN_ENTERED_BY_ACTOR.bind(actor_id=entry.actor_id, month=month, **origin)
            )
    write_batch(rows)


def _page(
    first: Statement,
    following: Statement,
    partition: dict[str, Any],
    list_name: str,
    after: str,
    limit: int,
) -> tuple[list[AuditLogEntry], str]:
    # An entry has at most two rows, so these rows have one entry more than the page shows.
    most = 2 * limit + 2
    if after:
        (before,) = page_key(after, list_name)
        rows = following.all(**partition, before=before, most=most)
    else:
        rows = first.all(**partition, most=most)
    found = [_entry(list(parts)) for _, parts in groupby(rows, key=lambda row: row.at)]
    more = len(found) > limit
    return found[:limit], page_token([found[limit - 1].at], list_name) if more else ""


def _entry(parts: list[Row]) -> AuditLogEntry:
    row = parts[0]
    fields = json.loads(row.fields or "{}")
    return AuditLogEntry(
        row.at,
        row.book,
        row.actor_id,
        row.actor or "",
        row.act,
        row.subject or "",
        fields,
        parts[-1].outcome or "",
        row.request_id,
        Origin(row.address or "", row.device or ""),
        json.loads(parts[-1].changes or "{}"),
    )


def _plain(text: str) -> str:
    cut = text if len(text) <= MAX_FIELD_LENGTH else f"{text[:MAX_FIELD_LENGTH]}…"
    return escape_control_characters(cut)


def _loggable_fields(
    sent: Mapping[str, Sequence[str]], *, is_about_people: bool = True
) -> dict[str, str]:
    """Return the sent fields as the audit log may keep them: without secrets, each value shortened and in one line."""
    fields: dict[str, str] = {}
    lines = [
        f"{found[1]}: {values[-1][:8]}"
        for name, values in sent.items()
        if (found := _LINE.fullmatch(name))
    ]
    if lines:
        # An order can have many lines: their fields are logged together as one field.
        fields["lines"] = escape_control_characters(", ".join(lines))
    for name, values in _first(sent.items()):
        text = ", ".join(values)
        fields[_plain(name)] = (
            "(not kept)"
            if _SECRET.search(name)
            else _plain(_impersonal(name, text) if is_about_people else text)
        )
    return fields


def _impersonal(name: str, value: str) -> str:
    """Return the value that the log keeps for a field about a customer, who may be erased before the entry expires."""
    if name == "email":
        return mailbox_pseudonym(value)
    if name in _KEPT_WITH_CUSTOMERS and value:
        return "(on the customer's page)"
    if name in _KEPT_IN_CONVERSATIONS and value:
        return "(in the conversation)"
    return "(in the order's history)" if name in _KEPT_IN_ORDERS and value else value


_KEPT_WITH_CUSTOMERS = frozenset(("customer_note", "block_reason"))
_KEPT_IN_CONVERSATIONS = frozenset(("message", "subject"))


_KEPT_IN_ORDERS = frozenset(
    (
        "note",
        "reason",
        "name",
        "street",
        "street2",
        "postal_code",
        "city",
        "area",
        "phone",
        "tracking",
    )
)


def _first(fields: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, Sequence[str]]]:
    loggable = [
        (name, values)
        for name, values in fields
        if name != "csrfmiddlewaretoken" and not _LINE.fullmatch(name)
    ]
    return loggable[:MAX_FIELDS]
