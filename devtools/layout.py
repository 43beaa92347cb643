"""Text with places where a line may break, fitted into a width: the algorithm of Wadler's "A prettier printer".

A document is a text, a list of documents, or one of the classes below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Line:
    """A place where a line may break; `flat` stands there if it does not. A hard one always breaks."""

    flat: str
    hard: bool = False
    blank: bool = False


@dataclass(frozen=True)
class Group:
    """Content whose lines break all together, or not at all."""

    content: Doc


@dataclass(frozen=True)
class Indent:
    """Content whose lines are indented by one step."""

    content: Doc


@dataclass(frozen=True)
class Fill:
    """Contents with a line between each two of them, which breaks only where the next one does not fit."""

    parts: tuple[Doc, ...]


@dataclass(frozen=True)
class Choice:
    """A text, or a document in its place where the text does not fit."""

    flat: str
    broken: Doc


Doc: TypeAlias = "str | Line | Group | Indent | Fill | Choice | Sequence[Doc]"
# Indentation, whether its lines are flat, and a document.
_Command: TypeAlias = "tuple[int, bool, Doc]"

STEP = 2


def must_break(doc: Doc) -> bool:
    """Tell whether a document takes more than one line."""
    if isinstance(doc, str):
        return "\n" in doc
    if isinstance(doc, Line):
        return doc.hard
    if isinstance(doc, Choice):
        return "\n" in doc.flat
    return any(must_break(part) for part in _parts(doc))


def _parts(doc: Group | Indent | Fill | Sequence[Doc]) -> Sequence[Doc]:
    if isinstance(doc, Fill):
        return doc.parts
    return [doc.content] if isinstance(doc, Group | Indent) else doc


def lay_out(doc: Doc, width: int) -> str:
    """Return a document as text, with lines of at most `width` characters where it can be broken so."""
    return _Printer(width).lay_out(doc)


class _Printer:
    def __init__(self, width: int) -> None:
        self.width = width
        self.texts: list[str] = []
        self.column = 0
        self.rest: list[_Command] = []

    def lay_out(self, doc: Doc) -> str:
        self.rest = [(0, False, doc)]
        while self.rest:
            indent, flat, doc = self.rest.pop()
            if isinstance(doc, str):
                self._write(doc)
            elif isinstance(doc, Line):
                if flat and not doc.hard:
                    self._write(doc.flat)
                else:
                    self._write("\n\n" if doc.blank else "\n")
                    self._write(" " * indent)
            elif isinstance(doc, Choice):
                fits = flat or self._fits([(indent, True, doc.flat)])
                self.rest.append((indent, fits, doc.flat if fits else doc.broken))
            elif isinstance(doc, Indent):
                self.rest.append((indent + STEP, flat, doc.content))
            elif isinstance(doc, Group):
                flat = flat or (not must_break(doc) and self._fits([(indent, True, doc.content)]))
                self.rest.append((indent, flat, doc.content))
            elif isinstance(doc, Fill) and not flat:
                self._fill(indent, doc.parts)
            else:
                self.rest += [(indent, flat, part) for part in reversed(_parts(doc))]
        return "".join(self.texts)

    def _write(self, text: str) -> None:
        self.texts.append(text)
        last = text.rfind("\n")
        self.column = self.column + len(text) if last < 0 else len(text) - last - 1

    def _fill(self, indent: int, parts: tuple[Doc, ...]) -> None:
        """Print the first part, and the line behind it: flat if the next part fits there, too."""
        if not parts:
            return
        content, *after = parts
        flat = (indent, True, content)
        whole = not must_break(content) and self._fits([flat], alone=bool(after))
        if after:
            line, following = after[0], after[1]
            next_fits = (
                whole
                and not must_break(line)
                and not must_break(following)
                and self._fits(
                    [(indent, True, following), (indent, True, line), flat], alone=len(after) > 2
                )
            )
            self.rest.append((indent, False, Fill(tuple(after[1:]))))
            self.rest.append((indent, next_fits, line))
        self.rest.append((indent, whole, content))

    def _fits(self, commands: list[_Command], *, alone: bool = False) -> bool:
        """Tell whether documents fit into what is left of the line, with what follows up to the next break unless `alone`."""
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
            elif isinstance(doc, Choice):
                commands.append((indent, flat, doc.flat))
            else:
                commands += [(indent, flat, part) for part in reversed(_parts(doc))]
        return False
