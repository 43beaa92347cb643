"""Sessions on Cassandra (SESSION_ENGINE).

The row's TTL is the session's expiry: no job deletes rows, and no clocks are compared. A made-up session key writes nothing.
A known session is saved by UPDATE … IF EXISTS, so a running request cannot revive a session that has ended. Every write is
conditional, because conditional and plain writes use different clocks.

Only the browser's cookie has the key. The tables have a keyed hash of the key, so a copy of the tables opens no session. A
session from before a change of SECRET_KEY is found by the hash under the old key (SECRET_KEY_FALLBACKS).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import (
    VALID_KEY_CHARS,
    CreateError,
    SessionBase,
    UpdateError,
)
from django.contrib.sessions.exceptions import SessionInterrupted
from django.utils.crypto import constant_time_compare, get_random_string

from accounts.async_variants import async_variant
from accounts.known_devices import forget_devices
from cassandra_db import (
    QUORUM,
    SEND_AGAIN,
    PendingResult,
    applied_if,
    conditional_write,
    current_time,
    is_clock_right,
    read,
    scan,
    write,
)
from web.encryption import keyed_digests

LOAD = read("session", "SELECT data, user_id FROM sessions WHERE session_key = :key")
EXISTS = read("session", "SELECT session_key FROM sessions WHERE session_key = :key")
OWNER = read("session", "SELECT user_id FROM sessions WHERE session_key = :key")
CREATE = conditional_write(
    "session",
    "INSERT INTO sessions (session_key, data, user_id) VALUES (:key, :data, :user_id) IF NOT EXISTS USING TTL :ttl",
)
UPDATE = conditional_write(
    "session",
    "UPDATE sessions USING TTL :ttl SET data = :data, user_id = :user_id WHERE session_key = :key IF EXISTS",
)
DELETE = conditional_write("session", "DELETE FROM sessions WHERE session_key = :key IF EXISTS")
REMEMBER = write(
    "session",
    """INSERT INTO sessions_by_user (user_id, session_key, created_at, seen_at, device)
       VALUES (:user_id, :key, :began, :now, :device) USING TTL :ttl""",
)
FORGET = write(
    "session", "DELETE FROM sessions_by_user WHERE user_id = :user_id AND session_key = :key"
)
ALL = scan(
    "session",
    "SELECT session_key, user_id FROM sessions WHERE token(session_key) > :start AND token(session_key) <= :end",
    consistency=QUORUM,
)
OF_USER = read(
    "session",
    "SELECT session_key, created_at, seen_at, device FROM sessions_by_user WHERE user_id = :user_id",
)

RENEWED_AFTER = 3600  # seconds; an active session is renewed at most this often
MAX_SESSION_SECONDS = settings.MAX_SESSION_SECONDS
# A staff session that has passed the second factor is worth more to thieves, so it ends sooner (decision 008).
STAFF_IDLE = 30 * 60  # seconds without a request
MAX_STAFF_SESSION_SECONDS = settings.MAX_STAFF_SESSION_SECONDS
STAFF_RENEWED_AFTER = 60  # seconds
# the keys of the user who passed the second factor, and of the time (accounts.second_factor)
SECOND_FACTOR, PASSED_AT = ("_second_factor", "_passed_at")
_KEY = re.compile(f"[{VALID_KEY_CHARS}]{{32}}")
_RENEWED, _BEGAN = "_renewed", "_began"


class SessionStore(SessionBase):
    """A session in one row, with its user's id."""

    user_id: UUID | None = None  # the row's user, as last read or written
    name_device: Callable[[], str] = str  # names the device in words

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        # The stored key.
        self.stored_key = next(iter(stored_keys(self.session_key)), "")

    @classmethod
    def get_model_class(cls) -> None:
        """Return None: sessions have no Django model."""

    def load(self) -> dict[str, Any]:
        """Return the session's data; an unknown key gives an empty session without a key."""
        for stored in stored_keys(self.session_key):
            row = LOAD.one(key=stored)
            if row is not None and row.data is not None:
                self.stored_key, self.user_id = stored, row.user_id
                return self.decode(row.data)
        self._session_key = None
        return {}

    def exists(self, session_key: str) -> bool:
        """Return whether a session has this key."""
        return any(EXISTS.one(key=stored) for stored in stored_keys(session_key))

    def _get_new_session_key(self) -> str:
        # IF NOT EXISTS of the write shows whether the key is taken.
        return get_random_string(32, VALID_KEY_CHARS)

    def create(self) -> None:
        """Give the session a new key and a row."""
        while True:
            self._session_key = self._get_new_session_key()
            self.stored_key = stored_keys(self._session_key)[0]
            try:
                self.save(must_create=True)
            except CreateError:
                continue
            self.modified = True
            return

    def cycle_key(self) -> None:
        """Give the session another key, at login and whenever its rights change.

        The new row is listed and written before the old one is deleted, so that `end_sessions` finds one of the two. Raises
        SessionInterrupted if the session has ended meanwhile: it must not live on under a new key.
        """
        data = self._get_session()  # type: ignore[attr-defined]
        # must follow the read, which sets the key of an ended session to None
        key, stored, user_id = self.session_key, self.stored_key, self.user_id
        self._session_cache = data
        self.create()
        if key is None:
            return
        if not DELETE.apply(if_lost=SEND_AGAIN, key=stored):
            self.delete()
            raise SessionInterrupted("The session has ended since this request came in.")
        if user_id:
            FORGET.run(user_id=user_id, key=stored)

    acycle_key = async_variant("cycle_key")  # type: ignore[assignment]

    def save(self, must_create: bool = False) -> None:
        """Write the session, or end it if its expiry is in the past. Raises CreateError if the key is taken, UpdateError if the session has ended meanwhile."""
        if self.session_key is None:
            return self.create()
        data: dict[str, Any] = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        self.user_id = UUID(data[SESSION_KEY]) if SESSION_KEY in data else None
        seconds = self._set_times(data, began=must_create)
        if seconds <= 0:
            # Expired: write no new row, and delete an existing one.
            return self.delete()
        params = {
            "key": self.stored_key,
            "data": self.encode(data),
            "user_id": self.user_id,
            "ttl": seconds,
        }
        if must_create:
            # The session is listed before it can be used: from now on `end_sessions` ends it, too.
            self._remember(data, seconds)
            # The row is recognised by its data: after a lost answer no second row is made.
            if not CREATE.apply(
                if_lost=applied_if(lambda row: bool(row.data == params["data"])), **params
            ):
                raise CreateError
        # A repeat has the same effect.
        elif not UPDATE.apply(if_lost=SEND_AGAIN, **params):
            raise UpdateError
        # A new session is listed again: `end_sessions` may have removed the first entry before the row existed.
        self._remember(data, seconds)
        return None

    def _remember(self, data: dict[str, Any], seconds: int) -> None:
        if self.user_id:
            REMEMBER.run(
                user_id=self.user_id,
                key=self.stored_key,
                began=datetime.fromtimestamp(data[_BEGAN], UTC),
                now=current_time(),
                device=self.name_device(),
                ttl=seconds,
            )

    def _set_times(self, data: dict[str, Any], *, began: bool) -> int:
        """Set the times at which the session began and was renewed. Return the seconds left, 0 or less for an expired session."""
        now = int(current_time().timestamp())
        if began or _BEGAN not in data:
            data[_BEGAN] = now
        data[_RENEWED] = now
        ends = int(data[_BEGAN]) + MAX_SESSION_SECONDS
        if SECOND_FACTOR in data:
            # When the session began, not its key: a new password makes a new key, but does not prolong the session.
            ends = int(data.get(PASSED_AT, data[_BEGAN])) + MAX_STAFF_SESSION_SECONDS
        return min(int(self.get_expiry_age()), ends - now)

    def renew(self) -> None:
        """Renew the session's expiry with this response, unless that was done within the last hour (for staff: minute)."""
        seldom = STAFF_RENEWED_AFTER if SECOND_FACTOR in self else RENEWED_AFTER
        if int(current_time().timestamp()) - self.get(_RENEWED, 0) > seldom and is_clock_right():
            self.modified = True

    def delete(self, session_key: str | None = None) -> None:
        """End the session, if it has not ended yet."""
        for stored in stored_keys(session_key or self.session_key):
            DELETE.apply(if_lost=SEND_AGAIN, key=stored)
            if self.user_id:
                FORGET.run(user_id=self.user_id, key=stored)

    @classmethod
    def clear_expired(cls) -> None:
        """Do nothing: rows expire by their TTL."""


