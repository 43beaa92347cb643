"""What visitors may write about: an order of their own, a product on sale, or anything else."""

from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils.translation import gettext as _

from cassandra_db import current_time
from catalogue.queries import find_product_id_by_slug, get_product
from conversations.entities import Topic
from conversations.rules import MAX_SUBJECT
from conversations.states import ORDER, PRODUCT
from orders.access import is_own_order
from orders.numbers import is_order_number, normalize_order_number
from orders.queries import get_order_by_number


@dataclass(frozen=True)
class ContactTopic:
    """A topic, its words, and the parameter of the address that names it. Without a parameter the words are only a subject."""

    topic: Topic = field(default_factory=Topic)
    text: str = ""
    parameter: str = ""
    value: str = ""


def find_topic(request: HttpRequest, order: str, product: str) -> ContactTopic:
    """Return what an order's number or a product's slug names. What is not the visitor's own is as what does not exist.

    Raises CassandraUnavailable.
    """
    number = normalize_order_number(order[:40])
    if is_order_number(number):
        return _find_order(request, number)
    if product_id := find_product_id_by_slug(product[:200]) if product else None:
        found = get_product(product_id)
        if found and found.is_on_sale(current_time()):
            topic = Topic(PRODUCT, product_id)
            return ContactTopic(topic, found.name[:MAX_SUBJECT], "product", found.slug)
    return ContactTopic()


def _find_order(request: HttpRequest, number: str) -> ContactTopic:
    text = _("Order %(number)s") % {"number": number}
    found = get_order_by_number(number)
    if found is None or found.is_erased or not is_own_order(request, found):
        return ContactTopic(text=text)
    return ContactTopic(Topic(ORDER, found.order_id), text, "order", found.number)
