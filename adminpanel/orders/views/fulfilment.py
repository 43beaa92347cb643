"""What staff do to an order's parcels, returns, money and lines.

All are submits on the order's page, guarded by the version it was drawn with: a submit that comes too late is answered with
who was faster, and what was typed; errors stand beside their field.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from moneyed import Money

from accounts.access import current_member, staff_required
from accounts.roles import MONEY_STAFF, ORDER_STAFF
from adminpanel.orders.fulfilment_forms import (
    AnyForm,
    ChangeLinesForm,
    OrderForm,
    PackForm,
    ParcelForm,
    ReceivedPaymentForm,
    RefundForm,
    ReturnDecisionForm,
    ReturnReceiptForm,
    StaffAddressForm,
    TrackingForm,
)
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.order_page import get_order_page
from adminpanel.orders.refund_permission import confirm_order_refund
from adminpanel.orders.rendering import (
    answer_submit,
    get_order_or_404,
    order_submit,
    render_conflict,
    render_order_page,
)
from cassandra_db import current_time
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, OrderChanged, TrackingNumberTaken, TransitionRefused
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import TRACKED
from orders.queries import list_items
from pricing.money import to_minor_units
from web.decorators import post_only

F = TypeVar("F", bound=AnyForm)
# The form with what was sent, and the order with its items; None where it has no such thing (any more).
BuildForm = Callable[[Order, tuple[Item, ...]], F | None]
# What is done, by whom and when; it returns the order.
ApplyForm = Callable[[Order, F, str, datetime], Order]
# Whether a valid form may be acted upon; if not, it has an error.
ConfirmForm = Callable[[HttpRequest, Order, F], bool]


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def pack_parcel(request: HttpRequest, order: Order, warehouse: str) -> HttpResponse:
    """Pack a parcel in a warehouse: all that is left there, or some of it."""

    def build_form(order: Order, items: tuple[Item, ...]) -> PackForm | None:
        return _build_pack_form(request, order, warehouse, items)

    def apply(order: Order, form: PackForm, actor: str, now: datetime) -> Order:
        return operations.pack_parcel(order, warehouse, form.units, actor=actor, now=now)

    return _handle_submit(request, order, build_form, apply)


def _build_pack_form(
    request: HttpRequest, order: Order, warehouse: str, items: tuple[Item, ...]
) -> PackForm | None:
    return (
        PackForm(order, warehouse, items, request.POST)
        if warehouse in order.units_to_pack
        else None
    )


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
def count_scanned(request: HttpRequest, number: str, warehouse: str) -> HttpResponse:
    """Show the page with one more unit in the parcel that is being packed, for browsers without the script that does it.

    It changes nothing: what was counted stands in the form.
    """
    order = get_order_or_404(number)
    form = _build_pack_form(request, order, warehouse, list_items(order))
    if form is None or request.POST.get("version") != str(order.version):
        return render_conflict(
            request, OrderChanged(order), typed=form.typed_values if form else []
        )
    status = 200 if form.count_scan() else 422
    return render_order_page(request, get_order_page(order), form=form, status=status)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def update_parcel(request: HttpRequest, order: Order, parcel_id: str) -> HttpResponse:
    """Send a parcel, correct its number, or say what became of it."""

    def build_form(order: Order, items: tuple[Item, ...]) -> OrderForm | None:
        found = next((each for each in order.parcels() if each.parcel_id == parcel_id), None)
        if found and request.POST.get("event") == TRACKED:
            is_possible = TrackingForm.is_possible(order, found)
            return TrackingForm(order, found, request.POST) if is_possible else None
        return (
            ParcelForm(order, found, request.POST)
            if found and found.state in ParcelForm.STEPS
            else None
        )

    def apply(order: Order, form: OrderForm, actor: str, now: datetime) -> Order:
        event = form.cleaned_data["event"]
        carrier, tracking = (form.cleaned_data.get(name, "") for name in ("carrier", "tracking"))
        if event == TRACKED:
            mail = form.cleaned_data["mail"]
            return operations.correct_tracking(
                order, parcel_id, carrier, tracking, actor=actor, now=now, has_mail=mail
            )
        if event == "shipped":
            return operations.ship_parcel(order, parcel_id, carrier, tracking, actor=actor, now=now)
        step = {
            "unpacked": operations.unpack_parcel,
            "delivered": operations.mark_parcel_delivered,
            "lost": operations.mark_parcel_lost,
        }[event]
        return step(order, parcel_id, actor=actor, now=now)

    return _handle_submit(request, order, build_form, apply)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def update_return(request: HttpRequest, order: Order, return_id: str) -> HttpResponse:
    """Agree to a return, refuse it in words, or say that it has arrived and what of it goes back into stock."""

    def build_form(order: Order, items: tuple[Item, ...]) -> OrderForm | None:
        found = next((each for each in order.returns if each.return_id == return_id), None)
        if found and found.state == "requested":
            return ReturnDecisionForm(order, found, request.POST)
        return (
            ReturnReceiptForm(order, found, items, request.POST)
            if found and found.state == "approved"
            else None
        )

    def apply(order: Order, form: OrderForm, actor: str, now: datetime) -> Order:
        if isinstance(form, ReturnReceiptForm):
            return operations.receive_return(order, return_id, form.units, actor=actor, now=now)
        answer = {
            "return_approved": operations.approve_return,
            "return_rejected": operations.reject_return,
        }[form.cleaned_data["event"]]
        return answer(order, return_id, actor=actor, now=now, note=form.cleaned_data["note"])

    return _handle_submit(request, order, build_form, apply)


@sensitive_post_parameters("code")
@staff_required(MONEY_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def decide_refund(request: HttpRequest, order: Order, return_id: str = "") -> HttpResponse:
    """Give money back: for lines, for the delivery, or another sum; for a return, or just so. Of a return it may be nothing."""

    def build_form(order: Order, items: tuple[Item, ...]) -> RefundForm | None:
        back = next((each for each in order.returns if each.return_id == return_id), None)
        if return_id and not (back and back.is_awaiting_refund):
            return None
        return RefundForm(order, items, back, request.POST)

    def apply(order: Order, form: RefundForm, actor: str, now: datetime) -> Order:
        sent = form.cleaned_data
        if not to_minor_units(sent["amount"]):
            return operations.close_return(
                order, return_id, actor=actor, now=now, note=sent["reason"]
            )
        return operations.decide_refund(
            order,
            sent["amount"],
            form.units,
            sent["reason"],
            actor=actor,
            now=now,
            return_id=return_id,
            delivery=sent["delivery"],
        )

    def confirm(request: HttpRequest, order: Order, form: RefundForm) -> bool:
        return confirm_order_refund(request, form, order, form.cleaned_data["amount"])

    return _handle_submit(request, order, build_form, apply, confirm)


@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_lines(request: HttpRequest, order: Order) -> HttpResponse:
    """Take units out of an order that are not packed yet; what was paid for them goes back."""

    def apply(order: Order, form: ChangeLinesForm, actor: str, now: datetime) -> Order:
        return operations.change_order(order, form.units, actor=actor, now=now)

    def confirm(request: HttpRequest, order: Order, form: ChangeLinesForm) -> bool:
        try:
            amount = operations.compute_change_refund(order, list_items(order), form.units)
        except TransitionRefused:
            return True  # and refused in its words, when it is done
        return confirm_order_refund(request, form, order, amount)

    return _handle_submit(
        request,
        order,
        lambda order, items: ChangeLinesForm(order, items, request.POST),
        apply,
        confirm,
    )


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_delivery_address(request: HttpRequest, order: Order) -> HttpResponse:
    """Send an order to another address in the same country."""

    def apply(order: Order, form: StaffAddressForm, actor: str, now: datetime) -> Order:
        return operations.change_order(order, {}, form.address(), actor=actor, now=now)

    return _handle_submit(
        request, order, lambda order, _: StaffAddressForm(order, request.POST), apply
    )


@staff_required(MONEY_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def record_payment(request: HttpRequest, order: Order) -> HttpResponse:
    """Note money that came by transfer, or was paid on delivery."""

    def apply(order: Order, form: ReceivedPaymentForm, actor: str, now: datetime) -> Order:
        amount: Money = form.cleaned_data["amount"]
        idempotency_key: UUID = form.cleaned_data["press"]
        return operations.record_manual_payment(
            order, amount, key=str(idempotency_key), actor=actor, now=now
        )[0]

    return _handle_submit(
        request, order, lambda order, _: ReceivedPaymentForm(order, request.POST), apply
    )


@staff_required(MONEY_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def record_manual_refund(request: HttpRequest, order: Order) -> HttpResponse:
    """Note that staff have sent money back by hand that was owed."""
    actor = staff_actor(current_member(request))
    try:
        changed = operations.record_manual_refund(
            order, request.POST.get("refund", ""), actor=actor, now=current_time()
        )
    except (NotPayable, OrderChanged, TransitionRefused) as refused:
        return render_conflict(request, _conflict_error(refused, order))
    return answer_submit(request, changed, before=order)


def _handle_submit(
    request: HttpRequest,
    order: Order,
    build_form: BuildForm[F],
    apply: ApplyForm[F],
    confirm: ConfirmForm[F] | None = None,
) -> HttpResponse:
    order_items = list_items(order)
    form = build_form(order, order_items)
    if form is None or request.POST.get("version") != str(order.version):
        return render_conflict(
            request, OrderChanged(order), typed=form.typed_values if form else []
        )
    if not form.is_valid() or (confirm and not confirm(request, order, form)):
        return render_order_page(request, get_order_page(order), form=form, status=422)
    try:
        changed = apply(order, form, staff_actor(current_member(request)), current_time())
    except TrackingNumberTaken as taken:
        form.add_error("tracking", str(taken))
        return render_order_page(request, get_order_page(order), form=form, status=422)
    except (OrderChanged, TransitionRefused, NotPayable) as refused:
        return render_conflict(request, _conflict_error(refused, order), typed=form.typed_values)
    return answer_submit(request, changed, before=order)


def _conflict_error(
    refused: OrderChanged | TransitionRefused | NotPayable, order: Order
) -> OrderChanged | TransitionRefused:
    return (
        TransitionRefused(order, "paid", _("there is nothing to pay"))
        if isinstance(refused, NotPayable)
        else refused
    )
