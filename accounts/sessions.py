"""Sessions on Cassandra (SESSION_ENGINE).

The row's TTL is the session's expiry, so nothing sweeps and no clock of ours is compared with a stored one. A made-up
key writes nothing; a request that is still under way when its session ends cannot revive it: a known session is saved
by UPDATE … IF EXISTS. Every write is conditional, because conditional and plain writes live by different clocks.
"""

import re
import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import VALID_KEY_CHARS, CreateError, SessionBase, UpdateError
from django.utils.crypto import get_random_string

from cassandra_db import conditional, read, write

LOAD = read("session", "SELECT data, user_id FROM sessions WHERE session_key = :key")
EXISTS = read("session", "SELECT session_key FROM sessions WHERE session_key = :key")
CREATE = conditional(
    "session",
    "INSERT INTO sessions (session_key, data, user_id) VALUES (:key, :data, :user_id) IF NOT EXISTS USING TTL :ttl",
)
UPDATE = conditional(
    "session", "UPDATE sessions USING TTL :ttl SET data = :data, user_id = :user_id WHERE session_key = :key IF EXISTS"
)
DELETE = conditional("session", "DELETE FROM sessions WHERE session_key = :key IF EXISTS")
REMEMBER = write(
    "session",
    "INSERT INTO sessions_by_user (user_id, session_key, created_at) VALUES (:user_id, :key, :now) USING TTL :ttl",
)
FORGET = write("session", "DELETE FROM sessions_by_user WHERE user_id = :user_id AND session_key = :key")
OF_USER = read("session", "SELECT session_key FROM sessions_by_user WHERE user_id = :user_id")

RENEWED_AFTER = 3600  # seconds; an active session's expiry is moved on at most this often
LONGEST = 90 * 24 * 3600  # seconds from login on, however active the session is
_KEY = re.compile(f"[{VALID_KEY_CHARS}]{{32}}")
_RENEWED, _BEGAN = "_renewed", "_began"


class SessionStore(SessionBase):
    """A session in one row, with the user's id beside it."""

    user_id: UUID | None = None  # whose session the row is, as last read or written

    @classmethod
    def get_model_class(cls) -> None:
        """There is no Django model behind it."""

    def load(self) -> dict[str, Any]:
        """Return the session's data; an unknown key gives an empty session without a key."""
        key = self.session_key
        row = LOAD.one(key=key) if key and _KEY.fullmatch(key) else None
        if row is None or row.data is None:
            self._session_key = None
            return {}
        self.user_id = row.user_id
        return self.decode(row.data)

    def exists(self, session_key: str) -> bool:
        """Tell whether a session has this key."""
        return EXISTS.one(key=session_key) is not None

    def _get_new_session_key(self) -> str:
        # No look whether it is taken: IF NOT EXISTS tells.
        return get_random_string(32, VALID_KEY_CHARS)

    def create(self) -> None:
        """Give the session a new key and a row."""
        while True:
            self._session_key = self._get_new_session_key()
            try:
                self.save(must_create=True)
            except CreateError:
                continue
            self.modified = True
            return

    def save(self, must_create: bool = False) -> None:
        """Write the session. Raises CreateError if the key is taken, UpdateError if the session has ended meanwhile."""
        if self.session_key is None:
            return self.create()
        data: dict[str, Any] = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        self.user_id = UUID(data[SESSION_KEY]) if SESSION_KEY in data else None
        seconds = self._dated(data, began=must_create)
        params = {"key": self.session_key, "data": self.encode(data), "user_id": self.user_id, "ttl": seconds}
        if must_create:
            # Settled by its own data: an answer that was lost does not make a second row.
            if not CREATE.apply(mine=lambda row: bool(row.data == params["data"]), **params):
                raise CreateError
        # To send it again does no harm: it has no other effect the second time.
        elif not UPDATE.apply(mine=lambda _: True, **params):
            raise UpdateError
        if self.user_id:
            REMEMBER.run(user_id=self.user_id, key=self.session_key, now=datetime.now(UTC), ttl=seconds)
        return None

    def _dated(self, data: dict[str, Any], *, began: bool) -> int:
        """Note when the session began and was renewed; return the seconds it has left (a TTL of 0 would be for ever)."""
        now = int(time.time())
        if began or _BEGAN not in data:
            data[_BEGAN] = now
        data[_RENEWED] = now
        return max(1, min(int(self.get_expiry_age()), int(data[_BEGAN]) + LONGEST - now))

    def renew(self) -> None:
        """Have the expiry moved on with this request's answer, unless that was done within the last hour."""
        if int(time.time()) - self.get(_RENEWED, 0) > RENEWED_AFTER:
            self.modified = True

    def delete(self, session_key: str | None = None) -> None:
        """End the session; ending one that has ended is no error."""
        key = session_key or self.session_key
        if key is None:
            return
        DELETE.apply(mine=lambda _: True, key=key)
        if self.user_id:
            FORGET.run(user_id=self.user_id, key=key)

    @classmethod
    def clear_expired(cls) -> None:
        """Nothing to do: rows vanish with their TTL."""


def sessions_ended(user_id: UUID) -> int:
    """End all of a person's sessions, on every device. Return how many there were. Raises CassandraUnavailable."""
    keys = [row.session_key for row in OF_USER.all(user_id=user_id)]
    for key in keys:
        DELETE.apply(mine=lambda _: True, key=key)
        FORGET.run(user_id=user_id, key=key)
    return len(keys)
