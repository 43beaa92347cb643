"""Writes of a cart's people, invitations and links.

`people_by_cart` is authoritative and is written first: a person who is removed there loses access at once. The row in the
person's list of carts is a copy, written after it. A second call finishes a call that a crash has interrupted.
"""

from contextlib import suppress
from datetime import datetime
from math import ceil
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from django.core.signing import BadSignature

from cart import people, queries
from cart.access import OWN, ROLE_NAMES, ROLES, Access, require_access
from cart.errors import (
    AlreadyInvited,
    CartBusy,
    InvitationOver,
    NoSuchPerson,
    TooManyCarts,
    TooManyPeople,
    WrongInvitee,
)
from cart.limits import MAX_CARTS
from cart.names import default_name
from cart.notifications import INVITED
from cart.operations.carts import MAX_ATTEMPTS, add_cart_to_list, remove_cart_from_list
from cart.people import INVITATION, INVITED_DAYS, LINK, PERSON, CartUser, Invitation, Link
from cassandra_db import (
    RAISE_UNKNOWN,
    SEND_AGAIN,
    Row,
    UnknownOutcome,
    applied_if,
    apply_batch,
    conditional_write,
    retry_attempts,
    write,
)
from mail.addresses import email_key
from notifications.operations import announce
from web.days import end_after_days

MAX_PEOPLE = 20

FIRST_ROW = conditional_write(
    "sharing",
    """UPDATE people_by_cart SET row_count = 1, cart_name = :cart_name, owner_name = :owner_name
       WHERE cart_id = :cart_id IF row_count = null""",
)
# `count` is the number of existing rows plus one. It is counted, because invitations expire by themselves.
ANOTHER_ROW = conditional_write(
    "sharing",
    """UPDATE people_by_cart SET row_count = :count, cart_name = :cart_name, owner_name = :owner_name
       WHERE cart_id = :cart_id IF row_count = :seen""",
)
ONE_ROW_LESS = conditional_write(
    "sharing",
    "UPDATE people_by_cart SET row_count = row_count + -1 WHERE cart_id = :cart_id IF row_count > 0",
)
INSERT_INVITATION = conditional_write(
    "sharing",
    """INSERT INTO people_by_cart (cart_id, kind, key, role, email, added_at)
       VALUES (:cart_id, 'invitation', :key, :role, :email, :now) IF NOT EXISTS USING TTL :seconds""",
)
# This row is written before the invitation, so that the erasure of an address finds all its invitations.
INSERT_INVITED = write(
    "sharing",
    # An invitation ends at the end of a day; this row outlives the invitation.
    f"""INSERT INTO invitations_by_email (email, cart_id) VALUES (:email, :cart_id)
        USING TTL {(INVITED_DAYS + 2) * 24 * 3600}""",  # noqa: S608
)
DELETE_INVITED = write("sharing", "DELETE FROM invitations_by_email WHERE email = :email")
INSERT_LINK = conditional_write(
    "sharing",
    """INSERT INTO people_by_cart (cart_id, kind, key, added_at) VALUES (:cart_id, 'link', :key, :now) IF NOT EXISTS""",
)
INSERT_PERSON = conditional_write(
    "sharing",
    """INSERT INTO people_by_cart (cart_id, kind, key, role, name, email, added_at)
       VALUES (:cart_id, 'person', :key, :role, :name, :email, :now) IF NOT EXISTS""",
)
DELETE_PERSON_ROW = conditional_write(
    "sharing",
    "DELETE FROM people_by_cart WHERE cart_id = :cart_id AND kind = :kind AND key = :key IF added_at = :added_at",
)
UPDATE_ROLE = conditional_write(
    "sharing",
    "UPDATE people_by_cart SET role = :role WHERE cart_id = :cart_id AND kind = 'person' AND key = :key IF role = :was",
)
DELETE_ROW_COUNT = conditional_write(
    "sharing",
    "DELETE row_count, cart_name, owner_name FROM people_by_cart WHERE cart_id = :cart_id IF row_count = :seen",
)
DELETE_PEOPLE = conditional_write("sharing", "DELETE FROM people_by_cart WHERE cart_id = :cart_id")
# The statement for the copy of the role on a person's list.
UPDATE_LISTED_ROLE = conditional_write(
    "K1",
    "UPDATE carts_by_user SET role = :role WHERE owner_id = :owner_id AND name_key = :name_key IF cart_id = :cart_id",
)


