"""The shop's menus: the links in the footer of each page, and those behind the categories in its header."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from cassandra_db import CassandraUnavailable
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import get_settings

FOOTER, HEADER = "footer", "header"
# The law wants these pages in reach of each page. Their links can get another label, but stay.
REQUIRED = ("orders:withdraw", "privacy", "imprint")


@dataclass(frozen=True)
class MenuLink:
    """A link of a menu. `target` is a page's name, `category:<id>`, a path or an https address; "" for `label` is the target's own."""

    target: str
    label: str = ""


@dataclass(frozen=True)
class MenuGroup:
    """Links below a title. In the header, links without a title stand in its line, and a title opens a submenu."""

    title: str
    links: tuple[MenuLink, ...]


@dataclass(frozen=True)
class Menu:
    """A menu: a tree of two levels, so that no submenu can lead back to itself."""

    groups: tuple[MenuGroup, ...]

    @property
    def targets(self) -> list[str]:
        return [link.target for group in self.groups for link in group.links]


def _parse(_key: str, value: Mapping[str, Any]) -> Menu:
    return Menu(
        tuple(
            MenuGroup(
                group["title"],
                tuple(MenuLink(**pick_fields(MenuLink, link)) for link in group["links"]),
            )
            for group in value["groups"]
        )
    )


def _group(title: str, *targets: str) -> MenuGroup:
    return MenuGroup(title, tuple(map(MenuLink, targets)))


def _first_values() -> dict[str, Menu]:
    return {
        FOOTER: Menu(
            (
                _group(gettext_noop("Shop"), "new_arrivals", "deals", "posts:newest"),
                _group(
                    *(gettext_noop("Help and contact"), "help", "conversations:contact", "delivery")
                ),
                _group(
                    *(gettext_noop("Your orders"), "orders:lookup", "orders:withdraw"),
                    *("accounts:profile", "cart:show"),
                ),
                _group(gettext_noop("About us"), "privacy", "terms", "imprint", "accessibility"),
            )
        ),
        HEADER: Menu((_group("", "new_arrivals", "deals", "posts:newest"),)),
    }


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that the footer leads to what the law wants. Raises SettingRefused."""
    if set(REQUIRED) - set(snapshot.get_values(MENUS)[FOOTER].targets):
        raise SettingRefused(
            _(
                "The law wants links to withdrawal, privacy and the legal notice in the footer. Rename or move them, but keep them."
            )
        )


MENUS = SettingKind("menu", _parse, asdict, _first_values, _check)


def get_menu(key: str) -> Menu:
    """Return a menu, at most five seconds old. While Cassandra is away, and nothing was read before, return the first one."""
    try:
        return get_settings().get_values(MENUS)[key]
    except CassandraUnavailable:
        return _first_values()[key]
