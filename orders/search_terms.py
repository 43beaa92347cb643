"""The terms by which staff find an order: its number, the words of its names and cities, its SKUs and tracking numbers."""

from catalogue.words import name_words
from orders.lifecycle.entities import Order
from orders.numbers import normalize_order_number

NUMBER, NAME, PLACE, SKU, TRACKING = "number", "name", "place", "sku", "tracking"
# The kinds of terms that are deleted when the order's person is erased.
PERSONAL_KINDS = (NAME, PLACE, TRACKING)
# The kinds of terms that are found by the beginning of a word.
PREFIX_KINDS = (NUMBER, NAME, PLACE)
# The length of the shortest term to search for. Of PREFIX_KINDS, the first HEAD letters belong to the partition key.
HEAD = 2
# The most terms of each kind: an order's copies are one batch, which may have 50 KiB.
MAX_TERMS = 60


def find_head(kind: str, term: str) -> str:
    """Return the part of a term that belongs to the partition key: its first letters for PREFIX_KINDS, else all of it."""
    return term[:HEAD] if kind in PREFIX_KINDS else term


def fold_code(typed: str) -> str:
    """Return a SKU or a tracking number without spaces and case."""
    return "".join(typed.split()).casefold()


def fold_number(typed: str) -> str:
    """Return a typed order number, or the typed beginning of a number, normalized and without the hyphen."""
    return normalize_order_number(typed).replace("-", "")


def list_former_terms(order: Order) -> list[str]:
    """Return the search terms of an order's former tracking numbers. The search must not find the order by these terms."""
    current = {fold_code(each.tracking) for each in order.parcels()}
    return sorted({fold_code(each) for each in order.former_tracking_numbers} - current)


def list_terms(order: Order) -> dict[tuple[str, str], str]:
    """Return an order's search terms: the key is (kind, term), the value is the text from which the term is made."""
    names = dict.fromkeys((order.name, order.delivery_address.name, order.billing_address.name))
    cities = dict.fromkeys((order.delivery_address.city, order.billing_address.city))
    by_kind = {
        NUMBER: {fold_number(order.number): order.number},
        NAME: {word: name for name in reversed(names) for word in name_words(name or "")},
        PLACE: {word: city for city in reversed(cities) for word in name_words(city or "")},
        SKU: {fold_code(sku): sku for sku in order.skus},
        TRACKING: {fold_code(each.tracking): each.tracking for each in order.parcels()},
    }
    return {
        (kind, term): label
        for kind, terms in by_kind.items()
        for term, label in list(terms.items())[:MAX_TERMS]
        if term
    }
