"""Signed tokens for the next page of a list.

A token is the clustering key of the last shown row, signed together with the list's name. So nobody can make up a token, or use
it for another customer's list.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.core import signing

from cassandra_db.errors import InvalidPageToken

_SALT = "cassandra_db.pages"


def page_token(key: Sequence[bytes | UUID | datetime | int | str], list_name: str) -> str:
    """Return a token for the page after the row `key` in the list `list_name`, which names question, partition and order."""
    return signing.dumps([list_name, [_pack(part) for part in key]], salt=_SALT)


def page_key(token: str, list_name: str) -> list[Any]:
    """Return the clustering key inside a token. Raises InvalidPageToken if it was not made for the list `list_name`."""
    try:
        made_for, parts = signing.loads(token, salt=_SALT)
    except signing.BadSignature as error:
        raise InvalidPageToken("not one of our page tokens") from error
    if made_for != list_name:
        raise InvalidPageToken("a page token of another list")
    return [_unpack(*part) for part in parts]


def _pack(part: Any) -> tuple[str, Any]:
    match part:
        case bytes():
            return "b", part.hex()
        case UUID():
            return "u", part.hex
        case datetime():
            # Cassandra's timestamps are in milliseconds.
            aware = part if part.tzinfo else part.replace(tzinfo=UTC)
            return "t", round(aware.timestamp() * 1000)
        case int() | str():
            return "p", part
        case _:
            raise TypeError(f"a page key cannot hold {type(part)}")


def _unpack(kind: str, value: Any) -> Any:
    match kind:
        case "b":
            return bytes.fromhex(value)
        case "u":
            return UUID(hex=value)
        case "t":
            return datetime.fromtimestamp(value / 1000, UTC)
        case _:
            return value
