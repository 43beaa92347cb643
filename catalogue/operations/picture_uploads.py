"""Uploaded picture files: stored raw until the worker has decoded them, then ready for a category or a review, or on their product.

After a crash, a raw file without an upload is deleted after a day, and a row of `waiting_uploads` without an upload is dropped.
An upload whose decoding was cut off is decoded again, at most MAX_ATTEMPTS times.
"""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePath
from uuid import UUID, uuid4

from cassandra.util import datetime_from_uuid1, uuid_from_time
from django.core.files import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from cassandra_db import REFUSED_MEANS_DONE, SEND_AGAIN, conditional_write, write
from catalogue import queries
from catalogue.entities import PictureUpload
from catalogue.errors import (
    DecoderFailed,
    MediaUnavailable,
    PhotoRefused,
    ProductChanged,
    ProductRefused,
)
from catalogue.operations.products import add_picture
from catalogue.photos import MAX_PHOTO_BYTES, take_in_photo
from jobs.rows import guard_row
from web.text import clean_text

INCOMING = "incoming"
# For how long a raw file waits for a worker.
RAW_DURATION = timedelta(days=1)
# After this time, a process that wrote the waiting row has also written the upload, or has died.
_NOTED = timedelta(minutes=10)
MAX_ATTEMPTS = 3
# The salt of pictures that keep their transparency: logos, which stand on the page's own colour.
CLEAR = "clear"
MAX_FILE_NAME_LENGTH = 200
NOTE_WAITING = write(
    "Q1",
    "INSERT INTO waiting_uploads_by_day (day, upload_id, product_id) VALUES (:day, :upload_id, :product_id)",
)
FORGET_WAITING = write(
    "Q1", "DELETE FROM waiting_uploads_by_day WHERE day = :day AND upload_id = :upload_id"
)
INSERT_UPLOAD = conditional_write(
    "Q1",
    """INSERT INTO picture_uploads (product_id, upload_id, file_name, incoming, state, tries, reason, salt)
       VALUES (:product_id, :upload_id, :file_name, :incoming, :state, 0, :reason, :salt) IF NOT EXISTS""",
)
NOTE_TRY = conditional_write(
    "Q1",
    """UPDATE picture_uploads SET tries = :tries WHERE product_id = :product_id AND upload_id = :upload_id
       IF state = 'waiting' AND tries = :seen""",
)
FINISH_UPLOAD = conditional_write(
    "Q1",
    """UPDATE picture_uploads SET state = :state, picture = :picture, reason = :reason
       WHERE product_id = :product_id AND upload_id = :upload_id IF state = 'waiting'""",
)
DELETE_UPLOAD = conditional_write(
    "Q1",
    """DELETE FROM picture_uploads WHERE product_id = :product_id AND upload_id = :upload_id
       IF state IN ('ready', 'refused')""",
)


def add_upload(
    owner_id: UUID,
    file: "File[bytes]",
    now: datetime,
    *,
    max_bytes: int = MAX_PHOTO_BYTES,
    salt: str = "",
) -> PictureUpload:
    """Store an uploaded file of a product, a category or a review for the worker. An empty or too large file is refused at once.

    With a salt, no other upload shares the picture's files. Raises MediaUnavailable, CassandraUnavailable.
    """
    name = clean_text(PurePath(file.name or "").name)[-MAX_FILE_NAME_LENGTH:]
    reason = _refuse_size(file.size, max_bytes)
    upload = PictureUpload(
        owner_id,
        uuid_from_time(now),
        name,
        "" if reason else f"{INCOMING}/{uuid4().hex}",
        "refused" if reason else "waiting",
        reason=reason,
        salt=salt,
    )
    if not reason:
        try:
            default_storage.save(upload.incoming, file)
        except Exception as error:  # each storage raises its own errors
            raise MediaUnavailable from error
        NOTE_WAITING.run(day=_day(upload.upload_id), **upload.key)
    INSERT_UPLOAD.apply(
        if_lost=REFUSED_MEANS_DONE,
        **upload.key,
        file_name=name,
        incoming=upload.incoming,
        state=upload.state,
        reason=reason,
        salt=salt,
    )
    return upload


def _refuse_size(size: int, most: int) -> str:
    if not size:
        return _("This file is empty.")
    if size > most:
        return _("This file has more than %(most)d MB. Make the picture smaller.") % {
            "most": most // (1024 * 1024)
        }
    return ""


