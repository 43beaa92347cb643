"""Template tags for the cards of products."""

from collections.abc import Iterable
from dataclasses import dataclass

from django import template

from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH

register = template.Library()


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

    @property
    def is_one_page(self) -> bool:
        """Whether the list has no more cards than a list's page shows at first."""
        return len(self.products) <= PAGE_LENGTH

    def cards(self) -> list[CardInList]:
        return [
            CardInList(product, is_new, number < self.eager_count, self.leads and not number)
            for number, (product, is_new) in enumerate(
                zip(self.products, self.new_flags, strict=True)
            )
        ]


@register.simple_tag(name="card_list")
def make_card_list(
    products: Iterable[ProductCard], eager_count: int = 0, *, leads: bool = False
) -> CardList:
    """Return the values for a list of these products, as pages show it today."""
    listed = tuple(products)
    return CardList(listed, tuple(each.is_new for each in listed), eager_count, leads)
