"""The side bar of the staff's pages. It has an entry for each page that the user's role may open.

To add a page, add a line to ENTRIES. The decorator `staff_required` on the page's view says who may open it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import cast

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.access import has_permission
from accounts.models import User
from accounts.roles import ROLES
from accounts.second_factor import has_passed_second_factor
from adminpanel.density import is_compact
from web.types import StrOrPromise


@dataclass(frozen=True)
class Entry:
    """An entry of the side bar, for one page. `group` is the title of its group, or "" if it has none."""

    page: str
    label: StrOrPromise
    icon: str
    group: StrOrPromise = ""

    @property
    def url(self) -> str:
        return reverse(f"adminpanel:{self.page}")


SETTINGS = _("Administration")
# The entries in the order of the side bar. Every user's work begins at the first one.
ENTRIES = (
    Entry("home", _("Home"), "home"),
    Entry("board", _("Orders"), "box"),
    Entry("drafts", _("Draft orders"), "edit"),
    Entry("customers", _("Customers"), "user"),
    Entry("messages", _("Messages"), "mail"),
    Entry("reviews", _("Reviews and questions"), "star"),
    Entry("products", _("Products"), "bag"),
    Entry("stock", _("Stock"), "truck"),
    Entry("climate", _("Climate"), "chart"),
    Entry("categories", _("Categories"), "tree"),
    Entry("filters", _("Filters"), "list"),
    Entry("colours", _("Colours"), "star"),
    Entry("spreadsheets", _("Import and export"), "column"),
    Entry("front_page", _("Front page"), "pin"),
    Entry("text_pages", _("Pages"), "info"),
    Entry("menus", _("Menus"), "menu"),
    Entry("search_rules", _("Search"), "search"),
    Entry("promotions", _("Promotions"), "tag"),
    Entry("sales", _("Reports"), "chart"),
    Entry("visits", _("Visits"), "chart"),
    Entry("searches", _("Searches"), "chart"),
    Entry("live", _("Live"), "clock"),
    Entry("books", _("Books"), "column"),
    Entry("settings", _("Settings"), "truck", SETTINGS),
    Entry("people", _("People"), "user", SETTINGS),
    Entry("mails", _("Emails"), "mail", SETTINGS),
    Entry("worker", _("Background jobs"), "clock", SETTINGS),
    Entry("system", _("System"), "column", SETTINGS),
    Entry("log", _("Audit log"), "list", SETTINGS),
    Entry("second_factor", _("Two-step sign-in"), "lock", SETTINGS),
)
# Pages below the entries, which the command field finds. The group says where they are.
PAGES = (
    Entry("order_changes", _("Bulk edits"), "list", _("Orders")),
    Entry("papers", _("Documents"), "list", _("Orders")),
    Entry("message_labels", _("Labels"), "tag", _("Messages")),
    Entry("saved_replies", _("Saved replies"), "mail", _("Messages")),
    Entry("blocked_senders", _("Blocked senders"), "lock", _("Messages")),
    Entry("bulk_changes", _("Bulk edits"), "list", _("Products")),
    Entry("attention", _("Needs attention"), "bag", _("Products")),
    Entry("product_new", _("Add product"), "bag", _("Products")),
    Entry("stock_transfers", _("Transfers in transit"), "truck", _("Stock")),
    Entry("stock_value", _("Stock value"), "chart", _("Stock")),
    Entry("open_invoices", _("Open invoices"), "list", _("Books")),
    Entry("unmatched_payments", _("Payments after a restore"), "list", _("Books")),
    Entry("front_page_rows", _("Rows of products"), "pin", _("Front page")),
    Entry("redirects", _("Redirects"), "return", _("Search")),
    Entry("brand", _("Brand"), "edit", _("Settings")),
    Entry("delivery_methods", _("Delivery methods"), "truck", _("Settings")),
    Entry("tax_rates", _("Tax rates"), "list", _("Settings")),
    Entry("warehouses", _("Warehouses"), "box", _("Settings")),
    Entry("terms", _("Seller, returns and limits"), "edit", _("Settings")),
    Entry("parcel_weights", _("Weight surcharges"), "truck", _("Settings")),
    Entry("review_rules", _("Rules for reviews"), "star", _("Settings")),
    Entry("mail_texts", _("Texts of emails"), "mail", _("Settings")),
)


@dataclass(frozen=True)
class SideBarLink:
    """An entry as a page shows it. `current` is its `aria-current`: "page" on the entry's page, "true" on pages below it."""

    entry: Entry
    current: str


@dataclass(frozen=True)
class SideBarGroup:
    """Entries of the side bar with a common title."""

    title: StrOrPromise
    links: tuple[SideBarLink, ...]


@dataclass(frozen=True)
class SideBar:
    """The side bar for a user, and how dense lists are. `home` is where the user's work begins, or "" for a shopper."""

    home: str = ""
    groups: tuple[SideBarGroup, ...] = ()
    can_search: bool = False
    is_compact: bool = False


def get_side_bar(request: HttpRequest) -> SideBar:
    """Return a request's side bar. It has no entries for shoppers, or before the second factor was entered."""
    # If a middleware has refused the request, the request has no user.
    user = getattr(request, "user", None)
    if getattr(user, "role", "") not in ROLES:
        return SideBar()
    member = cast(User, user)
    if not has_passed_second_factor(request.session, member):
        return SideBar(get_staff_home())
    return SideBar(
        get_staff_home(),
        tuple(_group(_allowed_entries(member), request.path)),
        has_permission(member, "adminpanel.search"),
        is_compact(request),
    )


def get_staff_home() -> str:
    """Return the address of the page where a user's work begins."""
    return ENTRIES[0].url


def list_pages(user: User) -> list[Entry]:
    """Return the pages that a user's role may open: those of the side bar, then those below them."""
    return _allowed_entries(user, (*ENTRIES, *PAGES))


def _allowed_entries(user: User, entries: Iterable[Entry] = ENTRIES) -> list[Entry]:
    return [each for each in entries if has_permission(user, f"adminpanel.{each.page}")]


def _group(entries: Iterable[Entry], path: str) -> Iterable[SideBarGroup]:
    """Yield the entries in groups. The current entry is the one with the longest address that begins the path.

    Home has no pages below it, though its address begins that of all others.
    """
    begun = (each.url for each in ENTRIES[1:] if path.startswith(each.url))
    here = path if path == get_staff_home() else max(begun, key=len, default="")
    for title, members in groupby(entries, lambda each: each.group):
        links = [
            SideBarLink(each, "" if each.url != here else "page" if path == here else "true")
            for each in members
        ]
        yield SideBarGroup(title, tuple(links))
