"""Whole pages that are drawn once, for a few seconds, for all visitors without data of their own (decision 045).

A visitor without own data has no account, cart, order or waiting message. Every browser has a CSRF token and viewed products after
one product page, so both do not count. A page has blanks for both, for its full address and for the form's idempotency key, which
are filled for each visitor. Cookies are never cached. All other visitors, and answers other than 200, bypass this module.

Texts between the blanks are compressed once. Filled-in values are not compressed, so the size of a page does not reveal them (S88).
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from time import monotonic
from typing import ParamSpec
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.cache import patch_vary_headers
from django.utils.html import escape
from django.utils.translation import get_language
from django_htmx.middleware import HtmxDetails

from accounts.addresses import COUNTRIES
from analytics.events import NotedEvent, get_noted_event, note_event, record_noted_event
from shop_settings.brand import get_drawing_key
from storefront.recently_viewed import list_viewed_product_ids, remember_viewed
from web.blanks import blank
from web.compression import deflate, is_gzip_accepted, join_gzip, send_gzip, store
from web.decorators import View
from web.form_tokens import get_form_token
from web.text_cache import WHOLE_PAGES, Content

P = ParamSpec("P")
# Part of the name of each of the shop's cookies.
_OURS = "stoa_"
# The text between the last two blanks is for visitors who have viewed another product.
_BLANKS = ("csrf_token", "form_key", "page_address", "viewed_begin", "viewed_end")
_NAMES_BY_BLANK = {blank(name).encode(): name for name in _BLANKS}
_ANY_BLANK = re.compile(b"(%s)" % b"|".join(_NAMES_BY_BLANK))


@dataclass(frozen=True)
class WholePage:
    """A page: the texts between its blanks (plain and compressed), the blanks' names, its headers, and the product that it shows."""

    texts: tuple[bytes, ...]
    deflated: tuple[bytes, ...]
    blanks: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    product_id: UUID | None
    counts_as_viewed: bool
    noted_event: NotedEvent | None
    drawn_at: float

    def is_fresh(self) -> bool:
        return bool(monotonic() - self.drawn_at < settings.WHOLE_PAGE_SECONDS)


def whole_page(*parameters: str, unless: Collection[str] = ()) -> Callable[[View[P]], View[P]]:
    """Declare that a public page is the same for all visitors without own data, and which query parameters it reads.

    With one of the parameters of `unless`, the page is not kept: it would have too many forms.
    """

    def decorated(view: View[P]) -> View[P]:
        view.page_parameters = parameters  # type: ignore[attr-defined]
        view.unkept_parameters = frozenset(unless)  # type: ignore[attr-defined]
        return view

    return decorated


def is_drawn_for_all(request: HttpRequest) -> bool:
    """Return whether the page is being drawn for all visitors without own data."""
    return bool(getattr(request, "is_drawn_for_all", False))


def list_blanks() -> dict[str, object]:
    """Return the blanks of a page that is drawn for all visitors, keyed by their names in templates."""
    return {name: blank(name) for name in _BLANKS}


def note_product(
    response: HttpResponse, product_id: UUID | None, *, counts_as_viewed: bool
) -> None:
    """Note the product that a page shows, and whether each browser remembers it as viewed."""
    response.product_id = product_id  # type: ignore[attr-defined]
    response.counts_as_viewed = counts_as_viewed  # type: ignore[attr-defined]