@dataclass(frozen=True)
class OpenSession:
    """A browser where the user is signed in. `handle` is the keyed hash of the session key; it opens no session."""

    handle: str
    device: str
    created_at: datetime
    last_seen_at: datetime  # to the hour
    is_current: bool


def list_sessions(user_id: UUID, current_session_key: str | None) -> list[OpenSession]:
    """Return a user's open sessions: first the one of `current_session_key`, then the most recently seen. Raises CassandraUnavailable."""
    current = stored_keys(current_session_key)
    listed = [(row, EXISTS.start(key=row.session_key)) for row in OF_USER.all(user_id=user_id)]
    found = [
        OpenSession(
            row.session_key,
            row.device or "",
            row.created_at,
            row.seen_at or row.created_at,
            row.session_key in current,
        )
        for row, pending in listed
        if pending.one() is not None
    ]
    return sorted(found, key=lambda each: (each.is_current, each.last_seen_at), reverse=True)


def prefetch_sessions(user_id: UUID) -> PendingResult:
    """Start reading a user's sessions: there is no row if the user was away for as long as a session lasts."""
    return OF_USER.start(user_id=user_id)


def find_session_user(session_key: str) -> UUID | None:
    """Return the user of the session that a cookie's key opens, or None. Raises CassandraUnavailable."""
    rows = (OWNER.one(key=stored) for stored in stored_keys(session_key))
    return next((row.user_id for row in rows if row is not None), None)


