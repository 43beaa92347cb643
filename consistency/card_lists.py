"""I14: the cards on lists other than the lists of categories. The worker writes these cards some time after a change."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from cassandra_db import Row, Statement, current_microseconds, current_time, scan
from catalogue import operations, queries
from catalogue.card_rows import card_columns, parse_related
from catalogue.entities import Product
from consistency.catalogue import AT_ONCE, SOON, has_values, is_following
from consistency.findings import Check, Violation, call, table_subjects
from pricing.money import to_minor_units


@dataclass(frozen=True)
class CardList:
    """A list of cards: the scan `cards`, and how a card is written again. The worker writes a card within `written_within`."""

    cards: Statement
    write_again: Callable[[Row], None]
    written_within: timedelta

    def list_cards(self) -> Iterable[Any]:
        """Yield a row for each card, with its product as `shown_id`."""
        return self.cards.iterate_table()


@dataclass(frozen=True)
class CardRow:
    """Writes a card that is a row of its own: the key columns `place`, and the statements that put and delete it.

    `columns` makes the other columns from the product.
    """

    place: tuple[str, ...]
    put: Statement
    columns: Callable[[Product], dict[str, Any]]
    delete: Statement

    def __call__(self, row: Row) -> None:
        """Write the product's card into the row, or delete the row if the product is not on sale.

        Write only this row: the repair may give it a timestamp in the future, until which the worker cannot change it.
        """
        product = queries.get_product_at_quorum(row.shown_id)
        place = {name: getattr(row, name) for name in self.place}
        if product and product.is_on_sale(current_time()):
            self.put.run(**{**place, **self.columns(product)})
        else:
            self.delete.run(**place)


@dataclass(frozen=True)
class RelatedLists(CardList):
    """The lists of related products: all cards of a list are one row."""

    def list_cards(self) -> Iterable[Any]:
        for row in self.cards.iterate_table():
            for shown in parse_related(row.cards or "[]"):
                card = shown.card
                price, currency = to_minor_units(card.price), card.price.currency.code
                yield _RelatedRow(
                    *(row.product_id, card.product_id, card.name, card.slug, card.picture),
                    *(price, currency, row.written),
                )


class _RelatedRow(NamedTuple):
    """A card of a list of related products, as if it were a row of its own."""

    product_id: UUID
    shown_id: UUID
    name: str
    slug: str
    picture: str
    price: int
    currency: str
    written: int | None


def _replace_related_card(row: Row) -> None:
    """Write one card of a list anew, or leave it out if its product is not on sale. The list's other cards stay as they are."""
    product = queries.get_product_at_quorum(row.shown_id)
    is_shown = product is not None and product.is_on_sale(current_time())
    card = queries.product_card(product) if product and is_shown else None
    operations.replace_related_card(row.product_id, row.shown_id, card)


def _card_of(product: Product) -> dict[str, Any]:
    return card_columns(queries.product_card(product))


def _suggestion_columns(product: Product) -> dict[str, Any]:
    node = queries.get_category(product.category_id)
    return {
        "at": current_microseconds(),
        **operations.prefix_columns(product, node.name if node else ""),
    }


CARD_LISTS = {
    "featured_products": CardList(
        scan(
            "I14",
            """SELECT feature_type, position, product_id AS shown_id, name, slug, picture, price, currency,
                      writetime(name) AS written
               FROM featured_products WHERE token(feature_type) > :start AND token(feature_type) <= :end""",
        ),
        CardRow(
            ("feature_type", "position"),
            operations.INSERT_FEATURED,
            lambda product: {"product_id": product.product_id, **_card_of(product)},
            operations.DELETE_FEATURED_CARD,
        ),
        SOON,
    ),
    "related_cards": RelatedLists(
        scan(
            "I14",
            """SELECT product_id, cards, writetime(cards) AS written
               FROM related_cards WHERE token(product_id) > :start AND token(product_id) <= :end""",
        ),
        _replace_related_card,
        # Lists that are not mutual are written by the daily job (storefront.jobs), which may be late.
        timedelta(hours=26),
    ),
    "products_by_name_prefix": CardList(
        scan(
            "I14",
            """SELECT prefix, rank, product_id, product_id AS shown_id, name, slug, picture, price, currency,
                      writetime(name) AS written
               FROM products_by_name_prefix WHERE token(prefix) > :start AND token(prefix) <= :end""",
        ),
        CardRow(
            ("prefix", "rank", "product_id"),
            operations.INSERT_PREFIX_ROW,
            _suggestion_columns,
            operations.DELETE_PREFIX_ROW,
        ),
        SOON,
    ),
}


def check_card_list(table: str) -> Iterator[Violation]:
    """Yield the cards of a list that differ from their products. Skip products that have changed lately."""
    card_list, now = CARD_LISTS[table], current_time()
    changed = operations.list_changed_products(now - card_list.written_within, now)
    rows = (row for row in card_list.list_cards() if row.shown_id not in changed)
    while part := list(islice(rows, AT_ONCE)):
        found = queries.get_products_at_quorum({row.shown_id for row in part})
        for row in part:
            product = found.get(row.shown_id)
            values = _card_of(product) if product and product.is_on_sale(now) else None
            if product and is_following(product, now):
                continue
            if values is None or not has_values(row, values):
                yield Violation(
                    "I14",
                    f"{table}, product {row.shown_id}",
                    "shows another card than the product has",
                    fix=call(card_list.write_again, row),
                    written=row.written or 0,
                )


CHECKS = (Check("lists of cards", ("I14",), table_subjects(CARD_LISTS), check_card_list),)
