"""The withdrawal function (Directive 2011/83/EU, Article 11a): two steps, without a login, and without showing the order."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts import queries as accounts
from accounts.models import User
from cassandra_db import current_time
from orders import numbers, operations
from orders.forms import WithdrawalForm
from orders.operations.withdrawals import WithdrawalStatement
from web.decorators import get_or_post, no_store, owner_only, public
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_page

_FORM, _CONFIRM = "orders/withdraw.html", "orders/withdraw_confirm.html"


@get_or_post
@no_store
@owner_only
def withdraw(request: HttpRequest) -> HttpResponse:
    """Show the form for a withdrawal from a contract, then the statement. Record the statement when the consumer confirms it."""
    if request.method != "POST":
        return render_page(request, _FORM, {"form": WithdrawalForm(initial=_initial(request))})
    form = WithdrawalForm(request.POST)
    if not form.is_valid():
        return render_page(request, _FORM, {"form": form}, status=422)
    statement = WithdrawalStatement(**form.cleaned_data)
    if "confirm" not in request.POST:
        template = _FORM if "change" in request.POST else _CONFIRM
        return render_page(request, template, {"form": form, "statement": statement})
    operations.record_withdrawal(
        statement, current_time(), is_above_limit=_is_above_limit(request, statement)
    )
    return redirect("orders:withdrawn")


def _is_above_limit(request: HttpRequest, statement: WithdrawalStatement) -> bool:
    """Count a withdrawal. Return whether its address has sent too many: no error, since strangers must not block a withdrawal."""
    try:
        hit_rate_limit(request, "withdrawal", accounts.email_key(statement.email))
    except TooManyAttempts:
        return True
    return False


def _initial(request: HttpRequest) -> dict[str, str]:
    """Return the initial values: the number in the link, and a member's name and address."""
    number = numbers.normalize_order_number(request.GET.get("number", "")[:40])
    user = request.user
    return {
        "number": number if numbers.is_order_number(number) else "",
        "name": user.name if isinstance(user, User) else "",
        "email": user.email if isinstance(user, User) else "",
    }


@require_safe
@no_store
@public
def withdrawal_received(request: HttpRequest) -> HttpResponse:
    """Show the page after a withdrawal from a contract: the shop has received it, and these are the next steps."""
    return render_page(request, "orders/withdrawn.html", {})
