"""What members are told about products that they wait for."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from cassandra_db import Row
from catalogue.entities import Product
from catalogue.queries import get_sellable_variant
from notifications.entities import PRODUCTS, Kind, Line, Notification
from notifications.product_lines import describe_products
from pricing.quotes import line_label

BACK_IN_STOCK = "back_in_stock"


def describe(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the products. A variant that is no longer sold is gone."""

    def write(note: Notification, product: Product, row: Row | None) -> Line | None:
        variant = get_sellable_variant(product, UUID(note.ids["variant"]))
        if variant is None:
            return None
        text = gettext("%(name)s is back in stock")
        path = f"{reverse('product', args=[product.slug])}?{urlencode({'variant': variant.sku})}"
        return Line(text % {"name": line_label(product.name, variant.options)}, path)

    return describe_products(notes, write)


KINDS = [
    Kind(
        BACK_IN_STOCK,
        PRODUCTS,
        _("Back in stock"),
        _("News about a product that is gone"),
        describe,
        has_own_mail=True,
        # A repeated run tells the same subscription at a later time.
        quiet_for=timedelta(days=2),
    )
]
