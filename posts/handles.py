"""Handles: the names by which public profiles are found, `/people/<handle>/`."""

import re

from django.utils.text import slugify
from django.utils.translation import gettext as _

from posts.errors import HandleRefused
from posts.rules import MAX_HANDLE, MIN_HANDLE
from shop_settings.brand import get_brand

# These would be taken for the shop, its staff or one of its pages.
RESERVED = (
    *("about", "account", "admin", "administrator", "all", "anonymous", "api", "cart", "checkout"),
    *("contact", "customer_service", "deleted", "edit", "everyone", "feed", "following", "help"),
    *("legal", "login", "logout", "me", "moderator", "news", "nobody", "null", "official", "order"),
    *("orders", "people", "popular", "post", "posts", "privacy", "profile", "root", "security"),
    *("settings", "shop", "staff", "support"),
    *("system", "tags", "team", "undefined", "webmaster"),
)
_HANDLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LOOK_ALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "_": ""})


def fold_handle(handle: str) -> str:
    """Return the key of a handle. Two handles that look alike have the same key, such as "Anna_1" and "annal"."""
    folded = handle.casefold().translate(_LOOK_ALIKES)
    return folded.replace("rn", "m").replace("vv", "w")


_RESERVED_KEYS = frozenset(map(fold_handle, RESERVED))


def _shop_keys() -> set[str]:
    """Return the keys of handles that look like the shop's own name."""
    name = fold_handle(slugify(get_brand().name).replace("-", "_"))
    return {name + fold_handle(end) for end in ("", "shop", "staff", "support")}


def check_handle(handle: str) -> str:
    """Return the key of a handle. Raises HandleRefused if nobody may have it."""
    if not MIN_HANDLE <= len(handle) <= MAX_HANDLE:
        raise HandleRefused(
            _("Enter %(least)d to %(most)d characters.") % {"least": MIN_HANDLE, "most": MAX_HANDLE}
        )
    if not _HANDLE.fullmatch(handle):
        raise HandleRefused(_("Use the letters a to z, digits and _, and begin with a letter."))
    key = fold_handle(handle)
    if key in _RESERVED_KEYS or key in _shop_keys():
        raise HandleRefused(_("The shop keeps this handle for itself. Choose another one."))
    return key
