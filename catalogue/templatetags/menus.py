"""The shop's menus. In the header, some categories fit into its one line; the others are in its menu "More"."""

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from django import template

from catalogue.entities import MenuEntry
from catalogue.menu_links import ShownGroup, ShownMenu, make_shown_menu
from shop_settings.menus import FOOTER, HEADER, get_menu

register = template.Library()
# In rem, as in stoa.css: the width of a narrow and a wide line, of a letter and a wide letter, and of the gap between two names.
# Then the width of the menu "More", and what the arrow of a submenu adds.
_NARROW, _WIDE = 54.0, 72.0
_LETTER, _WIDE_LETTER, _GAP = 0.56, 1.0, 2.25
_MORE, _ARROW = 6.0, 1.5


@dataclass(frozen=True)
class LinePlace:
    """A category of the header. `place` is "" (always in the line), "wide" (in the menu of narrow screens) or "more" (always in the menu)."""

    category: MenuEntry
    place: str


@dataclass(frozen=True)
class MenuLine:
    """The categories in the header: in its line, and in its menu."""

    places: tuple[LinePlace, ...]

    @property
    def in_line(self) -> list[LinePlace]:
        return [each for each in self.places if each.place != "more"]

    @property
    def in_menu(self) -> list[LinePlace]:
        return [each for each in self.places if each.place]

    @property
    def is_always_cut(self) -> bool:
        """Whether wide screens need the menu, too."""
        return any(each.place == "more" for each in self.places)


def in_one_line(menu: Sequence[MenuEntry], behind: Sequence[ShownGroup] = ()) -> MenuLine:
    """Return the categories with their places, before the links `behind` them.

    Widths are estimates; if the names are wider, they wrap to a second line.
    """
    widths = [_estimate_width(each.name) for each in menu]
    taken = sum(map(_estimate_group, behind))
    narrow, wide = _count_fitting(widths, _NARROW - taken), _count_fitting(widths, _WIDE - taken)
    return MenuLine(
        tuple(
            LinePlace(each, "" if number < narrow else "wide" if number < wide else "more")
            for number, each in enumerate(menu)
        )
    )


@dataclass(frozen=True, slots=True)
class Navigation:
    """The values for the navigation: the categories, the links behind them, and the category or the list of the page."""

    categories: tuple[MenuEntry, ...]
    current: str  # a category's slug, a list's address, or ""
    behind: ShownMenu

    def line(self) -> MenuLine:
        return in_one_line(self.categories, self.behind.groups())


@register.simple_tag(name="navigation")
def make_navigation(categories: tuple[MenuEntry, ...], current: str = "") -> Navigation:
    """Return the values for the navigation on a page."""
    return Navigation(categories, current, make_shown_menu(get_menu(HEADER)))


@register.simple_tag
def footer_menu() -> ShownMenu:
    """Return the menu in the footer of a page."""
    return make_shown_menu(get_menu(FOOTER))


def _estimate_group(group: ShownGroup) -> float:
    if group.title:
        return _estimate_width(group.title) + _ARROW
    return sum(_estimate_width(link.label) for link in group.links)


def _estimate_width(name: str) -> float:
    letters = (_WIDE_LETTER if east_asian_width(each) in "WF" else _LETTER for each in name)
    return sum(letters) + _GAP


def _count_fitting(widths: Sequence[float], room: float) -> int:
    if sum(widths) <= room:
        return len(widths)
    room -= _MORE
    for number, width in enumerate(widths):
        room -= width
        if room < 0:
            return number
    return len(widths)
