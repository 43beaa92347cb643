"""An order's invoice: drawn once, and kept for a day for whoever opens it again."""

from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

from django.conf import settings

from cassandra_db import write
from orders import queries
from orders.entities import Order
from orders.invoice import render_invoice
from orders.items import Item

KEEP_INVOICE = write(
    "invoice",
    "INSERT INTO invoices (order_id, content_key, pdf) VALUES (:order_id, :content_key, :pdf)",
)
DELETE_INVOICE = write("invoice", "DELETE FROM invoices WHERE order_id = :order_id")


def get_invoice(order: Order, items: Sequence[Item]) -> bytes:
    """Return the invoice of an order with these lines as a PDF file, drawn anew only if it shows something else than before.

    Raises CassandraUnavailable.
    """
    content_key = sha256(repr((order, items, settings.SELLER)).encode()).hexdigest()
    if (drawn := queries.find_drawn_invoice(order.order_id, content_key)) is not None:
        return drawn
    pdf = render_invoice(order, items)
    KEEP_INVOICE.run(order_id=order.order_id, content_key=content_key, pdf=pdf)
    return pdf


def delete_invoice(order_id: UUID) -> None:
    """Delete the drawn invoice of an order whose person is erased. Raises CassandraUnavailable."""
    DELETE_INVOICE.run(order_id=order_id)
