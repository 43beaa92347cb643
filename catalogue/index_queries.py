"""Queries of the search index that shoppers' lists, filters and the staff's search share."""

from datetime import datetime
from typing import Any

import tantivy

from catalogue.entities import CategoryNode
from catalogue.index_documents import to_milliseconds


def any_of(found: list[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in found])


def all_of(wanted: list[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in wanted])


def one_of(schema: Any, field: str, terms: list[str]) -> Any:
    """Return the query for the products with one of these terms in a field."""
    if len(terms) == 1:
        return tantivy.Query.term_query(schema, field, terms[0])
    return tantivy.Query.term_set_query(schema, field, terms)


def in_category(schema: Any, node: CategoryNode | None) -> Any:
    """Return the query for the products of a category and of the categories below it; without a category it finds nothing."""
    # The index stores only a product's own categories. The present tree tells which categories are above them.
    return one_of(
        schema, "category", [each.category_id.hex for each in node.subtree] if node else []
    )


def on_sale(schema: Any, now: datetime) -> Any:
    """Return the query for the products on sale at a moment. It does not change the ranking."""
    moment, integer = to_milliseconds(now), tantivy.FieldType.Integer
    # Only a few products have a time of sale. A range over all products would take most of the time of a count.
    scheduled = all_of(
        [
            tantivy.Query.term_query(schema, "marks", "scheduled"),
            tantivy.Query.range_query(schema, "sale_from", integer, upper_bound=moment),
            tantivy.Query.range_query(
                schema, "sale_until", integer, lower_bound=moment, include_lower=False
            ),
        ]
    )
    sellable = tantivy.Query.term_query(schema, "marks", "sellable")
    return tantivy.Query.const_score_query(any_of([sellable, scheduled]), 0.0)


def in_stock(schema: Any) -> Any:
    """Return the query for the products that are not sold out."""
    return one_of(schema, "availability", ["in", "few", "ahead"])


def in_order(order: tuple[str, bool]) -> dict[str, Any]:
    """Return the arguments by which a search sorts by a field, ascending or descending; by score if the field is ""."""
    field, down = order
    if not field:
        return {}
    return {"order_by_field": field, "order": tantivy.Order.Desc if down else tantivy.Order.Asc}


def count(searcher: Any, query: Any) -> int:
    """Return how many products a query finds. An aggregation does not rank, which would take most of the time."""
    found = searcher.aggregate(query, {"found": {"value_count": {"field": "created"}}})
    return int(found["found"]["value"])
