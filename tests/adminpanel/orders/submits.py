"""How tests submit a form of an order's page."""

from datetime import UTC, datetime
from typing import Any

from django.test import Client
from django.urls import reverse

from orders import queries
from orders.lifecycle.entities import Order

HTMX = {"HX-Request": "true"}


def url(name: str, order: Order, *more: str) -> str:
    return reverse(f"adminpanel:{name}", args=[order.number, *more])


def now_of(order: Order) -> Order:
    found = queries.get_order(order.order_id)
    assert found
    return found


def seen(order: Order, **sent: Any) -> dict[str, Any]:
    return {"version": str(order.version), **sent}


def utc_now() -> datetime:
    return datetime.now(UTC)


def text_of(client: Client, order: Order) -> str:
    return client.get(url("order", order)).content.decode()
