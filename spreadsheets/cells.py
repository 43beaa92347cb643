"""Texts in cells that can be read back unchanged: harmless formulas, lists, and characters that XLSX cannot hold."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime

# Beginnings of texts that a spreadsheet takes for formulas, even after spaces: OWASP's list, and the wide forms of Asian
# keyboards.
_FORMULA = re.compile(r"['\s]*[=+\-@\t\r\n＝＋－＠]")
_MADE_HARMLESS = re.compile(r"'['\s]*[=+\-@\t\r\n＝＋－＠]")
# A spreadsheet whose list separator is a semicolon starts a new cell after each semicolon, even within quotes.
_BEGINS_AGAIN = r"(?=(?:['\"]|[^\S\t\r\n])*[=+\-@＝＋－＠])"
_FORMULA_INSIDE = re.compile(rf"([;\t\r\n]){_BEGINS_AGAIN}")
_MADE_HARMLESS_INSIDE = re.compile(rf"([;\t\r\n])'{_BEGINS_AGAIN}")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
# XML does not allow these characters, and a reader of XML drops the carriage return of a line end.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
# A single half of a surrogate pair is no character.
_ESCAPED = re.compile(r"_x((?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
_QUOTED = re.compile(r'[ \t]*"((?:[^"]|"")*)"[ \t]*')


def is_number(text: str) -> bool:
    """Return whether a text is a plain number, which no spreadsheet takes for a formula."""
    return bool(_NUMBER.fullmatch(text))


def make_harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: put an apostrophe before each possible formula."""
    start = "'" if _FORMULA.match(text) and not is_number(text) else ""
    return start + _FORMULA_INSIDE.sub(r"\1'", text)


def restore_harmless(text: str) -> str:
    """Return the text from which `make_harmless` made this one."""
    text = text[1:] if _MADE_HARMLESS.match(text) else text
    return _MADE_HARMLESS_INSIDE.sub(r"\1", text)


def escape_xml(text: str) -> str:
    """Return a text for XLSX, in which forbidden characters are written as their numbers."""
    return _UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def unescape_xml(text: str) -> str:
    """Return the text from which `escape_xml` made this one."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def text_of(value: object) -> str:
    """Return the value of an XLSX cell as the text that a CSV file would have."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # A workbook stores barcodes as 4006381333931.0, and 123.30 as 123.30000000000001. A spreadsheet shows only 15 digits of a
        # number.
        return str(int(value)) if value.is_integer() else f"{value:.15g}"
    if isinstance(value, datetime | date):
        return value.isoformat()
    return unescape_xml(str(value))


def join_list(values: Iterable[str], separator: str = ",") -> str:
    """Return several values as the text of one cell. Values with a separator, a leading quote or outer spaces are put in quotes."""
    glue = separator if separator.isspace() else f"{separator} "
    return glue.join(_quote(each, separator) for each in values)


def _quote(value: str, separator: str) -> str:
    # A quote is special only at the beginning of a value.
    is_plain = value and value == value.strip() and not value.startswith('"')
    if is_plain and not re.search(f"[\\r\\n{separator}]", value):
        return value
    return '"{}"'.format(value.replace('"', '""'))


def split_list(text: str, separator: str = ",", most: int = -1) -> list[str]:
    """Return the values that `join_list` joined, at most `most`. The last value then has the rest of the text."""
    values: list[str] = []
    rest = text
    while rest.strip() or values:
        if quoted := _QUOTED.match(rest):
            value, after = quoted[1].replace('""', '"'), rest[quoted.end() :]
            if after and not after.startswith(separator):
                # A leading quote that does not enclose the value: `"Oslo" chair`.
                value, _found, after = rest.partition(separator)
                value, after = value.strip(), _found + after
        else:
            value, found, after = rest.partition(separator)
            value, after = value.strip(), found + after
        values.append(value)
        if not after:
            break
        rest = after[len(separator) :]
        if len(values) == most - 1:
            values.append(rest)
            break
    return values


def join_pairs(pairs: Iterable[tuple[str, str]], separator: str) -> str:
    """Return a text for one cell, made of labels with their texts: "Colour: olive"."""
    return join_list((f"{_quote(label, ':')}: {text}" for label, text in pairs), separator)


def split_pairs(text: str, separator: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield the parts of a cell that `join_pairs` wrote. Each has the whole part, its label, and its text (None without a colon)."""
    for each in split_list(text, separator):
        if each.strip():
            label, *rest = split_list(each, ":", most=2)
            yield each, label, rest[0].removeprefix(" ") if rest else None
