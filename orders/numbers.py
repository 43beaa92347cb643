"""Order numbers: eight letters and digits that are easy to read out over the telephone."""

import hashlib
from uuid import UUID

# Crockford's base 32: no I, L, O and U.
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MISREAD = str.maketrans({"I": "1", "L": "1", "O": "0"})
LENGTH = 8


def derive_order_number(order_id: UUID, attempt: int = 0) -> str:
    """Return the number of an order, like "7KQF-3M9X"; each `attempt` gives another, in case a number is taken.

    The id is made with the shop's key (checkout.checkouts), so the number reveals neither the cart nor how many orders there
    are. An order that is placed again after a crash claims the same number.
    """
    length = (
        2 if attempt < 1 << 16 else 4
    )  # of the attempts of a later series (shop_settings.restores)
    content = b"order number" + order_id.bytes + attempt.to_bytes(length, "big")
    digest = hashlib.sha256(content).digest()
    letters = "".join(LETTERS[byte % 32] for byte in digest[:LENGTH])
    return f"{letters[:4]}-{letters[4:]}"


def normalize_order_number(typed: str) -> str:
    """Return a typed number as it is stored: in upper case, with one hyphen, without spaces and look-alikes."""
    letters = "".join(each for each in typed.upper() if each.isalnum()).translate(_MISREAD)
    return f"{letters[:4]}-{letters[4:]}" if len(letters) == LENGTH else letters


def is_order_number(normalized: str) -> bool:
    """Return whether an order may have this normalized number."""
    letters = normalized.replace("-", "", 1)
    return len(letters) == LENGTH and set(letters) <= set(LETTERS)


def may_begin_order_number(letters: str) -> bool:
    """Return whether an order's number, without its hyphen, may begin with these letters."""
    return 0 < len(letters) <= LENGTH and set(letters) <= set(LETTERS)
