"""What a file is, by its content, and a name that fits. What the sender says about a file is not believed."""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from web.text import clean_text

HEAD_BYTES = 16
_MAX_NAME = 100
_UNSAFE = re.compile(r'[\\/:*?"<>|%]')


@dataclass(frozen=True)
class FileType:
    """A kind of files. `suffixes` are the endings of names that fit, the usual one first.

    `content_type` is what browsers are told. All that is neither a picture, a PDF nor text is only bytes to them.
    """

    content_type: str
    suffixes: tuple[str, ...]

    @property
    def is_image(self) -> bool:
        """Whether the file is a picture, which is written anew before it is stored."""
        return self.content_type.startswith("image/")


_BYTES = "application/octet-stream"
JPEG = FileType("image/jpeg", (".jpg", ".jpeg", ".jpe", ".jfif"))
PNG = FileType("image/png", (".png",))
WEBP = FileType("image/webp", (".webp",))
PDF = FileType("application/pdf", (".pdf",))
TEXT = FileType("text/plain; charset=utf-8", (".txt", ".csv", ".log", ".md", ".json", ".ics"))
# Programs, too: their names get an ending that no system runs.
OTHER = FileType(_BYTES, (".bin",))
_GIF = FileType(_BYTES, (".gif",))
_ARCHIVE = FileType(
    _BYTES, (".zip", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".pages", ".numbers")
)
_OFFICE = FileType(_BYTES, (".doc", ".xls", ".ppt", ".msg"))
_MEDIA = FileType(_BYTES, (".mp4", ".mov", ".heic", ".heif", ".avif", ".m4a", ".3gp"))
# The bytes that stand at a place in each file of a type.
_MAGIC = (
    (0, b"\xff\xd8\xff", JPEG),
    (0, b"\x89PNG\r\n\x1a\n", PNG),
    (8, b"WEBP", WEBP),
    (0, b"%PDF-", PDF),
    (0, b"GIF8", _GIF),
    (0, b"PK\x03\x04", _ARCHIVE),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OFFICE),
    (4, b"ftyp", _MEDIA),
)
_SUFFIXES = {
    suffix
    for each in (JPEG, PNG, WEBP, PDF, TEXT, _GIF, _ARCHIVE, _OFFICE, _MEDIA)
    for suffix in each.suffixes
}


def find_type(chunks: Iterable[bytes]) -> FileType:
    """Return the type of the file with this content. A file that only consists of text is text, also HTML or a script."""
    chunks = iter(chunks)
    head = next(chunks, b"")
    for place, magic, found in _MAGIC:
        if head[place : place + len(magic)] == magic and (found != WEBP or head[:4] == b"RIFF"):
            return found
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while head:
            if re.search(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]", decoder.decode(head)):
                return OTHER
            head = next(chunks, b"")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return OTHER
    return TEXT


def fit_name(name: str, kind: FileType) -> str:
    """Return a file's name without folders and unseen letters, and with an ending that fits its type."""
    name = name.encode("utf-8", "ignore").decode().replace("\\", "/").rpartition("/")[2]
    path = PurePath(_UNSAFE.sub("_", clean_text(name)).strip(" .") or "file")
    stem, suffix = path.stem, path.suffix.lower()
    if suffix not in kind.suffixes:
        # An ending of another type goes; any other one becomes part of the name.
        stem = stem if suffix in _SUFFIXES else path.name
        suffix = kind.suffixes[0]
    return f"{stem[: _MAX_NAME - len(suffix)].rstrip(' .')}{suffix}"
