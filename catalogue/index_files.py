"""The files of a search index: who writes them, up to when they include changes, and whether they are damaged.

tantivy ends each of its files with a checksum, and never changes a file that it has written. `meta.json` names the files in use.
"""

import fcntl
import json
import os
import socket
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import unpack
from typing import Any
from uuid import UUID, uuid4

from django.utils.translation import gettext as _

# A segment of an index has a file of each of these kinds.
_SEGMENT_FILES = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_FOOTER_END = 8
_MAX_COMMAND_LENGTH = 200


class SearchIndexBusy(Exception):
    """Another process is writing the folder. The text names the folder and the process."""


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep other processes of this host from writing a folder. The lock of a dead process is released by itself.

    Raises SearchIndexBusy at once if another process holds the lock.
    """
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read() or "another process"
            raise SearchIndexBusy(f"{folder} is being written by {holder}") from None
        command = " ".join(sys.argv)[:_MAX_COMMAND_LENGTH]
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}: {command}")
        lock.flush()
        yield


def note(file: Path, text: str) -> None:
    """Write a small file so that a reader sees either the old text or the new text, never a part."""
    temporary = file.with_name(f"{file.name}.{uuid4().hex}")
    temporary.write_text(text)
    temporary.replace(file)


def read_position(path: Path) -> datetime:
    """Return the moment up to which the index includes changes."""
    moment = datetime.fromisoformat((path / "position").read_text())
    if moment.tzinfo is None:
        raise ValueError("the position was cut off")
    return moment


def read_done(path: Path) -> dict[UUID, tuple[datetime, datetime]]:
    """Return the changes that the index has, by product: when it changed last, and when it was indexed last."""
    stored = json.loads((path / "done").read_text())
    moment = datetime.fromisoformat
    return {UUID(hex=key): (moment(changed), moment(at)) for key, (changed, at) in stored.items()}


def note_done(path: Path, done: Mapping[UUID, tuple[datetime, datetime]]) -> None:
    """Store what `read_done` returns."""
    stored = {key.hex: [changed.isoformat(), at.isoformat()] for key, (changed, at) in done.items()}
    note(path / "done", json.dumps(stored))


def find_write_time(path: Path) -> int:
    """Return when the index was last written, in nanoseconds since 1970; 0 if `meta.json` is missing."""
    try:
        return (path / "meta.json").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _list_segment_files(path: Path) -> list[Path]:
    names = []
    for segment in json.loads((path / "meta.json").read_text())["segments"]:
        prefix, deletes = UUID(segment["segment_id"]).hex, segment["deletes"]
        names += [f"{prefix}.{kind}" for kind in _SEGMENT_FILES]
        names += [f"{prefix}.{deletes['opstamp']}.del"] if deletes else []
    return [path / name for name in names]


# How each file is read; the last one returns the segments' files.
_READERS: dict[str, Callable[[Path], Any]] = {
    "position": read_position,
    "done": read_done,
    "vocabulary": lambda path: (path / "vocabulary").read_text(),
    "meta.json": _list_segment_files,
}


@dataclass
class DamageCheck:
    """Finds damaged files. It reads a segment's file once, and again when its size or time has changed."""

    _known: dict[Path, tuple[tuple[int, int], bool]] = field(default_factory=dict)

    def find_damage(self, path: Path) -> str:
        """Return what is wrong with the index in a folder, in words; "" for a sound index."""
        while True:
            written = find_write_time(path)
            damage = self._find(path)
            # The files that a writer has replaced meanwhile are no longer there.
            if not damage or written == find_write_time(path):
                return damage

    def _find(self, path: Path) -> str:
        name, files = "", list[Path]()
        try:
            for name, read in _READERS.items():  # noqa: B007 -- the errors below name it
                files = read(path)
            known = self._known
            self._known = {file: known[file] for file in files if file in known}
            for file in files:
                name = file.name
                stat = file.stat()
                signature = stat.st_size, stat.st_mtime_ns
                if file not in self._known or self._known[file][0] != signature:
                    self._known[file] = signature, _is_sound(file)
                if not self._known[file][1]:
                    return _("%(name)s is damaged") % {"name": name}
        except FileNotFoundError:
            return _("%(name)s is missing") % {"name": name}
        except (ValueError, KeyError, TypeError, AttributeError):
            return _("%(name)s is damaged") % {"name": name}
        return ""


def _is_sound(file: Path) -> bool:
    """Return whether a file of tantivy has the checksum that it ends with: a JSON object, its length, and a magic number."""
    with file.open("rb") as opened:
        if file.stat().st_size < _FOOTER_END:
            return False
        with mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
            length, _magic = unpack("<II", content[-_FOOTER_END:])
            end = max(len(content) - _FOOTER_END - length, 0)
            with memoryview(content) as view, view[:end] as body:
                checksum = zlib.crc32(body)
            return bool(checksum == json.loads(content[end:-_FOOTER_END])["crc"])
