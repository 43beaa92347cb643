"""Under which words staff find an order: its number, the words of its names, its SKUs, its parcels' tracking numbers."""

from catalogue.words import name_words
from orders.lifecycle.entities import Order
from orders.numbers import normalize_order_number

NUMBER, NAME, SKU, TRACKING = "number", "name", "sku", "tracking"
# What goes when the person is erased.
PERSONAL_KINDS = (NAME, TRACKING)
# How much of a term has to be typed, and stands in the key of its partition.
HEAD = 2
# The copies of an order go in one batch, which may have 50 KiB: of each kind it has so many terms.
MAX_TERMS = 60


def find_head(kind: str, term: str) -> str:
    """Return what of a term stands in its partition's key: its first letters where prefixes are looked for, else all of it."""
    return term[:HEAD] if kind in (NUMBER, NAME) else term


def fold_code(typed: str) -> str:
    """Return a SKU or a tracking number without spaces and case."""
    return "".join(typed.split()).casefold()


def fold_number(typed: str) -> str:
    """Return an order's number, or its beginning, without the hyphen and with look-alikes read as one."""
    return normalize_order_number(typed).replace("-", "")


def list_former_terms(order: Order) -> list[str]:
    """Return the tracking numbers, as terms, that an order's parcels had before they were corrected: it is not found by them."""
    current = {fold_code(each.tracking) for each in order.parcels()}
    return sorted({fold_code(each) for each in order.former_tracking_numbers} - current)


def list_terms(order: Order) -> dict[tuple[str, str], str]:
    """Return an order's terms, (kind, term), with what they are made of: the name, the SKU, the tracking number, the number."""
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
