"""An order and its payment as they are stored now."""

from uuid import UUID

from demo.testbank import queries as bank_queries
from orders import queries
from orders.lifecycle.entities import Order


def fresh(order: Order) -> Order:
    found = queries.get_order(order.order_id)
    assert found
    return found


def list_event_kinds(order: Order) -> list[str]:
    return [event.kind for event in fresh(order).events]


def get_bank_state(payment_id: UUID) -> str:
    """Return the state of a payment at the test bank."""
    payment = bank_queries.get_payment(payment_id)
    assert payment
    return str(payment.state)
