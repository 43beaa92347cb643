"""Lists that grow by Load more: how much of one is shown, and its address."""

from urllib.parse import urlencode

from django.http import HttpRequest

from catalogue import queries

# "Load more" ten times, and the list can still be opened as a whole.
MAX_LIST_LENGTH = 10 * queries.PAGE_LENGTH


def requested_card_count(request: HttpRequest) -> int:
    """Return how many cards the list has, or will have with this part: what Back and Reload bring again (X4)."""
    wanted = request.GET.get("show", "")
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 5 else 0
    return max(queries.PAGE_LENGTH, min(number, MAX_LIST_LENGTH))


def next_page_url(url: str, card_count: int, **params: str) -> str:
    """Return the address of the list with another page's worth of cards."""
    return list_url(url, **params, show=str(card_count + queries.PAGE_LENGTH))


def list_url(url: str, **params: str) -> str:
    """Return a list's address, without what is empty or the usual length. `sort` is "" for the order that the list has by itself."""
    if params.get("show") == str(queries.PAGE_LENGTH):
        del params["show"]
    query = {name: value for name, value in params.items() if value}
    return f"{url}?{urlencode(query)}" if query else url
