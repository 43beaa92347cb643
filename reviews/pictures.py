"""The pictures of a review: files that its writer sends, decoded by the worker, and shown once the staff have seen them.

They are uploads as those of products (decision 040), under an id made of product and writer, so that they are there before the
review is. Their files are of one upload alone, by its salt, and are deleted when nothing shows them any more.
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
# So long files wait for the review that they were sent with: its text may have been refused.
WAITS_FOR_REVIEW = timedelta(days=1)


def picture_owner(product_id: UUID, user_id: UUID) -> UUID:
    """Return the id under which a person's uploads for a review of a product are."""
    return uuid5(product_id, f"review {user_id.hex}")


def refuse_files(
    files: Sequence[File[bytes]], has: int, uploads: Sequence[PictureUpload], change_id: UUID
) -> str:
    """Return in a sentence why so many files are not taken beside the `has` pictures that are there; "" if they are."""
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
    """Keep files for a review until the worker has decoded them; those of a form that is sent twice once. Raises MediaUnavailable, CassandraUnavailable."""
    operations.mark_pictures_pending(product_id, user_id)
    for salt, file in _list_new(files, uploads, change_id):
        add_upload(
            picture_owner(product_id, user_id), file, now, max_bytes=MAX_PICTURE_BYTES, salt=salt
        )


def _list_new(
    files: Sequence[File[bytes]], uploads: Sequence[PictureUpload], change_id: UUID
) -> list[tuple[str, File[bytes]]]:
    """Return the files that this form has not brought before, with their salts: its id, and their places in it."""
    known = {each.salt for each in uploads}
    salted = [(f"{change_id.hex} {place}", each) for place, each in enumerate(files)]
    return [(salt, each) for salt, each in salted if salt not in known]


def forget_refused(uploads: Sequence[PictureUpload]) -> None:
    """Forget the uploads that became no pictures: their sender has read why. Raises CassandraUnavailable."""
    for each in uploads:
        if each.state == "refused":
            remove_upload(each)


def follow_pictures(product_id: UUID, user_id: UUID, now: datetime) -> bool:
    """Give a review the pictures that are ready, and delete the files of those that it has lost; return whether nothing is left to do.

    May be done again at any point, by one worker at a time. Raises CassandraUnavailable, and what the storage raises.
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
            return False  # as it is now, the next time
        for each in ready:
            remove_upload(each)
    if review and review.former_pictures:
        for picture in set(review.former_pictures) - set(review.own_pictures):
            _delete(picture)
        operations.forget_former_pictures(review)
    return not is_waiting


def _attach(review: Review, found: Sequence[str], now: datetime) -> Review:
    """Let pictures wait with a review for the staff; those for which there is no room are deleted."""
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
