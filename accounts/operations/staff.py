"""Writes of the staff's roles."""

from datetime import datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import queries
from accounts.errors import LastAdmin, NoSuchUser, RoleChanged
from accounts.models import User
from accounts.roles import ADMIN
from accounts.second_factor import delete_second_factor
from accounts.sessions import end_sessions
from cassandra_db import RAISE_UNKNOWN, SEND_AGAIN, applied_if, apply_batch, conditional_write
from mail.operations import queue_mail
from shop_settings.brand import get_brand

ROLE_GIVEN = conditional_write(
    "Q6", "UPDATE users SET role = :role WHERE user_id = :user_id IF EXISTS"
)
ROLE_CHANGED = conditional_write(
    "Q6", "UPDATE users SET role = :role WHERE user_id = :user_id IF role = :seen"
)
STAFF_COUNTED_ON = conditional_write(
    "staff", "UPDATE staff SET version = :next WHERE shop = :shop IF version = :seen"
)
STAFF_WRITTEN = conditional_write(
    "staff", "INSERT INTO staff (shop, user_id, role) VALUES (:shop, :user_id, :role)"
)


def set_role(user_id: UUID, role: str, now: datetime, *, seen: str | None = None) -> None:
    """Give a member a role of the staff, or '' to make them a shopper; end their sessions and inform them by mail.

    `seen` is the role that the page showed, `now` is in UTC. Raises LastAdmin if no admin would be left, RoleChanged if the
    role is not `seen`. Also raises NoSuchUser, CassandraUnavailable.
    """
    if (member := queries.get_user(user_id)) is None:
        raise NoSuchUser
    if seen is not None and member.role != seen:
        raise RoleChanged
    record_staff_role(user_id, role)
    if seen is None:
        is_given = ROLE_GIVEN.apply(if_lost=SEND_AGAIN, user_id=user_id, role=role)
    else:
        is_done = applied_if(lambda row: bool(row.role == role))
        is_given = ROLE_CHANGED.apply(if_lost=is_done, user_id=user_id, role=role, seen=seen)
    if not is_given:
        if (present := queries.get_user(user_id)) is None:
            raise NoSuchUser
        # Another admin was faster: the list of staff gets the role that this admin has set.
        record_staff_role(user_id, present.role)
        raise RoleChanged
    end_sessions(user_id)
    if member.role != role:
        _queue_access_mail(
            member,
            _("Your role at %(shop)s is now %(role)s.") % {"shop": get_brand().name, "role": role}
            if role
            else _("You no longer have staff access at %(shop)s.") % {"shop": get_brand().name},
            now,
        )


def reset_second_factor(member: User, now: datetime) -> bool:
    """Delete the second factor of a member of staff, end their sessions and inform them by mail.

    Return whether there was a second factor. `now` is in UTC. Raises CassandraUnavailable.
    """
    gone = delete_second_factor(member.user_id)
    if gone:
        _queue_access_mail(
            member,
            _("Your second factor was reset. You’ll set up a new one when you next sign in."),
            now,
        )
    return gone


def _queue_access_mail(member: User, what: str, now: datetime) -> None:
    context = {
        "name": member.name,
        "what": what,
        "url": settings.PUBLIC_URL + reverse("accounts:security"),
    }
    queue_mail(member.user_id, f"access {uuid4()}", member.email, "access_changed", context, now)


def record_staff_role(user_id: UUID, role: str) -> None:
    """Write a role to the list of staff, before the user's own row has it. Raises LastAdmin, CassandraUnavailable.

    Only users with the role in both rows count as admins. So after a crash between the two writes there are at least as many
    admins as are counted.
    """
    while True:
        version, admins = queries.list_role_holders(ADMIN)
        if role != ADMIN and user_id in admins and len(admins) == 1:
            raise LastAdmin
        if apply_batch(
            STAFF_COUNTED_ON.bind(shop=queries.SHOP, seen=version, next=(version or 0) + 1),
            STAFF_WRITTEN.bind(shop=queries.SHOP, user_id=user_id, role=role),
            if_lost=RAISE_UNKNOWN,
        ):
            return
