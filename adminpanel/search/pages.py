"""The staff's search: it finds orders, customers and products together."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.access import has_permission
from accounts.customer_search import (
    CustomerSearch,
    FoundCustomer,
    found_customers,
    prefetch_customer_search,
)
from accounts.models import User
from accounts.queries import email_key, prefetch_user_by_email, user_with_email
from cassandra_db import Chain
from catalogue.entities import Product
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import find_products_for_staff, find_skus
from orders.numbers import is_order_number, normalize_order_number
from orders.queries import get_order_by_number, list_order_years_by_email
from orders.search import FoundOrders, OrderSearch, found_orders, prefetch_order_search
from orders.search_terms import NAME
from past_orders.entities import PastOrder
from past_orders.queries import get_past_order, list_past_orders, prefetch_owned
from web.forms import Form
from web.types import StrOrPromise

# A search reads the orders of this many years.
YEARS_AT_ONCE = 2
MAX_PRODUCTS, MAX_PAST_ORDERS = 10, 20
TITLES: dict[str, StrOrPromise] = {
    "number": _("Orders by number"),
    "email": _("Orders by email address"),
    "name": _("Orders by name"),
    "place": _("Orders by city"),
    "sku": _("Orders by SKU"),
    "tracking": _("Orders by tracking number"),
}


@dataclass(frozen=True)
class SearchAnswers:
    """The results that the user's role may open. `years` are the searched years, latest first; () for an email address."""

    orders: tuple[tuple[StrOrPromise, FoundOrders], ...] = ()
    customer: User | None = None
    customers: tuple[FoundCustomer, ...] = ()
    has_more_customers: bool = False
    products: tuple[Product, ...] = ()
    has_more_products: bool = False
    years: tuple[int, ...] = ()
    past_orders: tuple[PastOrder, ...] = ()

    @property
    def is_empty(self) -> bool:
        found = (self.orders, self.customer, self.customers, self.products, self.past_orders)
        return not any(found)

    @property
    def names_people(self) -> bool:
        """Whether people were found by their name or email address."""
        return bool(
            self.customer
            or self.customers
            or self.past_orders
            or any(each.kind in ("email", NAME) for _title, each in self.orders)
        )

    @property
    def first_year(self) -> int:
        return self.years[-1] if self.years else 0

    @property
    def last_year(self) -> int:
        return self.years[0] if self.years else 0

    @property
    def earlier_year(self) -> int:
        return self.first_year - 1


@dataclass(frozen=True)
class StartedSearch:
    """A search whose reads have been started; what the user's role may not open is not searched for."""

    email: str
    orders: OrderSearch | None
    customer: Chain | None
    customers: CustomerSearch
    products: tuple[Product, ...]
    has_more_products: bool

    def found_orders(self) -> list[FoundOrders]:
        """Return the orders that were found, by kind. Raises CassandraUnavailable."""
        return found_orders(self.orders) if self.orders else []

    def found_customer(self) -> User | None:
        """Return the customer with the typed email address, if there is one. Raises CassandraUnavailable."""
        return user_with_email(self.customer, self.email) if self.customer else None


def find_order_number(typed: str, user: User) -> str:
    """Return an order's number if it was typed as a whole and the user may see it, else "". Raises CassandraUnavailable."""
    number = normalize_order_number(typed)
    if not (is_order_number(number) and has_permission(user, "adminpanel.order")):
        return ""
    found = get_order_by_number(number)
    return found.number if found else ""


def find_everything(
    typed: str, user: User, now: datetime, year: int | None = None
) -> SearchAnswers:
    """Return the results of a search. The orders are from `year` (default: this year) and the year before.

    A search for an email address finds the orders of all years. Raises CassandraUnavailable.
    """
    if not typed:
        return SearchAnswers()
    is_address, may_open_orders = "@" in typed, has_permission(user, "adminpanel.order")
    may_open_customers = has_permission(user, "adminpanel.customer")
    last = year or now.year
    years: Collection[int] = range(last, last - YEARS_AT_ONCE, -1)
    if is_address and may_open_orders:
        years = list_order_years_by_email(typed)
    search = prefetch_search(typed, user, years)
    orders, customer = search.found_orders(), search.found_customer()
    customers, has_more_customers = found_customers(search.customers)
    return SearchAnswers(
        tuple((TITLES[each.kind], each) for each in orders),
        customer,
        tuple(customers),
        has_more_customers,
        search.products,
        search.has_more_products,
        () if is_address or not may_open_orders else tuple(years),
        tuple(_list_past_orders(typed, customer)) if may_open_customers else (),
    )


def _list_past_orders(typed: str, customer: User | None) -> list[PastOrder]:
    """Return the past order with a typed number, or the newest ones of a typed email address and of its customer."""
    if "@" not in typed:
        # Shopify's numbers begin with a hash.
        return [*filter(None, map(get_past_order, (typed.upper(), f"#{typed.upper()}")))]
    owners = (email_key(typed), *([customer.user_id.hex] if customer else ()))
    reading = [prefetch_owned(owner, MAX_PAST_ORDERS) for owner in owners]
    return list_past_orders(row for pending in reading for row in pending.rows())


def prefetch_search(typed: str, user: User, years: Collection[int]) -> StartedSearch:
    """Start a search for a typed text, and for orders of these years. An email address finds only its own orders and customer.

    Products are read at the same time as the rest. Raises CassandraUnavailable.
    """
    email = email_key(typed) if "@" in typed else ""
    orders = None
    if has_permission(user, "adminpanel.order"):
        orders = prefetch_order_search(typed, email, years, () if email else _find_skus(typed))
    may_open_customers = has_permission(user, "adminpanel.customer")
    customer = prefetch_user_by_email(email) if email and may_open_customers else None
    customers = prefetch_customer_search("" if email or not may_open_customers else typed)
    products, total = _find_products(typed, user)
    return StartedSearch(email, orders, customer, customers, products, total > len(products))


def _find_skus(beginning: str) -> list[str]:
    # Each SKU is a read for each year. A text without a digit or hyphen is more likely a name.
    if not re.search(r"[0-9-]", beginning):
        return []
    try:
        return find_skus(beginning)
    except SearchIndexMissing:
        return []


def _find_products(typed: str, user: User) -> tuple[tuple[Product, ...], int]:
    if not has_permission(user, "adminpanel.product"):
        return (), 0
    try:
        found = find_products_for_staff(typed, limit=MAX_PRODUCTS)
    except SearchIndexMissing:
        return (), 0
    return found.products, found.total


class SearchForm(Form):
    """The form of the staff's search."""

    q = forms.CharField(label=gettext_lazy("Search"), required=False, max_length=100)
