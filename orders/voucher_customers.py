"""Which customer a use of a voucher counts for."""

from uuid import UUID

from accounts import queries as accounts
from accounts.models import User
from promotions.operations import voucher_customer_keys


def find_voucher_customer_keys(user_id: UUID | None, email: str) -> tuple[str, ...]:
    """Return the customer of an order, as `list_voucher_customer_keys` does, by the account's id. Raises CassandraUnavailable."""
    member = accounts.get_user(user_id) if user_id else None
    if user_id and member is None:  # erased
        return voucher_customer_keys(user_id)
    return list_voucher_customer_keys(member, email)


def list_voucher_customer_keys(member: User | None, email: str) -> tuple[str, ...]:
    """Return the customer who uses a voucher, as promotions.operations.voucher_customer_keys.

    A member is the account and its confirmed address. A guest is the address that was typed, and also the account whose
    confirmed address it is. Empty for a guest whose address is not known. Raises CassandraUnavailable.
    """
    if member is None and email.strip():
        found = accounts.find_user_by_email(email)
        member = found if found and found.confirmed_email else None
    if member is None:
        return voucher_customer_keys(None, email)
    return voucher_customer_keys(member.user_id, member.confirmed_email)
