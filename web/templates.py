"""Templates are indented for their reader; the loader removes the indentation (decision 079).

A line break with the whitespace around it is collapsed:

- Beside a block element or a template tag it vanishes, just inside any element, and where the file begins or ends.
- Elsewhere (between words, inline elements and variables) it becomes one space.
- Inside a start tag it becomes one space. It vanishes before `>`, and before a tag like `{% if … %} checked`, which has its own space.
- Inside `{% blocktranslate trimmed %}` Django replaces it.
- Inside any other `{% blocktranslate %}`, `<pre>`, `<textarea>`, `<script>` and `<style>` it stays.

Whitespace without a line break stays. Comments are left out.
"""

import re
from collections.abc import Iterator
from enum import Enum

from django.template import Origin, TemplateSyntaxError
from django.template.loaders import filesystem

_BLOCKS = """
    address article aside blockquote body caption col colgroup dd details dialog div dl dt fieldset figcaption
    figure footer form g h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li line link main menu meta nav ol
    optgroup option p path polyline pre rect script search section style summary table tbody td template tfoot th
    thead title tr ul
"""
_VOIDS = "area base br col embed hr img input link meta path polyline rect source track wbr"
BLOCK_ELEMENTS = frozenset(_BLOCKS.split())
VOID_ELEMENTS = frozenset(_VOIDS.split())


class Kind(Enum):
    """The kind of a token."""

    SPACE = "space"
    COMMENT = "comment"
    MESSAGE = "message"  # {% blocktranslate %} with its content and its end
    TAG = "tag"
    VARIABLE = "variable"
    DOCTYPE = "doctype"
    START = "start"
    END = "end"
    RAW = "raw"  # the content of an element that keeps its whitespace
    WORD = "word"


_MESSAGE = r"\{%\s*blocktranslate\b(?:(?!%\}).)*%\}.*?\{%\s*endblocktranslate\s*%\}"
HOLE = rf"(?:{_MESSAGE}|\{{%.*?%\}}|\{{\{{.*?\}}\}}|\{{\#.*?\#\}})"
_ATTRIBUTES = (
    rf"(?>{HOLE}|\"(?>{HOLE}|[^\"])*+\"|'(?>{HOLE}|[^'])*+'|[^<>\"'])*+"  # quotes hold `>`
)
_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
    |(?P<comment>\{{\#.*?\#\}}|\{{%\s*comment\b.*?%\}}.*?\{{%\s*endcomment\s*%\}})
    |(?P<message>{_MESSAGE})
    |(?P<tag>\{{%.*?%\}})
    |(?P<variable>\{{\{{.*?\}}\}})
    |(?P<doctype><![^>]*>)
    |(?P<start><[a-zA-Z]{_ATTRIBUTES}>)
    |(?P<end></[^>]*>)
    |(?P<word>(?:(?!</?[a-zA-Z!]|\{{[%{{\#])\S)+)
    """,
    re.VERBOSE | re.DOTALL,
)
RAW_ELEMENTS = ("pre", "script", "style", "textarea")
_RAW = {name: re.compile(rf".*?(?=</{name}\b)", re.DOTALL) for name in RAW_ELEMENTS}
MESSAGE_PARTS = re.compile(
    r"(\{%\s*blocktranslate\b.*?%\})(.*?)(?:(\{%\s*plural\s*%\})(.*?))?(\{%\s*endblocktranslate\s*%\})",
    re.DOTALL,
)
_BREAK = re.compile(r"\s*\n\s*")
# A template tag that contains the space before its attribute: <option{% if chosen %} selected{% endif %}>
BRINGS_SPACE = re.compile(r"\{%\s*(?:if|for|with)\b[^%]*%\}(?=\s)")
_IN_START_TAG = re.compile(rf"({_MESSAGE})|\s*\n\s*(/?>$|{BRINGS_SPACE.pattern})?", re.DOTALL)


def tokens(source: str) -> Iterator[tuple[Kind, str]]:
    """Split a template into tokens, without losing a character. Raises TemplateSyntaxError for invalid HTML."""
    place = 0
    while place < len(source):
        match = _TOKEN.match(source, place)
        if not match or not match.lastgroup:
            line = source.count("\n", 0, place) + 1
            raise TemplateSyntaxError(
                f"line {line}: not understood: {source[place : place + 40]!r}"
            )
        kind = Kind(match.lastgroup)
        yield kind, match[0]
        place = match.end()
        if kind is Kind.START and (raw := _RAW.get(element_name(match[0]))):
            content = raw.match(source, place)
            if content and content[0]:
                yield Kind.RAW, content[0]
                place = content.end()


def element_name(tag: str) -> str:
    """Return the name in a start tag or an end tag."""
    return re.split(r"[\s/>{]", tag.lstrip("</"), maxsplit=1)[0].lower()


def has_content(start_tag: str) -> bool:
    """Return whether an element has an end tag."""
    return element_name(start_tag) not in VOID_ELEMENTS and not start_tag.endswith("/>")


def is_block(kind: Kind, text: str) -> bool:
    """Return whether a line break before or after a token vanishes. Form fields, also hidden ones, count as block elements."""
    if kind in (Kind.START, Kind.END):
        return element_name(text) in BLOCK_ELEMENTS or 'type="hidden"' in text
    if kind is Kind.VARIABLE:
        return ".as_field_group" in text
    return kind in (Kind.TAG, Kind.MESSAGE, Kind.DOCTYPE)


class Gap:
    """The whitespace between two tokens, and the text that replaces a line break in it: one space, or no text."""

    def __init__(self) -> None:
        self.text = ""
        self._begins_inside = True  # at the beginning of an element or of the file

    def end(self, kind: Kind | None = None, text: str = "") -> tuple[str, str]:
        """End the gap before a token (or the file's end). Return its whitespace, and the text that replaces a line break in it."""
        block = kind is None or is_block(kind, text)
        ended = self.text, "" if block or kind is Kind.END or self._begins_inside else " "
        self.text = ""
        self._begins_inside = block or (kind is Kind.START and has_content(text))
        return ended


def collapse(source: str) -> str:
    """Return a template without its indentation and comments."""
    texts: list[str] = []
    gap = Gap()
    for kind, text in tokens(source):
        if kind is Kind.SPACE:
            gap.text += text
        elif kind is not Kind.COMMENT:
            texts += _collapse_gap(*gap.end(kind, text)), collapse_inside(kind, text)
    return "".join([*texts, _collapse_gap(*gap.end())])


def _collapse_gap(text: str, broken: str) -> str:
    return broken if "\n" in text else text


def collapse_inside(kind: Kind, text: str) -> str:
    """Return a token without the indentation inside it."""
    if "\n" in text:
        if kind is Kind.MESSAGE:
            return _collapse_message(text)
        if kind is Kind.START:
            return _IN_START_TAG.sub(
                lambda found: _collapse_message(found[1]) if found[1] else found[2] or " ", text
            )
    return text


def _collapse_message(text: str) -> str:
    match = MESSAGE_PARTS.fullmatch(text)
    if not match or "trimmed" not in match[1].split():
        return text
    return "".join(_BREAK.sub(" ", (part or "").strip()) for part in match.groups())


class Loader(filesystem.Loader):
    """Loads templates from folders. It removes the indentation of templates for pages and mails (`.html`).

    The line number in an error counts the remaining lines. `make lint` names the line in the file.
    """

    def get_contents(self, origin: Origin) -> str:
        """Return a template's source as it is compiled. Raises TemplateDoesNotExist."""
        source = super().get_contents(origin)
        return collapse(source) if str(origin.name).endswith(".html") else source
