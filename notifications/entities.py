"""Notifications: what apps tell members, the kinds that apps register, and the members who get them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from math import ceil
from uuid import UUID

from cassandra.util import datetime_from_uuid1, uuid_from_time
from django.utils.translation import gettext_lazy as _

from web.types import StrOrPromise

RETENTION = timedelta(days=30)
# What a member chooses for a kind. A mail and a line of the digest come beside the notification on the page.
PAGE, DIGEST, MAIL, NOTHING = "page", "digest", "mail", "nothing"
# The groups of kinds, in the order in which members choose.
ORDERS, PRODUCTS = _("Orders"), _("Products")
TEXTS, CARTS = _("Questions and reviews"), _("Shared carts")
MESSAGES = _("Messages")
POSTS = _("Posts")
GROUPS = (ORDERS, PRODUCTS, MESSAGES, TEXTS, POSTS, CARTS)
CHOICE_LABELS: Mapping[str, StrOrPromise] = {
    MAIL: _("On the page, and by email at once"),
    DIGEST: _("On the page, and in the daily email"),
    PAGE: _("On the page only"),
    NOTHING: _("Not at all"),
}


@dataclass(frozen=True)
class Line:
    """The words of a notification for its reader, and the path of the page that it leads to; "" for a thing that is gone."""

    text: str
    path: str = ""


@dataclass(frozen=True)
class News:
    """An event of which a member is told. `ids` name the things that it is about; they never hold words of a person."""

    kind: str
    user_id: UUID
    at: datetime
    ids: Mapping[str, str]

    @property
    def notification_id(self) -> UUID:
        """The id of the event's notification, made of event and reader alone: a repeat has the same id."""
        text = f"{self.kind} {self.user_id} {self.dump_ids()}"
        number = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        found: UUID = uuid_from_time(self.at, node=number >> 16, clock_seq=number & 0x3FFF)
        return found

    def dump_ids(self) -> str:
        """Return the ids as the table stores them."""
        return json.dumps(dict(self.ids), sort_keys=True)


@dataclass(frozen=True)
class Notification:
    """A stored notification. `is_new`: its reader has not opened the panel since; `is_read`: they have opened it."""

    user_id: UUID
    notification_id: UUID
    kind: str
    ids: Mapping[str, str] = field(hash=False)
    is_read: bool = False
    is_new: bool = False
    digest_at: datetime | None = None

    @property
    def at(self) -> datetime:
        """The time (UTC) of the event."""
        return get_moment(self.notification_id)


def get_moment(notification_id: UUID) -> datetime:
    """Return the time (UTC) in the id of a notification."""
    moment: datetime = datetime_from_uuid1(notification_id)
    return moment.replace(tzinfo=UTC)


def count_seconds_left(moment: datetime, now: datetime) -> int:
    """Return the seconds after which a notification of an event at `moment` expires; 0 or less if it has expired."""
    return ceil((moment + RETENTION - now).total_seconds())


# Starts the reads that the words of these notifications need. The returned function waits for them and returns the lines by
# notification id; a notification without a line is about a thing that is gone.
Describe = Callable[[Sequence[Notification]], Callable[[], Mapping[UUID, Line]]]


@dataclass(frozen=True)
class Kind:
    """A kind of notifications, registered by an app.

    `is_always_mailed`: the shop has to send the mail, so the choice is only about the page. `has_own_mail`: its app sends the mail
    and asks `wants_mail` before; otherwise the notification's worker mails its line. Within `quiet_for`, a member gets one
    notification about the same things.
    """

    name: str
    group: StrOrPromise
    label: StrOrPromise
    gone: StrOrPromise
    describe: Describe
    default: str = MAIL
    is_always_mailed: bool = False
    has_own_mail: bool = False
    quiet_for: timedelta = timedelta(0)

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices that a member has."""
        return (PAGE, NOTHING) if self.is_always_mailed else tuple(CHOICE_LABELS)

    def choose(self, chosen: Mapping[str, str] | None) -> str:
        """Return the choice of a member, whose choices by kind are `chosen`, or the default."""
        choice = (chosen or {}).get(self.name, self.default)
        return choice if choice in self.choices else self.choices[0]


@dataclass(frozen=True)
class Recipient:
    """A member who can get notifications: their address, and their choices by kind."""

    user_id: UUID
    email: str
    choices: Mapping[str, str] = field(hash=False)


def describe_ids(
    notes: Sequence[Notification], write: Callable[[Notification], Line | None]
) -> Callable[[], Mapping[UUID, Line]]:
    """Return the lines of notifications whose words need no reads, for `Kind.describe`."""
    lines = {each.notification_id: line for each in notes if (line := write(each))}
    return lambda: lines
