"""The roles of staff, and who does which work. Who may open a page follows from this in accounts.access."""

from collections.abc import Collection

from django.utils.translation import gettext_noop as _

# An admin may do what any of the others may.
ADMIN = "admin"
ROLE_DUTIES = {
    "support": _("orders and customer questions"),
    "warehouse": _("packing and shipping orders"),
    "catalogue": _("products and categories"),
    "analyst": _("reports"),
    ADMIN: _("everything, including staff and the audit log"),
}
ROLES = tuple(ROLE_DUTIES)
# Who works on orders; and who of them notes money, and gives it back.
ORDER_STAFF = ("support", "warehouse")
MONEY_STAFF = ("support",)
# Who works on products, and who on stock.
CATALOGUE_STAFF = ("catalogue",)
STOCK_STAFF = ("catalogue", "warehouse")
# Who reads what was mailed to customers.
MAIL_STAFF = ("support",)
# Who decides which reviews are published.
REVIEW_STAFF = ("support",)


def is_allowed(role: str, roles: Collection[str] = ()) -> bool:
    """Return whether a role of the staff is one of these, or any role if none are named. An admin's always is."""
    return role in ROLES and (not roles or role in (*roles, ADMIN))
