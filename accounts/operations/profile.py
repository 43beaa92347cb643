"""A member's name, telephone number, preferences and last sign-in."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from accounts.errors import NoSuchUser
from accounts.operations.search_terms import name_under_way
from cassandra_db import SEND_AGAIN, conditional_write

NAMED = conditional_write("Q6", "UPDATE users SET name = :name WHERE user_id = :user_id IF EXISTS")
DETAILED = conditional_write(
    "Q6", "UPDATE users SET name = :name, phone = :phone WHERE user_id = :user_id IF EXISTS"
)
LOGGED_IN = conditional_write(
    "Q6", "UPDATE users SET last_login_at = :now WHERE user_id = :user_id IF EXISTS"
)
PREFERRED = conditional_write(
    "Q6",
    """UPDATE users SET delivery_country = :country, plain_mail = :plain_mail WHERE user_id = :user_id IF EXISTS""",
)

LOW_STOCK_MAIL = conditional_write(
    "Q6", "UPDATE users SET low_stock_mail = :wanted WHERE user_id = :user_id IF EXISTS"
)

CHOSE_NOTIFICATIONS = conditional_write(
    "N3", "UPDATE users SET notification_choices = :choices WHERE user_id = :user_id IF EXISTS"
)
CHOSE_FOR_KIND = conditional_write(
    "N3",
    "UPDATE users SET notification_choices[:kind] = :choice WHERE user_id = :user_id IF EXISTS",
)


def save_name(user_id: UUID, name: str) -> None:
    """Change a member's name. Raises NoSuchUser, CassandraUnavailable."""
    with name_under_way(user_id):
        if not NAMED.apply(if_lost=SEND_AGAIN, user_id=user_id, name=name):
            raise NoSuchUser


def save_profile(user_id: UUID, name: str, phone: str) -> None:
    """Change a member's name and telephone number ('' for none). Raises NoSuchUser, CassandraUnavailable."""
    with name_under_way(user_id):
        if not DETAILED.apply(if_lost=SEND_AGAIN, user_id=user_id, name=name, phone=phone):
            raise NoSuchUser


def record_login(user_id: UUID, now: datetime) -> None:
    """Store when a member signed in last, in UTC. An erased account is ignored. Raises CassandraUnavailable."""
    LOGGED_IN.apply(if_lost=SEND_AGAIN, user_id=user_id, now=now)


def save_preferences(user_id: UUID, country: str, *, plain_mail: bool) -> None:
    """Store a member's usual shipping country ('' for none) and the format of order mails. Raises NoSuchUser, CassandraUnavailable."""
    if not PREFERRED.apply(
        if_lost=SEND_AGAIN, user_id=user_id, country=country, plain_mail=plain_mail
    ):
        raise NoSuchUser


def save_low_stock_mail(user_id: UUID, *, wanted: bool) -> None:
    """Store whether a member of staff wants the daily mail about low stock. Raises NoSuchUser, CassandraUnavailable."""
    if not LOW_STOCK_MAIL.apply(if_lost=SEND_AGAIN, user_id=user_id, wanted=wanted):
        raise NoSuchUser


def save_notification_choices(user_id: UUID, choices: Mapping[str, str]) -> None:
    """Store what a member wants to be told, by kind. Raises NoSuchUser, CassandraUnavailable."""
    if not CHOSE_NOTIFICATIONS.apply(if_lost=SEND_AGAIN, user_id=user_id, choices=dict(choices)):
        raise NoSuchUser


def save_notification_choice(user_id: UUID, kind: str, choice: str) -> None:
    """Store what a member wants to be told of one kind. Raises NoSuchUser, CassandraUnavailable."""
    if not CHOSE_FOR_KIND.apply(if_lost=SEND_AGAIN, user_id=user_id, kind=kind, choice=choice):
        raise NoSuchUser
