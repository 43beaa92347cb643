"""The audit log in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from accounts import audit_log, queries
from accounts.audit_log import LogEntry
from accounts.models import User

PAGE_LENGTH = 40
# What each act is called. Whatever else stands in the log is a page that a user was refused.
ACTS = {
    "adminpanel:move": "Moved an order",
    "adminpanel:note": "Wrote a note",
    "adminpanel:pack": "Packed a parcel",
    "adminpanel:parcel": "Moved a parcel on",
    "adminpanel:sent_back": "Dealt with a return",
    "adminpanel:return_refund": "Refunded a return",
    "adminpanel:refund": "Gave money back",
    "adminpanel:lines": "Changed an order",
    "adminpanel:door": "Changed an order's address",
    "adminpanel:received": "Noted a payment",
    "adminpanel:money_sent": "Sent money back",
    "adminpanel:second_factor": "Second factor",
    "adminpanel:recovery_codes": "New recovery codes",
    "adminpanel:person_find": "Looked somebody up",
    "adminpanel:person_role": "Changed a role",
    "adminpanel:person_sessions_end": "Ended sessions",
    "adminpanel:person_factor_reset": "Reset a second factor",
    "adminpanel:promotion_make": "Made a promotion",
    "adminpanel:promotion_end": "Ended a promotion",
    "login": "Signed in",
    "login_failed": "Could not sign in",
    "logout": "Signed out",
    "staff add": "Gave a role",
    "staff remove": "Took a role",
    "staff second-factor-reset": "Reset a second factor",
    "registered": "Made an account",
    "password_changed": "Changed the password",
    "email_changed": "Changed the e-mail address",
    "sessions_ended": "Ended sessions",
    "erased": "Had the account erased",
}
TONES = {"done": "good", "refused": "warn", "failed": "bad"}


@dataclass(frozen=True)
class LogLine:
    """An entry as it is shown."""

    entry: LogEntry
    who: str
    what: str
    subject: str
    fields: tuple[tuple[str, str], ...]
    outcome: str
    tone: str

    @property
    def moment(self) -> datetime:
        return self.entry.moment


@dataclass(frozen=True)
class AuditLogPage:
    """A page of the log. `who` is set if it shows one person's acts alone; `next` is a page token."""

    book: str
    who: UUID | None
    name: str
    lines: tuple[LogLine, ...]
    next: str


def get_day_page(book: str, day: date, after: str) -> AuditLogPage:
    """Return a page of a day's entries. Raises BadPageToken, CassandraUnavailable."""
    entries, following = audit_log.list_day_entries(book, day, after, PAGE_LENGTH)
    return AuditLogPage(book, None, "", _lines(entries), following)


def get_actor_page(who: UUID, day: date, after: str) -> AuditLogPage:
    """Return a page of what a user did in the month of a day. Raises BadPageToken, CassandraUnavailable."""
    entries, following = audit_log.list_actor_entries(who, day.replace(day=1), after, PAGE_LENGTH)
    person = queries.get_users([who]).get(who)
    return AuditLogPage(
        "",
        who,
        person.name if person else "Somebody whose account is gone",
        _lines(entries),
        following,
    )


def _lines(entries: list[LogEntry]) -> tuple[LogLine, ...]:
    ids = {found for entry in entries for found in (entry.actor_id, _id(entry.subject)) if found}
    people = queries.get_users(ids)
    return tuple(_line(entry, people) for entry in entries)


def _line(entry: LogEntry, people: dict[UUID, User]) -> LogLine:
    word = entry.outcome.partition(" ")[0].rstrip(":")
    about = people.get(_id(entry.subject) or queries.NOBODY)
    return LogLine(
        entry,
        _who(entry, people),
        ACTS.get(entry.act, f"Asked for {entry.act}"),
        f"{about.name}, {about.email}" if about else entry.subject,
        tuple((name, value) for name, value in entry.fields.items() if value),
        entry.outcome or "no outcome: it was cut off, or is still under way",
        TONES.get(word, "plain") if entry.outcome else "warn",
    )


def _who(entry: LogEntry, people: dict[UUID, User]) -> str:
    if entry.actor:
        return entry.actor
    if entry.actor_id is None:
        return "Nobody known"
    person = people.get(entry.actor_id)
    return f"{person.name}, {person.email}" if person else "An account that is gone"


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
