"""Fits text with possible line breaks into a width, by the algorithm of Wadler's "A prettier printer".

A document is a text, a Line, a Choice, or a sequence of documents: a list, a Group, an Indent or a Fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Line:
    """A place where a line may break. If it does not break, the text `flat` is printed. A hard Line always breaks."""

    flat: str = ""
    hard: bool = False
    blank: bool = False  # a hard Line that is blank also leaves an empty line


@dataclass(frozen=True)
class Choice:
    """A text, and the document that is printed instead where the text does not fit."""

    flat: str
    broken: Doc


class Group(tuple[Any, ...]):
    """Documents whose Lines either all break or all stay flat."""


class Indent(tuple[Any, ...]):
    """Documents whose Lines are indented by one more step where they break."""


class Fill(tuple[Any, ...]):
    """Documents with a Line between each two documents. A Line breaks only where the next document does not fit."""


Doc: TypeAlias = "str | Line | Choice | Sequence[Doc]"
# The indentation of a document, whether its Lines stay flat, and the document.
_Command: TypeAlias = "tuple[int, bool, Doc]"

STEP = 2


def _must_break(doc: Doc) -> bool:
    """Return whether a document must take more than one line."""
    if isinstance(doc, str):
        return "\n" in doc
    if isinstance(doc, Line):
        return doc.hard
    return not isinstance(doc, Choice) and any(map(_must_break, doc))


class Printer:
    """Prints one document. Lines have at most `width` characters, where the document allows it."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.texts: list[str] = []
        self.column = 0
        self.rest: list[_Command] = []

    def lay_out(self, doc: Doc) -> str:
        """Return the document as text, broken into lines."""
        self.rest = [(0, False, doc)]
        while self.rest:
            indent, flat, doc = self.rest.pop()
            if isinstance(doc, str):
                self._write(doc)
            elif isinstance(doc, Line):
                newline = ("\n\n" if doc.hard and doc.blank else "\n") + " " * indent
                self._write(doc.flat if flat and not doc.hard else newline)
            elif isinstance(doc, Choice):
                fits = flat or self._fits([(indent, True, doc.flat)])
                self.rest.append((indent, fits, doc.flat if fits else doc.broken))
            elif isinstance(doc, Fill) and not flat:
                self._fill(indent, doc)
            else:
                if isinstance(doc, Group):
                    flat = flat or self._fits_flat(indent, doc)
                indent += STEP * isinstance(doc, Indent)
                self.rest += [(indent, flat, part) for part in reversed(doc)]
        return "".join(self.texts)

    def _write(self, text: str) -> None:
        self.texts.append(text)
        last = text.rfind("\n")
        self.column = self.column + len(text) if last < 0 else len(text) - last - 1

    def _fill(self, indent: int, parts: Fill) -> None:
        """Print the first part of a Fill, and the Line behind it, which stays flat if the next part fits behind it."""
        if not parts:
            return
        content, *after = parts
        is_whole = self._fits_flat(indent, content, alone=bool(after))
        if after:
            line, *following = after
            has_room = is_whole and self._fits_flat(
                indent, content, line, following[0], alone=len(following) > 1
            )
            self.rest += [(indent, False, Fill(following)), (indent, has_room, line)]
        self.rest.append((indent, is_whole, content))

    def _fits_flat(self, indent: int, *docs: Doc, alone: bool = False) -> bool:
        commands = [(indent, True, doc) for doc in reversed(docs)]
        return not _must_break(docs) and self._fits(commands, alone=alone)

    def _fits(self, commands: list[_Command], *, alone: bool = False) -> bool:
        """Return whether documents fit into the rest of the line, with the text up to the next break unless `alone`."""
        left = self.width - self.column
        following = len(self.rest)
        while left >= 0:
            if not commands:
                if alone or not following:
                    return True
                following -= 1
                commands = [self.rest[following]]
            indent, flat, doc = commands.pop()
            if isinstance(doc, str):
                first, newline, _ = doc.partition("\n")
                left -= len(first)
                if newline:
                    return left >= 0
            elif isinstance(doc, Line):
                if doc.hard or not flat:
                    return True
                left -= len(doc.flat)
            else:
                parts = [doc.flat] if isinstance(doc, Choice) else doc
                commands += [(indent, flat, part) for part in reversed(parts)]
        return False
