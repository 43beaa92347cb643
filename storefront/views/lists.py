"""The shop's own lists: deals and new arrivals (decision 048)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cassandra_db import page_key, page_token
from cassandra_db.errors import InvalidPageToken
from catalogue import queries, search
from catalogue.search_index import SearchIndexMissing, SearchResult
from storefront.card_lists import list_url, next_page_url, requested_card_count
from storefront.whole_pages import whole_page
from web.decorators import public
from web.rendering import render_page

# A function that returns the products of a list. It takes a limit and an offset.
Find = Callable[[int, int], SearchResult]


@require_safe
@whole_page("sort", "after", "show")
@public
def deals(request: HttpRequest) -> HttpResponse:
    """Show the reduced products."""
    default = search.DEAL_SORT_LABELS[0][0]
    sort = request.GET.get("sort", default)
    if sort not in search.DEAL_SORTS:
        return redirect("deals")
    context = {
        "title": _("Deals"),
        "lead": _("Good things for less: everything that is reduced right now."),
        "empty_title": _("No deals right now"),
        "empty_text": _("Nothing is reduced at the moment. Take a look at what’s new instead."),
        "instead": (reverse("new_arrivals"), _("See new arrivals")),
        "sort": sort,
        "sort_param": "" if sort == default else sort,
        "sorts": search.DEAL_SORT_LABELS,
    }
    return _render_list(request, "deals", partial(search.list_deals, sort), context)


@require_safe
@whole_page("after", "show")
@public
def new_arrivals(request: HttpRequest) -> HttpResponse:
    """Show the newest products."""
    context = {
        "title": _("New arrivals"),
        "lead": _("The latest additions to the shop, newest first."),
        "empty_title": _("Nothing new yet"),
        "empty_text": _("We’re still choosing what to sell next."),
        "instead": (reverse("home"), _("Browse products")),
        "sort": "",
        "sort_param": "",
        "sorts": (),
    }
    return _render_list(request, "new_arrivals", search.list_new_arrivals, context)


def _render_list(
    request: HttpRequest, name: str, find: Find, context: dict[str, Any]
) -> HttpResponse:
    """Draw a part of a list; its address and its row of the front page are both called `name`. Raises Http404."""
    queries.prefetch_categories()
    url, list_name = reverse(name), f"{name} {context['sort']}"
    token, card_count = request.GET.get("after", ""), requested_card_count(request)
    try:
        offset = int(page_key(token, list_name)[0]) if token else 0
    except InvalidPageToken as error:
        raise Http404 from error
    found = _find(name, find, queries.PAGE_LENGTH if offset else card_count, offset)
    end = offset + len(found.cards)
    has_more = found.cards and end < min(found.total, search.DEEPEST)
    sort_param = context["sort_param"]
    context |= {
        "list_url": url,
        "nav_current": url,
        "cards": found.cards,
        "total": found.total,
        "after": offset,
        "next_url": next_page_url(
            url, card_count, sort=sort_param, after=page_token([end], list_name)
        )
        if has_more
        else "",
    }
    if not offset:
        return render_page(request, "storefront/list.html", context)
    address = list_url(url, sort=sort_param, show=str(card_count))
    return render_page(request, "storefront/list.html", context, part="more", replace_url=address)


def _find(name: str, find: Find, limit: int, offset: int) -> SearchResult:
    try:
        return find(limit, offset)
    except SearchIndexMissing:
        # A new host has no index yet: show the front page's row instead.
        cards = () if offset else tuple(queries.list_featured(name))
        return SearchResult(cards, 0)
