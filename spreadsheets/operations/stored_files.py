"""Files in the storage: uploaded files, and the files of exports."""

import os
from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import IO

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext_lazy

from spreadsheets.errors import FileRefused

INCOMING = "incoming"
COPY_BYTES = 64 * 1024
GONE = gettext_lazy("The file wasn’t processed within a day. Upload it again.")


def open_stored(name: str) -> IO[bytes]:
    """Return a seekable copy of a stored file. Raises FileRefused if the file was deleted."""
    copy = TemporaryFile()  # noqa: SIM115 -- the caller closes it
    try:
        with default_storage.open(name) as stored:
            for part in stored.chunks(COPY_BYTES):
                copy.write(part)
    except FileNotFoundError as error:
        copy.close()
        raise FileRefused(GONE) from error
    copy.seek(0)
    return copy


def reopen(file: IO[bytes]) -> IO[bytes]:
    """Return a temporary file once more, at its beginning. Only one of both can be read at a time; closing it leaves the other open."""
    copy = os.fdopen(os.dup(file.fileno()), "rb")
    copy.seek(0)
    return copy


def file_of(pieces: Iterable[bytes]) -> "File[bytes]":
    """Return a temporary file with these bytes, for the storage."""
    file = TemporaryFile()  # noqa: SIM115 -- deleted with the last reference to it
    for each in pieces:
        file.write(each)
    file.seek(0)
    return File(file, name="piece")
