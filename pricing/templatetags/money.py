"""Format money as the shop does: in English, with the euro sign first."""

from decimal import Decimal
from functools import lru_cache

from babel.numbers import format_currency
from django import template
from moneyed import Money

register = template.Library()
LOCALE = "en_IE"


@register.filter("money")
def format_money(amount: Money | None) -> str:
    """Return a sum as "€43.20"; None becomes ""."""
    return "" if amount is None else _format_amount(amount.amount, amount.currency.code)


# A shop has few different prices, and Babel is slow, so results are kept.
@lru_cache(maxsize=4096)
def _format_amount(amount: Decimal, currency: str) -> str:
    return format_currency(amount, currency, locale=LOCALE)
