"""Accounts of customers who come from a former shop: they have no password until their owner follows a mailed link."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.hashers import make_password

from accounts import queries
from accounts.addresses import Address
from accounts.errors import EmailTaken, NoSuchUser
from accounts.models import User
from accounts.operations.email_claims import claim_email
from accounts.operations.passwords import invitation_link
from accounts.operations.search_terms import name_under_way
from cassandra_db import SEND_AGAIN, conditional_write
from mail.operations import MailOptions, queue_mail

# All that an import knows is one write, so that a repeated import adds no address twice.
INSERT_CUSTOMER = conditional_write(
    "Q6",
    """INSERT INTO users (user_id, email, name, password, role, active, demo, created_at, phone, addresses, default_address)
       VALUES (:user_id, :email, :name, :password, '', true, false, :now, :phone, :addresses, :default_address)
       IF NOT EXISTS""",
)
# The row of an account that did not get its address. It may be that of an attempt that was killed.
DROP_CUSTOMER = conditional_write(
    "Q6", "DELETE FROM users WHERE user_id = :user_id IF email = :email AND verified_at = null"
)


@dataclass(frozen=True)
class ImportedCustomer:
    """A customer of a former shop. The first address is the default."""

    email: str
    name: str
    phone: str = ""
    addresses: Sequence[Address] = ()


def import_customer(customer: ImportedCustomer, user_id: UUID, now: datetime) -> User:
    """Create a customer's account without a password, and return it. A repeat with the same `user_id` returns the first one.

    Raises EmailTaken if the e-mail address has another account. Also raises NoSuchUser, CassandraUnavailable.
    """
    addresses = {
        str(slot): address.stored_fields() for slot, address in enumerate(customer.addresses, 1)
    }
    with name_under_way(user_id):
        INSERT_CUSTOMER.apply(
            if_lost=SEND_AGAIN,
            user_id=user_id,
            email=customer.email,
            name=customer.name,
            password=make_password(None),
            phone=customer.phone,
            addresses=addresses,
            default_address="1" if addresses else "",
            now=now,
        )
        if not claim_email(queries.email_key(customer.email), user_id, now):
            DROP_CUSTOMER.apply(if_lost=SEND_AGAIN, user_id=user_id, email=customer.email)
            raise EmailTaken
    if (made := queries.get_user(user_id)) is None:
        raise NoSuchUser  # erased in the same moment
    return made


def invite_customer(member: User, import_id: UUID, now: datetime) -> None:
    """Mail an imported customer the link that sets a password, once for each import. Raises CassandraUnavailable."""
    context = {"name": member.name, "url": invitation_link(member)}
    about = MailOptions(about=member.user_id)
    queue_mail(
        member.user_id, f"invitation {import_id}", member.email, "invitation", context, now, about
    )
