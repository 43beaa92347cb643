"""The roles of staff, and the roles for each kind of work. accounts.access applies them to pages."""

from collections.abc import Collection

from django.utils.translation import gettext_noop as _

# An admin has the rights of all other roles.
ADMIN = "admin"
ROLE_DUTIES = {
    "support": _("orders and customer questions"),
    "warehouse": _("packing and shipping orders"),
    "catalogue": _("products and categories"),
    "analyst": _("reports"),
    ADMIN: _("everything, including staff and the audit log"),
}
ROLES = tuple(ROLE_DUTIES)
# Roles that work on orders; roles that record payments; roles that refund.
ORDER_STAFF = ("support", "warehouse")
MONEY_STAFF = ("support",)
# Roles that work on products; roles that work on stock.
CATALOGUE_STAFF = ("catalogue",)
STOCK_STAFF = ("catalogue", "warehouse")
# Roles that read the mails to customers.
MAIL_STAFF = ("support",)
# Roles that moderate reviews.
REVIEW_STAFF = ("support",)
# Roles that read and answer customers' messages.
MESSAGE_STAFF = ("support",)


def is_allowed(role: str, roles: Collection[str] = ()) -> bool:
    """Return whether a role is one of these, or any role if none is named. An admin is always allowed."""
    return role in ROLES and (not roles or role in (*roles, ADMIN))
