"""How tests submit a form of an order's page."""

from typing import Any

from django.test import Client
from django.urls import reverse

from orders.lifecycle.entities import Order

HTMX = {"HX-Request": "true"}


def url(name: str, order: Order, *more: str) -> str:
    return reverse(f"adminpanel:{name}", args=[order.number, *more])


def seen(order: Order, **sent: Any) -> dict[str, Any]:
    return {"version": str(order.version), **sent}


def submit(client: Client, name: str, order: Order, /, *more: str, **sent: Any) -> int:
    """Submit a form of the order's page; return the status of the answer."""
    return client.post(url(name, order, *more), seen(order, **sent)).status_code


def text_of(client: Client, order: Order) -> str:
    return client.get(url("order", order)).content.decode()
