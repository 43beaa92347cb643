"""Sharing of carts: people, open invitations, and links that show a cart to everyone who has them."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID, uuid5

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse
from django.utils.translation import gettext as _

from cart import queries
from cart.access import ROLE_DESCRIPTIONS, ROLES
from cart.entities import Cart
from cart.names import default_name
from cassandra_db import PendingResult, Row, read
from mail.addresses import email_key
from web.days import end_after_days, last_day

PERSON, INVITATION, LINK = "person", "invitation", "link"
INVITED_DAYS = 14

PEOPLE = read(
    "sharing",
    """SELECT row_count, cart_name, owner_name, kind, key, role, name, email, added_at FROM people_by_cart
       WHERE cart_id = :cart_id""",
)
PERSON_ROW = read(
    "sharing",
    """SELECT row_count, cart_name, owner_name, kind, key, role, name, email, added_at FROM people_by_cart
       WHERE cart_id = :cart_id AND kind = :kind AND key = :key""",
)


INVITING_CARTS = read("sharing", "SELECT cart_id FROM invitations_by_email WHERE email = :email")


@dataclass(frozen=True)
class CartUser:
    """A logged-in member: the id, name and e-mail address that the sharing of carts needs."""

    user_id: UUID
    name: str
    email: str


@dataclass(frozen=True)
class Person:
    """A person with whom a cart is shared."""

    user_id: UUID
    name: str
    email: str
    role: str
    since: datetime

    @property
    def role_description(self) -> str:
        """The rights of the person's role in words."""
        return str(ROLE_DESCRIPTIONS.get(self.role, ""))


@dataclass(frozen=True)
class Invitation:
    """An open invitation. Its token is valid only for this invitation: if the person is invited again, the token is another one."""

    cart_id: UUID
    key: str
    email: str
    role: str
    invited_at: datetime
    cart_name: str = ""
    owner_name: str = ""

    @property
    def expires_at(self) -> datetime:
        """The time at which the invitation expires: the end of its last day."""
        return end_after_days(self.invited_at, INVITED_DAYS)

    @property
    def last_day(self) -> date:
        """The last day on which the invitation can be accepted."""
        return last_day(self.expires_at)

    @property
    def role_description(self) -> str:
        """The rights of the invitation's role in words."""
        return str(ROLE_DESCRIPTIONS.get(self.role, ""))

    @property
    def hidden_email(self) -> str:
        """The e-mail address as everybody with the link may see it: "a…@example.com"."""
        name, _, domain = self.email.partition("@")
        return f"{name[:1]}…@{domain}"

    def is_for(self, email: str) -> bool:
        """Return whether the invitation is for this e-mail address."""
        return email_key(self.email) == email_key(email)

    @property
    def token(self) -> str:
        """The signed text in the link of the invitation's mail."""
        return _sign_ids(INVITATION, self.cart_id, UUID(self.key), _stamp(self.invited_at))


@dataclass(frozen=True)
class Link:
    """A link that shows a cart to everyone who has it, until it is withdrawn."""

    cart_id: UUID
    link_id: UUID
    made_at: datetime

    @property
    def url(self) -> str:
        """The whole URL of the link, which the owner can pass on."""
        return f"{settings.PUBLIC_URL}{reverse('cart:shared', args=[_sign_ids(LINK, self.cart_id, self.link_id)])}"


