"""What delivery costs and how long it takes, as the pages tell it."""

from dataclasses import dataclass

from moneyed import Money

from accounts.addresses import COUNTRIES
from orders.delivery import METHODS, Method


@dataclass(frozen=True)
class DeliveryRow:
    """What a way to send to a country costs, tax included, and how many working days it takes."""

    country: str
    method: str
    days: str
    price: Money
    free_from: Money | None


def delivery_rows() -> list[DeliveryRow]:
    """Return a row for each way to each country that the shop sends to."""
    return [_row(COUNTRIES[code], method) for code, methods in METHODS.items() for method in methods]


def usual_delivery_rows() -> list[DeliveryRow]:
    """Return a row for each country, for the usual way."""
    return [_row(COUNTRIES[code], methods[0]) for code, methods in METHODS.items()]


def _row(country: str, method: Method) -> DeliveryRow:
    first, last = method.days
    days = f"{first} working day{'s' if first > 1 else ''}" if first == last else f"{first} to {last} working days"
    return DeliveryRow(country, method.name, days, method.price, method.free_from)
