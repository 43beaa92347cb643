"""The related products on a product's page."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import current_time, write
from cassandra_db.bulk import BulkWriter
from catalogue import queries
from catalogue.card_rows import RelatedCard, join_packed, pack_card, pack_related
from catalogue.entities import Product, ProductCard
from catalogue.queries import product_card
from catalogue.rules import MAX_PINNED
from jobs.rows import guard_row

RELATED_LENGTH = MAX_PINNED
# How many lists are written at the same time while all are rebuilt.
WRITES_AT_ONCE = 16
# How many products are read, or lists written, in one step.
STEP = 500
INSERT_RELATED = write(
    "Q5", "INSERT INTO related_cards (product_id, cards) VALUES (:product_id, :cards)"
)


def list_related_with_pins(product_id: UUID) -> list[RelatedCard]:
    """Return a product's list of related products as stored, with the pins. Raises CassandraUnavailable.

    It is read at quorum: a change writes the whole list, so it must not begin with an old one.
    """
    return queries.list_related_at_quorum(product_id)


def rebuild_related(
    products: Iterable[Product], recommendations: Mapping[UUID, Sequence[UUID]]
) -> int:
    """Rebuild the list of related products for each of these products; return their number.

    A list begins with the pinned products. Products that share a category or tag with its product follow: first products bought
    together with it, then products that share most categories and tags (X130). `recommendations` are the products bought
    together with each product, most often first. `products` is iterated once; all cards are in memory, packed.
    """
    *_, count = rebuild_related_in_steps(products, recommendations)
    return count


def rebuild_related_in_steps(
    products: Iterable[Product], recommendations: Mapping[UUID, Sequence[UUID]]
) -> Iterator[int]:
    """Do the work of `rebuild_related` step by step; yield the number of lists written so far, at last that of all.

    While products are read, 0 is yielded.
    """
    cards: dict[UUID, str] = {}
    pinned: dict[UUID, tuple[UUID, ...]] = {}
    groups = _Groups()
    for read_count, product in enumerate(products, start=1):
        if read_count % STEP == 0:
            yield 0
        with guard_row(f"related card of product {product.product_id}"):
            if product.is_on_sale(current_time()):
                cards[product.product_id] = pack_card(product_card(product))
                groups.add(product)
                if product.related_ids:
                    pinned[product.product_id] = product.related_ids
    with BulkWriter(WRITES_AT_ONCE) as bulk:
        for number, product_id in enumerate(cards):
            if number and number % STEP == 0:
                yield number
            pins = pinned.get(product_id, ())
            together = recommendations.get(product_id, ())
            wanted = dict.fromkeys(
                [
                    *pins,
                    *(each for each in together if groups.is_shared(product_id, each)),
                    *groups.list_neighbours(product_id),
                ]
            )
            wanted.pop(product_id, None)
            chosen = [(cards[each], each in pins) for each in wanted if each in cards]
            with guard_row(f"related list of product {product_id}"):
                _send_related(bulk, product_id, chosen)
    yield len(cards)


class _Groups:
    """The groups of products that have a category or a tag in common."""

    def __init__(self) -> None:
        self._members: dict[UUID | str, list[UUID]] = {}
        # For each product: its place within each of its categories and tags.
        self._places: dict[UUID, dict[UUID | str, int]] = {}

    def add(self, product: Product) -> None:
        places = self._places[product.product_id] = {}
        groups: list[UUID | str] = [*product.all_category_ids, *sorted(product.tags)]
        for group in groups:
            members = self._members.setdefault(group, [])
            places[group] = len(members)
            members.append(product.product_id)

    def is_shared(self, one: UUID, other: UUID) -> bool:
        """Return whether two products share a category or a tag."""
        return not self._places[one].keys().isdisjoint(self._places.get(other, ()))

    def list_neighbours(self, product_id: UUID) -> list[UUID]:
        """Return the products after this one in its groups (a circle each); products that share most groups come first."""
        found = Counter[UUID]()
        for group, place in self._places[product_id].items():
            members = self._members[group]
            for step in range(1, min(RELATED_LENGTH + 1, len(members))):
                found[members[(place + step) % len(members)]] += 1
        return [each for each, _ in found.most_common()]


def _send_related(bulk: BulkWriter, product_id: UUID, chosen: Sequence[tuple[str, bool]]) -> None:
    bulk.send(related_statement(product_id, chosen))


def related_statement(product_id: UUID, chosen: Sequence[tuple[str, bool]]) -> BoundStatement:
    """Return the write of a list of related products: the first RELATED_LENGTH of these packed cards, with their pins."""
    return INSERT_RELATED.bind(product_id=product_id, cards=join_packed(chosen[:RELATED_LENGTH]))


def _write_related(product_id: UUID, chosen: Sequence[RelatedCard]) -> None:
    INSERT_RELATED.run(product_id=product_id, cards=pack_related(chosen[:RELATED_LENGTH]))


def replace_related_card(product_id: UUID, shown_id: UUID, card: ProductCard | None) -> None:
    """Replace one product's card on another product's list of related products, or remove it. Raises CassandraUnavailable."""
    present = list_related_with_pins(product_id)
    fresh = [
        RelatedCard(card, each.pinned) if card and each.card.product_id == shown_id else each
        for each in present
        if card or each.card.product_id != shown_id
    ]
    if fresh != present:
        _write_related(product_id, fresh)


def refresh_related(product: Product) -> None:
    """Update a changed product's pins, and its card on its related products' lists. `rebuild_related` finds other lists."""
    now = current_time()
    _refresh_pinned(product, now)
    card = product_card(product) if product.is_on_sale(now) else None
    for related in list_related_with_pins(product.product_id):
        replace_related_card(related.card.product_id, product.product_id, card)


def _refresh_pinned(product: Product, now: datetime) -> None:
    present = list_related_with_pins(product.product_id)
    if [each.card.product_id for each in present if each.pinned] == list(product.related_ids):
        return
    found = queries.get_products_at_quorum(product.related_ids)
    pinned = [
        RelatedCard(product_card(found[each]), pinned=True)
        for each in product.related_ids
        if each in found and found[each].is_on_sale(now)
    ]
    others = [
        each
        for each in present
        if not each.pinned and each.card.product_id not in product.related_ids
    ]
    if [*pinned, *others] != present:
        _write_related(product.product_id, [*pinned, *others])
