"""The forms on an order's page. An order gets only the forms that its state allows."""

from adminpanel.orders.change_forms import ChangeLinesForm, StaffAddressForm, can_be_changed
from adminpanel.orders.forms import OrderForm
from adminpanel.orders.money_forms import ReceivedPaymentForm, RefundForm
from adminpanel.orders.parcel_forms import PackForm, ParcelForm, ShipForm, TrackingForm
from adminpanel.orders.return_forms import ReturnDecisionForm, ReturnReceiptForm
from orders.lifecycle import balance, returns
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.states import CLOSED, CONFIRMED, ON_HOLD
from payments.methods import MANUAL_METHODS, TRANSFER

AnyForm = OrderForm | StaffAddressForm


def build_order_forms(order: Order, items: tuple[Item, ...], *, money: bool) -> dict[str, AnyForm]:
    """Return the forms that an order allows, keyed by name, in the order in which the page shows them.

    `money` says whether the user may record payments and refund.
    """
    found: list[AnyForm] = []
    if order.state == CONFIRMED:
        found += [PackForm(order, warehouse, items) for warehouse in order.units_to_pack]
    is_one_parcel = ShipForm.is_possible(order)
    if is_one_parcel:
        found.append(ShipForm(order))
    if order.state in (CONFIRMED, ON_HOLD):
        found += [
            ParcelForm(order, each, is_shipped_above=is_one_parcel)
            for each in order.parcels()
            if each.state in ParcelForm.STEPS
        ]
    found += [
        TrackingForm(order, each)
        for each in order.parcels()
        if TrackingForm.is_possible(order, each)
    ]
    if order.state in (CONFIRMED, CLOSED):
        found += [
            ReturnDecisionForm(order, each)
            for each in order.returns
            if each.state == returns.REQUESTED
        ]
        found += [
            ReturnReceiptForm(order, each, items)
            for each in order.returns
            if each.state == returns.APPROVED
        ]
    if money:
        found += [
            RefundForm(order, items, each) for each in order.returns if each.is_awaiting_refund
        ]
    if money and balance.refundable_amount(order).amount > 0:
        found.append(RefundForm(order, items))
    is_free_to_change = money or not balance.refundable_amount(order).amount
    if can_be_changed(order) and order.payment != "authorized" and is_free_to_change:
        found.append(ChangeLinesForm(order, items))
    if can_be_changed(order) and not order.has_packed_parcel and order.fulfilment == "unfulfilled":
        found.append(StaffAddressForm(order))
    if (
        money
        and order.payment_method in MANUAL_METHODS
        and balance.amount_to_capture(order).amount
        and (order.payment_method == TRANSFER or order.state in (CONFIRMED, ON_HOLD, CLOSED))
        and not order.is_erased
    ):
        found.append(ReceivedPaymentForm(order))
    return {each.key: each for each in found}
