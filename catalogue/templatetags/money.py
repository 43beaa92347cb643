"""Sums of money as the shop writes them: English words, the euro sign first."""

from babel.numbers import format_currency
from django import template
from moneyed import Money

register = template.Library()

LOCALE = "en_IE"


@register.filter
def money(amount: Money | None) -> str:
    """This function will write a sum as "€43.20"; None becomes the empty text."""
    return "" if amount is None else format_currency(amount.amount, amount.currency.code, locale=LOCALE)
