"""The order's page, its invoice, and the two ways to the page: the mailed link, and the search by number and e-mail address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from moneyed import Money

from accounts import known_devices
from accounts import queries as accounts
from cassandra_db import PendingResult, current_time
from orders import access, links, operations, presentation, queries
from orders.expired_link import expired_link_page
from orders.forms import LookupForm
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.states import CONFIRMING_EVENTS
from orders.papers.drawn_invoices import get_invoice
from orders.payment_status import poll_open_payment
from web.decorators import get_or_post, no_store, owner_only, public
from web.durations import format_duration
from web.errors import TooManyAttempts
from web.rendering import render_page, render_too_many_attempts


@dataclass(frozen=True)
class Payment:
    """The payment of an order as its page shows it: its progress, the time left to pay (`left`), and how to pay."""

    is_under_way: bool
    by_card: bool
    left: str
    can_extend: bool
    to_transfer: Money | None
    account: Sequence[str]
    at_the_door: str


@require_safe
@owner_only
@access.order_with_items_required
def order_detail(request: HttpRequest, order: Order, reading_items: PendingResult) -> HttpResponse:
    """Show the page of an order: its status, its lines and its delivery address."""
    # If a payment is open, ask the gateway now; the worker would ask a little later.
    order = poll_open_payment(order)
    items = queries.items_from_rows(order, reading_items.rows())
    arrives = _delivery_days_text(*presentation.delivery_estimate(order))
    context = {
        "order": order,
        "items": order.current_lines(items) or items,
        "status_label": _(order.customer_label),
        "now": current_time(),
        "arrives": arrives,
        "expected": (
            _("It should arrive %(days)s.")
            if order.method.carrier
            else _("You can pick it up %(days)s.")
        )
        % {"days": arrives},
        "is_new": _is_new(order),
        "is_guest": order.user_id is None,
        "link_days": settings.ORDER_LINK_DAYS,
        "has_invoice": order.has_invoice,
        "payment": _describe_payment(order),
        "polls": order.state in ("pending_payment", "confirmed", "on_hold"),
        **_progress_context(order, items),
    }
    return render_page(request, "orders/detail.html", context, part="polled")


def _progress_context(order: Order, items: Sequence[Item]) -> dict[str, Any]:
    """Return the context about the order's progress, its money, and what its shopper may still do."""
    return {
        "history": presentation.list_history(order),
        "parcels": presentation.summarize_parcels(order, items),
        "to_come": presentation.items_to_pack(order, items),
        "waits_for_goods": presentation.has_backordered_units(order),
        "returns": presentation.summarize_returns(order, items),
        "refunds": presentation.summarize_refunds(order),
        "way_to_pay": presentation.payment_method_name(order),
        "may_change": presentation.can_change_lines(order),
        "may_change_address": presentation.can_change_address(order),
        "may_return": bool(order.returnable_units(current_time())),
        "return_until": presentation.return_deadline(order),
    }


def _describe_payment(order: Order) -> Payment:
    return Payment(
        is_under_way=bool(order.payment_attempts),
        by_card=presentation.is_paid_by_card(order),
        left=_time_left(order),
        can_extend=operations.next_payment_deadline(order, current_time()) is not None,
        to_transfer=presentation.transfer_amount(order),
        account=settings.BANK_ACCOUNT.split("|"),
        at_the_door=presentation.cash_on_delivery_text(order),
    )


def _time_left(order: Order) -> str:
    """Return how long an order's units stay reserved, as a countdown; '' if there is none."""
    seconds = round((order.pay_until - current_time()).total_seconds())
    if not order.is_awaiting_payment or not presentation.is_paid_by_card(order) or seconds <= 0:
        return ""
    return format_duration(seconds)


def _delivery_days_text(first: date, last: date) -> str:
    """Return the days of an expected delivery, as part of a sentence."""
    days = [date_format(day, "l j F") for day in (first, last)]
    if first == last:
        return _("on %(day)s") % {"day": days[0]}
    return _("between %(first)s and %(last)s") % {"first": days[0], "last": days[1]}


def _is_new(order: Order) -> bool:
    """Return whether the order was confirmed in the last hour: then the page says thanks and what comes next."""
    paid = next((event for event in order.events if event.kind in CONFIRMING_EVENTS), None)
    return (
        paid is not None
        and order.board_column == "to_pack"
        and (current_time() - paid.at).total_seconds() < 3600
    )


@require_safe
@owner_only
@access.order_owner_required
def order_invoice(request: HttpRequest, order: Order) -> HttpResponse:
    """Return an order's invoice as a PDF file to download."""
    if not order.has_invoice:
        messages.info(request, _("Your invoice will be here once the order is confirmed."))
        return redirect("orders:detail", order.number)
    items = queries.list_items(order)
    pdf = get_invoice(order, order.current_lines(items) or items)
    response = HttpResponse(pdf, content_type="application/pdf")
    response["Content-Disposition"] = f'attachment; filename="invoice-{order.number}.pdf"'
    return response


@require_safe
@owner_only
def open_order_access_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open a mailed link: let this browser open the order, and redirect to its page, where a member first has to sign in.

    If the link to a guest's order is too old, show a page that asks for the number and the e-mail address.
    """
    order_id = links.order_id_from_access_token(token)
    order = queries.get_order(order_id) if order_id else None
    if order is None:
        raise Http404("no such order")
    if order.user_id is None and links.is_expired(token):
        return expired_link_page(request)
    response = redirect("orders:detail", order.number)
    access.remember_order(request, response, order.order_id)
    return response


@get_or_post
@no_store
@public
def order_lookup(request: HttpRequest) -> HttpResponse:
    """Show the page that finds an order by its number and its e-mail address, and redirect to the found order."""
    form = LookupForm(request.POST or None)
    if request.method != "POST":
        return render_page(request, "orders/lookup.html", {"form": form})
    if form.is_valid():
        number, email = form.cleaned_data["number"], form.cleaned_data["email"]
        key = accounts.email_key(email)
        try:
            attempt = known_devices.hit_email_limit(request, "lookup", email, number)
        except TooManyAttempts as error:
            return render_too_many_attempts(request, error, "orders/lookup.html", {"form": form})
        order = queries.get_order_by_number(number)
        if order and accounts.email_key(order.email) == key:
            attempt.release_slots()
            response = redirect("orders:detail", order.number)
            access.remember_order(request, response, order.order_id)
            return response
        # An unknown number and a wrong address get the same message, so nobody learns which numbers exist.
        form.add_error(
            None,
            _(
                "We couldn’t find an order with this number and email address. Check both and try again."
            ),
        )
    return render_page(request, "orders/lookup.html", {"form": form}, status=422)
