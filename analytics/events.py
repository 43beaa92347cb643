"""Counts the events of visitors: page loads, adds to the cart, checkouts and orders. Clicks on results follow from page loads.

A view attaches an event to its response. The response may be cached for other visitors (storefront.whole_pages): its event counts
each time it is sent. Programs, prefetches and visitors who object (headers DNT, Sec-GPC) are not counted. No cookie is set.
"""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from analytics.bots import is_bot
from analytics.event_writer import WRITER, WaitingEvent
from analytics.kinds import PAGE_KINDS
from cassandra_db import current_time
from web.rate_limits import network_address

MAX_WORDS_LENGTH = 60
# Enough for the longest query; a queue full of them takes 20 MB.
MAX_REFERRER_LENGTH = 2000
# Search words that may identify a person: an e-mail address, or the number of a telephone, a card or an order.
_PERSONAL_WORDS = re.compile(r"@|(?:\d[ -]?){6}")
_SEARCH_SITES = ("google.", "bing.", "duckduckgo.", "ecosia.", "qwant.", "yahoo.", "startpage.")
_SOCIAL_SITES = ("facebook.", "instagram.", "pinterest.", "t.co", "x.com", "reddit.", "youtube.")


@dataclass(frozen=True)
class NotedEvent:
    """The event that a view attached to its response: its kind (analytics.kinds.KINDS), and the product, category or search."""

    kind: str
    product_id: UUID | None = None
    category_id: UUID | None = None
    words: str = ""
    found: int | None = None


def note_event(response: HttpResponse, event: NotedEvent | None) -> HttpResponse:
    """Attach an event to a response, and return the response."""
    response.noted_event = event  # type: ignore[attr-defined]
    return response


def get_noted_event(response: HttpResponse) -> NotedEvent | None:
    """Return the event that is attached to a response, or None."""
    return getattr(response, "noted_event", None)


def record_noted_event(request: HttpRequest, response: HttpResponse) -> None:
    """Queue the event of a response for counting, when the response is sent. Neither blocks nor fails if the database is away."""
    noted = get_noted_event(response)
    if noted is None or not _is_counted(request.META, noted):
        return
    referrer = request.META.get("HTTP_REFERER", "")
    source = classify_source(referrer, request.get_host())
    WRITER.put(
        WaitingEvent(
            noted.kind,
            current_time(),
            network_address(request),
            request.META["HTTP_USER_AGENT"],
            source,
            noted.product_id,
            noted.category_id,
            normalize_words(noted.words),
            noted.found,
            referrer[:MAX_REFERRER_LENGTH] if source == "own" and noted.kind == "product" else "",
        )
    )


def _is_counted(headers: dict[str, Any], noted: NotedEvent) -> bool:
    if headers["REQUEST_METHOD"] == "HEAD" or is_bot(headers.get("HTTP_USER_AGENT", "")):
        return False
    if headers.get("HTTP_DNT") == "1" or headers.get("HTTP_SEC_GPC") == "1":
        return False
    if "prefetch" in headers.get("HTTP_SEC_PURPOSE", headers.get("HTTP_PURPOSE", "")):
        return False
    # An HTMX request for a part of an open page is no page load.
    is_part = "HTTP_HX_REQUEST" in headers and "HTTP_HX_BOOSTED" not in headers
    return not (is_part and noted.kind in PAGE_KINDS)


def classify_source(referrer: str, own_host: str) -> str:
    """Return the source of a visit: direct, own, search, social or other. The referrer's URL itself is not stored."""
    try:
        host = urlsplit(referrer).netloc.lower().removeprefix("www.")
    except ValueError:
        return "other"
    if not host:
        return "direct"
    if host == own_host.lower().removeprefix("www."):
        return "own"
    if any(host.startswith(each) or f".{each}" in host for each in _SEARCH_SITES):
        return "search"
    if any(host.startswith(each) or f".{each}" in host for each in _SOCIAL_SITES):
        return "social"
    return "other"


def normalize_words(words: str) -> str:
    """Return search words in lower case, with single spaces, shortened; "" if they may identify a person."""
    if _PERSONAL_WORDS.search(words):
        return ""
    return " ".join(words.lower().split())[:MAX_WORDS_LENGTH]