def remove_upload(upload: PictureUpload) -> None:
    """Delete a decoded or refused upload. Its files stay, because other uploads may share them. Raises CassandraUnavailable."""
    DELETE_UPLOAD.apply(if_lost=SEND_AGAIN, **upload.key)


def decode_upload(owner_id: UUID, upload_id: UUID, now: datetime) -> bool:
    """Decode a waiting upload, or clean up after an interrupted decoding; return whether the upload is finished.

    A product's picture is put on its product.
    Raises CassandraUnavailable, DecoderFailed, OSError and other errors of the storage. The upload then keeps waiting.
    """
    upload = queries.get_upload(owner_id, upload_id)
    if upload is None:
        if _uploaded_at(upload_id) < now - _NOTED:
            FORGET_WAITING.run(day=_day(upload_id), upload_id=upload_id)
        return False
    picture = _finish(upload, now) if upload.state == "waiting" else upload.picture
    if upload.incoming:
        default_storage.delete(upload.incoming)
    # Pictures of reviews, posts and the brand have salts.
    if picture and not upload.salt:
        _put_on_product(upload, picture, now)
    FORGET_WAITING.run(day=_day(upload_id), upload_id=upload_id)
    return True


def _put_on_product(upload: PictureUpload, picture: str, now: datetime) -> None:
    """Put a decoded picture on its product, if the owner is one. If the product refuses it, its page of pictures still offers it."""
    with suppress(ProductChanged, ProductRefused):
        add_picture(upload.owner_id, picture, now)
        remove_upload(upload)


def _finish(upload: PictureUpload, now: datetime) -> str:
    """Decode an upload, store its result, and return the picture; "" if the file is refused."""
    picture, reason = "", ""
    try:
        picture = _take_in(upload, _read_raw(upload, now))
    except PhotoRefused as refused:
        reason = str(refused)
    FINISH_UPLOAD.apply(
        if_lost=SEND_AGAIN,
        **upload.key,
        state="refused" if reason else "ready",
        picture=picture,
        reason=reason,
    )
    return picture


def _read_raw(upload: PictureUpload, now: datetime) -> bytes:
    """Return the uploaded bytes. Raises PhotoRefused if the raw file was deleted after a day. Also raises OSError."""
    try:
        with default_storage.open(upload.incoming) as file:
            raw: bytes = file.read()
    except FileNotFoundError as error:
        if _uploaded_at(upload.upload_id) > now - RAW_DURATION:
            # The file is too new to have been deleted: this host uses another folder, or has none at the moment.
            raise
        raise PhotoRefused(_("This file is gone. Upload it again.")) from error
    return raw


def _take_in(upload: PictureUpload, raw: bytes) -> str:
    """Decode an upload unless MAX_ATTEMPTS are used up, and return the picture.

    An upload at which the worker or the decoder died MAX_ATTEMPTS times is refused. Raises PhotoRefused, DecoderFailed, OSError
    and other errors of the storage.
    """
    if upload.tries >= MAX_ATTEMPTS:
        raise PhotoRefused(_("This picture can’t be read. Export it again."))
    NOTE_TRY.apply(if_lost=SEND_AGAIN, **upload.key, tries=upload.tries + 1, seen=upload.tries)
    try:
        is_clear = upload.salt == CLEAR
        return str(take_in_photo(raw, upload.file_name, upload.salt, is_clear=is_clear))
    except (PhotoRefused, DecoderFailed):
        raise
    except Exception:
        # The picture did not cause the storage's error, so the attempt does not count.
        NOTE_TRY.apply(if_lost=SEND_AGAIN, **upload.key, tries=upload.tries, seen=upload.tries + 1)
        raise


def sweep_incoming(now: datetime) -> int:
    """Delete the raw files that have waited for a day; return their number. Raises errors of the storage."""
    try:
        _folders, names = default_storage.listdir(INCOMING)
    except FileNotFoundError:
        return 0
    count = 0
    for name in names:
        with guard_row(f"raw file {name}"), suppress(FileNotFoundError):
            path = f"{INCOMING}/{name}"
            if default_storage.get_modified_time(path) < now - RAW_DURATION:
                default_storage.delete(path)
                count += 1
    return count


def _uploaded_at(upload_id: UUID) -> datetime:
    found: datetime = datetime_from_uuid1(upload_id)
    return found.replace(tzinfo=UTC)


def _day(upload_id: UUID) -> date:
    return _uploaded_at(upload_id).date()
