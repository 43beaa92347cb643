"""Draws a page's text: Markdown, and placeholders in braces for what the shop itself knows.

A placeholder in a sentence, {return_days}, is replaced by words. One that stands alone in its line is replaced by a part of a page,
such as the table of delivery prices. Each app's `text_placeholders.py` may have PLACEHOLDERS. The headings between a line
{questions} and a line {end_questions} open with a click.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe

from web.app_modules import find_app_modules
from web.markdown import render_markdown, split_anchor
from web.types import StrOrPromise

QUESTIONS, END_QUESTIONS = _MARKS = "questions", "end_questions"
# What begins like a placeholder, and ends or does not; an anchor is none.
_BRACES = re.compile(r"\{(?!#)([^{}]*)(\}?)")
_ALONE = re.compile(r"^\{(\w+)\}\s*$")
# The address and the title of a link.
_ADDRESS = re.compile(r"\]\([^)]*")
# A tag, which is passed over, or a placeholder.
_IN_HTML = re.compile(r"""<(?:"[^"]*"|[^>"])*>|\{(\w+)\}""")
_ALL_QUESTIONS = re.compile(
    rf"^\{{{QUESTIONS}\}}\s*$(.*?)(?:^\{{{END_QUESTIONS}\}}\s*$|\Z)", re.MULTILINE | re.DOTALL
)
_QUESTION = re.compile(r"^## (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Placeholder:
    """What the shop puts into a text: `label` for staff, and the words or the HTML for a day, on which the terms may be others.

    A `part` stands alone in its line. A `wide` one has the width of the page. One `of_today` ignores the day, so
    the terms, which orders keep as they were, cannot have it.
    """

    label: StrOrPromise
    draw: Callable[[date], str]
    is_part: bool = False
    is_wide: bool = False
    is_of_today: bool = False


@dataclass(frozen=True)
class Question:
    """A heading that opens its text with a click."""

    title: SafeString
    anchor: str
    html: SafeString


@dataclass(frozen=True)
class Section:
    """A part of a page: its HTML, or questions."""

    html: SafeString
    is_wide: bool = False
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True)
class DrawnPage:
    """A page's parts in their order. `lead` is the first paragraph."""

    lead: SafeString
    sections: tuple[Section, ...]

    @property
    def is_wide(self) -> bool:
        return any(each.is_wide or each.questions for each in self.sections)


@cache
def get_placeholders() -> Mapping[str, Placeholder]:
    """Return the placeholders of all apps by their names."""
    found: dict[str, Placeholder] = {}
    for module in find_app_modules("text_placeholders").values():
        found |= module.PLACEHOLDERS
    return found


def list_unknown_placeholders(text: str, known: Mapping[str, Placeholder]) -> list[str]:
    """Return the braces of a text that cannot be filled: an unknown name, a part within a line, or an address of a link."""
    unknown = []
    for line in text.splitlines():
        is_alone = bool(_ALONE.match(line))
        addresses = [each.span() for each in _ADDRESS.finditer(line)]
        for found in _BRACES.finditer(line):
            placeholder = known.get(found[1])
            needs_line = found[1] in _MARKS or bool(placeholder and placeholder.is_part)
            is_known = found[1] in _MARKS or placeholder is not None
            is_in_address = any(start < found.start() < end for start, end in addresses)
            if not found[2] or not is_known or (needs_line and not is_alone) or is_in_address:
                unknown.append(found[0][:40])
    return list(dict.fromkeys(unknown))


def draw_text(text: str, day: date) -> DrawnPage:
    """Draw a text as it is on a day. Raises CassandraUnavailable."""
    first, _, rest = text.strip().partition("\n\n")
    if first[:1] in "#{-*":
        first, rest = "", text.strip()
    lead = _draw_words(first, day).replace("<p>", '<p class="lead">', 1)
    return DrawnPage(
        mark_safe(lead),  # noqa: S308 -- drawn just now
        tuple(_draw_sections(rest, day)),
    )


def _draw_sections(text: str, day: date) -> Iterator[Section]:
    for at, part in enumerate(_ALL_QUESTIONS.split(text)):
        if at % 2:
            yield Section(SafeString(), questions=tuple(_draw_questions(part, day)))
            continue
        words: list[str] = []
        for line in [*part.splitlines(), None]:
            wide = _find_part(line)
            if line is not None and not (wide and wide.is_wide):
                words.append(line)
                continue
            if html := _draw_words("\n".join(words), day):
                yield Section(html)
            words.clear()
            if wide:
                yield Section(_draw(wide, day), is_wide=True)


def _draw_questions(text: str, day: date) -> Iterator[Question]:
    """Yield the questions of a text. What stands before the first one is left out."""
    parts = iter(_QUESTION.split(text)[1:])
    for heading, answer in zip(parts, parts, strict=True):
        title, anchor = split_anchor(heading.strip())
        yield Question(_fill(escape(title), day), anchor, _draw_words(answer, day))


def _find_part(line: str | None) -> Placeholder | None:
    """Return the part of a page whose placeholder stands alone in a line, or None."""
    alone = _ALONE.match(line or "")
    found = get_placeholders().get(alone[1]) if alone else None
    return found if found and found.is_part else None


def _draw_words(text: str, day: date) -> SafeString:
    """Draw Markdown with its placeholders."""
    html, words = "", list[str]()
    for line in [*text.splitlines(), None]:
        part = _find_part(line)
        if line is not None and not part:
            words.append(line)
            continue
        markdown = render_markdown("\n".join(words), lambda level: max(2, min(level, 4)))
        html += _fill(markdown, day) + (_draw(part, day) if part else "")
        words.clear()
    return mark_safe(html)  # noqa: S308 -- its parts are drawn just now


def _fill(html: SafeString, day: date) -> SafeString:
    """Fill in the placeholders between the tags of clean HTML."""

    def words(found: re.Match[str]) -> str:
        placeholder = get_placeholders().get(found[1] or "")
        return _draw(placeholder, day) if placeholder and not placeholder.is_part else found[0]

    return mark_safe(_IN_HTML.sub(words, html))  # noqa: S308 -- clean before, and what is put in is escaped


def _draw(placeholder: Placeholder, day: date) -> SafeString:
    return conditional_escape(placeholder.draw(day))
