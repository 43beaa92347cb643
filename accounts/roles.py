"""The roles of staff, and who does which work. Who may open a page follows from this in accounts.access."""

from collections.abc import Collection

# An admin may do what any of the others may.
ADMIN = "admin"
ROLE_DUTIES = {
    "support": "orders, and whoever asks about one",
    "warehouse": "orders, to pack and send them",
    "catalogue": "products and categories",
    "analyst": "figures",
    ADMIN: "all of it, the people who work here, and the audit log",
}
ROLES = tuple(ROLE_DUTIES)
# Who works on orders; and who of them notes money, and gives it back.
ORDER_STAFF = ("support", "warehouse")
MONEY_STAFF = ("support",)


def is_allowed(role: str, roles: Collection[str] = ()) -> bool:
    """Return whether a role of the staff is one of these, or any role if none are named. An admin's always is."""
    return role in ROLES and (not roles or role in (*roles, ADMIN))
