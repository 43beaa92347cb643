"""Products and categories as they are stored now."""

from catalogue import queries
from catalogue.entities import CategoryNode, Product


def stored(product: Product) -> Product:
    found = queries.get_product_at_quorum(product.product_id)
    assert found
    return found


def stored_category(node: CategoryNode) -> CategoryNode:
    return queries.get_category_tree_at_quorum().by_id[node.category_id]