class WholePageMiddleware:
    """Answers visitors without own data from memory, lets browsers remember the viewed product, and records the event of the page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._answer(request)
        if getattr(response, "counts_as_viewed", False):
            remember_viewed(request, response, response.product_id)  # type: ignore[attr-defined]
        record_noted_event(request, response)
        return response

    def _answer(self, request: HttpRequest) -> HttpResponse:
        match = _find_view(request)
        if match is None:
            return self.get_response(request)
        key = _page_key(request, match)
        page = WHOLE_PAGES.get(key, WholePage.is_fresh)
        if page is None:
            drawn_at = monotonic()
            request.is_drawn_for_all = True  # type: ignore[attr-defined]
            response = self.get_response(request)
            request.is_drawn_for_all = False  # type: ignore[attr-defined]
            page = _page_from_response(response, drawn_at)
            if response.status_code != HTTPStatus.OK or response.cookies:
                _put_page(response, page, request)
                return response
            WHOLE_PAGES.put(key, page)
        # Set as if the view had been called: the cache headers and the log need it.
        request.resolver_match = match
        return _response_from_page(page, request)


def _find_view(request: HttpRequest) -> ResolverMatch | None:
    """Return the view of a request that a whole page can answer, or None."""
    if (
        request.method not in ("GET", "HEAD")
        or settings.WHOLE_PAGE_SECONDS <= 0
        or not WHOLE_PAGES.max_bytes
        or _has_own_things(request)
    ):
        return None
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return None
    if _parameters(match) is None:
        return None
    unkept: Collection[str] = match.func.unkept_parameters  # type: ignore[attr-defined]
    return None if any(each in request.GET for each in unkept) else match


def _parameters(match: ResolverMatch) -> tuple[str, ...] | None:
    """Return the names of the query parameters that a view's page depends on; None if it is no `whole_page`."""
    return getattr(match.func, "page_parameters", None)


def _has_own_things(request: HttpRequest) -> bool:
    shared = (settings.CSRF_COOKIE_NAME, settings.VIEWED_COOKIE_NAME, settings.COUNTRY_COOKIE_NAME)
    return any(_OURS in name and name not in shared for name in request.COOKIES)


def _page_key(request: HttpRequest, match: ResolverMatch) -> Content:
    country = request.COOKIES.get(settings.COUNTRY_COOKIE_NAME)
    # The key has the part that will be drawn, which depends on several headers (web.rendering).
    htmx = HtmxDetails(request)
    return Content(
        request.get_host(),
        request.path,
        tuple(request.GET.get(name) for name in _parameters(match) or ()),
        bool(htmx),
        htmx.history_restore_request,
        country if country in COUNTRIES else None,
        get_language(),
        get_drawing_key(),
    )


def _page_from_response(response: HttpResponse, drawn_at: float) -> WholePage:
    patch_vary_headers(response, ["Cookie"])
    parts = _ANY_BLANK.split(response.content)
    texts = tuple(parts[::2])
    return WholePage(
        texts,
        tuple(map(deflate, texts)),
        tuple(_NAMES_BY_BLANK[each] for each in parts[1::2]),
        tuple(response.items()),
        getattr(response, "product_id", None),
        getattr(response, "counts_as_viewed", False),
        get_noted_event(response),
        drawn_at,
    )


def _response_from_page(page: WholePage, request: HttpRequest) -> HttpResponse:
    response = HttpResponse(headers=dict(page.headers))
    _put_page(response, page, request)
    note_product(response, page.product_id, counts_as_viewed=page.counts_as_viewed)
    note_event(response, page.noted_event)
    return response


def _put_page(response: HttpResponse, page: WholePage, request: HttpRequest) -> None:
    """Fill a response with the page for this visitor, compressed if the browser accepts that."""
    parts = _fill_blanks(page, request)
    if is_gzip_accepted(request):
        send_gzip(response, join_gzip(parts))
    else:
        response.content = b"".join(text for text, _ in parts)


def _fill_blanks(page: WholePage, request: HttpRequest) -> Iterator[tuple[bytes, bytes]]:
    """Yield the parts of the page for this visitor, each plain and as a part of a gzip file."""
    own: dict[str, Callable[[], str]] = {
        "csrf_token": cache(lambda: get_form_token(request)),
        "form_key": cache(lambda: str(uuid4())),
        "page_address": lambda: escape(request.get_full_path()),
    }
    is_shown = True
    for text, deflated, name in zip(page.texts, page.deflated, (*page.blanks, ""), strict=True):
        if is_shown:
            yield text, deflated
        if name == "viewed_begin":
            ids = list_viewed_product_ids(request)
            is_shown = any(each != page.product_id for each in ids)
        elif name == "viewed_end":
            is_shown = True
        elif name and is_shown:
            value = own[name]().encode()
            yield value, store(value)
