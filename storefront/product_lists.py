"""Lists of products that shoppers sort, filter and page: of categories, searches, deals and new arrivals (decisions 048, 081)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from analytics.events import NotedEvent, note_event
from cassandra_db import page_key, page_token
from cassandra_db.errors import InvalidPageToken
from catalogue import queries
from catalogue.entities import ProductCard
from catalogue.facets import Scope, find_facets
from catalogue.filter_settings import FilterName, list_filter_names
from catalogue.filtered_lists import DEEPEST, list_selected
from catalogue.filters import Selection
from catalogue.search_index import SearchIndexMissing
from storefront.card_lists import list_url, next_page_url, requested_card_count
from storefront.list_filters import (
    FILTER_PARAMETERS,
    AskedFilters,
    ListFilters,
    ListTools,
    read_filters,
)
from web.rate_limits import hit_local_rate_limit
from web.rendering import is_asked_for_part, render_page
from web.types import StrOrPromise


@dataclass(frozen=True)
class EmptyList:
    """What an empty list says, and the address and the label of the next step."""

    title: str
    text: str
    url: str
    label: str


@dataclass(frozen=True)
class ListPart:
    """A part of a list: its cards, the number of products in the list (None if unknown), and the token of the next part, or ""."""

    cards: tuple[ProductCard, ...]
    total: int | None
    next_token: str


@dataclass(frozen=True)
class ProductList:
    """A list that shoppers can sort and filter. `orders` has the index's field for each sort, and whether it descends."""

    name: str
    url: str
    find_scope: Callable[[], Scope]
    orders: Mapping[str, tuple[str, bool]]
    sorts: tuple[tuple[str, StrOrPromise], ...]  # with their labels
    sort: str
    default_sort: str
    empty: EmptyList
    # Returns a part of the list while this host has no index: takes the token of the part, and how many cards it has.
    find_without_index: Callable[[str, int], ListPart]
    # Returns a part of the list without any filter, if the index is not asked for it in the usual way.
    find_unfiltered: Callable[[str, int], ListPart] | None = None
    pinned_ids: tuple[UUID, ...] = ()
    query: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the list's address, besides its filters."""
        return {"q": self.query, "sort": "" if self.sort == self.default_sort else self.sort}

    @cached_property
    def scope(self) -> Scope:
        """The products that the list has before any filter. Raises SearchIndexMissing."""
        return self.find_scope()

    def find_part(self, selection: Selection, token: str, limit: int) -> ListPart:
        """Return a part of the list. Raises SearchIndexMissing, InvalidPageToken."""
        if self.find_unfiltered and not selection:
            return self.find_unfiltered(token, limit)
        token_name = f"{self.name} {self.sort} {self.query} {selection.parameters}"
        offset = int(page_key(token, token_name)[0]) if token else 0
        order, pinned_ids = self.orders[self.sort], self.pinned_ids
        found = list_selected(self.scope, selection, order, limit, offset, pinned_ids)
        end = offset + len(found.cards)
        has_more = found.cards and end < min(found.total, DEEPEST)
        return ListPart(found.cards, found.total, page_token([end], token_name) if has_more else "")


def render_list(
    request: HttpRequest,
    listing: ProductList,
    template: str,
    make_context: Callable[[ListPart, Selection], dict[str, Any]],
    make_event: Callable[[ListPart], NotedEvent | None] = lambda _part: None,
) -> HttpResponse:
    """Return the page of a list, the next part of it, or what changes when a filter changes. Raises Http404.

    `make_event` returns the event of a visit of the whole page.
    """
    names = list_filter_names()
    asked = read_filters(request, names)
    # The search page counts its requests itself.
    if (asked.selection or asked.opened) and not listing.query:
        hit_local_rate_limit(request, "search")
    if asked.is_typed and not asked.price_error and not is_asked_for_part(request):
        return redirect(list_url(listing.url, asked.selection, **listing.parameters))
    token, card_count = request.GET.get("after", ""), requested_card_count(request)
    limit = queries.PAGE_LENGTH if token else card_count
    try:
        shown, part = _find_part(listing, asked, token, limit)
    except InvalidPageToken as error:
        raise Http404 from error
    selection, parameters = shown.selection, listing.parameters
    context = make_context(part, selection) | {
        "list_tools": ListTools(
            listing.url,
            part.total,
            listing.sorts,
            listing.sort,
            listing.query,
            tuple(selection.parameters),
        ),
        "list_filters": _find_filters(listing, shown, names) if not token else None,
        "is_unfiltered": asked.selection != selection,
        "is_for_search_engines": not any(each in request.GET for each in FILTER_PARAMETERS),
        "empty": _end_of_list(listing.url) if token else listing.empty,
        "cards": part.cards,
        "total": part.total,
        "cut_at": DEEPEST if not part.next_token and (part.total or 0) > DEEPEST else 0,
        "next_url": next_page_url(
            listing.url, card_count, selection, **parameters, after=part.next_token
        )
        if part.next_token
        else "",
    }
    address = list_url(listing.url, selection, **parameters, show=str(card_count))
    if token:
        return render_page(request, template, context, part="more", replace_url=address)
    response = render_page(request, template, context, part="filtered", push_url=address)
    return note_event(response, None if selection else make_event(part))


def _end_of_list(url: str) -> EmptyList:
    return EmptyList(
        _("No more products"),
        _("You’ve reached the end of the list."),
        url,
        _("Back to the first page"),
    )


def _find_part(
    listing: ProductList, asked: AskedFilters, token: str, limit: int
) -> tuple[AskedFilters, ListPart]:
    """Return a part of the list, and the filters that it obeys: none while this host has no index."""
    try:
        return asked, listing.find_part(asked.selection, token, limit)
    except SearchIndexMissing:
        return AskedFilters(), listing.find_without_index(token, limit)


def _find_filters(
    listing: ProductList, asked: AskedFilters, names: tuple[FilterName, ...]
) -> ListFilters | None:
    try:
        found = find_facets(listing.scope, asked.selection, names, asked.opened)
    except SearchIndexMissing:
        return None
    parameters = tuple((name, value) for name, value in listing.parameters.items() if value)
    return ListFilters(listing.url, parameters, asked, found, names)
