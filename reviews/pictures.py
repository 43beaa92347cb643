"""The pictures of a review: uploaded by its writer, decoded by the worker, and published by the staff.

They are uploads like product pictures (decision 040). Their owner id is made of product and writer, so that they can exist
before the review. A salt makes the files of each upload unique. The files are deleted when no review shows them any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from cassandra.util import datetime_from_uuid1
from django.core.files import File
from django.utils.translation import gettext as _

from catalogue.entities import PictureUpload
from catalogue.operations import add_upload, remove_upload
from catalogue.photos import delete_photo, parse_photo
from catalogue.queries import list_uploads
from moderation.errors import NoSuchText, TextChanged
from moderation.states import WITHDRAWN
from reviews import operations, queries
from reviews.entities import Review
from reviews.errors import ReviewsBusy

MAX_PICTURES = 6
MAX_PICTURE_BYTES = 10 * 1024 * 1024
# The time that pictures wait for their review, whose form may have had errors.
WAITS_FOR_REVIEW = timedelta(days=1)


def picture_owner(product_id: UUID, user_id: UUID) -> UUID:
    """Return the owner id of a person's uploads for a review of a product."""
    return uuid5(product_id, f"review {user_id.hex}")


def refuse_files(
    files: Sequence[File[bytes]], has: int, uploads: Sequence[PictureUpload], change_id: UUID
) -> str:
    """Return an error text if a review that has `has` pictures cannot take these files; "" if it can."""
    waiting = sum(each.state != "refused" for each in uploads)
    if has + waiting + len(_list_new(files, uploads, change_id)) > MAX_PICTURES:
        return _("A review has at most %(most)d pictures.") % {"most": MAX_PICTURES}
    return ""


def take_in_files(
    product_id: UUID,
    user_id: UUID,
    files: Sequence[File[bytes]],
    uploads: Sequence[PictureUpload],
    change_id: UUID,
    now: datetime,
) -> None:
    """Store a review's files for the worker. A repeated form stores them once.

    Raises MediaUnavailable, CassandraUnavailable.
    """
    operations.mark_pictures_pending(product_id, user_id)
    for salt, file in _list_new(files, uploads, change_id):
        add_upload(
            picture_owner(product_id, user_id), file, now, max_bytes=MAX_PICTURE_BYTES, salt=salt
        )


def _list_new(
    files: Sequence[File[bytes]], uploads: Sequence[PictureUpload], change_id: UUID
) -> list[tuple[str, File[bytes]]]:
    """Return the form's files that are not stored yet, each with its salt: the form's id and the file's index."""
    known = {each.salt for each in uploads}
    salted = [(f"{change_id.hex} {place}", each) for place, each in enumerate(files)]
    return [(salt, each) for salt, each in salted if salt not in known]


def forget_refused(uploads: Sequence[PictureUpload]) -> None:
    """Delete the refused uploads among these, after their sender has seen the reason. Raises CassandraUnavailable."""
    for each in uploads:
        if each.state == "refused":
            remove_upload(each)


def follow_pictures(product_id: UUID, user_id: UUID, now: datetime) -> bool:
    """Add ready pictures to a review, and delete the files of removed ones; return whether all is done.

    It can be repeated after a crash at any point; one worker at a time calls it. Raises CassandraUnavailable, and the storage's errors.
    """
    uploads = list_uploads(picture_owner(product_id, user_id))
    ready = [each for each in uploads if each.state == "ready"]
    is_waiting = any(each.state == "waiting" for each in uploads)
    review = queries.get_review(product_id, user_id)
    if review is None or review.state == WITHDRAWN:
        for each in ready:
            if _sent_at(each) < now - WAITS_FOR_REVIEW:
                _delete(each.picture)
                remove_upload(each)
                ready = [other for other in ready if other is not each]
        is_waiting = is_waiting or bool(ready)
    elif ready:
        try:
            review = _attach(review, [each.picture for each in ready], now)
        except (TextChanged, NoSuchText, ReviewsBusy):
            return False  # the next call starts from the changed review
        for each in ready:
            remove_upload(each)
    if review and review.former_pictures:
        for picture in set(review.former_pictures) - set(review.own_pictures):
            _delete(picture)
        operations.forget_former_pictures(review)
    return not is_waiting


def _attach(review: Review, found: Sequence[str], now: datetime) -> Review:
    """Add new pictures to a review, where they wait for the staff. Delete the pictures beyond the limit."""
    new = [each for each in dict.fromkeys(found) if each not in review.own_pictures]
    if not new:
        return review
    room = MAX_PICTURES - len(review.own_pictures)

    def attach(review: Review) -> Review:
        return replace(
            review,
            new_pictures=(*review.new_pictures, *new[:room]),
            former_pictures=(*review.former_pictures, *new[room:]),
        )

    return operations.change_review(
        review.product_id,
        review.user_id,
        attach,
        seen=review.version,
        change_id=uuid5(review.review_id, " ".join(new)),
        now=now,
    )


def _delete(picture: str) -> None:
    if photo := parse_photo(picture):
        delete_photo(photo)


def _sent_at(upload: PictureUpload) -> datetime:
    found: datetime = datetime_from_uuid1(upload.upload_id)
    return found.replace(tzinfo=UTC)
