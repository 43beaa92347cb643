"""Access to carts. Every view and operation that names a cart checks it here first."""

from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from cart import queries
from cart.errors import NoSuchCart, NotAllowed
from cassandra_db import Row

ROLES = ("viewer", "editor", "buyer")
VIEW, EDIT, BUY, OWN = "view", "edit", "buy", "own"
_PERMISSIONS = {
    "": (VIEW, EDIT, BUY, OWN),
    "viewer": (VIEW,),
    "editor": (VIEW, EDIT),
    "buyer": (VIEW, EDIT, BUY),
}

ROLE_NAMES = {"viewer": _("Viewer"), "editor": _("Editor"), "buyer": _("Buyer")}
# The rights of a role in words, as in "Ben can view it".
ROLE_DESCRIPTIONS = {
    "viewer": _("can view it"),
    "editor": _("can view and edit it"),
    "buyer": _("can view, edit and order it"),
}


@dataclass(frozen=True)
class Access:
    """A person's access to a cart. `role` is '' for the owner. For other people, `shared_by` is the owner's name."""

    cart_id: UUID
    name: str
    role: str = ""
    shared_by: str = ""

    @property
    def is_owner(self) -> bool:
        return not self.role

    @property
    def role_description(self) -> str:
        """The rights of the person's role in words: "can view it"."""
        return str(ROLE_DESCRIPTIONS.get(self.role, ""))

    @property
    def can_edit(self) -> bool:
        """Whether the person may change the cart's lines."""
        return self.is_allowed(EDIT)

    @property
    def can_order(self) -> bool:
        """Whether the person may order the cart."""
        return self.is_allowed(BUY)

    def is_allowed(self, act: str) -> bool:
        """Return whether the person may do `act`: VIEW, EDIT, BUY or OWN."""
        return act in _PERMISSIONS.get(self.role, ())


def require_access(person_id: UUID | None, cart_id: UUID, act: str) -> Access:
    """Return a person's access to a cart, if their role allows `act`.

    For the person's own cart this is one read. The role in a shared cart is read from `people_by_cart`, so a withdrawn role
    ends at once. Raises NoSuchCart (also for other people's carts), NotAllowed, CassandraUnavailable.
    """
    row = queries.get_listed_cart_row(person_id, cart_id) if person_id else None
    if row is None or person_id is None:
        raise NoSuchCart
    return require_listed_access(person_id, row, act)


def require_listed_access(person_id: UUID, row: Row, act: str) -> Access:
    """Return a person's access like `require_access`, for a cart whose row on the person's list was read in this request."""
    cart_id = row.cart_id
    if not row.role:
        return Access(cart_id, row.cart_name)
    person = queries.PERSON.start(cart_id=cart_id, key=str(person_id))
    sums = queries.SUMS.one(cart_id=cart_id)
    role = getattr(person.one(), "role", None)
    if role not in ROLES or (sums is not None and sums.deleted_at is not None):
        raise NoSuchCart
    found = Access(cart_id, row.cart_name, role, row.shared_by or "")
    if not found.is_allowed(act):
        raise NotAllowed(found.name, found.shared_by, found.role)
    return found
