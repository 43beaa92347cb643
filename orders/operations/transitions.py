"""Writing an order's events: one conditional batch, guarded by state and version, changes the header and adds the rows."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement
from cassandra.util import uuid_from_time

from cassandra_db import applied_if, apply_batch, conditional_write
from orders import queries
from orders.lifecycle import projection
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.events import Event
from orders.lifecycle.parcels import plan_packing
from orders.lifecycle.states import TRANSITION_RULES
from orders.lifecycle.stored_sums import dump_discounts, dump_taxes
from orders.lifecycle.transitions import Transition
from orders.operations.pending_effects import (
    PendingEffect,
    ensure_pending_effects,
    forget_pending_effects,
)
from pricing.money import to_minor_units
from web.logs import current_request_id

# The parts of a UUID of version 1 other than its time.
_NODE, _CLOCK_SEQUENCE = 2**48 - 1, 2**14 - 1
# The form that this thread works on (orders.submits).
_submit_id: ContextVar[UUID | None] = ContextVar("submit_id", default=None)

UPDATE_HEADER = conditional_write(
    "Q12",
    """UPDATE orders SET state = :state, payment = :payment, fulfilment = :fulfilment, version = :version,
                         payment_id = :payment_id, captured = :captured, refunded = :refunded,
                         allocations = :allocations, placing = null
       WHERE order_id = :order_id IF state = :was AND version = :seen AND placing = :claim""",
)
# The next three statements are batched with UPDATE_HEADER, whose condition guards the whole batch.
UPDATE_SUMS = conditional_write(
    "Q12",
    """UPDATE orders SET subtotal = :subtotal, discount = :discount, total = :total, tax = :tax, taxes = :taxes,
                         discounts = :discounts, item_count = :item_count, name = :name,
                         delivery_address = :delivery_address
       WHERE order_id = :order_id""",
)
UPDATE_DEADLINE = conditional_write(
    "Q12", "UPDATE orders SET pay_until = :pay_until WHERE order_id = :order_id"
)
UPDATE_TAGS = conditional_write("Q12", "UPDATE orders SET tags = :tags WHERE order_id = :order_id")
INSERT_EVENT = conditional_write(
    "Q14",
    """INSERT INTO orders (order_id, event_id, kind, actor, note, public, state_after, board_after, details, request_id,
                           submit_id)
       VALUES (:order_id, :event_id, :kind, :actor, :note, :public, :state, :board, :details, :request_id,
               :submit_id) IF NOT EXISTS""",
)


def make_event(
    event_id: UUID,
    kind: str,
    *,
    actor: str,
    note: str = "",
    public: bool = True,
    board: str = "",
    details: Mapping[str, Any] | None = None,
) -> Event:
    """Return an event in the form in which it will be read, with the ids of the request and the form that cause it."""
    # JSON turns numbers as keys into texts.
    stored_details = json.loads(json.dumps(details or {}))
    return Event(
        event_id,
        kind,
        actor,
        note,
        public,
        board,
        stored_details,
        current_request_id(),
        _current_submit_id(actor),
    )


def event_statement(order_id: UUID, event: Event, state: str) -> BoundStatement:
    """Return the write of an event's row; `state` is the order's state after the event."""
    return INSERT_EVENT.bind(
        order_id=order_id,
        event_id=event.event_id,
        kind=event.kind,
        actor=event.actor,
        note=event.note,
        public=event.public,
        state=state,
        board=event.board_after,
        details=json.dumps(event.details),
        request_id=event.request_id,
        submit_id=event.submit_id,
    )


def _current_submit_id(actor: str) -> UUID | None:
    # Events of the system that follow from a submit are no part of it.
    return None if actor == "system" else _submit_id.get()


@contextmanager
def submit_under_way(submit_id: UUID) -> Iterator[None]:
    """Give all events inside the block, except the system's events, the id of the submitted form."""
    token = _submit_id.set(submit_id)
    try:
        yield
    finally:
        _submit_id.reset(token)


