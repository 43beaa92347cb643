"""The list of orders that arrived on a day."""

from datetime import UTC, timedelta

from cassandra_db import current_time, write
from orders.lifecycle.entities import Order
from orders.lifecycle.parcels import DELIVERED

INSERT_DELIVERED = write(
    "Q15", "INSERT INTO delivered_orders_by_day (day, order_id) VALUES (:day, :order_id)"
)
# Older arrivals, such as arrivals of imported orders, are not listed.
_NEWS_FOR = timedelta(days=14)


def note_delivery(order: Order) -> None:
    """List a fully delivered order under the day of its last parcel; repeating it changes nothing. Raises CassandraUnavailable."""
    if order.fulfilment != "delivered":
        return
    arrived = [each.delivered_at for each in order.parcels() if each.state == DELIVERED]
    last = max((each for each in arrived if each), default=None)
    if last and last > current_time() - _NEWS_FOR:
        INSERT_DELIVERED.run(day=last.astimezone(UTC).date(), order_id=order.order_id)