def end_session(user_id: UUID, handle: str) -> bool:
    """End a user's session by its handle; return whether it existed. Raises CassandraUnavailable."""
    for row in OF_USER.all(user_id=user_id):
        if constant_time_compare(row.session_key, handle):
            _end(user_id, row.session_key)
            return True
    return False


def end_sessions(user_id: UUID, except_key: str | None = None) -> int:
    """End all of a user's sessions except the one of `except_key`, and void the cookies of all known devices.

    Return the number of ended sessions. Raises CassandraUnavailable.
    """
    forget_devices(user_id)
    kept, ended = stored_keys(except_key), set[str]()
    # Repeat until no session is left: a session that got another key meanwhile is found in the next round.
    while keys := {row.session_key for row in OF_USER.all(user_id=user_id)} - {*kept, *ended}:
        for key in keys:
            _end(user_id, key)
        ended |= keys
    return len(ended)


def end_all_sessions() -> int:
    """End the sessions of all members and guests, and return their number. Raises CassandraUnavailable."""
    count = 0
    for row in ALL.iterate_table():
        _end(row.user_id, row.session_key)
        count += 1
    return count


def _end(user_id: UUID | None, key: str) -> None:
    DELETE.apply(if_lost=SEND_AGAIN, key=key)
    if user_id:
        FORGET.run(user_id=user_id, key=key)


def stored_keys(key: str | None) -> list[str]:
    """Return the keyed hashes of a session key: by today's SECRET_KEY first, then by the old ones; none for an invalid key."""
    return keyed_digests(key, "session", "") if key and _KEY.fullmatch(key) else []
