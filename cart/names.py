"""Names of carts: which names are valid, which are equal, and which are free."""

import unicodedata
from collections.abc import Iterable
from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from cart.errors import InvalidCartName
from cart.limits import MAX_CARTS

MAX_NAME_LENGTH = 60
_JOINERS = (
    "\u200c\u200d"  # Some scripts and emoji need these; other invisible characters are removed.
)


def default_name() -> str:
    """Return the name of a cart that the shopper has given no name."""
    return _("My cart")


def clean_name(typed: str) -> str:
    """Return a typed name as it is stored: composed Unicode, single spaces, no invisible characters. Raises InvalidCartName."""
    visible = "".join(each for each in unicodedata.normalize("NFC", typed) if _is_visible(each))
    name = " ".join(visible.split())
    if not any(unicodedata.category(each)[0] in "LNSP" for each in name):
        raise InvalidCartName(_("Enter a name for the cart."))
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidCartName(
            _("The cart name must be %(most)s characters or fewer. Yours has %(count)s.")
            % {"most": MAX_NAME_LENGTH, "count": len(name)}
        )
    return name


def name_key(name: str) -> str:
    """Return the key of a name. Names that read the same have the same key: "GIFTS" and "Gifts", "ﬁne" and "fine"."""
    return "".join(
        each for each in unicodedata.normalize("NFKC", name).casefold() if each not in _JOINERS
    )


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return the name `wanted`. If its `name_key` is taken, return it with the first free number behind it."""
    keys = set(taken)
    numbered = (f"{wanted[: MAX_NAME_LENGTH - 6]} ({number})" for number in range(2, MAX_CARTS + 3))
    return (
        wanted
        if name_key(wanted) not in keys
        else next(each for each in numbered if name_key(each) not in keys)
    )


def adopted_name(name: str, device: str, now: datetime, taken: Iterable[str]) -> str:
    """Return the name of a guest's cart after a login has given it to a member.

    The name that the guest gave stays if it is free. Otherwise the name says the source: "From your phone, 21 November".
    """
    keys = set(taken)
    has_own_name = not name_key(name).startswith(name_key(default_name()))
    if has_own_name and name_key(name) not in keys:
        return name
    origin = {"device": device, "day": date_format(timezone.localtime(now), "j F")}
    if not has_own_name:
        return free_name(_("From your %(device)s, %(day)s") % origin, keys)
    text = _("%(name)s, from your %(device)s, %(day)s")
    space = MAX_NAME_LENGTH - 6 - len(text % {**origin, "name": ""})
    return free_name(text % {**origin, "name": name[:space]}, keys)


def _is_visible(character: str) -> bool:
    return (
        character in _JOINERS
        or character.isspace()
        or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )
