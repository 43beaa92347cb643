"""Change the tree of categories. The whole tree has one version. Each change of the tree is one conditional batch."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from django.utils.translation import gettext as _

from cassandra_db import SEND_AGAIN, applied_if, apply_batch, conditional_write, current_time
from catalogue import queries
from catalogue.entities import CategoryNode, CategoryTree, ListOrder, ProductPicture
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations.cards import NOT_PINNED, refresh_cards
from catalogue.operations.product_changes import record_product_change
from catalogue.operations.schedule import retry_product
from catalogue.photos import parse_photo
from catalogue.queries import SHOP_TREE
from catalogue.rules import MAX_ALT_LENGTH, MAX_ATTEMPTS, MAX_LENGTHS, SLUG, is_picture
from catalogue.variants import fingerprint_pictures
from jobs.rows import guard_row

MAX_CATEGORIES = 2000
# The largest number of rows, including removed categories, whose addresses redirect.
MAX_CATEGORY_ROWS = 4000
MAX_CATEGORY_NAME = 100
MAX_CATEGORY_DESCRIPTION = 1000
MAX_FORMER_SLUGS = 10
MAX_DEPTH = 3
MAX_PINNED_IN_CATEGORY = 48
# A place before all products of a category's list, from which a job begins.
FIRST_PLACE = (b"", UUID(int=0))
# The version is null if the tree was last changed before versions existed.
UPDATE_TREE = conditional_write(
    "Q2",
    """UPDATE categories SET version = :version, save_id = :save_id WHERE tree = :tree
       IF version = :seen AND save_id != :save_id""",
)
INSERT_CATEGORY = conditional_write(
    "Q2",
    """INSERT INTO categories (tree, category_id, slug, name, parent_id, position, description, picture, picture_alt,
       former_slugs, changed_at, followed_to, is_repinned, removed) VALUES (:tree, :category_id, :slug, :name, :parent_id, :position,
       :description, :picture, :picture_alt, :former_slugs, :changed_at, :followed_to, :is_repinned, :removed)""",
)
UPDATE_CATEGORY_POSITION = conditional_write(
    "Q2",
    "UPDATE categories SET position = :position WHERE tree = :tree AND category_id = :category_id",
)
UPDATE_CATEGORY_PICTURE = conditional_write(
    "Q2",
    """UPDATE categories SET picture = :picture, picture_alt = :picture_alt
       WHERE tree = :tree AND category_id = :category_id""",
)
UPDATE_CATEGORY_PARENT = conditional_write(
    "Q2",
    """UPDATE categories SET parent_id = :parent_id, changed_at = :changed_at, followed_to = :followed_to, is_repinned = :is_repinned
       WHERE tree = :tree AND category_id = :category_id""",
)
UPDATE_CATEGORY_REMOVED = conditional_write(
    "Q2",
    "UPDATE categories SET removed = :removed WHERE tree = :tree AND category_id = :category_id",
)
UPDATE_CATEGORY_ORDER = conditional_write(
    "Q2",
    """UPDATE categories SET list_rule = :list_rule, pinned_ids = :pinned_ids, has_featured_list = :has_featured_list,
       changed_at = :changed_at, followed_to = :followed_to, is_repinned = :is_repinned
       WHERE tree = :tree AND category_id = :category_id""",
)
UPDATE_FOLLOWED = conditional_write(
    "Q2",
    """UPDATE categories SET followed_to = :followed_to, changed_at = :changed_at, has_featured_list = :has_featured_list
       WHERE tree = :tree AND category_id = :category_id IF changed_at = :seen""",
)


def save_category(
    *,
    category_id: UUID,
    slug: str,
    name: str,
    parent_id: UUID | None = None,
    position: int | None = None,
    description: str = "",
    picture: str | None = None,
    seen: str = "",
) -> CategoryNode:
    """Add a category to the tree or change one, and return it. Other processes see the change within 30 seconds.

    `seen` is the `fingerprint_category` that the editor has read, "" for a new one. If somebody else has changed other parts of
    the tree, both changes are kept, if the rules allow that. Without a `position` the category keeps its place, or comes last.
    Without a `picture` (a drawing) it keeps its picture. The worker updates the category's products for a new name or parent.
    Raises CategoryRefused, CategoryChanged, CassandraUnavailable.
    """

    def change(tree: CategoryTree) -> list[BoundStatement]:
        before = tree.by_id.get(category_id)
        parent = tree.by_id.get(parent_id) if parent_id else None
        typed = _fingerprint(slug, name, parent_id, description)
        if before and fingerprint_category(before) == typed:
            # The form was sent twice, or somebody else has entered the same values.
            return []
        if (fingerprint_category(before) if before else "") != seen:
            raise CategoryChanged(before)
        _check_category_texts(slug, name, description)
        check_category(tree, before, slug, parent_id)
        keeps_picture = before is not None and picture is None
        columns = {
            "slug": slug,
            "name": name,
            "parent_id": parent_id,
            "position": position if position is not None else _place_of(before, parent, tree),
            "description": description,
            "picture": before.picture if before and keeps_picture else picture or "",
            "picture_alt": before.picture_alt if before and keeps_picture else "",
            **_what_follows(before, slug, name, parent),
        }
        return [
            INSERT_CATEGORY.bind(tree=SHOP_TREE, category_id=category_id, removed=False, **columns)
        ]

    return _change_tree(change).by_id[category_id]


def fingerprint_category(node: CategoryNode) -> str:
    """Return a short text that changes whenever a category changes, except for its place among its siblings."""
    parent_id = node.parent.category_id if node.parent else None
    return _fingerprint(node.slug, node.name, parent_id, node.description)


def _fingerprint(slug: str, name: str, parent_id: UUID | None, description: str) -> str:
    content = json.dumps([slug, name, str(parent_id), description])
    return sha256(content.encode()).hexdigest()[:16]


def _check_length(text: str, most: int, field: str) -> None:
    if len(text) > most:
        message = _("Enter at most %(most)d characters.") % {"most": most}
        raise CategoryRefused(message, field)


def _check_category_texts(slug: str, name: str, description: str) -> None:
    if not name.strip():
        raise CategoryRefused(_("Enter a name."), "name")
    _check_length(name, MAX_CATEGORY_NAME, "name")
    _check_length(slug, MAX_LENGTHS["slug"], "slug")
    _check_length(description, MAX_CATEGORY_DESCRIPTION, "description")


def check_category(
    tree: CategoryTree, before: CategoryNode | None, slug: str, parent_id: UUID | None
) -> None:
    """Check a category's address and its place in the tree. `before` is None for a new category. Raises CategoryRefused."""
    if not SLUG.fullmatch(slug):
        raise CategoryRefused(
            _("Enter lower-case letters, digits and single hyphens, such as oak-stools."), "slug"
        )
    parent = tree.by_id.get(parent_id) if parent_id else None
    if parent_id and parent is None:
        raise CategoryRefused(_("This category no longer exists."), "parent")
    owner = tree.by_slug.get(slug) or tree.by_former_slug.get(slug)
    if owner and slug in (owner.slug, *owner.former_slugs) and owner is not before:
        raise CategoryRefused(
            _("This address is already used by %(name)s.") % {"name": owner.name}, "slug"
        )
    if parent and before in parent.path:
        raise CategoryRefused(_("Choose a parent outside this category."), "parent")
    below = max((each.depth for each in before.subtree), default=0) - before.depth if before else 0
    if (parent.depth if parent else 0) + 1 + below > MAX_DEPTH:
        raise CategoryRefused(
            _("Categories can have at most %(most)d levels.") % {"most": MAX_DEPTH}, "parent"
        )
    if before is None and (
        len(tree.by_id) >= MAX_CATEGORIES or tree.row_count >= MAX_CATEGORY_ROWS
    ):
        raise CategoryRefused(
            _("The limit of %(most)d categories is reached.") % {"most": len(tree.by_id)}
        )


def _place_of(before: CategoryNode | None, parent: CategoryNode | None, tree: CategoryTree) -> int:
    if before and before.parent is parent:
        return before.position
    siblings = parent.children if parent else tree.roots
    return max((each.position for each in siblings), default=-1) + 1


def _what_follows(
    before: CategoryNode | None, slug: str, name: str, parent: CategoryNode | None
) -> dict[str, Any]:
    """Return the columns that make former addresses redirect, and that let products follow the change."""
    if before is None:
        return {"former_slugs": [], "changed_at": None, "followed_to": None, "is_repinned": False}
    former = dict.fromkeys(before.former_slugs)
    former.pop(slug, None)
    if before.slug != slug:
        former[before.slug] = None
    changed = before.name != name or before.parent is not parent
    return {
        "former_slugs": list(former)[-MAX_FORMER_SLUGS:],
        "changed_at": current_time() if changed else before.changed_at,
        "followed_to": None if changed else before.followed_to or None,
        "is_repinned": before.is_repinned and not changed,
    }


def fingerprint_category_picture(node: CategoryNode) -> str:
    """Return a short text that changes whenever a category's picture or its alt text changes."""
    return fingerprint_pictures([ProductPicture(node.picture, node.picture_alt)])


def save_category_picture(category_id: UUID, picture: str, alt: str, seen: str) -> CategoryNode:
    """Set a category's picture and alt text, or remove both (with "" as `picture`); return the category.

    `seen` is the `fingerprint_category_picture` that the editor has read. Other changes of the tree are kept. Raises
    CategoryRefused, CategoryChanged, CassandraUnavailable.
    """
    alt = alt if picture else ""

    def change(tree: CategoryTree) -> list[BoundStatement]:
        node = tree.by_id.get(category_id)
        if node and (node.picture, node.picture_alt) == (picture, alt):
            # The form was sent twice, or somebody else has chosen the same picture.
            return []
        if node is None or fingerprint_category_picture(node) != seen:
            raise CategoryChanged(node)
        _check_picture(picture, alt)
        return [
            UPDATE_CATEGORY_PICTURE.bind(
                tree=SHOP_TREE, category_id=category_id, picture=picture, picture_alt=alt
            )
        ]

    return _change_tree(change).by_id[category_id]


def _check_picture(picture: str, alt: str) -> None:
    if picture and not is_picture(picture):
        raise CategoryRefused(_("This picture no longer exists."))
    if parse_photo(picture) and not alt.strip():
        raise CategoryRefused(_("Enter the alt text."), "alt")
    _check_length(alt, MAX_ALT_LENGTH, "alt")


def reorder_category(category_id: UUID, step: int) -> bool:
    """Move a category by `step` places among its siblings (-1 is one place up); return whether it moved.

    A category that is already first or last stays there. Raises CategoryRefused, CategoryChanged if it was removed,
    CassandraUnavailable.
    """
    has_moved = False

    def change(tree: CategoryTree) -> list[BoundStatement]:
        nonlocal has_moved
        node = tree.by_id.get(category_id)
        if node is None:
            raise CategoryChanged(None)
        siblings = list(node.parent.children if node.parent else tree.roots)
        here = siblings.index(node)
        has_moved = step != 0 and 0 <= here + step < len(siblings)
        if not has_moved:
            return []
        siblings.insert(here + step, siblings.pop(here))
        return [
            UPDATE_CATEGORY_POSITION.bind(
                tree=SHOP_TREE, category_id=each.category_id, position=position
            )
            for position, each in enumerate(siblings)
            if each.position != position
        ]

    _change_tree(change)
    return has_moved


def order_category_products(
    category_id: UUID, change: Callable[[ListOrder], ListOrder]
) -> CategoryNode:
    """Apply `change` to the order of a category's products, and return the category. Try again if somebody else was faster.

    With pinned products the worker writes a separate list. Until it is complete, shoppers see the list in the order of the
    rule. If it was complete before, the worker moves only the pinned products. Raises CategoryChanged if the category was
    removed. Also raises CategoryRefused, CassandraUnavailable and errors of `change`.
    """

    def write_order(tree: CategoryTree) -> list[BoundStatement]:
        node = tree.by_id.get(category_id)
        if node is None:
            raise CategoryChanged(None)
        order = change(node.order)
        if order == node.order:
            return []
        _check_order(order)
        return [_order_statement(node, order)]

    return _change_tree(write_order).by_id[category_id]


def _check_order(order: ListOrder) -> None:
    if order.rule not in queries.SORTS:
        raise CategoryRefused(_("Choose an order."), "rule")
    if len(order.pinned_ids) > MAX_PINNED_IN_CATEGORY:
        raise CategoryRefused(
            _("At most %(most)d products can be pinned.") % {"most": MAX_PINNED_IN_CATEGORY}
        )


def _order_statement(node: CategoryNode, order: ListOrder) -> BoundStatement:
    was = node.order
    stays = node.has_featured_list and bool(order.pinned_ids) and order.rule == was.rule
    has_cards = bool(was.pinned_ids or order.pinned_ids)
    return UPDATE_CATEGORY_ORDER.bind(
        tree=SHOP_TREE,
        category_id=node.category_id,
        list_rule=order.rule,
        pinned_ids=list(order.pinned_ids),
        has_featured_list=stays,
        # Without pinned products, no separate list has to be written.
        changed_at=current_time() if has_cards else node.changed_at,
        followed_to=None if has_cards else node.followed_to or None,
        is_repinned=stays and (node.changed_at is None or node.is_repinned),
    )


def follow_order_again(category_id: UUID) -> None:
    """Let the worker write or delete a category's list with pinned products anew. Raises CassandraUnavailable."""

    def write_order(tree: CategoryTree) -> list[BoundStatement]:
        node = tree.by_id[category_id]
        return [
            UPDATE_CATEGORY_ORDER.bind(
                tree=SHOP_TREE,
                category_id=category_id,
                list_rule=node.order.rule,
                pinned_ids=list(node.order.pinned_ids),
                has_featured_list=False,
                changed_at=current_time(),
                followed_to=None,
                is_repinned=False,
            )
        ]

    _change_tree(write_order)


def remove_category(category_id: UUID, seen: str) -> None:
    """Remove an empty category from the tree. Its addresses redirect to its parent, or say that the category is gone.

    Raises CategoryRefused if the category has products or children, CategoryChanged, CassandraUnavailable.
    """

    def change(tree: CategoryTree) -> list[BoundStatement]:
        node = tree.by_id.get(category_id)
        if node is None:
            return []
        if fingerprint_category(node) != seen:
            raise CategoryChanged(node)
        if node.children:
            raise CategoryRefused(_("Move or remove the categories below it first."))
        if queries.list_products_after(category_id, FIRST_PLACE, 1):
            raise CategoryRefused(_("Move its products to another category first."))
        return [UPDATE_CATEGORY_REMOVED.bind(tree=SHOP_TREE, category_id=category_id, removed=True)]

    _change_tree(change)


def restore_category(category_id: UUID) -> None:
    """Restore a removed category, because a product was saved in it at the same time. Raises CassandraUnavailable."""
    _change_tree(
        lambda tree: [
            UPDATE_CATEGORY_REMOVED.bind(tree=SHOP_TREE, category_id=category_id, removed=False)
        ]
    )


def lift_category(category_id: UUID) -> None:
    """Make a category a root category, because its ancestors form a circle. Raises CassandraUnavailable."""
    _change_tree(
        lambda tree: [
            UPDATE_CATEGORY_PARENT.bind(
                tree=SHOP_TREE,
                category_id=category_id,
                parent_id=None,
                changed_at=current_time(),
                followed_to=None,
                is_repinned=False,
            )
        ]
    )


def _change_tree(change: Callable[[CategoryTree], list[BoundStatement]]) -> CategoryTree:
    """Apply the writes that `change` returns for the current tree; return the new tree. Try again if somebody else was faster."""
    for _try in range(MAX_ATTEMPTS):
        tree = queries.get_category_tree_at_quorum()
        writes = change(tree)
        if not writes:
            return tree
        if _apply_to_tree(tree, writes):
            queries.clear_category_cache()
            return queries.get_category_tree_at_quorum()
    raise CategoryRefused(_("Someone else is changing the categories. Try again."))


def _apply_to_tree(tree: CategoryTree, writes: Sequence[BoundStatement]) -> bool:
    save_id = uuid4()
    head = UPDATE_TREE.bind(
        tree=SHOP_TREE, version=(tree.version or 0) + 1, save_id=save_id, seen=tree.version
    )

    is_ours = applied_if(lambda row: bool(row.save_id == save_id))
    return bool(apply_batch(head, *writes, if_lost=is_ours))


def follow_category(node: CategoryNode, most: int) -> int:
    """Write the cards of the next products of a changed category, up to `most`; return their number.

    The category's row stores how far the products have followed. Repeating the call does no harm. Raises CassandraUnavailable.
    """
    if node.is_repinned:
        return _follow_pins(node)
    place = _parse_place(node.followed_to)
    places = queries.list_products_after(node.category_id, place, most)
    for _key, product_id in places:
        with guard_row(f"cards of product {product_id}", partial(retry_product, product_id)):
            refresh_cards(product_id)
            # The search index and the suggestions are then updated, too.
            record_product_change(product_id, current_time())
    is_done = len(places) < most
    sort_key, product_id = places[-1] if places else place
    _note_followed(node, None if is_done else f"{sort_key.hex()} {product_id.hex}")
    return len(places)


def _follow_pins(node: CategoryNode) -> int:
    """Write the cards of a category's pinned and formerly pinned products; return their number."""
    first_places = queries.list_products_after(
        node.category_id, FIRST_PLACE, 2 * MAX_PINNED_IN_CATEGORY, queries.FEATURED_SORT
    )
    former_ids = [product_id for sort_key, product_id in first_places if sort_key < NOT_PINNED]
    product_ids = dict.fromkeys([*node.order.pinned_ids, *former_ids])
    for product_id in product_ids:
        with guard_row(f"cards of product {product_id}", partial(retry_product, product_id)):
            refresh_cards(product_id)
    _note_followed(node, None)
    return len(product_ids)


def _note_followed(node: CategoryNode, followed_to: str | None) -> None:
    """Store how far products have followed a category (None: all have), unless the category has changed again."""
    is_done = followed_to is None
    UPDATE_FOLLOWED.apply(
        if_lost=SEND_AGAIN,
        tree=SHOP_TREE,
        category_id=node.category_id,
        followed_to=followed_to,
        changed_at=None if is_done else node.changed_at,
        has_featured_list=bool(node.order.pinned_ids) if is_done else node.has_featured_list,
        seen=node.changed_at,
    )


def _parse_place(text: str) -> tuple[bytes, UUID]:
    if not text:
        return FIRST_PLACE
    sort_key, product_id = text.split()
    return bytes.fromhex(sort_key), UUID(hex=product_id)
