"""Whose a use of a code is."""

from uuid import UUID

from accounts import queries as accounts
from promotions.operations import voucher_customer_key


def find_voucher_customer(user_id: UUID | None, email: str) -> str:
    """Return who uses a code, as promotions.operations.voucher_customer_key has it: somebody with an account is one person.

    A guest who orders with the proved address of an account uses what that account may use. '' for a guest whose
    address is not known. Raises CassandraUnavailable.
    """
    if user_id is None and email.strip():
        member = accounts.find_user_by_email(email)
        if member and member.verified_at:
            user_id = member.user_id
    return voucher_customer_key(user_id, email)
