"""The limits of carts, and messages shortly before they are reached."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MAX_CARTS = 100
MAX_LINES = 1000
MAX_QUANTITY = 999
_NEARLY = 9 / 10  # the part of a limit from which on a message says how many are left


def cart_limit_message(count: int) -> str:
    """Return a message that says how many more carts a person can have; "" below 90 carts."""
    left = MAX_CARTS - count
    if count < MAX_CARTS * _NEARLY:
        return ""
    if left <= 0:
        return _("You’ve reached the limit of %(most)s carts.") % {"most": MAX_CARTS}
    return ngettext(
        "You can add %(left)s more cart. The limit is %(most)s.",
        "You can add %(left)s more carts. The limit is %(most)s.",
        left,
    ) % {"left": left, "most": MAX_CARTS}


def line_limit_message(count: int) -> str:
    """Return a message that says how many more lines the cart can take; "" below 900 lines."""
    left = MAX_LINES - count
    if count < MAX_LINES * _NEARLY:
        return ""
    if left <= 0:
        return _("This cart is full. The limit is %(most)s different items.") % {"most": MAX_LINES}
    return ngettext(
        "You can add %(left)s more item to this cart. The limit is %(most)s different items.",
        "You can add %(left)s more items to this cart. The limit is %(most)s different items.",
        left,
    ) % {"left": left, "most": MAX_LINES}


def unit_limit_message(count: int) -> str:
    """Return a message that says how many more units of an item the cart can take; "" below 900 units."""
    left = MAX_QUANTITY - count
    if count < MAX_QUANTITY * _NEARLY:
        return ""
    if left <= 0:
        return _("You’ve reached the limit of %(most)s of this item.") % {"most": MAX_QUANTITY}
    return ngettext(
        "You can add %(left)s more of this item. The limit is %(most)s.",
        "You can add %(left)s more of this item. The limit is %(most)s.",
        left,
    ) % {"left": left, "most": MAX_QUANTITY}
