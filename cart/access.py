"""Who may do what in a cart. Every view and every operation that names a cart checks here first."""

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
# What a role may do, for those who give it and those who get it: "Ben can view it".
ROLE_DESCRIPTIONS = {
    "viewer": _("can view it"),
    "editor": _("can view and edit it"),
    "buyer": _("can view, edit and order it"),
}


@dataclass(frozen=True)
class Access:
    """What a person may do in a cart. `role` is '' for its owner; `shared_by` names the owner to everybody else."""

    cart_id: UUID
    name: str
    role: str = ""
    shared_by: str = ""

    @property
    def is_owner(self) -> bool:
        return not self.role

    @property
    def role_description(self) -> str:
        """What a role that was given may do: "can view it"."""
        return str(ROLE_DESCRIPTIONS.get(self.role, ""))

    @property
    def can_edit(self) -> bool:
        """Whether the lines may be changed."""
        return self.is_allowed(EDIT)

    @property
    def can_order(self) -> bool:
        """Whether it may be ordered."""
        return self.is_allowed(BUY)

    def is_allowed(self, act: str) -> bool:
        """Return whether VIEW, EDIT, BUY or OWN is allowed."""
        return act in _PERMISSIONS.get(self.role, ())


def require_access(person_id: UUID | None, cart_id: UUID, act: str) -> Access:
    """Return what a person may do in a cart, once `act` is allowed.

    An own cart costs one read. A shared one's role is read where its owner writes it, so a role that was withdrawn
    ends at once. Raises NoSuchCart (also for a cart of others, as if it did not exist), NotAllowed,
    CassandraUnavailable.
    """
    row = queries.get_listed_cart_row(person_id, cart_id) if person_id else None
    if row is None or person_id is None:
        raise NoSuchCart
    return require_listed_access(person_id, row, act)


def require_listed_access(person_id: UUID, row: Row, act: str) -> Access:
    """Return what `require_access` does, for a cart whose row on the person's list was read in this request."""
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
