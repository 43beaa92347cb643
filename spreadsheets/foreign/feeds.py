"""Reads product feeds in XML (RSS and Atom, as Google's) as tables, item by item in bounded memory."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import IO
from xml.parsers import expat

from django.utils.translation import gettext as _

from spreadsheets.errors import FileRefused
from spreadsheets.files import (
    MAX_CELL_LENGTH,
    MAX_COLUMNS,
    MAX_LINES,
    MAX_RECORD_LENGTH,
    MAX_TAG_BYTES,
    Table,
)

_ITEMS = ("item", "entry")
_CHUNK = 64 * 1024


def is_feed(file: IO[bytes]) -> bool:
    """Return whether a file is XML."""
    beginning = file.read(200).removeprefix(BOM_UTF8).lstrip()
    file.seek(0)
    return beginning.startswith((b"<?xml", b"<rss", b"<feed"))


def open_feed(file: IO[bytes]) -> Table:
    """Return the items of a feed as a table, which `unpack_workbook` makes a CSV file of. Raises FileRefused.

    The first item is line 2. Names of columns are those of the elements, without their namespace.
    """
    head: dict[str, None] = {}
    for item in _iterate_items(file):
        head |= dict.fromkeys(item)
        if len(head) > MAX_COLUMNS:
            raise FileRefused(_("The file has more than %(most)d columns.") % {"most": MAX_COLUMNS})
    if not head:
        raise FileRefused(_("This XML file has no items of a product feed."))
    file.seek(0)
    items = enumerate(_iterate_items(file), start=2)
    lines = ((line, [item.get(name, "") for name in head]) for line, item in items)
    return Table(list(head), lines, is_workbook=True)


def _iterate_items(file: IO[bytes]) -> Iterator[dict[str, str]]:
    reader = _ItemReader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.add_text
    parser.StartDoctypeDeclHandler = reader.refuse
    fed = count = 0
    try:
        while chunk := file.read(_CHUNK):
            parser.Parse(chunk)
            fed += len(chunk)
            # expat scans an unfinished tag or comment anew with each chunk.
            if fed - parser.CurrentByteIndex > MAX_TAG_BYTES:
                reader.refuse()
            for item in reader.take():
                count += 1
                if count > MAX_LINES:
                    reader.refuse()
                yield item
        parser.Parse(b"", True)  # noqa: FBT003 -- the end, as expat takes it
    except (expat.ExpatError, UnicodeError, ValueError, LookupError) as error:
        if isinstance(error, FileRefused):
            raise
        raise FileRefused(_("This XML file can’t be read.")) from error


class _ItemReader:
    """Collects the elements of each item by name. The texts of repeated elements are joined, and those within an element, too."""

    def __init__(self) -> None:
        self._done: list[dict[str, str]] = []
        self._item: dict[str, str] | None = None
        self._path: list[str] = []  # the open elements within the item
        self._texts: list[str] = []
        self._letters = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an item, or an element within it."""
        local = name.rpartition(":")[2].lower()
        if self._item is None:
            if local in _ITEMS:
                self._item, self._path, self._letters = {}, [], 0
            return
        self._path.append(local)
        self._letters += len(local)
        if len(self._path) > 8:
            self.refuse()
        if len(self._path) == 1:
            # A link of Atom is an attribute.
            self._texts = [attributes.get("href", "")]
        elif self._texts[-1].strip():
            self._texts.append(":")

    def add_text(self, text: str) -> None:
        """Add a text to the present element of an item."""
        if self._path:
            self._letters += len(text)
            if self._letters > MAX_RECORD_LENGTH // 2:
                self.refuse()
            self._texts.append(text)

    def end(self, _name: str) -> None:
        """End an item, or an element within it."""
        if self._item is None:
            return
        if not self._path:
            self._done.append(self._item)
            self._item = None
            return
        name = self._path.pop()
        if not self._path:
            text = "".join(self._texts).strip()
            texts = [each for each in (self._item.get(name, ""), text) if each]
            self._item[name] = "\n".join(texts)
            if len(self._item) > MAX_COLUMNS or len(self._item[name]) >= MAX_CELL_LENGTH:
                self.refuse()

    def take(self) -> list[dict[str, str]]:
        """Return the items that have ended since the last call."""
        done, self._done = self._done, []
        return done

    def refuse(self, *_any: object) -> None:
        """Raise FileRefused: the file is larger than a feed of the shop may be, or has a document type."""
        raise FileRefused(_("This XML file is too large, or no product feed."))
