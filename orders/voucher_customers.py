"""The customer for whom a use of a voucher counts."""

from uuid import UUID

from accounts import queries as accounts
from accounts.models import User
from promotions.operations import voucher_customer_keys


def find_voucher_customer_keys(user_id: UUID | None, email: str) -> tuple[str, ...]:
    """Return the keys of an order's customer, as `list_voucher_customer_keys` does. Raises CassandraUnavailable."""
    member = accounts.get_user(user_id) if user_id else None
    if user_id and member is None:  # erased
        return voucher_customer_keys(user_id)
    return list_voucher_customer_keys(member, email)


def list_voucher_customer_keys(member: User | None, email: str) -> tuple[str, ...]:
    """Return the keys of a voucher's user (promotions.operations.voucher_customer_keys). Raises CassandraUnavailable.

    A member counts by account and confirmed address; a guest by the typed address, and by the account with that confirmed
    address. A guest without an address has no keys.
    """
    if member is None and email.strip():
        found = accounts.find_user_by_email(email)
        member = found if found and found.confirmed_email else None
    if member is None:
        return voucher_customer_keys(None, email)
    return voucher_customer_keys(member.user_id, member.confirmed_email)
