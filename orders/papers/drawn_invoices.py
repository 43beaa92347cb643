"""A cache of recently drawn invoices in this process's memory.

The cache is emptied two minutes after its first invoice was drawn. An erasure waits two minutes, so no invoice outlasts it.
"""

import threading
from collections.abc import Sequence
from hashlib import sha256

from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from shop_settings.queries import get_settings
from shop_settings.terms import list_terms

KEPT_SECONDS = 120
MAX_KEPT = 100  # some 50 KB each

_drawn: dict[str, bytes] = {}
_lock = threading.Lock()


def get_invoice(order: Order, items: Sequence[Item]) -> bytes:
    """Return the invoice of an order with these lines as a PDF file, from the cache if nothing in it has changed."""
    terms = list_terms(get_settings())
    content_key = sha256(repr((order, items, terms)).encode()).hexdigest()
    with _lock:
        drawn = _drawn.get(content_key)
    return drawn or _draw(content_key, order, items)


def _draw(content_key: str, order: Order, items: Sequence[Item]) -> bytes:
    # Loading the drawing code and typefaces takes as long as loading the whole shop; commands must not wait for it.
    from orders.papers.invoice import render_invoice

    pdf = render_invoice(order, items)
    with _lock:
        if not _drawn:
            timer = threading.Timer(KEPT_SECONDS, forget_invoices)
            timer.daemon = True
            timer.start()
        if len(_drawn) < MAX_KEPT:
            _drawn[content_key] = pdf
    return pdf


def forget_invoices() -> None:
    """Empty the cache."""
    with _lock:
        _drawn.clear()
