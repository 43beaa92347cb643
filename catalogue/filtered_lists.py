"""Lists from the search index that a shopper has filtered: of a category, deals and new arrivals (decision 081)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import tantivy

from cassandra_db import current_time
from catalogue import filters
from catalogue.entities import NEW_FOR, CategoryNode, ProductCard
from catalogue.facets import Scope
from catalogue.filter_queries import MARKS_OF_VARIANTS, selection_query
from catalogue.filter_tokens import value_token
from catalogue.filters import Selection, price_in_minor_units
from catalogue.index_documents import to_milliseconds, unpack_card
from catalogue.index_queries import all_of, count, in_category, in_order, in_stock, on_sale
from catalogue.search_index import READER, SearchResult
from pricing.money import from_minor_units

# A list can be paged to this place. tantivy's memory and time grow with the place: some 5 MB and 20 ms at this one.
DEEPEST = 100_000
# New arrivals are the products of the last days (NEW_FOR). If there are fewer than this, older products fill the list.
MIN_NEW_ARRIVALS = 24
# The index's field for each order of a category's list (queries.SORTS), and whether the highest value comes first.
CATEGORY_SORTS = {
    "newest": ("by_created", True),
    "price": ("by_price", False),
    "price-down": ("by_price", True),
    "name": ("by_name", False),
    "popular": ("by_popularity", True),
    "rating": ("by_rating", True),
}


def category_scope(node: CategoryNode) -> Scope:
    """Return the products of a category and of all categories below it. Raises SearchIndexMissing."""
    schema, _ = READER.searcher()
    # The key has the categories below, too: the tree may change while the index stays.
    below = frozenset(each.category_id for each in node.subtree)
    return Scope(("category", below), in_category(schema, node), node)


def list_selected(
    scope: Scope,
    selection: Selection,
    order: tuple[str, bool],
    limit: int,
    offset: int,
    pinned_ids: Sequence[UUID] = (),
) -> SearchResult:
    """Return at most `limit` cards of a scope's products that satisfy a selection, from `offset` on; pinned products come first.

    A card shows the variant that satisfies the selection, if possible in a colour of the scope. Raises SearchIndexMissing.
    """
    schema, searcher = READER.searcher()
    now = current_time()
    chosen = [selection_query(selection, now)] if selection else []
    wanted = all_of([scope.query, on_sale(schema, now), *chosen])
    # tantivy reserves memory for all places before the offset, even if there are no such products.
    limit = max(0, min(limit, DEEPEST - offset)) if offset < searcher.num_docs else 0
    pinned = [
        query
        for each in pinned_ids
        if count(searcher, query := all_of([_is(schema, each), wanted]))
    ]
    found = [
        address
        for query in pinned[offset : offset + limit]
        for _, address in searcher.search(query, limit=1, count=False).hits
    ]
    rest = wanted
    if pinned_ids:
        none_pinned = [(tantivy.Occur.MustNot, _is(schema, each)) for each in pinned_ids]
        rest = tantivy.Query.boolean_query([(tantivy.Occur.Must, wanted), *none_pinned])
    if limit > len(found):
        result = searcher.search(
            rest,
            limit=limit - len(found),
            offset=max(0, offset - len(pinned)),
            count=False,
            **in_order(order),
        )
        found += [address for _, address in result.hits]
    shown = [selection]
    if scope.colours and not selection.get(filters.COLOUR):
        shown.insert(0, selection.with_values(filters.COLOUR, scope.colours))
    cards = tuple(make_card(searcher.doc(each), *shown) for each in found)
    return SearchResult(cards, count(searcher, wanted))


def _is(schema: Any, product_id: UUID) -> Any:
    return tantivy.Query.term_query(schema, "id", product_id.hex)


def make_card(document: Any, *selections: Selection) -> ProductCard:
    """Return a product's card. It shows the variants that satisfy the first selection that any satisfies, the cheapest first."""
    card = unpack_card(document["card"][0])
    is_about_variants = any(each.about_variants for each in selections)
    looks = json.loads(bytes(document["looks"][0])) if is_about_variants else []
    possible = ([look for look in looks if _fits(look, each)] for each in selections)
    fitting = next(filter(None, possible), [])
    if not fitting or len(fitting) == len(looks):
        return card
    first, currency = fitting[0], card.price.currency.code
    was, per_unit = first["compare_at"], first.get("unit_price")
    return replace(
        card,
        sku=first["sku"],
        picture=first["picture"],
        price=from_minor_units(first["price"], currency),
        price_varies=any(each["price"] != first["price"] for each in fitting),
        compare_at=from_minor_units(was, currency) if was is not None else None,
        unit_price=from_minor_units(per_unit, currency) if per_unit is not None else None,
    )


def _fits(look: dict[str, Any], selection: Selection) -> bool:
    """Return whether a variant satisfies a selection, if its product does. What is no option of the variant is a detail."""
    tokens = set(look["tokens"])
    names = {each.partition("=")[0] for each in tokens}
    low, high = price_in_minor_units(selection.price)
    return (
        low <= look["price"] <= high
        and all(mark in tokens for name, mark in MARKS_OF_VARIANTS.items() if selection.get(name))
        and all(
            name not in names or not tokens.isdisjoint(value_token(name, each) for each in values)
            for name, values in selection.options.items()
        )
    )


def deals_scope() -> Scope:
    """Return the reduced products in stock. Raises SearchIndexMissing."""
    schema, _ = READER.searcher()
    reduced = tantivy.Query.term_query(schema, "marks", "deal")
    return Scope(("deals",), all_of([reduced, in_stock(schema)]))


def new_arrivals_scope() -> Scope:
    """Return the new products in stock; if they are few, the MIN_NEW_ARRIVALS newest. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    available = all_of([in_stock(schema), on_sale(schema, current_time())])
    newest = searcher.search(
        available, limit=MIN_NEW_ARRIVALS, count=False, **in_order(("created", True))
    )
    oldest = min((at for at, _ in newest.hits), default=0)
    since = min(to_milliseconds(current_time() - NEW_FOR), oldest)
    new = tantivy.Query.range_query(schema, "created", tantivy.FieldType.Integer, lower_bound=since)
    return Scope(("new arrivals",), all_of([new, in_stock(schema)]))
