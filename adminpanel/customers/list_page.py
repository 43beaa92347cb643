"""The contents of the list of customers: the list by last order, its segments, and the customers viewed recently."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.timezone import localdate
from django.utils.translation import gettext_lazy
from moneyed import Money

from accounts.models import User
from accounts.queries import get_users, looks_from_rows, prefetch_looked_at
from orders import customers
from orders.customers import CustomerFilter, ListedCustomer, Segment
from pricing.money import from_minor_units
from web.types import StrOrPromise

MAX_LOOKS = 10  # the recently viewed customers below the list
SEGMENT_LABELS: Mapping[str, tuple[StrOrPromise, StrOrPromise]] = {
    customers.ALL: (gettext_lazy("All"), gettext_lazy("Members with a paid order.")),
    customers.NEW: (
        gettext_lazy("New"),
        gettext_lazy("One order, not refunded in full, and the last one in the last 30 days."),
    ),
    customers.RETURNING: (
        gettext_lazy("Returning"),
        gettext_lazy("Two or more orders that were not refunded in full."),
    ),
    customers.NOT_SEEN: (
        gettext_lazy("Not seen for 180 days"),
        gettext_lazy("The last paid order was placed 180 or more days ago."),
    ),
    customers.BEST: (
        gettext_lazy("Best tenth"),
        gettext_lazy("The tenth with the highest spending: %(amount)s or more."),
    ),
}


@dataclass(frozen=True)
class CustomerLine:
    """A row of the list: the account, and its sums by currency."""

    user: User
    listed: ListedCustomer

    @property
    def spent(self) -> list[Money]:
        return [
            from_minor_units(spent, currency)
            for currency, spent in sorted(self.listed.spent.items())
        ]


@dataclass(frozen=True)
class SegmentTab:
    """A segment with its count; it opens the filter that lists it."""

    segment: Segment
    label: StrOrPromise
    definition: str
    url: str
    is_current: bool


@dataclass(frozen=True)
class CustomerList:
    """A page of the list of customers."""

    lines: Sequence[CustomerLine]
    tabs: Sequence[SegmentTab]
    looks: Sequence[tuple[User, datetime]]
    next: str
    looked_at: int | None

    @property
    def counted_at(self) -> datetime | None:
        return self.tabs[0].segment.counted_at if self.tabs else None

    @property
    def definition(self) -> str:
        return next((each.definition for each in self.tabs if each.is_current), "")


def get_customer_list(staff_id: UUID, chosen: CustomerFilter | None, after: str) -> CustomerList:
    """Return a page of the customers that a filter finds. Without a filter, the list is empty.

    Raises InvalidPageToken, CassandraUnavailable.
    """
    months, counted = customers.prefetch_customer_months(), customers.prefetch_segments()
    reading = prefetch_looked_at(staff_id)
    page = customers.CustomerPage(())
    if chosen is not None:
        page = customers.list_customers(chosen, after, months)
    looked_at = looks_from_rows(reading.rows())[:MAX_LOOKS]
    ids = [each.user_id for each in page.customers]
    users = get_users([*ids, *(user_id for user_id, _at in looked_at)])
    return CustomerList(
        [
            CustomerLine(users[each.user_id], each)
            for each in page.customers
            if each.user_id in users
        ],
        _list_tabs(customers.segments_from_rows(counted.rows()), chosen),
        [(users[user_id], at) for user_id, at in looked_at if user_id in users],
        page.next,
        page.looked_at,
    )


def _list_tabs(counted: Mapping[str, Segment], chosen: CustomerFilter | None) -> list[SegmentTab]:
    """Return the counted segments. Each filter is that of the day of the count."""
    if customers.ALL not in counted:
        return []
    day = localdate(counted[customers.ALL].counted_at)
    best = counted[customers.BEST].spent_from
    filters = customers.make_segment_filters(day, best)
    tabs = []
    for name, (label, definition) in SEGMENT_LABELS.items():
        amount = from_minor_units(best or 0, settings.CURRENCY)
        words = str(definition) % {"amount": amount} if name == customers.BEST else str(definition)
        url = f"{reverse('adminpanel:customers')}?{urlencode(list_filter_fields(filters[name]))}"
        tabs.append(
            SegmentTab(counted[name], label, words, url.rstrip("?"), chosen == filters[name])
        )
    return tabs


def list_filter_fields(chosen: CustomerFilter) -> list[tuple[str, str]]:
    """Return a filter as the fields of its form, with amounts in the shop's currency."""
    return [
        (name, str(from_minor_units(int(text), settings.CURRENCY).amount))
        if name in ("spent_from", "spent_to")
        else (name, text)
        for name, text in chosen.to_dict().items()
    ]
