"""The terms by which staff find an order: its number, the words of its names, its SKUs and tracking numbers."""

from catalogue.words import name_words
from orders.lifecycle.entities import Order
from orders.numbers import normalize_order_number

NUMBER, NAME, SKU, TRACKING = "number", "name", "sku", "tracking"
# The kinds that are deleted when the person is erased.
PERSONAL_KINDS = (NAME, TRACKING)
# The shortest term to search for, and the part of prefixes that belongs to the partition key.
HEAD = 2
# The most terms of each kind: an order's copies are one batch, which may have 50 KiB.
MAX_TERMS = 60


def find_head(kind: str, term: str) -> str:
    """Return the part of a term that belongs to the partition key: its first letters for numbers and names, else all of it."""
    return term[:HEAD] if kind in (NUMBER, NAME) else term


def fold_code(typed: str) -> str:
    """Return a SKU or a tracking number without spaces and case."""
    return "".join(typed.split()).casefold()


def fold_number(typed: str) -> str:
    """Return an order's number, or its beginning, normalized and without the hyphen."""
    return normalize_order_number(typed).replace("-", "")


def list_former_terms(order: Order) -> list[str]:
    """Return the corrected tracking numbers of an order, as terms; the search must not find it by them."""
    current = {fold_code(each.tracking) for each in order.parcels()}
    return sorted({fold_code(each) for each in order.former_tracking_numbers} - current)


def list_terms(order: Order) -> dict[tuple[str, str], str]:
    """Return an order's terms, as (kind, term), with the texts that they are made of."""
    names = dict.fromkeys((order.name, order.delivery_address.name, order.billing_address.name))
    by_kind = {
        NUMBER: {fold_number(order.number): order.number},
        NAME: {word: name for name in reversed(names) for word in name_words(name or "")},
        SKU: {fold_code(sku): sku for sku in order.skus},
        TRACKING: {fold_code(each.tracking): each.tracking for each in order.parcels()},
    }
    return {
        (kind, term): label
        for kind, terms in by_kind.items()
        for term, label in list(terms.items())[:MAX_TERMS]
        if term
    }
