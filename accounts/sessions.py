"""Sessions on Cassandra (SESSION_ENGINE).

The row's TTL is the session's expiry, so nothing sweeps and no clock is compared. A made-up key writes nothing;
a request that is still under way when its session ends cannot revive it: a known session is saved by UPDATE … IF EXISTS.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import CreateError, SessionBase, UpdateError

from cassandra_db import conditional, read, write

LOAD = read("session", "SELECT data FROM sessions WHERE session_key = :key")
EXISTS = read("session", "SELECT session_key FROM sessions WHERE session_key = :key")
CREATE = conditional(
    "session", "INSERT INTO sessions (session_key, data, user_id) VALUES (:key, :data, :user_id) IF NOT EXISTS USING TTL :ttl"
)
UPDATE = conditional("session", "UPDATE sessions USING TTL :ttl SET data = :data, user_id = :user_id WHERE session_key = :key IF EXISTS")
DELETE = conditional("session", "DELETE FROM sessions WHERE session_key = :key IF EXISTS")
REMEMBER = write(
    "session", "INSERT INTO sessions_by_user (user_id, session_key, created_at) VALUES (:user_id, :key, :now) USING TTL :ttl"
)
FORGET = write("session", "DELETE FROM sessions_by_user WHERE user_id = :user_id AND session_key = :key")


class SessionStore(SessionBase):
    """A session in one row, with the user's id beside it."""

    @classmethod
    def get_model_class(cls) -> None:
        """There is no Django model behind it."""

    def load(self) -> dict[str, Any]:
        """Return the session's data; an unknown key gives an empty session without a key."""
        row = LOAD.one(key=self.session_key)
        if row is None or row.data is None:
            self._session_key = None
            return {}
        return self.decode(row.data)

    def exists(self, session_key: str) -> bool:
        """Tell whether a session has this key."""
        return EXISTS.one(key=session_key) is not None

    def create(self) -> None:
        """Give the session a new key and a row."""
        while True:
            self._session_key = self._get_new_session_key()  # type: ignore[attr-defined]
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
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        user = data.get(SESSION_KEY)
        user_id = UUID(user) if user else None
        ttl = self.get_expiry_age()
        params = {"key": self.session_key, "data": self.encode(data), "user_id": user_id, "ttl": ttl}
        if must_create:
            # Settled by its own data: an answer that was lost does not make a second row.
            if not CREATE.apply(mine=lambda row: row.data == params["data"], **params):
                raise CreateError
        elif not UPDATE.apply(mine=lambda _: True, **params):
            raise UpdateError
        if user_id:
            REMEMBER.run(user_id=user_id, key=self.session_key, now=datetime.now(UTC), ttl=ttl)
        return None

    def delete(self, session_key: str | None = None) -> None:
        """End the session; ending one that has ended is no error."""
        key = session_key or self.session_key
        if key is None:
            return
        user = None if session_key else self._session_cache.get(SESSION_KEY) if hasattr(self, "_session_cache") else None
        DELETE.apply(mine=lambda _: True, key=key)
        if user:
            FORGET.run(user_id=UUID(user), key=key)

    @classmethod
    def clear_expired(cls) -> None:
        """Nothing to do: rows vanish with their TTL."""

