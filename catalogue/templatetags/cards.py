"""Cards in a page."""

from collections.abc import Iterable, Sized

from django import template

from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH

register = template.Library()


@register.filter
def new_flags(cards: Iterable[ProductCard]) -> tuple[bool, ...]:
    """Return which cards are new today. A card lacks only this, so the key of a fragment adds it."""
    return tuple(card.is_new for card in cards or ())


@register.filter
def is_one_page(cards: Sized) -> bool:
    """Return whether a list's first page holds all these cards."""
    return len(cards) <= PAGE_LENGTH
