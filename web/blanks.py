"""Blanks in a text that is rendered once for many visitors. Each visitor's own value is put into them.

A blank is a word with this process's secret in it, so nobody can write one into a product or an address. Filters leave it as it
is, and the value is put in escaped.
"""

from secrets import token_hex

_SECRET = token_hex(16)


def blank(name: str) -> str:
    """Return the blank of a name. No blank is the beginning of another one."""
    return f"blank-{_SECRET}-{name}-end"
