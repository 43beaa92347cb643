"""The pictures of a post: uploaded by its author, decoded by the worker, and published by the staff.

They are uploads like product pictures (decision 040), owned by the post's id, so that they can exist before the post. A salt makes the
files of each upload unique. The files are deleted when the post shows them no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from django.core.files import File
from django.utils.translation import gettext as _

from catalogue.entities import PictureUpload
from catalogue.operations import add_upload, remove_upload
from catalogue.photos import delete_photo, parse_photo
from catalogue.queries import list_uploads
from moderation.errors import TextChanged
from posts import queries
from posts.entities import Post, get_moment
from posts.errors import NoSuchPost
from posts.operations import posts
from posts.operations.pending import note_pictures
from posts.rules import MAX_PICTURE_BYTES, MAX_PICTURES

# The time that pictures wait for their post, whose form may have had errors.
WAITS_FOR_POST = timedelta(days=1)


def make_salt(change_id: UUID, place: int) -> str:
    """Return the salt of a form's file at a place, by which `PostInput.alts` names a picture that is not decoded yet."""
    return f"{change_id.hex} {place}"


def count_room(has: int, uploads: Sequence[PictureUpload]) -> int:
    """Return how many more pictures a post can take that has `has` of them."""
    return MAX_PICTURES - has - sum(each.state != "refused" for each in uploads)


def refuse_files(
    files: Sequence[File[bytes]], has: int, uploads: Sequence[PictureUpload], change_id: UUID
) -> str:
    """Return an error text if a post that has `has` pictures cannot take these files; "" if it can."""
    if len(_list_new(files, uploads, change_id)) > count_room(has, uploads):
        return _("A post has at most %(most)d pictures.") % {"most": MAX_PICTURES}
    return ""


def take_in_files(
    post_id: UUID,
    files: Sequence[File[bytes]],
    uploads: Sequence[PictureUpload],
    change_id: UUID,
    now: datetime,
) -> None:
    """Store a post's files for the worker, before the post is written. A repeated form stores them once.

    Raises MediaUnavailable, CassandraUnavailable.
    """
    note_pictures(post_id)
    for salt, file in _list_new(files, uploads, change_id):
        add_upload(post_id, file, now, max_bytes=MAX_PICTURE_BYTES, salt=salt)


def _list_new(
    files: Sequence[File[bytes]], uploads: Sequence[PictureUpload], change_id: UUID
) -> list[tuple[str, File[bytes]]]:
    """Return the form's files that are not stored yet, each with its salt."""
    known = {each.salt for each in uploads}
    salted = [(make_salt(change_id, place), each) for place, each in enumerate(files)]
    return [(salt, each) for salt, each in salted if salt not in known]


def forget_refused(uploads: Sequence[PictureUpload]) -> None:
    """Delete the refused uploads among these, after their sender has seen the reason. Raises CassandraUnavailable."""
    for each in uploads:
        if each.state == "refused":
            remove_upload(each)


def follow_pictures(post_id: UUID, now: datetime) -> bool:
    """Add ready pictures to a post, and delete the files of removed ones; return whether all is done.

    A post gets the pictures of a form all at once, in their order, when the worker has decoded the last one. It can be repeated after
    a crash at any point; one worker at a time calls it. Raises CassandraUnavailable, and the storage's errors.
    """
    uploads, post = list_uploads(post_id), queries.get_post(post_id)
    ready = sorted((each for each in uploads if each.state == "ready"), key=_place)
    is_waiting = any(each.state == "waiting" for each in uploads)
    if post and not post.is_gone and not post.is_complete and not is_waiting:
        try:
            post = _attach(post, ready, now)
        except (TextChanged, NoSuchPost):
            return False  # the next call starts from the changed post
    for upload in ready:
        if not _is_wanted(upload, post, now):
            _delete(upload.picture)
        if not _is_wanted(upload, post, now) or (post and upload.picture in post.own_pictures):
            remove_upload(upload)
        else:
            is_waiting = True
    if post and post.former_pictures:
        for picture in set(post.former_pictures) - set(post.own_pictures):
            _delete(picture)
        posts.forget_former_pictures(post)
    return not is_waiting


def _is_wanted(upload: PictureUpload, post: Post | None, now: datetime) -> bool:
    """Return whether a ready picture belongs to the post, or waits for its form, which had errors."""
    if post and (upload.picture in post.own_pictures):
        return True
    is_left = post and (post.is_gone or upload.picture in post.former_pictures)
    return not is_left and get_moment(upload.upload_id) > now - WAITS_FOR_POST


def _attach(post: Post, ready: Sequence[PictureUpload], now: datetime) -> Post:
    """Add new pictures to a post, where they wait for the staff. Refused ones are missing; those beyond the limit are deleted."""
    new = [each for each in ready if each.picture not in post.own_pictures]
    names = [each.picture for each in new]
    room = max(MAX_PICTURES - len(post.own_pictures), 0)
    alts = {**post.alts, **{each.picture: post.alts.get(each.salt, "") for each in new}}
    own = (*post.own_pictures, *names[:room])

    def attach(post: Post) -> Post:
        return replace(
            post,
            new_pictures=(*post.new_pictures, *names[:room]),
            former_pictures=(*post.former_pictures, *names[room:]),
            alts={name: alts[name] for name in own if name in alts},
            picture_count=len(own),
        )

    change_id = uuid5(post.post_id, f"pictures {post.version}")
    return posts.change_post(post.post_id, attach, seen=post.version, change_id=change_id, now=now)


def _place(upload: PictureUpload) -> tuple[datetime, int]:
    """Return what sorts uploads as they were sent: the time of their form, then the place in it."""
    return get_moment(upload.upload_id), int(upload.salt.rpartition(" ")[2] or 0)


def _delete(picture: str) -> None:
    if photo := parse_photo(picture):
        delete_photo(photo)
