"""Writes ZIP archives as streams: only one file of an archive is in memory at a time."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from zipfile import ZipFile, ZipInfo


class _Pieces:
    """A file that can only be written; `take` returns what was written since the last call."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: bytes) -> int:
        self._written += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


def iterate_zip(files: Iterable[tuple[str, bytes]], at: datetime) -> Iterator[bytes]:
    """Yield the bytes of an archive of these files, given by name and content. `at` is their time.

    They are stored as they are: papers are compressed already.
    """
    pieces = _Pieces()
    with ZipFile(pieces, "w") as archive:  # type: ignore[call-overload]
        for name, content in files:
            archive.writestr(ZipInfo(name, at.timetuple()[:6]), content)
            yield pieces.take()
    yield pieces.take()
