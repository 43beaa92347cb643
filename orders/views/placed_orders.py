"""The pages on which a shopper lists orders, buys an order again, or cancels an order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.early_reads import get_early_reads, starts_reads
from cart import owner
from cart import queries as carts
from cart.access import EDIT, Access
from cart.errors import CartError
from cart.operations.bulk_lines import VariantQuantity, add_variants
from cassandra_db import InvalidPageToken, PendingResult, current_time
from orders import access, operations, presentation, queries
from orders.forms import HistoryForm, ReorderForm
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.events import Event
from orders.lifecycle.transitions import Transition
from orders.reorder import list_reorder_items
from orders.submits import handle_once
from past_orders.queries import prefetch_owned
from web.days import end_of_day, start_of_day
from web.decorators import get_or_post, owner_only
from web.rendering import render_page

# How many orders a page of the list shows.
PAGE_SIZE = 20
_FIRST_DAY = date(1970, 1, 2)


@dataclass(frozen=True)
class UnfilteredHistory:
    """The filter of a member's orders before anything is chosen, which is drawn once."""

    years: tuple[int, ...]

    def form(self) -> HistoryForm:
        return HistoryForm(years=self.years)


def _prefetch_history(
    request: HttpRequest, user_id: UUID
) -> tuple[PendingResult, PendingResult, dict[int, PendingResult]]:
    """Start reading a member's years with orders, the newest past order, and this year's orders where all years are shown."""
    years, past = queries.prefetch_order_years(user_id), prefetch_owned(user_id.hex, 1)
    if request.GET:
        return years, past, {}
    since, before = _span(HistoryForm(years=()))
    year = current_time().year
    orders = queries.prefetch_year_orders(user_id, year, since, before, limit=PAGE_SIZE)
    return years, past, {year: orders}


@require_safe
@starts_reads(_prefetch_history)
@member_required
def order_history(request: HttpRequest) -> HttpResponse:
    """Show the page of a member's orders, newest first: all orders, the orders of a year, or the orders of a range of days."""
    visitor = current_member(request)
    pending_years, pending_past, started = get_early_reads(request)
    years = [row.year for row in pending_years.rows()]
    form = HistoryForm(request.GET or None, years=years)
    context = {
        "form": form,
        "years": years,
        "unfiltered_history": UnfilteredHistory(tuple(years)),
        "has_past_orders": bool(pending_past.rows()),
        "filtered": any(request.GET.get(name) for name in form.fields),
    }
    if form.is_bound and not form.is_valid():
        return render_page(request, "orders/history.html", context, status=422)
    since, before = _span(form)
    try:
        listed, next_token = queries.list_orders_between(
            visitor.user_id,
            years,
            since,
            before,
            request.GET.get("after", ""),
            limit=PAGE_SIZE,
            started=started,
        )
    except InvalidPageToken:
        return redirect("orders:history")
    filters = {name: value for name in form.fields if (value := request.GET.get(name))}
    context |= {
        "orders": listed,
        "next_url": f"?{urlencode(filters | {'after': next_token})}" if next_token else "",
    }
    return render_page(request, "orders/history.html", context)


def _span(form: HistoryForm) -> tuple[datetime, datetime]:
    """Return the start and end (UTC) of the form's period, which is in days of the shop."""
    chosen = form.cleaned_data if form.is_bound else {}
    first, last = chosen.get("since") or _FIRST_DAY, chosen.get("until") or timezone.localdate()
    if year := chosen.get("year"):
        first, last = max(first, date(int(year), 1, 1)), min(last, date(int(year), 12, 31))
    return start_of_day(first), end_of_day(last)


