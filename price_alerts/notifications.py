"""What members are told about prices that they watch."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from cassandra_db import Row
from catalogue.entities import Product
from catalogue.queries import product_card
from notifications.entities import PRODUCTS, Kind, Line, Notification
from notifications.product_lines import describe_products
from price_alerts.operations import PRICE_DROP
from pricing.templatetags.money import format_money


def describe(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the products. The words name today's price, whatever it was when it dropped."""

    def write(note: Notification, product: Product, row: Row | None) -> Line | None:
        text = gettext("%(name)s now costs less: %(price)s")
        price = format_money(product_card(product).price)
        path = reverse("product", args=[product.slug])
        return Line(text % {"name": product.name, "price": price}, path)

    return describe_products(notes, write)


KINDS = [
    Kind(
        PRICE_DROP,
        PRODUCTS,
        _("Lower price"),
        _("News about a product that is gone"),
        describe,
        # A price that goes up and down is told once a day.
        quiet_for=timedelta(days=1),
    )
]
