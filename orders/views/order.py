"""An order's own page, and how its buyer gets there."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import date_format
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import known_devices
from accounts import queries as accounts
from orders import access, links, operations, queries, shown
from orders.entities import Order
from orders.forms import LookupForm
from orders.invoice import has_invoice
from orders.invoice import invoice as as_pdf
from orders.items import Item
from orders.payment_status import ask_bank
from orders.states import CONFIRMING
from web.errors import TooManyAttempts
from web.limits import attempted
from web.methods import get_or_post, own, public
from web.rendering import page, too_many


@require_safe
@never_cache
@own
def detail(request: HttpRequest, number: str) -> HttpResponse:
    """An order: what it is at, what is in it, where it goes."""
    # While the bank thinks, looking at the page asks it; the worker would find the same out a little later.
    order = ask_bank(access.own_order(request, number))
    attempts = queries.attempts(order.order_id)
    items = queries.items(order)
    context = {
        "order": order,
        "items": order.lines(items) or items,
        "attempt": attempts[-1] if attempts else None,
        "now": datetime.now(UTC),
        "arrives": _in_words(*shown.arrives_in(order)),
        "is_new": _is_new(order),
        "is_guest": order.user_id is None,
        "has_invoice": has_invoice(order),
        "left": _left(order),
        "can_keep": operations.could_be_kept_until(order, datetime.now(UTC)) is not None,
        "may": access.may_change(request, order),
        "polls": order.state in ("pending_payment", "confirmed", "on_hold"),
        **_afterwards(order, items),
    }
    return page(request, "orders/detail.html", context, part="polled")


def _afterwards(order: Order, items: Sequence[Item]) -> dict[str, Any]:
    """What has become of the order: parcels, returns, money; and what its shopper may still do."""
    return {
        "history": shown.happened(order),
        "parcels": shown.shown_parcels(order, items),
        "to_come": shown.to_come(order, items),
        "waits_for_goods": shown.waits_for_goods(order),
        "returns": shown.shown_returns(order, items),
        "refunds": shown.shown_refunds(order),
        "way_to_pay": shown.way_to_pay(order),
        "by_card": shown.pays_by_card(order),
        "to_transfer": shown.to_transfer(order),
        "at_the_door": shown.to_pay_at_the_door(order),
        "account": settings.BANK_ACCOUNT.split("|"),
        "may_change": shown.may_change(order),
        "may_change_address": shown.may_change_address(order),
        "may_send_back": bool(order.returnable(datetime.now(UTC))),
        "return_until": shown.return_until(order),
    }


def _left(order: Order) -> str:
    """How long an order's things are still kept, to be read while it runs down; nothing where that is not said."""
    seconds = round((order.pay_until - datetime.now(UTC)).total_seconds())
    if not order.waits_for_payment or not shown.pays_by_card(order) or seconds <= 0:
        return ""
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes} min {seconds:02} s"


def _in_words(first: date, last: date) -> str:
    """When a parcel can be expected, as it stands in a sentence."""
    days = [date_format(day, "l j F") for day in (first, last)]
    return f"on {days[0]}" if first == last else f"between {days[0]} and {days[1]}"


def _is_new(order: Order) -> bool:
    """Whether its buyer has just come back from the bank: then the page says thanks and what happens next."""
    paid = next((event for event in order.events if event.kind in CONFIRMING), None)
    return (
        paid is not None
        and order.column == "to_pack"
        and (datetime.now(UTC) - paid.at).total_seconds() < 3600
    )


@require_safe
@never_cache
@own
def invoice(request: HttpRequest, number: str) -> HttpResponse:
    """An order's invoice, to be kept: a PDF."""
    order = access.own_order(request, number)
    if not has_invoice(order):
        messages.info(request, "The invoice is here as soon as the order is confirmed.")
        return redirect("orders:detail", order.number)
    items = queries.items(order)
    response = HttpResponse(
        as_pdf(order, order.lines(items) or items), content_type="application/pdf"
    )
    response["Content-Disposition"] = f'attachment; filename="invoice-{order.number}.pdf"'
    return response


@require_safe
@never_cache
@own
def track(request: HttpRequest, token: str) -> HttpResponse:
    """The mailed link: remember the order in this browser and go to its page."""
    order_id = links.order_id_of(token)
    order = queries.order(order_id) if order_id else None
    if order is None:
        raise Http404("no such order")
    response = redirect("orders:detail", order.number)
    access.remember(request, response, order.order_id)
    return response


@get_or_post
@never_cache
@public
def lookup(request: HttpRequest) -> HttpResponse:
    """Find an order by its number and the e-mail address it was placed with."""
    form = LookupForm(request.POST or None)
    if request.method != "POST":
        return page(request, "orders/lookup.html", {"form": form})
    if form.is_valid():
        number, email = form.cleaned_data["number"], form.cleaned_data["email"]
        key = accounts.email_key(email)
        try:
            attempt = attempted(
                request, "lookup", key, number, own=known_devices.own(request, email)
            )
        except TooManyAttempts as error:
            return too_many(request, error, "orders/lookup.html", {"form": form})
        order = queries.order_by_number(number)
        if order and accounts.email_key(order.email) == key:
            attempt.forgotten()
            response = redirect("orders:detail", order.number)
            access.remember(request, response, order.order_id)
            return response
        # One sentence for both errors: it tells nobody which numbers exist.
        form.add_error(
            None, "We find no order with this number and this e-mail address. Please check both."
        )
    return page(request, "orders/lookup.html", {"form": form}, status=422)
