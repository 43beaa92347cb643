"""Text with places where a line may break, fitted into a width: the algorithm of Wadler's "A prettier printer".

A document is a text, a Line, a Choice, or a sequence of documents: a list, or one of the tuples below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Line:
    """A place where a line may break; `flat` stands there if it does not. A hard one always breaks."""

    flat: str = ""
    hard: bool = False
    blank: bool = False  # a hard one leaves a line free


@dataclass(frozen=True)
class Choice:
    """A text, or a document in its place where the text does not fit."""

    flat: str
    broken: Doc


class Group(tuple[Any, ...]):
    """Documents whose lines break all together, or not at all."""


class Indent(tuple[Any, ...]):
    """Documents whose lines are indented by one step."""


class Fill(tuple[Any, ...]):
    """Documents with a line between each two of them, which breaks only where the next one does not fit."""


Doc: TypeAlias = "str | Line | Choice | Sequence[Doc]"
# Indentation, whether its lines are flat, and a document.
_Command: TypeAlias = "tuple[int, bool, Doc]"

STEP = 2


def _must_break(doc: Doc) -> bool:
    """Tell whether a document takes more than one line."""
    if isinstance(doc, str):
        return "\n" in doc
    if isinstance(doc, Line):
        return doc.hard
    return not isinstance(doc, Choice) and any(map(_must_break, doc))


class Printer:
    """Prints one document, with lines of at most `width` characters where it can be broken so."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.texts: list[str] = []
        self.column = 0
        self.rest: list[_Command] = []

    def lay_out(self, doc: Doc) -> str:
        """Return the document as text."""
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
        """Print the first part, and the line behind it: flat if the next part fits there, too."""
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
        """Tell whether documents fit into the rest of the line. Unless `alone`, the text after them up to the next break must fit, too."""
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
