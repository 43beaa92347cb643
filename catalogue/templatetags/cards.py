"""Cards in a page."""

from collections.abc import Iterable, Sized

from django import template

from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH

register = template.Library()


@register.filter
def new_flags(cards: Iterable[ProductCard]) -> tuple[bool, ...]:
    """Return which of the cards are new today: all of a card that is not in it, for the key of a fragment."""
    return tuple(card.is_new for card in cards or ())


@register.filter
def is_one_page(cards: Sized) -> bool:
    """Return whether these are no more cards than a list's page has at first."""
    return len(cards) <= PAGE_LENGTH
