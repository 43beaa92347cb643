"""Lists with "Load more": the number of cards that they show, and their addresses."""

from urllib.parse import urlencode

from django.http import HttpRequest

from catalogue import queries
from catalogue.filters import NOTHING_CHOSEN, Selection

# "Load more" can be used ten times; the whole list can still be opened by its address.
MAX_LIST_LENGTH = 10 * queries.PAGE_LENGTH


def requested_card_count(request: HttpRequest) -> int:
    """Return how many cards the list shows including the requested part, so that Back and Reload show as many (X4)."""
    wanted = request.GET.get("show", "")
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 5 else 0
    return max(queries.PAGE_LENGTH, min(number, MAX_LIST_LENGTH))


def next_page_url(
    url: str, card_count: int, selection: Selection = NOTHING_CHOSEN, **params: str
) -> str:
    """Return the address of the list with one more page of cards."""
    return list_url(url, selection, **params, show=str(card_count + queries.PAGE_LENGTH))


def list_url(url: str, selection: Selection = NOTHING_CHOSEN, **params: str) -> str:
    """Return a list's address, without empty parameters and the default length. `sort` is "" for the default sort order."""
    if params.get("show") == str(queries.PAGE_LENGTH):
        del params["show"]
    query = [*selection.parameters, *((name, value) for name, value in params.items() if value)]
    return f"{url}?{urlencode(query, safe=':')}" if query else url
