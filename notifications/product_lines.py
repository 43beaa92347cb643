"""The words of notifications that are about a product."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from cassandra_db import PendingResult, Row, current_time
from catalogue import queries
from catalogue.entities import Product
from notifications.entities import Line, Notification

# Writes a notification's words about a product that is on sale. The row is what `start` has read.
WriteLine = Callable[[Notification, Product, Row | None], Line | None]


def describe_products(
    notes: Sequence[Notification],
    write: WriteLine,
    start: Callable[[Notification], PendingResult] | None = None,
) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the products of these notifications, for `Kind.describe`. `start` begins one more read for each notification.

    A product that is not on sale is gone.
    """
    reading = {
        product_id: queries.prefetch_product(product_id)
        for product_id in {_product_id(each) for each in notes}
    }
    rows = {each.notification_id: start(each) for each in notes} if start else {}

    def collect() -> Mapping[UUID, Line]:
        products, now, lines = dict[UUID, Product](), current_time(), dict[UUID, Line]()
        for product_id, pending in reading.items():
            with queries.leave_out(product_id):
                product = queries.product_from_rows(pending.rows(), now)
                if product and product.is_on_sale(now):
                    products[product_id] = product
        for each in notes:
            row = rows[each.notification_id].one() if start else None
            product = products.get(_product_id(each))
            line = write(each, product, row) if product else None
            if line:
                lines[each.notification_id] = line
        return lines

    return collect


def _product_id(note: Notification) -> UUID:
    return UUID(note.ids["product"])