def create_link(owner_id: UUID, cart_id: UUID, by: str, now: datetime) -> Link:
    """Make a cart's link, or return the existing one. `by` is the owner's name, or ''.

    Raises NoSuchCart, NotAllowed, TooManyPeople, CartBusy, CassandraUnavailable.
    """
    found = require_access(owner_id, cart_id, OWN)
    existing = people.get_people(cart_id).links
    if existing:
        return existing[-1]
    made = Link(cart_id, uuid4(), now)
    _insert_row(
        found,
        by,
        INSERT_LINK.bind(cart_id=cart_id, key=str(made.link_id), now=now),
        LINK,
        str(made.link_id),
    )
    return made


def withdraw_link(owner_id: UUID, cart_id: UUID, link_id: UUID) -> None:
    """Withdraw a link to a cart, if it still exists. Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable."""
    require_access(owner_id, cart_id, OWN)
    _delete_row(cart_id, LINK, str(link_id))


def invite_person(
    owner: CartUser, cart_id: UUID, email: str, role: str, now: datetime
) -> Invitation:
    """Invite an e-mail address to a cart; the worker queues the mail. Known and unknown addresses are treated in the same way.

    A repeat with the same role returns the existing invitation. Raises NoSuchCart, NotAllowed, AlreadyInvited,
    TooManyPeople, CartBusy, CassandraUnavailable; then nothing is mailed.
    """
    if role not in ROLES:
        raise ValueError(f"no role: {role}")
    found = require_access(owner.user_id, cart_id, OWN)
    key = people.invitation_key(cart_id, email)
    if any(
        email_key(person.email) == email_key(email) for person in people.get_people(cart_id).people
    ):
        raise AlreadyInvited(email)
    seconds = ceil((end_after_days(now, INVITED_DAYS) - now).total_seconds())
    row = INSERT_INVITATION.bind(
        cart_id=cart_id, key=key, role=role, email=email, now=now, seconds=seconds
    )
    INSERT_INVITED.run(email=email_key(email), cart_id=cart_id)
    # The worker mails the invitation, so that nothing here depends on whether the address has an account.
    announce("cart", cart_id, f"{INVITED} {key} {owner.user_id}")
    _insert_row(found, owner.name, row, INVITATION, key)
    made = people.get_invitation(cart_id, key)
    if made is None:
        raise CartBusy  # the invitation was withdrawn at the same moment
    if made.role != role:
        raise AlreadyInvited(email, str(ROLE_NAMES[made.role]).lower())
    return made


def withdraw_invitation(owner_id: UUID, cart_id: UUID, key: str) -> None:
    """Withdraw an invitation, if it still exists. Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable."""
    require_access(owner_id, cart_id, OWN)
    _delete_row(cart_id, INVITATION, key)


def delete_invitations(email: str) -> None:
    """Delete all open invitations to an e-mail address. Raises CartBusy, CassandraUnavailable."""
    for invitation in people.list_invitations(email):
        _delete_row(invitation.cart_id, INVITATION, invitation.key)
    DELETE_INVITED.run(email=email_key(email))


