"""Whether a member of staff may refund. Every act that gives money back asks here."""

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from moneyed import Money

from accounts.access import current_member, has_permission, note_money
from accounts.models import User
from adminpanel.code_again import confirm_by_code
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from pricing.money import to_minor_units
from shop_settings.terms import get_terms
from web.forms import Form


def may_refund(user: User) -> bool:
    """Return whether a role gives money back."""
    return has_permission(user, "adminpanel.refund")


def confirm_order_refund(request: HttpRequest, form: Form, order: Order, amount: Money) -> bool:
    """Do what `confirm_refund` does for an act that gives back so much of one order."""
    cents = to_minor_units(amount)
    return confirm_refund(
        request, form, cents, cents + to_minor_units(balance.amount_given_back(order))
    )


def confirm_refund(request: HttpRequest, form: Form, cents: int, in_all: int) -> bool:
    """Return whether the user behind a valid form may give so much back now; if not, the form asks for a code.

    `in_all` is the sum with all that went back of its orders before, in minor units, too. The code is needed where that, or what
    this person has given back within the hour, is more than one may give without. Raises PermissionDenied for a role that gives
    nothing back, CassandraUnavailable.
    """
    if cents <= 0:
        return True
    if not may_refund(current_member(request)):
        raise PermissionDenied
    # Written before it is done: what a crash cuts off counts, and nothing goes back that does not.
    within_hour = note_money(request, cents)
    if max(in_all, within_hour) <= refund_limit() or confirm_by_code(request, form):
        return True
    note_money(request, 0)
    return False


def refund_limit() -> int:
    """Return up to which sum money goes back without a code, in minor units. Raises CassandraUnavailable."""
    return to_minor_units(Money(get_terms().refund_code_above, settings.CURRENCY))
