"""The attempts to pay an order, as a test looks at them."""

from uuid import UUID

from orders import queries
from orders.lifecycle.payment_attempts import PaymentAttempt


def list_attempts(order_id: UUID) -> tuple[PaymentAttempt, ...]:
    """Return the attempts to pay an order as they are now, the first one first."""
    order = queries.get_order(order_id)
    assert order
    return queries.load_payment_references(order).payment_attempts