def accept_invitation(token: str, member: CartUser, now: datetime) -> UUID:
    """Use up an invitation: add the member to the cart's people and the cart to the member's list. Return the cart's id.

    A second call by the same member finishes the first one. Raises InvitationOver, WrongInvitee, TooManyCarts, CartBusy,
    CassandraUnavailable; then nothing has changed.
    """
    try:
        cart_id, _ = people.find_invitation(token)
    except BadSignature as error:
        raise InvitationOver from error
    for _ in retry_attempts(MAX_ATTEMPTS):
        _, invitation = people.find_invitation(token)
        mine = people.PERSON_ROW.one(cart_id=cart_id, kind=PERSON, key=str(member.user_id))
        carts = queries.CARTS.all(owner_id=member.user_id)
        if any(row.cart_id == cart_id and not row.role for row in carts):
            return cart_id  # the cart is the member's own
        joined = mine is not None and mine.role is not None
        if invitation is None:
            if not joined or mine is None:
                raise InvitationOver
            _add_to_list(member.user_id, cart_id, mine, now)
            # the person was removed before the cart was on the list
            if not people.has_joined(cart_id, member.user_id):
                remove_shared_cart_from_list(member.user_id, cart_id)
                raise InvitationOver
            return cart_id
        if not invitation.is_for(member.email):
            raise WrongInvitee(invitation.hidden_email, member.email)
        if _is_deleted(cart_id):
            raise InvitationOver
        if not joined and carts and (carts[0].cart_count or 0) >= MAX_CARTS:
            raise TooManyCarts(MAX_CARTS)
        _admit_person(invitation, member, mine if joined else None, now)
    raise CartBusy


def _admit_person(
    invitation: Invitation, member: CartUser, mine: Row | None, now: datetime
) -> None:
    """Replace the invitation's row by the member's row, in one batch. The caller must read whether the batch has applied."""
    key = str(member.user_id)
    used = DELETE_PERSON_ROW.bind(
        cart_id=invitation.cart_id,
        kind=INVITATION,
        key=invitation.key,
        added_at=invitation.invited_at,
    )
    if mine is None:
        joined = INSERT_PERSON.bind(
            cart_id=invitation.cart_id,
            key=key,
            role=invitation.role,
            name=member.name,
            email=member.email,
            now=now,
        )
        batch = [used, joined]
    else:
        role = UPDATE_ROLE.bind(
            cart_id=invitation.cart_id, key=key, role=invitation.role, was=mine.role
        )
        batch = [ONE_ROW_LESS.bind(cart_id=invitation.cart_id), used, role]
    with suppress(UnknownOutcome):
        apply_batch(*batch, if_lost=RAISE_UNKNOWN)


def change_role(owner_id: UUID, cart_id: UUID, user_id: UUID, role: str) -> None:
    """Give a person another role in a cart. Raises NoSuchCart, NotAllowed, NoSuchPerson, CartBusy, CassandraUnavailable."""
    if role not in ROLES:
        raise ValueError(f"no role: {role}")
    require_access(owner_id, cart_id, OWN)
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = people.PERSON_ROW.one(cart_id=cart_id, kind=PERSON, key=str(user_id))
        if row is None or row.role is None:
            raise NoSuchPerson
        if row.role == role or UPDATE_ROLE.apply(
            if_lost=applied_if(lambda row: bool(row.role == role)),
            cart_id=cart_id,
            key=str(user_id),
            role=role,
            was=row.role,
        ):
            _update_list_role(user_id, cart_id, role)
            return
    raise CartBusy


def remove_person(owner_id: UUID, cart_id: UUID, user_id: UUID) -> None:
    """Remove a person from a cart, and the cart from the person's list. A second call does nothing.

    Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable.
    """
    require_access(owner_id, cart_id, OWN)
    _delete_row(cart_id, PERSON, str(user_id))
    remove_shared_cart_from_list(user_id, cart_id)


def leave_cart(person_id: UUID, cart_id: UUID) -> bool:
    """Leave a shared cart; return whether it was on the person's list. The person's own cart stays.

    A cart that is no longer shared is removed from the list, too. Raises CartBusy, CassandraUnavailable.
    """
    row = queries.get_listed_cart_row(person_id, cart_id)
    if row is None or not row.role:
        return False
    _delete_row(cart_id, PERSON, str(person_id))
    remove_shared_cart_from_list(person_id, cart_id)
    return True


