"""Blanks in a text that was drawn for several visitors: what is each one's own is put in for each.

A blank is a word that nobody can write into a product or an address, because nobody knows this process's secret. It stands in HTML as it is:
no filter changes it, and it is put in escaped.
"""

from secrets import token_hex

_SECRET = token_hex(16)


def blank(name: str) -> str:
    """Return the blank of a name. None begins with another one."""
    return f"blank-{_SECRET}-{name}-end"
