"""The shop takes no files: a request that brings one is refused as soon as the file begins, before a byte of it is kept."""

from typing import Any, NoReturn

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler


class RefuseFilesHandler(FileUploadHandler):
    """Refuses every file. Django's own handlers write as much to the disk as a visitor likes to send."""

    def new_file(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise RequestDataTooBig, which is answered with 400."""
        raise RequestDataTooBig("a file, where none is asked for")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> NoReturn:
        """Never called: there is no file."""
        raise NotImplementedError

    def file_complete(self, file_size: int) -> None:
        """Never called with a file."""
