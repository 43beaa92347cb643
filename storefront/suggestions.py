"""The groups of the suggestions below the search field."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.popular_searches import find_popular_searches, prefetch_popular_searches
from catalogue import queries
from catalogue.entities import CategoryNode, ProductCard, Suggestion
from catalogue.filters import BRAND, NOTHING_CHOSEN
from catalogue.index_documents import brand_token
from catalogue.search import query_words
from catalogue.search_index import READER, SearchIndexMissing
from catalogue.search_rules import prefetch_search_rules
from catalogue.suggestions import find_suggestions
from storefront.card_lists import list_url

MAX_SEARCHES = 3
MIN_LETTERS = 2


@dataclass(frozen=True)
class SuggestedPage:
    """A suggestion: its text, the address to which it leads, and the product or the parent category that it shows."""

    text: str
    url: str
    product: ProductCard | Suggestion | None = None
    where: str = ""


@dataclass(frozen=True)
class SuggestionGroup:
    """Suggestions of one kind, with their title. `name` is part of the ids in the page."""

    name: str
    title: str
    pages: tuple[SuggestedPage, ...]


def list_suggestion_groups(typed: str) -> list[SuggestionGroup]:
    """Return what is suggested for typed words; nothing if none has two letters. Raises CassandraUnavailable.

    While this host has no search index, these are products whose names begin so.
    """
    words = query_words(typed)
    if max(map(len, words), default=0) < MIN_LETTERS:
        return []
    try:
        READER.searcher()
    except SearchIndexMissing:
        found_by_name = queries.list_suggestions(typed)
        return [_product_group(found_by_name)] if found_by_name else []
    queries.prefetch_categories()
    prefetch_search_rules()
    prefetch_popular_searches()
    found, search_url = find_suggestions(typed), reverse("search")
    categories = (
        SuggestedPage(each.name, reverse("category", args=(each.slug,)), where=_parent_name(each))
        for each in found.categories
    )
    of_brand = {
        each: NOTHING_CHOSEN.with_values(BRAND, [brand_token(each)]) for each in found.brands
    }
    brands = (
        SuggestedPage(brand, list_url(search_url, selection, q=brand))
        for brand, selection in of_brand.items()
    )
    searches = (
        SuggestedPage(query, list_url(search_url, q=query))
        for query in find_popular_searches(words, MAX_SEARCHES)
    )
    groups = (
        _product_group(found.products),
        SuggestionGroup("categories", _("Categories"), tuple(categories)),
        SuggestionGroup("brands", _("Brands"), tuple(brands)),
        SuggestionGroup("searches", _("Popular searches"), tuple(searches)),
    )
    return [group for group in groups if group.pages]


def _parent_name(node: CategoryNode) -> str:
    return node.parent.name if node.parent else ""


def _product_group(products: Iterable[ProductCard | Suggestion]) -> SuggestionGroup:
    def address(product: ProductCard | Suggestion) -> str:
        url = reverse("product", args=(product.slug,))
        return url + product.variant_query if isinstance(product, ProductCard) else url

    pages = (SuggestedPage(each.name, address(each), each) for each in products)
    return SuggestionGroup("products", _("Products"), tuple(pages))
