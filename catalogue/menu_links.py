"""Where the links of the shop's menus lead: their addresses and own labels, and the targets of typed addresses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.urls import NoReverseMatch, Resolver404, resolve, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cassandra_db import CassandraUnavailable, current_time
from catalogue.entities import MenuEntry
from catalogue.queries import (
    find_category_by_slug,
    find_former_category,
    find_product_id_by_slug,
    get_category_tree,
)
from shop_settings.menus import Menu, MenuLink
from text_pages.pages import find_page_at
from text_pages.queries import get_text_pages, list_live_pages
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
    """Return a menu as pages show it now, without pages of text that are not live. While Cassandra is away, it may lack its categories."""
    targets = menu.targets
    hidden = {each for each in targets if _is_hidden(each)}
    if hidden:
        shown = (
            replace(group, links=tuple(each for each in group.links if each.target not in hidden))
            for group in menu.groups
        )
        menu = Menu(tuple(shown))
    try:
        return ShownMenu(menu, list_linked_categories(menu.targets if hidden else targets))
    except CassandraUnavailable:
        return ShownMenu(menu, ())


def list_linked_categories(targets: Iterable[str]) -> tuple[tuple[str, MenuEntry], ...]:
    """Return the categories to which targets lead, by target. Categories that are gone are left out. Raises CassandraUnavailable."""
    ids = {each: category_id for each in targets if (category_id := find_category_id(each))}
    nodes = get_category_tree().by_id if ids else {}
    found = ((target, nodes.get(category_id)) for target, category_id in ids.items())
    return tuple((target, node.menu_entry) for target, node in found if node)


def make_category_target(category_id: UUID) -> str:
    """Return the target of links to a category."""
    return f"{_CATEGORY}{category_id}"


def find_category_id(target: str) -> UUID | None:
    """Return the id of the category to which a target leads; None for other targets."""
    return UUID(target.removeprefix(_CATEGORY)) if target.startswith(_CATEGORY) else None


@lru_cache(maxsize=512)
def _find_text_slug(path: str) -> str | None:
    """Return the slug if a path of the shop is the address of a page of text that staff may take offline, else None."""
    try:
        match = resolve(path)
    except (Resolver404, ValueError):
        return None
    return match.kwargs["slug"] if match.view_name == "text_page" else None


def _is_hidden(target: str) -> bool:
    """Return whether a target is a page of text that is not live."""
    slug = _find_text_slug(urlsplit(target).path) if target.startswith("/") else None
    return slug is not None and not find_page_at(get_text_pages().values(), slug, current_time())


def find_target_url(target: str) -> str:
    """Return the address of a target, or "" if it is gone or not live. Raises CassandraUnavailable."""
    if _is_hidden(target):
        return ""
    return get_target_url(target, dict(list_linked_categories([target])))


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
    if find_category_id(target):
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
    try:
        parts = urlsplit(address)
        # "//host" would leave the shop.
        match = resolve(address if address.startswith("//") else parts.path)
    except (Resolver404, ValueError) as error:
        raise InvalidTarget(_("The shop has no page at this address")) from error
    if match.app_name == "adminpanel":
        raise InvalidTarget(_("Shoppers can’t open the staff’s pages. Enter another address"))
    slug, node = match.kwargs.get("slug", ""), None
    if match.view_name == "category":
        node = find_category_by_slug(slug) or find_former_category(slug)[1]
        if node is None:
            raise InvalidTarget(_("The shop has no category at this address"))
    if (match.view_name == "product" and find_product_id_by_slug(slug) is None) or (
        match.view_name == "text_page" and not _has_page_of_text(slug)
    ):
        raise InvalidTarget(_("The shop has no page at this address"))
    if parts.query or parts.fragment:
        return address
    if node:
        return make_category_target(node.category_id)
    return match.view_name if match.view_name in PAGE_LABELS else address


def _has_page_of_text(slug: str) -> bool:
    """Return whether a page has, had or will have a slug. A link to a page that is not live is left out until it is."""
    return any(
        slug in (*(head.slug for head in page.heads), *page.former_slugs)
        for page in get_text_pages().values()
    )
