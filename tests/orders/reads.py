"""An order, its payment and its papers as they are now."""

from io import BytesIO
from uuid import UUID

from django.test import Client
from django.urls import reverse
from pypdf import PdfReader

from demo.testbank import queries as bank_queries
from orders import queries
from orders.lifecycle.entities import Order
from orders.links import order_access_token
from tests.reads import existing


def fresh(order: Order) -> Order:
    return existing(queries.get_order(order.order_id))


def list_event_kinds(order: Order) -> list[str]:
    return [event.kind for event in fresh(order).events]


def get_bank_state(payment_id: UUID) -> str:
    """Return the state of a payment at the test bank."""
    payment = existing(bank_queries.get_payment(payment_id))
    return str(payment.state)


def open_browser(order: Order) -> Client:
    """Return a guest's browser that may open the order."""
    client = Client()
    client.get(reverse("orders:track", args=[order_access_token(order.order_id)]))
    return client


def pages(pdf: bytes) -> list[str]:
    """Return the text of each page of a PDF."""
    assert pdf.startswith(b"%PDF-")
    return [page.extract_text() for page in PdfReader(BytesIO(pdf)).pages]
