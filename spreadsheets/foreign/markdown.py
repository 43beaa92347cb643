"""Converts the HTML of another shop's texts to the Markdown that our pages show.

nh3 parses the HTML and keeps the tags of `_TAGS`; the rest of the work is one pass over its well-formed result. So the time is
bounded, and deep nesting does no harm.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from urllib.parse import quote

import nh3

from web.text import clean_text

# The time that nh3 takes grows with the square of the tags. A text with more of them is longer than a description may be.
MAX_TAGS = 5_000
_MAX_DEPTH = 5  # of lists within lists; deeper ones are written as the deepest
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LISTS, _ITEMS, _CELLS = {"ul": None, "ol": 0}, {"li", "tr"}, {"td", "th"}
_BLOCKS = {"p", "div", "section", "article", "blockquote", "pre", "figure", "figcaption", "table"}
_BLOCKS |= {"dl", "dt", "dd", *_ITEMS, *_HEADINGS, *_LISTS}
_TAGS = {"a", "br", *_MARKS, *_CELLS, *_BLOCKS}
_CLEANER = nh3.Cleaner(tags=_TAGS, attributes={"a": {"href"}}, link_rel=None)
_TAG = re.compile(r"<(/?)(\w+)(?: href=\"([^\"]*)\")?>")
_LOOKS_LIKE_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{1,7});")
_LINK = re.compile(r"(?:https?://|mailto:|tel:)[^\s]{1,2000}")
# What Markdown would read as formatting. It is escaped only where it would, since staff edit the texts.
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\s|$)|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|\[|<(?=\w)|&(?=#?\w+;)"
)
# The place of a backslash in a line that Markdown would read as an item or a heading.
_LINE_START = re.compile(r"^(?:(?=(?:[-+*]|#{1,6})(?:\s|$))|(\d{1,9})(?=[.)](?:\s|$)))")


def is_html(text: str) -> bool:
    """Return whether a text has tags or entities of HTML."""
    return bool(_LOOKS_LIKE_HTML.search(text))


def break_lines(text: str) -> str:
    """Return a text of HTML with a tag for each line break, as WordPress shows it. A text without tags stays as it is."""
    return (
        re.sub(r"(<[^<>]*>)|\n", lambda found: found[1] or "<br>", text) if is_html(text) else text
    )


def html_to_markdown(text: str) -> str:
    """Return a text of HTML as Markdown. Pictures, scripts and styles are left out; a row of a table is an item of a list.

    A text with more than MAX_TAGS tags comes back as it is.
    """
    if text.count("<") > MAX_TAGS:
        return text
    clean = _CLEANER.clean(text)
    writer, end = _Writer(), 0
    for tag in _TAG.finditer(clean):
        writer.add_text(clean[end : tag.start()])
        writer.add_tag(tag[2], tag[3] or "", closes=bool(tag[1]))
        end = tag.end()
    writer.add_text(clean[end:])
    writer.end_block()
    return "".join(writer.blocks)


class _Writer:
    """Takes the text and tags of clean HTML in their order, and collects the blocks of the Markdown text."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._runs: list[tuple[str, str, str]] = []  # of the present block: marks, link and text
        self._open: Counter[str] = Counter()  # how many elements of each mark are open
        self._link = self._heading = self._marker = ""
        # Of each open list: the number of its last item, if they have numbers, and how far that item is indented.
        self._lists: list[tuple[int | None, str]] = []
        self._was_item = False

    def add_text(self, text: str) -> None:
        """Add the text between two tags."""
        self._add(re.sub(r"\s+", " ", clean_text(html.unescape(text), keep_lines=True)))

    def _add(self, text: str) -> None:
        marks = "".join(mark for mark in ("**", "*") if self._open[mark])
        self._runs += [(marks, self._link, text)] if text else []

    def add_tag(self, tag: str, link: str, *, closes: bool) -> None:
        """Add the begin or the end of an element."""
        if tag in _BLOCKS:
            self.end_block()
        if tag == "br":
            self._break_line()
        elif mark := _MARKS.get(tag):
            self._open[mark] += -1 if closes else 1
        elif tag == "a":
            found = _LINK.fullmatch(html.unescape(link).strip())
            self._link = quote(found[0], safe="/:?#@!$&',;=+%") if found else ""
        elif tag in _HEADINGS:
            self._heading = "" if closes else _HEADINGS[tag]
        elif tag in _CELLS and not closes and any(text.strip() for *_style, text in self._runs):
            self._add(" | ")
        elif tag in _LISTS:
            self._marker = ""
            self._lists = self._lists[:-1] if closes else [*self._lists, (_LISTS[tag], "")]
        elif tag in _ITEMS:
            self._marker = "" if closes else "- "
            if self._lists and not closes:
                count = self._lists[-1][0]
                if count is not None:
                    count += 1
                    self._marker = f"{count}. "
                self._lists[-1] = (count, " " * len(self._marker))

    def _break_line(self) -> None:
        if self._runs and self._runs[-1][-1].rstrip(" ").endswith("\n"):
            self.end_block()  # an empty line
        else:
            self._add(" " if self._heading else "\n")

    def end_block(self) -> None:
        """Add the runs until here as a block, unless they are blank."""
        lines, self._runs = _join_runs(self._runs), []
        if not lines:
            return
        if self._heading:
            lines = [re.sub(r"(?<![#\\])#+$", r"\\\g<0>", " ".join(lines))]
        indent = "".join(each for _count, each in self._lists[:_MAX_DEPTH])
        begin = indent.removesuffix(" " * len(self._marker)) if self._marker else indent
        if self.blocks:
            self.blocks.append("\n" if self._marker and self._was_item else "\n\n")
        self.blocks.append(begin + self._marker + self._heading + f"\n{indent}".join(lines))
        self._was_item, self._marker = bool(self._marker), ""


def _join_runs(runs: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return the lines of a paragraph.

    Where marks would not be read as such, a space is put beside them, by CommonMark's rules for what stands beside marks.
    """
    text = marks_before = end_before = ""
    for (marks, link), group in groupby(runs, key=lambda run: run[:2]):
        words = "".join(run[2] for run in group)
        core = words.strip()
        if not core:
            text, marks_before = text + words, ""
            continue
        if text and not text[-1].isspace() and not words[0].isspace():
            opens_badly = marks and (link or not core[0].isalnum())
            closes_badly = marks_before and not end_before.isalnum()
            if (marks and marks_before) or opens_badly or closes_badly:
                text += " "
        shown = _SPECIAL.sub(r"\\\g<0>", core)
        if link:
            shown = "[{}]({})".format(shown.replace("]", r"\]"), link)
        text += words.replace(core, f"{marks}{shown}{marks}")
        marks_before, end_before = marks, "" if link else core[-1]
    lines = (line.strip() for line in text.strip().split("\n"))
    return [_LINE_START.sub(r"\g<1>\\", line) for line in lines if line]
