"""Pictures that staff upload for products and categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.core.files import File
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.access import note_changes
from cassandra_db import current_time
from catalogue import operations
from catalogue.entities import PictureUpload
from catalogue.errors import MediaUnavailable
from catalogue.photos import MAX_PHOTO_BYTES
from web.uploads import STAFF_UPLOADS, upload_url

# A request may upload at most this many files.
MAX_FILES = 10


def list_ready_pictures(uploads: Iterable[PictureUpload]) -> list[str]:
    """Return the pictures of uploads that are decoded, without repetitions."""
    return list(dict.fromkeys(each.picture for each in uploads if each.state == "ready"))


def refuse_count(count: int) -> str:
    """Return a sentence that says why the number of uploaded files is refused, or "" if it is accepted."""
    if not count:
        return _("Choose a file.")
    if count > MAX_FILES:
        return _("Choose at most %(most)d files at once.") % {"most": MAX_FILES}
    return ""


def take_in_files(
    request: HttpRequest, owner_id: UUID, files: Sequence[File[bytes]], *, salt: str = ""
) -> None:
    """Store the uploaded files of a product, a category or the brand for the worker, and tell the user. Raises CassandraUnavailable."""
    try:
        added = [operations.add_upload(owner_id, each, current_time(), salt=salt) for each in files]
    except MediaUnavailable:
        messages.error(request, _("Pictures can’t be taken in at the moment. Try again later."))
        return
    note_changes(request, {}, {"files": ", ".join(each.file_name for each in added)})
    if count := sum(each.state == "waiting" for each in added):
        text = ngettext(
            "%(count)d picture is being prepared.", "%(count)d pictures are being prepared.", count
        )
        messages.success(request, text % {"count": count})


def remove_uploads(uploads: Iterable[PictureUpload]) -> None:
    """Delete the uploads that the worker has already handled. Raises CassandraUnavailable."""
    for each in uploads:
        operations.remove_upload(each)


@dataclass(frozen=True)
class PageUploads:
    """A page's uploads: the addresses of both views, the limits, and which pictures wait or were refused."""

    page_url: str
    form_url: str
    waiting: Sequence[PictureUpload]
    refused: Sequence[PictureUpload]
    # The form lacks pictures that became ready after the page was opened.
    is_polled: bool
    max_files: int = MAX_FILES
    max_megabytes: int = MAX_PHOTO_BYTES // (1024 * 1024)
    total_megabytes: int = STAFF_UPLOADS.max_bytes // (1024 * 1024)


def page_uploads(
    request: HttpRequest, uploads: Iterable[PictureUpload], page: str, upload_page: str
) -> PageUploads:
    """Return a page's uploads. `page` and `upload_page` are addresses."""
    by_state: dict[str, list[PictureUpload]] = {}
    for each in uploads:
        by_state.setdefault(each.state, []).append(each)
    return PageUploads(
        page,
        upload_url(request, upload_page),
        by_state.get("waiting", []),
        by_state.get("refused", []),
        "X-Refreshes-Itself" in request.headers,
    )
