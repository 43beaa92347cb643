"""The results of the command field: pages, orders, customers and products, while a member of staff types."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from moneyed import Money

from accounts.access import has_permission
from accounts.customer_search import FoundCustomer, found_customers
from accounts.looks import CUSTOMER_LOOK, ORDER_LOOK, prefetch_recent_acts, recent_acts
from accounts.models import User
from accounts.queries import prefetch_profile, user_from_row
from adminpanel.catalogue.product_pages import status_badge
from adminpanel.parameters import parse_id
from adminpanel.search.pages import YEARS_AT_ONCE, prefetch_search
from adminpanel.side_bar import Entry
from catalogue.entities import Product
from catalogue.queries import get_products_at_quorum, leave_out
from catalogue.words import name_has_words, split_words
from orders.lifecycle.labels import ORDER_LABELS, staff_label
from orders.queries import prefetch_order_id
from orders.search import OrderHeader, order_headers, prefetch_order_headers
from web.types import StrOrPromise

# The most items of a kind, and the most recent items.
MAX_ITEMS, MAX_RECENT = 5, 8
# Fewer letters find nothing.
MIN_LETTERS = 2
# Acts on a product begin with this in the audit log; the first word of their subject is its id.
_PRODUCT_ACT = "adminpanel:product"
_LOOKS = {ORDER_LOOK: "order", CUSTOMER_LOOK: "customer"}


@dataclass(frozen=True)
class FoundItem:
    """An item of the command field. `picture` is None if its kind has no pictures, "" if only the product has none."""

    url: str
    title: StrOrPromise
    note: StrOrPromise = ""
    status: str = ""
    tone: str = "plain"
    amount: Money | None = None
    picture: str | None = None
    icon: str = ""


@dataclass(frozen=True)
class FoundGroup:
    """Items of one kind, with their title. `name` is part of the ids in the page."""

    name: str
    title: str
    items: tuple[FoundItem, ...]

    @property
    def shows_people(self) -> bool:
        return self.name in ("orders", "customers")


def find_recent(member: User, now: datetime) -> list[FoundGroup]:
    """Return what a member of staff looked at recently, and their role may open, latest first. Three rounds of reads.

    Raises CassandraUnavailable.
    """
    looks = _list_recent(recent_acts(prefetch_recent_acts(member, now)), member)[:MAX_RECENT]
    profiles = [prefetch_profile(UUID(key)) for kind, key in looks if kind == "customer"]
    numbers = [prefetch_order_id(key) for kind, key in looks if kind == "order"]
    product_ids = [UUID(key) for kind, key in looks if kind == "product"]
    products = get_products_at_quorum(product_ids, leave_out)
    rows = [pending.one() for pending in numbers]
    reading = prefetch_order_headers(row.order_id for row in rows if row)
    people = [pending.one() for pending in profiles]
    items = [
        *map(_order_item, order_headers(reading)),
        *(_customer_item(user_from_row(row)) for row in people if row),
        *(_product_item(each, now) for each in products.values()),
    ]
    by_url = {each.url: each for each in items}
    urls = [_url(*look) for look in looks]
    recent = tuple(by_url[url] for url in urls if url in by_url)
    return [FoundGroup("recent", _("Recent"), recent)] if recent else []


def find_matches(
    typed: str, member: User, pages: Iterable[Entry], now: datetime
) -> list[FoundGroup]:
    """Return what matches a typed text, and a member's role may open; of each kind recent items first. Two rounds of reads.

    The orders are of this year and the year before. Raises CassandraUnavailable.
    """
    acts = prefetch_recent_acts(member, now)
    search = prefetch_search(typed, member, range(now.year, now.year - YEARS_AT_ONCE, -1))
    recent = {_url(*look) for look in _list_recent(recent_acts(acts), member)}
    orders = {each.order_id: each for group in search.found_orders() for each in group.orders}
    chosen = sorted(orders.values(), key=lambda each: _url("order", each.number) not in recent)
    reading = prefetch_order_headers(each.order_id for each in chosen[:MAX_ITEMS])
    by_name, _has_more = found_customers(search.customers)
    customers = [_customer_by_name(each) for each in by_name]
    if customer := search.found_customer():
        customers.append(_customer_item(customer))
    groups = (
        FoundGroup("pages", _("Pages"), tuple(_iterate_pages(typed, pages))),
        FoundGroup("orders", _("Orders"), tuple(map(_order_item, order_headers(reading)))),
        FoundGroup("customers", _("Customers"), tuple(customers)),
        FoundGroup(
            "products", _("Products"), tuple(_product_item(each, now) for each in search.products)
        ),
    )
    return [_cut(group, recent) for group in groups if group.items]


def _cut(group: FoundGroup, recent: Collection[str]) -> FoundGroup:
    """Return a group with its first items: recent ones come before the others."""
    items = sorted(group.items, key=lambda each: each.url not in recent)
    return FoundGroup(group.name, group.title, tuple(items[:MAX_ITEMS]))


def _list_recent(acts: Iterable[tuple[str, str]], member: User) -> list[tuple[str, str]]:
    """Return the kinds and ids of the orders, customers and products in acts of the audit log, if the role may open them."""
    kinds = [each for each in ("order", "customer", "product") if _may_open(each, member)]
    found = ((_find_kind(act), subject.partition(" ")[0]) for act, subject in acts)
    return list(
        dict.fromkeys(
            (kind, key)
            for kind, key in found
            if kind in kinds and (kind == "order" or parse_id(key))
        )
    )


def _find_kind(act: str) -> str:
    return _LOOKS.get(act) or ("product" if act.startswith(_PRODUCT_ACT) else "")


def _may_open(page: str, member: User) -> bool:
    return has_permission(member, f"adminpanel.{page}")


def _url(kind: str, key: str | UUID) -> str:
    # The kinds are the names of their pages.
    return reverse(f"adminpanel:{kind}", args=[key])


def _iterate_pages(typed: str, pages: Iterable[Entry]) -> Iterator[FoundItem]:
    """Yield the pages in whose names each typed word begins a word."""
    words = split_words(typed)
    for page in pages:
        if words and name_has_words(str(page.label), words):
            yield FoundItem(page.url, page.label, page.group, icon=page.icon)


def _order_item(order: OrderHeader) -> FoundItem:
    placed = date_format(localtime(order.placed_at), "j M Y")
    label = ORDER_LABELS["column"].get(order.column)
    return FoundItem(
        _url("order", order.number),
        order.number,
        f"{order.name}, {placed}" if order.name else placed,
        staff_label("column", order.column),
        label.tone if label else "plain",
        order.total,
    )


def _customer_by_name(customer: FoundCustomer) -> FoundItem:
    since = _("Customer since %(day)s") % {"day": date_format(localtime(customer.since), "j M Y")}
    return FoundItem(_url("customer", customer.user_id), customer.name, since, icon="user")


def _customer_item(customer: User) -> FoundItem:
    title, note = customer.name or customer.email, customer.email if customer.name else ""
    return FoundItem(_url("customer", customer.pk), title, note, icon="user")


def _product_item(product: Product, now: datetime) -> FoundItem:
    sold = [each for each in product.variants if each.sold] or list(product.variants)
    pictures = (product.picture_of(each) for each in sold)
    return FoundItem(
        _url("product", product.product_id),
        product.name,
        product.brand,
        *status_badge(product, now),
        min(each.price for each in sold),
        next(filter(None, pictures), ""),
    )
