"""Template tags for the cards of products."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django import template

from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH

register = template.Library()
# How many cards a wide window shows beside each other.
_FIRST_ROW = 4
# How many cards are kept as one text. A longer list has as many texts as visitors ask for lengths of it.
_KEPT_TOGETHER = PAGE_LENGTH


@dataclass(frozen=True, slots=True)
class CardInList:
    """The values for a card in a list. `is_eager` is for the first row of a list, `is_first` for the main picture of a page."""

    product: ProductCard
    is_new: bool  # whether the product is new today
    is_eager: bool = False
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class CardList:
    """The values for a list of cards. `eager_count` cards are in its first row. With `leads`, the first has the main picture."""

    products: tuple[ProductCard, ...]
    new_flags: tuple[bool, ...]  # for each product whether it is new today
    eager_count: int
    leads: bool

    def cards(self) -> list[CardInList]:
        return [
            CardInList(product, is_new, number < self.eager_count, self.leads and not number)
            for number, (product, is_new) in enumerate(
                zip(self.products, self.new_flags, strict=True)
            )
        ]


def make_card_list(
    products: Iterable[ProductCard], eager_count: int = 0, *, leads: bool = False
) -> CardList:
    """Return the values for a list of these products, as pages show it today."""
    listed = tuple(products)
    return CardList(listed, tuple(each.is_new for each in listed), eager_count, leads)


@register.simple_tag(name="card_lists")
def make_card_lists(products: Sequence[ProductCard], *, leads: bool = False) -> list[CardList]:
    """Return the values for a list in parts, each of which is kept as one text. With `leads`, they are its first products."""
    return [
        make_card_list(
            products[start : start + _KEPT_TOGETHER],
            _FIRST_ROW if leads and not start else 0,
            leads=leads and not start,
        )
        for start in range(0, len(products), _KEPT_TOGETHER)
    ]
