"""Cleans input from invisible characters."""

import unicodedata

# These characters change the direction of the text around them. Joiners (U+200C, U+200D) are part of words, and stay.
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BREAKS = frozenset("\n\r\t\v\f\u0085\u2028\u2029")


def clean_text(text: str, *, keep_lines: bool = False) -> str:
    """Return a text without control and direction characters. Line breaks and tabs become spaces unless `keep_lines`."""
    if text.isascii() and text.isprintable():
        return text
    if keep_lines:  # a browser ends each line by "\r\n", an old file by "\r"
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(filter(None, (_cleaned(each, keep_lines=keep_lines) for each in text)))


def _cleaned(character: str, *, keep_lines: bool) -> str:
    if character in _BREAKS:
        return character if keep_lines and character in "\n\t" else " "
    is_unseen = character in _DIRECTIONS or unicodedata.category(character) == "Cc"
    return "" if is_unseen else character
