"""What a cart can hold, and the messages that say so before it is full."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MAX_CARTS = 100
MAX_LINES = 1000
MAX_QUANTITY = 999
_NEARLY = 9 / 10  # from here on a message says how much room is left


def cart_limit_message(count: int) -> str:
    """Return how many carts more there can be, once there are 90."""
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
    """Return how many lines more a cart can hold, once it has 900."""
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
    """Return how many units more a line can have, once it has 900."""
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
