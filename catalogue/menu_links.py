"""Where the links of the shop's menus lead: their addresses and own labels, and the targets of typed addresses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.urls import NoReverseMatch, Resolver404, resolve, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cassandra_db import CassandraUnavailable
from catalogue.entities import MenuEntry
from catalogue.queries import find_category_by_slug, get_category_tree
from shop_settings.menus import Menu, MenuLink
from text_pages.queries import list_live_pages
from web.types import StrOrPromise

# The shop's pages for menus, with the labels that their links have by themselves.
PAGE_LABELS: Mapping[str, StrOrPromise] = {
    "new_arrivals": gettext_lazy("New arrivals"),
    "deals": gettext_lazy("Deals"),
    "posts:newest": gettext_lazy("Posts"),
    "help": gettext_lazy("Help"),
    "conversations:contact": gettext_lazy("Contact us"),
    "delivery": gettext_lazy("Delivery and returns"),
    "orders:lookup": gettext_lazy("Find your order"),
    "orders:withdraw": gettext_lazy("Withdraw from contract here"),
    "accounts:profile": gettext_lazy("Your account"),
    "cart:show": gettext_lazy("Your cart"),
    "privacy": gettext_lazy("Privacy"),
    "terms": gettext_lazy("Terms of sale"),
    "imprint": gettext_lazy("Legal notice"),
    "accessibility": gettext_lazy("Accessibility"),
}
_CATEGORY = "category:"
_is_https = URLValidator(schemes=["https"])


class InvalidTarget(Exception):
    """A menu cannot lead to the typed address. The text is the reason."""


@dataclass(frozen=True, slots=True)
class ShownLink:
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class ShownGroup:
    title: str
    links: tuple[ShownLink, ...]


@dataclass(frozen=True, slots=True)
class ShownMenu:
    """A menu with the categories that it leads to, as they are now; all that a drawn menu depends on."""

    menu: Menu
    categories: tuple[tuple[str, MenuEntry], ...]  # by target

    def groups(self) -> list[ShownGroup]:
        """Return the groups with at least one link. A link whose page or category is gone is left out."""
        known = dict(self.categories)
        shown = [
            ShownGroup(
                _(group.title) if group.title else "",
                tuple(link for each in group.links if (link := _resolve(each, known))),
            )
            for group in self.menu.groups
        ]
        return [group for group in shown if group.links]


def make_shown_menu(menu: Menu) -> ShownMenu:
    """Return a menu as pages show it now. While Cassandra is away, it may lack its categories."""
    try:
        return ShownMenu(menu, list_linked_categories(menu.targets))
    except CassandraUnavailable:
        return ShownMenu(menu, ())


def list_linked_categories(targets: Iterable[str]) -> tuple[tuple[str, MenuEntry], ...]:
    """Return the categories to which targets lead, by target. Categories that are gone are left out. Raises CassandraUnavailable."""
    of_categories = [each for each in targets if each.startswith(_CATEGORY)]
    nodes = get_category_tree().by_id if of_categories else {}
    found = ((each, nodes.get(UUID(each.removeprefix(_CATEGORY)))) for each in of_categories)
    return tuple((target, node.menu_entry) for target, node in found if node)


def _resolve(link: MenuLink, categories: Mapping[str, MenuEntry]) -> ShownLink | None:
    url = get_target_url(link.target, categories)
    label = link.label or get_own_label(link.target, categories)
    return ShownLink(label or url, url) if url else None


def get_own_label(target: str, categories: Mapping[str, MenuEntry]) -> str:
    """Return the label that a link to this target has by itself, or ""."""
    entry = categories.get(target)
    return entry.name if entry else str(PAGE_LABELS.get(target, ""))


def list_suggested_addresses() -> list[ShownLink]:
    """Return the shop's pages and categories, for staff to choose from. Raises CassandraUnavailable."""
    pages = (_resolve(MenuLink(each), {}) for each in PAGE_LABELS)
    texts = (ShownLink(each.title, each.get_absolute_url()) for each in list_live_pages())
    nodes = (node for root in get_category_tree().roots for node in root.subtree)
    return [
        *{link.url: link for link in (*texts, *pages) if link}.values(),
        *(ShownLink(each.name, reverse("category", args=(each.slug,))) for each in nodes),
    ]


def get_target_url(target: str, categories: Mapping[str, MenuEntry]) -> str:
    """Return the address of a target, or "" if it is gone."""
    if target.startswith(_CATEGORY):
        entry = categories.get(target)
        return reverse("category", args=(entry.slug,)) if entry else ""
    if target not in PAGE_LABELS:
        return target
    try:
        return reverse(target)
    except NoReverseMatch:  # the app is not installed
        return ""


def find_target(typed: str) -> str:
    """Return the target of a typed address: a page or a category of the shop, another path of it, or an https address.

    Raises InvalidTarget and CassandraUnavailable.
    """
    if typed in PAGE_LABELS:  # its app is not installed
        return typed
    address = typed.removeprefix(settings.PUBLIC_URL) or "/"
    if not address.startswith("/"):
        try:
            _is_https(address)
        except ValidationError as error:
            raise InvalidTarget(
                _("Enter an address of the shop such as /help/, or one that begins with https://")
            ) from error
        return address
    parts = urlsplit(address)
    try:
        # "//host" would leave the shop.
        match = resolve(address if address.startswith("//") else parts.path)
    except (Resolver404, ValueError) as error:
        raise InvalidTarget(_("The shop has no page at this address")) from error
    if match.app_name == "adminpanel":
        raise InvalidTarget(_("Shoppers can’t open the staff’s pages. Enter another address"))
    if parts.query or parts.fragment:
        return address
    if match.view_name == "category":
        node = find_category_by_slug(match.kwargs["slug"])
        if node is None:
            raise InvalidTarget(_("The shop has no category at this address"))
        return f"{_CATEGORY}{node.category_id}"
    return match.view_name if match.view_name in PAGE_LABELS else address
