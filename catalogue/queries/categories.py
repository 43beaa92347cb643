"""Read the tree of categories."""

from collections.abc import Iterable
from uuid import UUID

from cassandra_db import LOCAL_ONE, LOCAL_QUORUM, read
from cassandra_db.kept_results import KeptResults
from cassandra_db.process_copies import ProcessCopy
from catalogue.entities import CategoryMenu, CategoryNode, CategoryTree

SHOP_TREE = "shop"
# Q2: the tree of categories.
CATEGORIES = read(
    "Q2",
    """SELECT category_id, version, slug, name, parent_id, position, description, picture, picture_alt, former_slugs,
       changed_at, followed_to, removed, list_rule, pinned_ids, has_featured_list, is_repinned FROM categories WHERE tree = :tree""",
    consistency=LOCAL_ONE,
)
CATEGORIES_NOW = CATEGORIES.with_consistency(LOCAL_QUORUM)
# Equal rows give the same tree, whose menu is then compared with that of a kept header by identity alone.
_KEPT_TREE = KeptResults[CategoryTree](max_count=1, max_rows=5000)
CURRENT_TREE = ProcessCopy(
    lambda: CATEGORIES.start(tree=SHOP_TREE),
    lambda rows: _KEPT_TREE.get(SHOP_TREE, rows, lambda: CategoryTree(rows)),
    30,
)
# If a page is about to wait for another read, it starts reading the tree in parallel.
prefetch_categories = CURRENT_TREE.prefetch
clear_category_cache = CURRENT_TREE.forget


def get_category_tree_at_quorum() -> CategoryTree:
    """Return the tree of categories, read at quorum. Raises CassandraUnavailable."""
    return CategoryTree(CATEGORIES_NOW.all(tree=SHOP_TREE))


def get_category_tree() -> CategoryTree:
    """Return the tree of categories, at most 30 seconds old. Raises CassandraUnavailable."""
    return CURRENT_TREE.get()


def get_category_tree_with(*category_ids: UUID) -> CategoryTree:
    """Return the tree of categories for a write: the process's copy if it has these categories, else a tree that is read now.

    Raises CassandraUnavailable.
    """
    known = get_category_tree()
    return known if known.by_id.keys() >= set(category_ids) else get_category_tree_at_quorum()


CATEGORY = read(
    "Q2",
    "SELECT category_id, removed FROM categories WHERE tree = :tree AND category_id = :category_id",
)


def list_existing_categories(category_ids: Iterable[UUID]) -> set[UUID]:
    """Return those of these category ids that exist; reads run in parallel. Raises CassandraUnavailable."""
    reading = [CATEGORY.start(tree=SHOP_TREE, category_id=each) for each in category_ids]
    rows = [pending.one() for pending in reading]
    return {row.category_id for row in rows if row and not row.removed}


def get_category(category_id: UUID) -> CategoryNode | None:
    """Return a category, or None. It finds a new category at once. Raises CassandraUnavailable."""
    return get_category_tree_with(category_id).by_id.get(category_id)


def list_root_categories() -> list[CategoryNode]:
    """Return the root categories, which begin the navigation. Raises CassandraUnavailable."""
    return get_category_tree().roots


def list_menu() -> CategoryMenu:
    """Return the entries of the navigation. Raises CassandraUnavailable."""
    return get_category_tree().menu


def find_category_by_slug(slug: str) -> CategoryNode | None:
    """Return the category with this address, or None. Raises CassandraUnavailable."""
    return get_category_tree().by_slug.get(slug)


def find_former_category(slug: str) -> tuple[bool, CategoryNode | None]:
    """Return whether a category had this address, and the category to which it leads now, or None. Raises CassandraUnavailable."""
    former = get_category_tree().by_former_slug
    return slug in former, former.get(slug)


def is_majority_answering() -> bool:
    """Return True if a majority of replicas answers; without it nothing can be sold. Otherwise raises CassandraUnavailable."""
    CATEGORIES_NOW.all(tree=SHOP_TREE)
    return True
