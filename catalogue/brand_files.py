"""The files that are made of the brand, and their addresses: the stylesheet with its colours, its icon, and the manifest.

A stylesheet's address has its colours, so it is the same file in all processes, whichever brand they know.
"""

import re
from functools import lru_cache
from hashlib import sha256
from typing import Any

from django.templatetags.static import static
from django.urls import reverse

from catalogue.palette import LIGHT, make_palette, make_preview_rules, make_rules
from catalogue.photos import CONTENT_TYPES, parse_photo, photo_url
from shop_settings.brand import Brand

# Stands in an address for a colour that the brand leaves to stoa.css.
_NO_COLOUR = "own"
_KEY = re.compile(rf"([0-9a-f]{{6}}|{_NO_COLOUR})-([0-9a-f]{{6}}|{_NO_COLOUR})-([0-9a-f]{{8}})")
_ICON_ENDING = "webp"


@lru_cache(maxsize=64)
def stylesheet_url(accent: str, ground: str, *, is_preview: bool = False) -> str:
    """Return the address of the stylesheet with these colours, for all pages or for the preview of the staff's page."""
    digest = _digest(_make(accent, ground, is_preview=is_preview))
    key = f"{accent or _NO_COLOUR}-{ground or _NO_COLOUR}-{digest}"
    return reverse("brand_preview" if is_preview else "brand_stylesheet", args=(key,))


def make_stylesheet(key: str, *, is_preview: bool) -> tuple[str, bool] | None:
    """Return the stylesheet that an address names, and whether the address was made by the same release of the shop.

    Return None for an address that no release makes. The colours need not be a brand's: another process may know a newer brand. Made-up
    addresses cost half a millisecond of computing each, and no read. make_palette keeps the last 256 palettes.
    """
    if not (found := _KEY.fullmatch(key)):
        return None
    accent, ground = ("" if each == _NO_COLOUR else each for each in found.groups()[:2])
    text = _make(accent, ground, is_preview=is_preview)
    return text, _digest(text) == found[3]


def _make(accent: str, ground: str, *, is_preview: bool) -> str:
    return make_preview_rules(accent, ground) if is_preview else make_rules(accent, ground)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def icon_url(brand: Brand) -> str:
    """Return the address of the shop's icon, which may be on another host."""
    photo = parse_photo(brand.favicon)
    return photo_url(photo, photo.widths[0], _ICON_ENDING) if photo else static("icons/favicon.svg")


def icon_type(brand: Brand) -> str:
    """Return the content type of the shop's icon."""
    return CONTENT_TYPES[_ICON_ENDING] if brand.favicon else "image/svg+xml"


def make_manifest(brand: Brand) -> dict[str, Any]:
    """Return the web app manifest: what a telephone's home screen shows of the shop."""
    photo = parse_photo(brand.favicon)
    paper = f"#{make_palette(brand.accent, brand.ground)[LIGHT]['paper']}"
    size = (
        f"{photo.widths[0]}x{round(photo.height * photo.widths[0] / photo.width)}" if photo else ""
    )
    return {
        "name": brand.name,
        "short_name": brand.name,
        "description": brand.tagline,
        "start_url": reverse("home"),
        "display": "browser",
        "background_color": paper,
        "theme_color": paper,
        "icons": [{"src": icon_url(brand), "sizes": size or "any", "type": icon_type(brand)}],
    }
