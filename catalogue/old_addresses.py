"""Addresses of the shop's products and pages in a shop that it has replaced: their paths, and which of them may lead on."""

import re
from urllib.parse import unquote, urlsplit

from web.text import clean_text

MAX_PATH_LENGTH = 200
# A product has at most this many.
MAX_OLD_ADDRESSES = 20
# Paths that begin with these belong to one person or to the staff. They never lead on, and are not counted.
PRIVATE = frozenset(("account", "cart", "carts", "checkout", "demo", "o", "orders", "staff"))


def normalize_path(address: str) -> str:
    """Return the path of an address, by which it is stored and looked up; "" if it is too long, private or no path.

    Old shops differ in these, so they do not count: the host, the query, capitals, and the slash at the end.
    """
    try:
        path = unquote(urlsplit(address.strip()).path)
    except ValueError:
        return ""
    # Blanks separate the addresses of a text.
    path = re.sub(r"\s", "%20", clean_text(path.lower()).rstrip("/"))
    is_path = path.startswith("/") and len(path) <= MAX_PATH_LENGTH
    is_text = "\ufffd" not in path  # a byte that is no UTF-8
    return path if is_path and is_text and path.split("/")[1] not in PRIVATE else ""


def list_old_paths(text: str) -> list[str]:
    """Return the different paths of the old addresses in a text, which blanks or line breaks separate."""
    return [path for path in dict.fromkeys(map(normalize_path, text.split())) if path]
