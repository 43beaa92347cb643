"""Order numbers: eight letters and digits that can be read out over the telephone."""

import hashlib
from uuid import UUID

# Crockford's base 32: no I, L, O and U.
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MISREAD = str.maketrans({"I": "1", "L": "1", "O": "0"})
LENGTH = 8


def derive_order_number(order_id: UUID, attempt: int = 0) -> str:
    """Return the number of an order, like "7KQF-3M9X"; a further `attempt` gives another one, if that is taken.

    An order's id is made with the shop's key (checkout.checkouts), so nobody else can derive its number from a cart: it
    reveals neither how many orders there are nor whose cart it was. As it depends on the id alone, an order that is
    placed a second time after a crash claims the same number.
    """
    digest = hashlib.sha256(b"order number" + order_id.bytes + attempt.to_bytes(2, "big")).digest()
    letters = "".join(LETTERS[byte % 32] for byte in digest[:LENGTH])
    return f"{letters[:4]}-{letters[4:]}"


def normalize_order_number(typed: str) -> str:
    """Return a number as it is stored, whatever case, dashes, spaces and look-alikes it was typed with."""
    letters = "".join(each for each in typed.upper() if each.isalnum()).translate(_MISREAD)
    return f"{letters[:4]}-{letters[4:]}" if len(letters) == LENGTH else letters


def is_order_number(normalized: str) -> bool:
    """Return whether an order may have this number, as `normalize_order_number` returns it."""
    letters = normalized.replace("-", "", 1)
    return len(letters) == LENGTH and set(letters) <= set(LETTERS)


def may_begin_order_number(letters: str) -> bool:
    """Return whether an order's number, without its hyphen, may begin like this."""
    return 0 < len(letters) <= LENGTH and set(letters) <= set(LETTERS)