@get_or_post
@owner_only
@access.order_owner_required
def reorder(request: HttpRequest, order: Order) -> HttpResponse:
    """Show the page with the lines of an order that can be bought today, and add the lines to a chosen cart."""
    items = list_reorder_items(queries.list_items(order))
    form = ReorderForm(request.POST or None, carts=_carts(request), initial={"operation": uuid4()})
    if form.is_valid() and any(each.quantity for each in items):
        units_to_add = [
            VariantQuantity(each.product, each.variant, each.quantity)
            for each in items
            if each.product and each.variant and each.quantity
        ]
        try:
            cart_id, name = add_variants(
                owner.get_or_create_owner_id(request),
                form.cleaned_data["cart"],
                _("Order %(number)s") % {"number": order.number},
                units_to_add,
                form.cleaned_data["operation"],
                current_time(),
                guest=not request.user.is_authenticated,
            )
        except CartError as refused:
            form.add_error("cart", str(refused))
        else:
            _add_reorder_messages(request, name, len(units_to_add), len(items))
            return redirect("cart:one", cart_id)
    context = {
        "order": order,
        "items": items,
        "form": form,
        "can_be_bought": any(each.quantity for each in items),
    }
    return render_page(request, "orders/reorder.html", context, status=422 if form.errors else 200)


def _carts(request: HttpRequest) -> list[tuple[UUID, str]]:
    """Return the carts that a visitor may edit, as (id, name), the active one first."""
    person_id = owner.get_checked_owner_id(request)
    listed = carts.listed_carts_from_rows(carts.CARTS.all(owner_id=person_id)) if person_id else []
    may = [
        each
        for each in listed
        if Access(each.cart_id, each.name, each.role, each.shared_by).is_allowed(EDIT)
    ]
    return [(each.cart_id, each.name) for each in sorted(may, key=lambda each: not each.is_active)]


def _add_reorder_messages(request: HttpRequest, name: str, added: int, total: int) -> None:
    left = total - added
    messages.success(
        request,
        ngettext(
            "%(count)s of %(total)s items was added to “%(cart)s”.",
            "%(count)s of %(total)s items were added to “%(cart)s”.",
            added,
        )
        % {"count": added, "total": total, "cart": name}
        if left
        else _("All items were added to “%(cart)s”.") % {"cart": name},
    )
    if left:
        messages.warning(
            request,
            ngettext(
                "%(count)s item couldn’t be added because it’s sold out or no longer sold.",
                "%(count)s items couldn’t be added because they’re sold out or no longer sold.",
                left,
            )
            % {"count": left},
        )


def _answer_cancellation(request: HttpRequest, order: Order) -> HttpResponse:
    messages.success(request, _("Order %(number)s was cancelled.") % {"number": order.number})
    return redirect("orders:detail", order.number)


@get_or_post
@owner_only
@access.order_owner_required
@handle_once(_answer_cancellation)
def cancel_order(request: HttpRequest, order: Order) -> HttpResponse:
    """Show the page that asks for confirmation, and cancel the order. For a packed order the page names the alternatives."""
    if request.method != "POST":
        return _cancellation_page(request, order)
    seen = request.POST.get("seen", "")
    news = presentation.events_since(order, seen, presentation.CHANGE_KINDS) if seen else []
    if news or not order.can_be_cancelled:
        return _cancellation_page(request, order, news, status=409)
    for _try in range(3):
        try:
            operations.transition_order(
                order, Transition("cancelled", actor="shopper", at=current_time())
            )
        except OrderChanged as stale:
            # Retry after an event like a payment; first show an event that matters to the shopper.
            seen = presentation.last_event_id(order)
            if news := presentation.events_since(stale.order, seen, presentation.CHANGE_KINDS):
                return _cancellation_page(request, stale.order, news, status=409)
            order = stale.order
        except TransitionRefused as refused:
            return _cancellation_page(request, refused.order, status=409)
        else:
            return _answer_cancellation(request, order)
    return _cancellation_page(request, order, status=409)


def _cancellation_page(
    request: HttpRequest, order: Order, news: Sequence[Event] = (), status: int = 200
) -> HttpResponse:
    context = {
        "order": order,
        "news": news,
        "seen": presentation.last_event_id(order),
        "back": order.captured - order.refunded,
    }
    return render_page(request, "orders/cancel.html", context, status=status)
