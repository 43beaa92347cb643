"""Blanks: places in a text that is rendered once for many visitors. Each visitor's own values replace the blanks.

A blank is a word with this process's secret in it, so nobody can write a blank into a product or an address. Template filters do
not change a blank. The value that replaces it is escaped.
"""

from secrets import token_hex

_SECRET = token_hex(16)


def blank(name: str) -> str:
    """Return the blank with this name. No blank is the beginning of another blank."""
    return f"blank-{_SECRET}-{name}-end"
