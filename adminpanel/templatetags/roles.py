"""A template filter for the name of a role."""

from django import template
from django.utils.translation import gettext_lazy

from accounts.roles import ADMIN

register = template.Library()

SHOPPER = ""
ROLE_LABELS = {
    SHOPPER: gettext_lazy("Shopper"),
    "support": gettext_lazy("Support"),
    "warehouse": gettext_lazy("Warehouse"),
    "catalogue": gettext_lazy("Catalogue"),
    "analyst": gettext_lazy("Analyst"),
    ADMIN: gettext_lazy("Admin"),
}


@register.filter
def role_label(role: str | None) -> str:
    """Return the name of a role. A user without a role is a shopper."""
    return str(ROLE_LABELS.get(role or SHOPPER, role))
