"""Which customer a use of a voucher counts for."""

from uuid import UUID

from accounts import queries as accounts
from promotions.operations import voucher_customer_key


def find_voucher_customer_key(user_id: UUID | None, email: str) -> str:
    """Return the customer who uses a voucher, as promotions.operations.voucher_customer_key: an account is one customer.

    A guest who orders with the proved e-mail address of an account counts as that account. '' for a guest whose
    address is not known. Raises CassandraUnavailable.
    """
    if user_id is None and email.strip():
        member = accounts.find_user_by_email(email)
        if member and member.verified_at:
            user_id = member.user_id
    return voucher_customer_key(user_id, email)