@dataclass(frozen=True)
class People:
    """All people, invitations and links of a cart, oldest first."""

    people: tuple[Person, ...] = ()
    invitations: tuple[Invitation, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def count(self) -> int:
        """The number of rows of people, invitations and links."""
        return len(self.people) + len(self.invitations) + len(self.links)

    @property
    def has_others(self) -> bool:
        """Whether other people can change the cart while its page is open, now or after they accept an invitation."""
        return bool(self.people or self.invitations)

    @property
    def names(self) -> str:
        """The people's names: "Ann, Ben and Cem"."""
        *most, last = [person.name for person in self.people] or [""]
        return (
            _("%(names)s and %(last)s") % {"names": ", ".join(most), "last": last} if most else last
        )


def get_people(cart_id: UUID) -> People:
    """Return a cart's people, invitations and links. Raises CassandraUnavailable."""
    return people_from_rows(cart_id, PEOPLE.all(cart_id=cart_id))


def prefetch_people(cart_id: UUID) -> PendingResult:
    """Start reading a cart's people, for `people_from_rows`."""
    return PEOPLE.start(cart_id=cart_id)


def people_from_rows(cart_id: UUID, rows: Iterable[Row]) -> People:
    """Return the people, invitations and links in the rows of a cart."""
    ordered = sorted((row for row in rows if row.key is not None), key=lambda row: row.added_at)
    return People(
        tuple(
            Person(UUID(row.key), row.name, row.email, row.role, row.added_at)
            for row in ordered
            if row.kind == PERSON
        ),
        tuple(invitation_from_row(cart_id, row) for row in ordered if row.kind == INVITATION),
        tuple(Link(cart_id, UUID(row.key), row.added_at) for row in ordered if row.kind == LINK),
    )


def invitation_from_row(cart_id: UUID, row: Row) -> Invitation:
    """Return the invitation in a row of a cart."""
    return Invitation(
        cart_id,
        row.key,
        row.email,
        row.role,
        row.added_at,
        row.cart_name or "",
        row.owner_name or "",
    )


def get_invitation(cart_id: UUID, key: str) -> Invitation | None:
    """Return an open invitation, or None. Raises CassandraUnavailable."""
    row = PERSON_ROW.one(cart_id=cart_id, kind=INVITATION, key=key)
    return invitation_from_row(cart_id, row) if row and row.key is not None else None


def list_inviting_cart_ids(email: str) -> list[UUID]:
    """Return the ids of the carts to which an e-mail address was invited in the last 14 days. Raises CassandraUnavailable."""
    return [row.cart_id for row in INVITING_CARTS.all(email=email_key(email))]


def list_invitations(email: str) -> list[Invitation]:
    """Return the open invitations to an e-mail address. Raises CassandraUnavailable."""
    # Compare the e-mail addresses, not the keys: an earlier version of the shop made other keys (S109).
    return [
        invitation
        for cart_id in list_inviting_cart_ids(email)
        for invitation in get_people(cart_id).invitations
        if invitation.is_for(email)
    ]


def has_joined(cart_id: UUID, user_id: UUID) -> bool:
    """Return whether a user has accepted an invitation to a cart. Raises CassandraUnavailable."""
    row = PERSON_ROW.one(cart_id=cart_id, kind=PERSON, key=str(user_id))
    return row is not None and row.role is not None


def invitation_key(cart_id: UUID, email: str) -> str:
    """Return the key of an address's invitation to a cart. All spellings of the address have the same key."""
    return str(uuid5(cart_id, email_key(email)))


def find_invitation(token: str) -> tuple[UUID, Invitation | None]:
    """Return the id of the cart in an invitation's token, and the invitation, or None if the invitation has ended.

    Raises BadSignature for a forged token, CassandraUnavailable.
    """
    cart_id, key, stamp = _parse_token(INVITATION, token, 3)
    found = get_invitation(cart_id, str(key))
    return cart_id, found if found and _stamp(found.invited_at) == stamp else None


@dataclass(frozen=True)
class SharedCart:
    """A cart that a link shows."""

    cart: Cart
    owner_name: str


def find_shared_cart(token: str) -> SharedCart | None:
    """Return the cart that a link shows; None if the link is forged or withdrawn, or the cart is deleted.

    All reads are in one round. Raises CassandraUnavailable.
    """
    try:
        cart_id, link_id = _parse_token(LINK, token, 2)
    except BadSignature:
        return None
    link = PERSON_ROW.start(cart_id=cart_id, kind=LINK, key=str(link_id))
    sums = queries.SUMS.start(cart_id=cart_id)
    lines = queries.prefetch_lines(cart_id).rows()
    row, sums_row = link.one(), sums.one()
    if row is None or row.key is None or (sums_row is not None and sums_row.deleted_at is not None):
        return None
    name = row.cart_name or default_name()
    return SharedCart(queries.cart_from_rows(cart_id, name, lines), row.owner_name or "")


def get_page_version(person_id: UUID, cart_id: UUID) -> str | None:
    """Return a cart's version for its page, or None if the person may not see the cart.

    In one round it reads the person's row in `people_by_cart` and the cart's static row. Raises CassandraUnavailable.
    """
    person = queries.PERSON.start(cart_id=cart_id, key=str(person_id))
    sums = queries.SUMS.one(cart_id=cart_id)
    role = getattr(person.one(), "role", None) or ""
    if sums is None or sums.deleted_at is not None:
        return None
    if role not in ROLES and sums.owner_id != person_id:
        return None
    return page_version(sums.version, role)


def page_version(number: int | None, role: str) -> str:
    """Return the version that a page polls. It changes with the cart's lines (`number`), the name and the visitor's role."""
    return f"{number or 0}{role[:1]}"


def _stamp(at: datetime) -> UUID:
    # Cassandra keeps milliseconds.
    return UUID(int=round(at.timestamp() * 1000))


def _sign_ids(kind: str, *parts: UUID) -> str:
    text = urlsafe_b64encode(b"".join(part.bytes for part in parts)).rstrip(b"=").decode()
    return _signer(kind).sign(text)


def _parse_token(kind: str, token: str, parts: int) -> list[UUID]:
    """Return the ids in a token. Raises BadSignature if the token is forged or has another number of `parts`."""
    text = _signer(kind).unsign(token)
    try:
        ids = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return [UUID(bytes=ids[index * 16 : index * 16 + 16]) for index in range(parts)]
    except (NotBase64, ValueError) as error:
        raise BadSignature from error


def _signer(kind: str) -> Signer:
    return Signer(sep=".", salt=f"cart.{kind}")
