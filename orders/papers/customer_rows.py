"""The rows of the table of customers: the same customers and sums as in the list of customers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.conf import settings

from accounts.models import User
from accounts.queries import get_users
from orders.customers import (
    CustomerFilter,
    ListedCustomer,
    find_listed_at,
    get_customer,
    iterate_customers,
)
from pricing.money import from_minor_units


def find_customer_ids(texts: Mapping[str, str]) -> Iterator[UUID]:
    """Yield the ids of the customers that a filter (`CustomerFilter.to_dict`) finds now. Raises CassandraUnavailable."""
    return (each.user_id for each in iterate_customers(CustomerFilter.from_dict(texts)))


def read_customers(user_ids: Sequence[UUID]) -> Iterator[tuple[User, ListedCustomer]]:
    """Yield these customers with their rows in the list, without erased ones. Raises CassandraUnavailable."""
    users = get_users(user_ids)
    for user_id in user_ids:
        listed = get_customer(user_id, find_listed_at(user_id))
        if listed and user_id in users:
            yield users[user_id], listed


def _spent(listed: ListedCustomer, *, is_own: bool) -> str:
    """Return the amount in the shop's currency, or the amounts in others with their currencies."""
    sums = [
        from_minor_units(spent, currency)
        for currency, spent in sorted(listed.spent.items())
        if (currency == settings.CURRENCY) is is_own
    ]
    if is_own:
        return f"{sums[0].amount:.2f}" if sums else "0.00"
    return ", ".join(f"{each.amount:.2f} {each.currency.code}" for each in sums)


# The columns of the table. Times are UTC; the tags are those of the customer's orders.
COLUMNS: dict[str, Callable[[User, ListedCustomer], str]] = {
    "name": lambda user, listed: user.name,
    "email": lambda user, listed: user.email,
    "account_since": lambda user, listed: user.created_at.isoformat(timespec="seconds"),
    "country": lambda user, listed: listed.country,
    "orders": lambda user, listed: str(listed.order_count),
    "currency": lambda user, listed: settings.CURRENCY,
    "spent": lambda user, listed: _spent(listed, is_own=True),
    "spent_in_other_currencies": lambda user, listed: _spent(listed, is_own=False),
    "last_order": lambda user, listed: listed.last_order_at.isoformat(timespec="seconds"),
    "tags": lambda user, listed: ", ".join(listed.tags),
}


def list_customer_lines(found: Iterable[tuple[User, ListedCustomer]]) -> Iterator[list[str]]:
    """Yield a line for each customer."""
    for user, listed in found:
        yield [value(user, listed) for value in COLUMNS.values()]
