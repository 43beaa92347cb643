"""Products and categories as they are stored now, and as they would be changed."""

from dataclasses import replace
from typing import Any

from catalogue import queries
from catalogue.entities import CategoryNode, Product
from tests.reads import existing


def stored(product: Product) -> Product:
    return existing(queries.get_product_at_quorum(product.product_id))


def stored_category(node: CategoryNode) -> CategoryNode:
    return queries.get_category_tree_at_quorum().by_id[node.category_id]


def changed(product: Product, **what: Any) -> Product:
    """Return the product with a change in its first variant, which is the only one left."""
    return replace(product, variants=(replace(product.variants[0], **what),))
