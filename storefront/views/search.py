"""The search page, and the suggestions of the search field."""

from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from moneyed import Money

from analytics.events import NotedEvent
from cassandra_db import Row, page_key, page_token
from catalogue import queries, search
from catalogue.filtered_lists import DEEPEST
from catalogue.filters import Selection
from catalogue.query_prices import QueryPrices
from catalogue.rules import is_sku, normalize_sku
from catalogue.search import MAX_QUERY_LENGTH
from catalogue.search_relaxation import find_shorter_queries
from catalogue.search_rules import fold_query, get_search_rules, prefetch_search_rules
from pricing.templatetags.money import format_money
from storefront import choices
from storefront.card_lists import list_url
from storefront.list_filters import FILTER_PARAMETERS
from storefront.product_lists import EmptyList, ListPart, ProductList, render_list
from storefront.suggestions import list_suggestion_groups
from storefront.whole_pages import whole_page
from web.decorators import public
from web.rate_limits import hit_local_rate_limit
from web.rendering import render_page, without_header
from web.text import clean_text

# How many popular products follow if nothing was found.
_POPULAR_COUNT = 8


@require_safe
@whole_page("q", "sort", "after", "show", unless=FILTER_PARAMETERS)
@public
def search_page(request: HttpRequest) -> HttpResponse:
    """Show the products that contain the searched words. A SKU redirects to its product's page, and staff redirect other queries."""
    hit_local_rate_limit(request, "search")
    query = search.clean_query(request.GET.get("q", ""))
    queries.prefetch_categories()
    prefetch_search_rules()
    address = _find_sku_address(query)
    address = address or get_search_rules().redirects.get(fold_query(query), "")
    if address:
        return HttpResponseRedirect(address)
    sort = request.GET.get("sort", "best")
    if sort not in search.SORTS:
        return redirect(list_url(reverse("search"), q=query))
    listing = ProductList(
        "Q3",
        reverse("search"),
        partial(search.words_scope, query),
        search.SORTS,
        search.SORT_LABELS,
        sort,
        "best",
        EmptyList("", "", "", ""),
        partial(_find_by_prefix, query),
        partial(_find_products, query, sort),
        query=query,
    )
    return render_list(
        request,
        listing,
        "storefront/search.html",
        partial(_search_context, query, sort),
        lambda part: (
            NotedEvent("search", words=query, found=part.total or len(part.cards))
            if query
            else None
        ),
    )


def _find_products(query: str, sort: str, token: str, limit: int) -> ListPart:
    """Return a part of the results of a query without filters (Q3)."""
    list_name = f"Q3 {sort} {query}"
    offset = int(page_key(token, list_name)[0]) if token else 0
    found = search.search_products(query, limit, offset, sort)
    end = offset + len(found.cards)
    has_more = found.cards and end < min(found.total, DEEPEST)
    return ListPart(found.cards, found.total, page_token([end], list_name) if has_more else "")


def _find_by_prefix(query: str, _token: str, _limit: int) -> ListPart:
    return ListPart(tuple(queries.list_cards_by_prefix(query)), None, "")


def _search_context(query: str, sort: str, part: ListPart, selection: Selection) -> dict[str, Any]:
    if part.total is None:
        return {"query": query}
    prices = search.read_query(query).prices
    sort_param = "" if sort == "best" else sort
    return {
        "query": query,
        "price_label": _price_label(prices),
        "words_alone": list_url(reverse("search"), q=prices.words, sort=sort_param),
        **(_list_instead(query) if query and not part.total and not selection else {}),
    }


def _list_instead(query: str) -> dict[str, Any]:
    """Return what the page of a query without results shows: results for fewer words, or popular products."""
    shorter = find_shorter_queries(query)
    near = search.find_near_queries(query, all_words=bool(shorter))
    if not shorter:
        return {"near": near, "instead": search.list_popular(_POPULAR_COUNT)}
    found = search.search_products(shorter[0].query)
    return {"near": near, "instead": found, "shorter": shorter[0], "also_shorter": shorter[1:]}


def _price_label(prices: QueryPrices) -> str:
    """Return the price range of a query in words, such as "Under €20", or ""."""
    low, high = (
        format_money(None if each is None else Money(each, settings.CURRENCY)).removesuffix(".00")
        for each in (prices.low, prices.high)
    )
    if low and high:
        return f"{low}–{high}"
    return (
        _("Under %(price)s") % {"price": high}
        if high
        else low and _("Over %(price)s") % {"price": low}
    )


def _find_sku_address(query: str) -> str:
    """Return the address of the variant with this SKU, or "". The query may have a blank for a hyphen."""
    sku = normalize_sku(query)
    possible = [
        each
        for each in dict.fromkeys((sku, sku.replace(" ", "-")))
        if len(each) > 2 and is_sku(each) and not each.isalpha()
    ]
    reading = [queries.prefetch_variant_by_sku(each) for each in possible]
    addresses = (_variant_address(row) for pending in reading if (row := pending.one()))
    return next(filter(None, addresses), "")


def _variant_address(row: Row) -> str:
    found = queries.get_product(row.product_id)
    variant = queries.get_sellable_variant(found, row.variant_id)
    return choices.variant_url(found, variant) if found and variant else ""


@require_safe
@without_header
@public
def suggestions(request: HttpRequest) -> HttpResponse:
    """Show products, categories, brands and popular searches that begin like the typed words."""
    hit_local_rate_limit(request, "suggestions")
    typed = clean_text(request.GET.get("q", ""))[:MAX_QUERY_LENGTH]
    context = {"groups": list_suggestion_groups(typed), "query": typed}
    return render_page(request, "storefront/suggest.html", context, part="options")