def append_event(order: Order, transition: Transition) -> tuple[Order, PendingEffect]:
    """Apply a transition to the order as it was read; return the order after it, and its pending effect.

    Raises TransitionRefused if the order does not allow it, OrderChanged if another write was faster, CassandraUnavailable.
    """
    then, rows = _apply_events(order, transition)
    then = replace(
        then,
        version=order.version + 1,  # the version grows by one for each batch of events
        payment_id=transition.payment_id or order.payment_id,
    )
    pending_effect = ensure_pending_effects(order.order_id)
    new_event_ids = {event.event_id for event in then.events} - {
        event.event_id for event in order.events
    }
    outcome = apply_batch(
        _header_statement(order, then, transition),
        *([_sums_statement(then)] if transition.kind == "changed" else []),
        *(
            [UPDATE_DEADLINE.bind(order_id=order.order_id, pay_until=then.pay_until)]
            if then.pay_until != order.pay_until
            else []
        ),
        *(
            [UPDATE_TAGS.bind(order_id=order.order_id, tags=set(then.tags))]
            if then.tags != order.tags
            else []
        ),
        *rows,
        if_lost=applied_if(lambda row: row.event_id in new_event_ids),
    )
    if outcome:
        return then, pending_effect
    # The pending effect stays: the faster write may share it, and clears it.
    forget_pending_effects()
    fresh = queries.get_order(order.order_id)
    if fresh is None:
        raise LookupError(f"order {order.order_id} has vanished")
    raise OrderChanged(fresh)


def check_transition(order: Order, transition: Transition) -> None:
    """Raise TransitionRefused if the order, as it was read, does not allow a transition."""
    _apply_events(order, transition)


def _apply_events(order: Order, transition: Transition) -> tuple[Order, list[BoundStatement]]:
    """Return the order after a transition's events, and the writes of their rows."""
    rows = []
    for kind, details in transition.events.items():
        order = projection.apply_event(
            order, _event(order, kind, details, transition), transition.allocations_json
        )
        rows.append(event_statement(order.order_id, order.events[0], order.state))
    return order, rows


def _event(order: Order, kind: str, details: Mapping[str, Any], transition: Transition) -> Event:
    if kind == "packed":
        planned = plan_packing(details, order.parcels(), order.reserved_units)
        details = planned[0] if len(planned) == 1 else {"parcels": planned}
    # The shopper sees the end of an attempt that did not pay the order only if a note explains it.
    is_news = kind == "payment_closed" and bool(transition.note)
    return make_event(
        new_event_id(order, transition.at),
        kind,
        actor=transition.actor,
        note=transition.note,
        public=is_news or bool(TRANSITION_RULES[kind].customer_label),
        details=details,
    )


def _header_statement(order: Order, then: Order, transition: Transition) -> BoundStatement:
    return UPDATE_HEADER.bind(
        order_id=order.order_id,
        state=then.state,
        payment=then.payment,
        fulfilment=then.fulfilment,
        version=then.version,
        payment_id=then.payment_id,
        captured=to_minor_units(then.captured),
        refunded=to_minor_units(then.refunded),
        allocations=then.allocations_json,
        was=order.state,
        seen=order.version,
        claim=transition.claim,
    )


def _sums_statement(then: Order) -> BoundStatement:
    return UPDATE_SUMS.bind(
        order_id=then.order_id,
        subtotal=to_minor_units(then.subtotal),
        discount=to_minor_units(then.discount),
        total=to_minor_units(then.total),
        tax=to_minor_units(then.tax),
        taxes=json.dumps(dump_taxes(then.taxes)),
        discounts=json.dumps(dump_discounts(then.discounts)),
        item_count=then.item_count,
        name=then.name,
        delivery_address=then.delivery_address.stored_fields(),
    )


def add_note(
    order: Order,
    text: str,
    *,
    actor: str,
    now: datetime,
    public: bool = False,
    once: UUID | None = None,
) -> Order:
    """Add a note to the order's history, for staff unless `public`; return the order with it.

    The version stays, so no open page becomes stale. Notes with the same `now` and `once` are one. Raises CassandraUnavailable.
    """
    event_id = (
        uuid_from_time(now, node=once.int & _NODE, clock_seq=once.int >> 48 & _CLOCK_SEQUENCE)
        if once
        else new_event_id(order, now)
    )
    event = make_event(event_id, "note", actor=actor, note=text, public=public)
    apply_batch(
        event_statement(order.order_id, event, order.state),
        if_lost=applied_if(lambda row: row.event_id == event.event_id),
    )
    return queries.get_order(order.order_id) or order


def new_event_id(order: Order, now: datetime) -> UUID:
    """Return an id for a new event, later than all earlier events even if clocks differ."""
    last = order.events[0].at if order.events else now
    event_id: UUID = uuid_from_time(max(now, last + timedelta(milliseconds=1)))
    return event_id
