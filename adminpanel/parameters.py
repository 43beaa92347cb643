"""Parses ids, page numbers and encrypted texts in addresses and forms, even if malformed. Answers 404 for missing objects."""

from collections.abc import Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from django.http import Http404

from web.encryption import DecryptionError, decrypt_token, encrypt_token

T = TypeVar("T")
_PURPOSE = "adminpanel.search"
# The address of a search contains the text encrypted, and works for this long.
_SEALED_SECONDS = 24 * 3600


def found_or_404(found: T | None, what: str = "page") -> T:
    """Return the result of a read. Raises Http404 if it is None; `what` names the missing object in the log."""
    if found is None:
        raise Http404(f"no such {what}")
    return found


def parse_id(text: str) -> UUID | None:
    """Return the id that a text contains, or None if the text is no id."""
    try:
        return UUID(text)
    except ValueError:
        return None


def seal(typed: str) -> str:
    """Return a search's text encrypted for an address. So no email address gets into the browser's history."""
    return encrypt_token([typed], _PURPOSE)


def unseal(sealed: str) -> str:
    """Return the text from an encrypted address. Return "" if it is invalid or older than a day."""
    try:
        (typed,) = decrypt_token(sealed, _PURPOSE, max_age=_SEALED_SECONDS)
    except DecryptionError:
        return ""
    return str(typed)


def parse_page(data: Mapping[str, str], count: int, name: str = "page") -> int:
    """Return the number of the requested page, between 1 and `count`. The default is 1."""
    text = data.get(name, "")[:5]
    return min(max(int(text) if text.isdecimal() else 1, 1), max(count, 1))


def cut_page(
    items: Sequence[T], data: Mapping[str, str], length: int
) -> tuple[Sequence[T], int, int]:
    """Return the items of the requested page, the page's number, and the number of pages (at least 1)."""
    count = max(1, -(-len(items) // length))
    page = parse_page(data, count)
    return items[(page - 1) * length : page * length], page, count
