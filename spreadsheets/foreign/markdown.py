"""Converts the HTML of another shop's texts to the Markdown that our pages show.

nh3 parses the HTML and keeps the tags of `_TAGS`; the rest of the work is one pass over its well-formed result. So the time is
bounded, and deep nesting does no harm.
"""

import html
import re
from dataclasses import dataclass, field
from itertools import pairwise

import nh3

from web.text import clean_text

# The time that nh3 takes grows with the square of the tags. A text with more of them is longer than a description may be.
MAX_TAGS = 10_000
_MAX_DEPTH = 5  # of lists within lists; deeper ones are written as the deepest
_BOLD, _ITALIC = {"b", "strong"}, {"i", "em"}
_HEADINGS = {f"h{level}" for level in range(1, 7)}
_LISTS = {"ul", "ol"}
_ITEMS, _CELLS = {"li", "tr"}, {"td", "th"}
_BLOCKS = {"p", "div", "section", "article", "blockquote", "pre", "figure", "figcaption", "table"}
_BLOCKS |= {"dl", "dt", "dd", *_ITEMS, *_HEADINGS, *_LISTS}
_TAGS = {"a", "br", *_BOLD, *_ITALIC, *_CELLS, *_BLOCKS}
_CLEANER = nh3.Cleaner(tags=_TAGS, attributes={"a": {"href"}}, link_rel=None)
_TAG = re.compile(r"<(/?)(\w+)(?: href=\"([^\"]*)\")?>")
_TAG_OR_BREAK = re.compile(r"(<[^<>]*>)|\r?\n")
_LOOKS_LIKE_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{1,7});")
_LINK = re.compile(r"(?:https?://|mailto:|tel:)[^\s]{1,2000}")
_UNSAFE_IN_LINKS = re.compile(r"[\s<>()\\\"*_\[\]]")
# What Markdown would read as formatting. It is escaped only where it would, since staff edit the texts.
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\s|$)|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|\[|<(?=\w)|&(?=#?\w+;)"
)
_LINE_START = re.compile(r"^(?:(?P<mark>[-+*]|#{1,6})|(?P<number>\d{1,9})(?P<dot>[.)]))(?=\s|$)")


def is_html(text: str) -> bool:
    """Return whether a text has tags or entities of HTML."""
    return bool(_LOOKS_LIKE_HTML.search(text))


def html_to_markdown(text: str, *, keeps_lines: bool = False) -> str:
    """Return a text of HTML as Markdown. Pictures, scripts and styles are left out; a row of a table is an item of a list.

    `keeps_lines` means that line breaks are breaks on the page, as WordPress has it; they are in a text without tags, too. A text
    with more than MAX_TAGS tags comes back as it is.
    """
    if text.count("<") > MAX_TAGS:
        return text
    if keeps_lines or not is_html(text):
        text = _TAG_OR_BREAK.sub(lambda found: found[1] or "<br>", text.strip())
    clean = _CLEANER.clean(text)
    writer, end = _Writer(), 0
    for tag in _TAG.finditer(clean):
        writer.add_text(clean[end : tag.start()])
        writer.add_tag(tag[2], tag[3] or "", closes=bool(tag[1]))
        end = tag.end()
    writer.add_text(clean[end:])
    return writer.finish()


@dataclass
class _Run:
    """A piece of a paragraph in one style."""

    text: str
    style: tuple[str, str]  # the marks around it, and its link

    def format(self) -> str:
        """Return the run as Markdown, without outer spaces."""
        marks, link = self.style
        text = _SPECIAL.sub(r"\\\g<0>", self.text.strip())
        if link and text:
            text = "[{}]({})".format(text.replace("]", r"\]"), link)
        return f"{marks}{text}{marks}" if text else ""


@dataclass
class _List:
    count: int | None  # of an ordered list: the number of its last item
    indent: str = ""  # of what belongs to its present item

    def begin_item(self) -> str:
        """Return what is before a new item's text."""
        if self.count is not None:
            self.count += 1
        marker = "- " if self.count is None else f"{self.count}. "
        self.indent = " " * len(marker)
        return marker


@dataclass
class _Writer:
    """Takes the text and tags of clean HTML in their order, and collects the blocks of the Markdown text."""

    blocks: list[str] = field(default_factory=list)
    runs: list[_Run] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    bold: int = 0
    italic: int = 0
    link: str = ""
    heading: str = ""
    marker: str = ""  # of a list's item that has no text yet
    was_item: bool = False

    def add_text(self, text: str) -> None:
        """Add the text between two tags."""
        self._add(re.sub(r"\s+", " ", clean_text(html.unescape(text), keep_lines=True)))

    def _add(self, text: str) -> None:
        style = ("**" * bool(self.bold) + "*" * bool(self.italic), self.link)
        if self.runs and self.runs[-1].style == style:
            self.runs[-1].text += text
        elif text:
            self.runs.append(_Run(text, style))

    def add_tag(self, tag: str, link: str, *, closes: bool) -> None:
        """Add the begin or the end of an element."""
        if tag in _BLOCKS:
            self.end_block()
        if tag == "br":
            self._break_line()
        elif tag in _BOLD:
            self.bold += -1 if closes else 1
        elif tag in _ITALIC:
            self.italic += -1 if closes else 1
        elif tag == "a":
            found = _LINK.fullmatch(html.unescape(link).strip())
            self.link = _UNSAFE_IN_LINKS.sub(_percent, found[0]) if found else ""
        elif tag in _HEADINGS:
            self.heading = "" if closes else "#" * int(tag[1]) + " "
        elif tag in _CELLS:
            is_further = not closes and any(each.text.strip() for each in self.runs)
            self._add(" | " if is_further else "")
        elif tag in _LISTS or tag in _ITEMS:
            self._change_list(tag, closes=closes)

    def _change_list(self, tag: str, *, closes: bool) -> None:
        self.marker = ""
        if tag in _LISTS and closes:
            self.lists = self.lists[:-1]
        elif tag in _LISTS:
            self.lists.append(_List(0 if tag == "ol" else None))
        elif not closes:
            self.marker = self.lists[-1].begin_item() if self.lists else "- "

    def _break_line(self) -> None:
        if self.runs and self.runs[-1].text.rstrip(" ").endswith("\n"):
            self.end_block()  # an empty line
        elif self.heading:
            self._add(" ")
        else:
            self._add("\n")

    def end_block(self) -> None:
        """Add the runs until here as a block, unless they are blank."""
        text, self.runs = _join_runs(self.runs), []
        if not text:
            return
        indent = "".join(each.indent for each in self.lists[:_MAX_DEPTH])
        first = indent.removesuffix(" " * len(self.marker)) if self.lists else ""
        begin = f"{first}{self.marker}" if self.marker else indent
        if self.heading:
            text = [re.sub(r"(?<![#\\])#+$", r"\\\g<0>", " ".join(text))]
        lines = [begin + self.heading + text.pop(0), *(indent + each for each in text)]
        if self.blocks:
            self.blocks.append("\n" if self.marker and self.was_item else "\n\n")
        self.blocks.append("\n".join(lines))
        self.was_item, self.marker = bool(self.marker), ""

    def finish(self) -> str:
        """Return the whole text."""
        self.end_block()
        return "".join(self.blocks)


def _percent(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _join_runs(runs: list[_Run]) -> list[str]:
    """Return the lines of a paragraph. Where marks would not be read as such, a space is put beside them."""
    shown = [(each, each.format()) for each in runs]
    text = ""
    for (run, formatted), (after, next_formatted) in pairwise([*shown, (_Run("", ("", "")), "")]):
        if not formatted:
            text += run.text
            continue
        core = run.text.strip()
        start = run.text.index(core)
        text += run.text[:start] + formatted + run.text[start + len(core) :]
        touches = next_formatted and not text[-1].isspace() and not after.text[0].isspace()
        if touches and _needs_space(run, after):
            text += " "
    lines = (line.strip() for line in text.strip().split("\n"))
    return [_LINE_START.sub(_escape_start, line) for line in lines if line]


def _needs_space(run: _Run, after: _Run) -> bool:
    """Return whether the marks between two touching runs need a space, by CommonMark's rules for what stands beside marks."""
    (marks, link), (next_marks, next_link) = run.style, after.style
    if marks and next_marks:
        return True
    if marks:
        return bool(link) or not run.text[-1].isalnum()
    return bool(next_marks) and (bool(next_link) or not after.text[0].isalnum())


def _escape_start(found: re.Match[str]) -> str:
    if found["mark"]:
        return "\\" + found["mark"]
    return f"{found['number']}\\{found['dot']}"
