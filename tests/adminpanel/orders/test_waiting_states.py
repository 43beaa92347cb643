"""Whatever has happened to an order, what waits has an exit, for every amount. No database: the events alone say so."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adminpanel.orders.available_forms import build_order_forms
from adminpanel.orders.money_forms import RefundForm
from orders.lifecycle import returns, states
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.items import Item
from orders.lifecycle.states import TRANSITION_RULES
from payments.methods import CARD, CASH_ON_DELIVERY, MANUAL_METHODS, TRANSFER
from pricing.money import from_minor_units, to_minor_units
from tests.orders import paper_orders
from tests.orders.paper_orders import apply_event, change_order, make_items
from tests.orders.test_states import apply_random_event, make_details

# What happens most, in its order, so that many of the orders get far.
USUAL = (
    *("confirmed", "authorized", "captured", "packed", "shipped", "delivered"),
    *("return_requested", "return_approved", "return_received", "refund_owed", "refunded"),
)
MAX_STEPS = 60


def make_order(items: tuple[Item, ...], method: str, delivery: int) -> Order:
    """An order of these lines, in stock in one warehouse but for some units of the second line."""
    order = paper_orders.make_paper_order(items, {"berlin": {1: 2, 2: 1}, "ahead": {2: 1}})
    cost = from_minor_units(delivery, "EUR")
    return replace(
        order, payment_method=method, delivery=cost, total=order.total - order.delivery + cost
    )


def can_happen(order: Order, kind: str) -> bool:
    """Return whether an order's payment method makes an event like this: only a gateway authorizes, and captures all at once."""
    if order.payment_method in MANUAL_METHODS or not to_minor_units(order.total):
        if kind in ("paid_late", "paid_too_late"):
            return order.captured >= order.total
        return kind not in ("authorized", "capture_refused", "voided", "payment_failed")
    return kind != "confirmed" and (kind != "captured" or order.payment == "authorized")


def list_waiting(order: Order) -> list[str]:
    """Return what of an order waits for somebody."""
    waiting = [f"return {each.return_id} is {each.state}" for each in order.returns if each.is_open]
    waiting += [f"{each.amount} are to be refunded" for each in order.due_refunds]
    if order.payment == "authorized":
        waiting.append("its payment is authorized")
    if order.board_column not in ("done", "cancelled"):
        waiting.append(f"it is in the column {order.board_column}")
    return waiting


def list_exits(order: Order, items: tuple[Item, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events by which the shop and its staff go on, the first one that is possible ends some waiting."""
    if order.state == states.PENDING:
        yield ("cancelled" if to_minor_units(order.total) else "confirmed", {})
    if order.payment == "authorized":
        ended = order.state in (states.CANCELLED, states.EXPIRED)
        kind = "voided" if ended else "captured"
        yield kind, make_details(order, kind)
    if order.due_refunds:
        yield "refunded", make_details(order, "refunded")
    for each in order.returns:
        yield from list_return_exits(order, items, each)
    yield from (("resumed", {}), ("packed", {}), ("shipped", {}), ("delivered", {}))
    if order.has_packed_parcel:
        yield "unpacked", make_details(order, "unpacked")
    yield from (("cancelled", {}), ("closed", {}))


def list_return_exits(
    order: Order, items: tuple[Item, ...], each: returns.Return
) -> Iterator[tuple[str, dict[str, Any]]]:
    named = {"return": each.return_id}
    if each.state == returns.REQUESTED:
        yield "return_approved", named
    if each.state == returns.APPROVED:
        yield "return_received", {**named, "restock": {}}
    if not each.is_awaiting_refund:
        return
    # What staff get who press the button of the form as it is drawn.
    drawn = build_order_forms(order, items, money=True)[f"refund-{each.return_id}"]
    assert isinstance(drawn, RefundForm)
    data = {name: str(drawn[name].value() or "") for name in drawn.fields}
    del data["shown"]  # the button of a page with the script says each sum
    sent = RefundForm(order, items, each, data)
    if not sent.is_valid():  # for more than is left of the money, staff enter the amount
        assert "at most" in str(sent.errors), sent.errors
        sent = RefundForm(order, items, each, data | {"amount": str(sent.most.amount)})
        assert sent.is_valid(), sent.errors
    cents = to_minor_units(sent.cleaned_data["amount"])
    if cents:
        details = {"refund": f"of {each.return_id}", "amount": cents, "lines": sent.units}
        yield "refund_owed", {**named, **details}
    else:
        yield "return_closed", {**named, "note": sent.cleaned_data["reason"]}


def go_on(order: Order, items: tuple[Item, ...]) -> Order:
    """Return the order after one more step. Raises LookupError when nothing is possible."""
    for kind, details in list_exits(order, items):
        try:
            return apply_event(order, kind, **details)
        except TransitionRefused:
            continue
    # What never arrives is taken out, with its money.
    missing = order.reserved_units.get("ahead", {})
    unpacked = order.units_to_pack.values()
    left = {
        line: units - missing.get(line, 0) - sum(each.get(line, 0) for each in unpacked)
        for line, units in order.quantities.items()
    }
    try:
        return change_order(order, items, left)
    except TransitionRefused as refused:
        happened = " ".join(event.kind for event in reversed(order.events))
        raise LookupError(f"no exit: {list_waiting(order)} after {happened}") from refused


# What has happened is in the message; to make it shorter would take minutes.
@settings(max_examples=300, phases=[Phase.generate])
@given(
    st.tuples(st.sampled_from((0, 1, 999)), st.integers(0, 4), st.sampled_from((0, 490))),
    st.sampled_from((CARD, TRANSFER, CASH_ON_DELIVERY)),
    st.data(),
)
def test_x250_every_waiting_state_has_an_exit_for_every_amount(
    amounts: tuple[int, int, int], method: str, data: st.DataObject
) -> None:
    cents, off, delivery = amounts
    items = make_items(2, 2, cents=cents)
    discount = to_minor_units(items[1].line_total) * off // 4
    items = (items[0], replace(items[1], discount=from_minor_units(discount, "EUR")))
    order = make_order(items, method, delivery)
    skipped = data.draw(st.sets(st.sampled_from(USUAL), max_size=3))
    more = data.draw(st.lists(st.sampled_from((*TRANSITION_RULES, "return_requested")), max_size=8))
    usual = [kind for kind in USUAL if kind not in skipped]
    place = data.draw(st.integers(0, len(usual)))
    for kind in [*usual[:place], *more, *usual[place:]]:
        if not can_happen(order, kind):
            continue
        try:
            order = apply_random_event(
                order, items, kind, lambda most: data.draw(st.integers(0, most))
            )
        except TransitionRefused:
            continue
    for _ in range(MAX_STEPS):
        if not list_waiting(order):
            return
        order = go_on(order, items)
    happened = " ".join(event.kind for event in reversed(order.events))
    raise AssertionError(f"it still waits: {list_waiting(order)} after {happened}")
