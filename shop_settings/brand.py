"""The shop's brand: its name, its pictures, its two colours and its links, as the staff's page of the brand saves them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any
from uuid import UUID, uuid5

from django.conf import settings

from cassandra_db import CassandraUnavailable
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.menus import MENUS
from shop_settings.queries import get_settings

KEY = "brand"
# The owner of the brand's uploaded pictures, which belong to no product.
UPLOADS_OWNER = uuid5(UUID(int=0), "brand")


@dataclass(frozen=True)
class Brand:
    """What makes the shop look like its owner's.

    `accent` (links and buttons) and `ground` (the page) are the colours in light windows, six hexadecimal digits; "" is the
    stylesheet's own. The colours of dark windows follow from them. `logo`, `favicon` and `hero` are photos
    (catalogue.photos) or "". `links` leads to the shop's pages elsewhere: (name, address).
    """

    name: str
    tagline: str
    accent: str = ""
    ground: str = ""
    logo: str = ""
    favicon: str = ""
    hero: str = ""
    links: tuple[tuple[str, str], ...] = ()


def _parse(key: str, value: Mapping[str, Any]) -> Brand:
    return Brand(**pick_fields(Brand, value) | {"links": tuple(map(tuple, value.get("links", ())))})


def _first_values() -> dict[str, Brand]:
    return {KEY: Brand(name=settings.SHOP_NAME, tagline=settings.SHOP_TAGLINE)}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """A brand contradicts nothing; its form checks each of its values."""


BRAND = SettingKind("brand", _parse, asdict, _first_values, _check)


def find_brand(snapshot: SettingsSnapshot) -> Brand:
    """Return the brand in these settings."""
    return snapshot.get_values(BRAND)[KEY]


def get_brand() -> Brand:
    """Return the brand, at most five seconds old. While Cassandra is away, and nothing was read before, return the first one."""
    try:
        return find_brand(get_settings())
    except CassandraUnavailable:
        return _first_values()[KEY]


def get_drawing_key() -> str:
    """Return what all drawn texts depend on: a short text that is another one as soon as the brand, or a menu, is another one."""
    try:
        snapshot = get_settings()
    except CassandraUnavailable:
        return ""
    return snapshot.compute("drawing key", lambda: _make_drawing_key(snapshot))


def _make_drawing_key(snapshot: SettingsSnapshot) -> str:
    menus = snapshot.get_values(MENUS).values()
    return BRAND.fingerprint(find_brand(snapshot)) + "".join(map(MENUS.fingerprint, menus))