def end_sharing(cart_id: UUID) -> None:
    """End the sharing of a deleted cart. A second call continues an interrupted one. Raises CartBusy, CassandraUnavailable."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        rows = people.PEOPLE.all(cart_id=cart_id)
        if not rows:
            return
        for person in people.people_from_rows(cart_id, rows).people:
            remove_shared_cart_from_list(person.user_id, cart_id)
        with suppress(UnknownOutcome):
            last = DELETE_ROW_COUNT.bind(cart_id=cart_id, seen=rows[0].row_count)
            apply_batch(last, DELETE_PEOPLE.bind(cart_id=cart_id), if_lost=RAISE_UNKNOWN)
    raise CartBusy


def _insert_row(found: Access, by: str, row: BoundStatement, kind: str, key: str) -> None:
    """Insert a row into `people_by_cart`, unless its key exists. Raises TooManyPeople, CartBusy."""
    named = {"cart_id": found.cart_id, "cart_name": found.name, "owner_name": by}
    for _ in retry_attempts(MAX_ATTEMPTS):
        rows = people.PEOPLE.all(cart_id=found.cart_id)
        existing = [each for each in rows if each.key is not None]
        if any((each.kind, each.key) == (kind, key) for each in existing):
            return
        if len(existing) >= MAX_PEOPLE:
            raise TooManyPeople(MAX_PEOPLE)
        seen = rows[0].row_count if rows else None
        count_update = (
            FIRST_ROW.bind(**named)
            if seen is None
            else ANOTHER_ROW.bind(count=len(existing) + 1, seen=seen, **named)
        )
        # After a lost answer the next read shows whether the key exists.
        with suppress(UnknownOutcome):
            if apply_batch(count_update, row, if_lost=RAISE_UNKNOWN):
                return
    raise CartBusy


def _delete_row(cart_id: UUID, kind: str, key: str) -> None:
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = people.PERSON_ROW.one(cart_id=cart_id, kind=kind, key=key)
        if row is None or row.key is None or row.added_at is None:
            return
        delete = DELETE_PERSON_ROW.bind(cart_id=cart_id, kind=kind, key=key, added_at=row.added_at)
        with suppress(UnknownOutcome):
            if apply_batch(ONE_ROW_LESS.bind(cart_id=cart_id), delete, if_lost=RAISE_UNKNOWN):
                return
    raise CartBusy


def _is_deleted(cart_id: UUID) -> bool:
    return getattr(queries.SUMS.one(cart_id=cart_id), "deleted_at", None) is not None


def _add_to_list(person_id: UUID, cart_id: UUID, mine: Row, now: datetime) -> None:
    """Add a shared cart to a person's list, under a free name."""
    name, by = mine.cart_name or default_name(), mine.owner_name or ""
    add_cart_to_list(person_id, cart_id, name, now, role=mine.role, shared_by=by)
    _update_list_role(person_id, cart_id, mine.role)


def _update_list_role(person_id: UUID, cart_id: UUID, role: str) -> None:
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = queries.get_listed_cart_row(person_id, cart_id)
        if row is None or not row.role or row.role == role:
            return
        if UPDATE_LISTED_ROLE.apply(
            if_lost=SEND_AGAIN,
            owner_id=person_id,
            name_key=row.name_key,
            cart_id=cart_id,
            role=role,
        ):
            return
    raise CartBusy


def remove_shared_cart_from_list(person_id: UUID, cart_id: UUID) -> None:
    """Remove a shared cart from a person's list, if it is there. The person's own cart stays. Raises CartBusy, CassandraUnavailable."""
    row = queries.get_listed_cart_row(person_id, cart_id)
    if row is not None and row.role:
        remove_cart_from_list(person_id, cart_id)
