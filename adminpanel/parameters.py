"""Reads ids and page numbers that addresses and forms send, whatever somebody has made of them."""

from collections.abc import Mapping
from uuid import UUID


def parse_id(text: str) -> UUID | None:
    """Return the id that a text is, None if it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def parse_page(data: Mapping[str, str], count: int, name: str = "page") -> int:
    """Return the page that is asked for, from 1 to `count`; the first one by default."""
    text = data.get(name, "")[:5]
    return min(max(int(text) if text.isdecimal() else 1, 1), max(count, 1))
