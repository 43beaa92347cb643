"""Clicks on results of searches. A browser requests a product's page with the address of the search page that it was opened from.

The shop's Referrer-Policy, same-origin, lets it name the whole address, which is kept in memory until the place is known.
"""

import logging
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.urls import reverse

from catalogue.search import SORTS, clean_query, search_products

# Places that are told apart: three pages of results. The next number stands for all places further down.
PLACES = 48
FURTHER_DOWN = PLACES + 1
_MAX_PARAMETERS = 100

log = logging.getLogger(__name__)


def read_search(address: str) -> tuple[str, str] | None:
    """Return the query of a search page of this shop, and the order of its results: "" if they are filtered.

    Return None for other addresses, whatever they are.
    """
    try:
        parts = urlsplit(address)
        given = parse_qs(parts.query, max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        return None
    query, sort = clean_query(given.get("q", [""])[-1]), given.get("sort", ["best"])[-1]
    if parts.path != reverse("search") or not query:
        return None
    # Other parameters, such as filters, change the list.
    is_whole = sort in SORTS and given.keys() <= {"q", "sort", "after", "show"}
    return query, sort if is_whole else ""


def find_place(query: str, sort: str, product_id: UUID) -> int | None:
    """Return a product's place in the results of a search, from 1 to FURTHER_DOWN; None if it is unknown, or no result."""
    if not sort:
        return None
    try:
        found = search_products(query, PLACES, sort=sort)
    except Exception:
        # The index or the database may be away. No click may stop the thread that writes events.
        log.info("the place of a click is unknown", exc_info=True)
        return None
    places = {card.product_id: place for place, card in enumerate(found.cards, 1)}
    return places.get(product_id, FURTHER_DOWN if found.total > PLACES else None)
