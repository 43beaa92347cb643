"""Decides whether a user may refund. Every act that gives money back calls this module."""

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
    """Return whether the user's role may refund."""
    return has_permission(user, "adminpanel.refund")


def confirm_order_refund(request: HttpRequest, form: Form, order: Order, amount: Money) -> bool:
    """Confirm a refund of one order with `confirm_refund`."""
    cents = to_minor_units(amount)
    return confirm_refund(
        request, form, cents, cents + to_minor_units(balance.amount_given_back(order))
    )


def confirm_refund(request: HttpRequest, form: Form, cents: int, in_all: int) -> bool:
    """Return whether the user may refund `cents` (minor units) now. If not, the form asks for a code.

    `in_all` includes earlier refunds of the same orders. A code is needed if `in_all`, or the user's refunds within the
    hour, exceed the limit. Raises PermissionDenied if the role may not refund. Also raises CassandraUnavailable.
    """
    if cents <= 0:
        return True
    if not may_refund(current_member(request)):
        raise PermissionDenied
    # The sum is noted before the refund. After a crash, a refund that did not happen may count, but none is missed.
    within_hour = note_money(request, cents)
    if max(in_all, within_hour) <= refund_limit() or confirm_by_code(request, form):
        return True
    note_money(request, 0)
    return False


def refund_limit() -> int:
    """Return the largest sum, in minor units, that may be refunded without a code. Raises CassandraUnavailable."""
    return to_minor_units(Money(get_terms().refund_code_above, settings.CURRENCY))
