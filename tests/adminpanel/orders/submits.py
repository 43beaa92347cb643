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


def text_of(client: Client, order: Order) -> str:
    return client.get(url("order", order)).content.decode()
