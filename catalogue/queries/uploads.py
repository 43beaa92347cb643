"""Read uploaded pictures and their results."""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from cassandra_db import PendingResult, Row, read
from catalogue.entities import PictureUpload

# Q1: the uploads of a product, a category or a review, and the uploads that the worker has to decode.
UPLOADS = read(
    "Q1",
    """SELECT product_id, upload_id, file_name, incoming, state, tries, picture, reason, salt FROM picture_uploads
       WHERE product_id = :product_id LIMIT :most""",
)
UPLOAD = read(
    "Q1",
    """SELECT product_id, upload_id, file_name, incoming, state, tries, picture, reason, salt FROM picture_uploads
       WHERE product_id = :product_id AND upload_id = :upload_id""",
)
WAITING_UPLOADS = read(
    "Q1", "SELECT upload_id, product_id FROM waiting_uploads_by_day WHERE day = :day LIMIT :most"
)
MAX_UPLOADS = 100


def list_uploads(owner_id: UUID) -> list[PictureUpload]:
    """Return the uploads of the last week for a product, a category or a review, oldest first. Raises CassandraUnavailable."""
    return uploads_from_rows(prefetch_uploads(owner_id).rows())


def prefetch_uploads(owner_id: UUID) -> PendingResult:
    """Start reading the uploads of the last week for a product, a category or a review, for `uploads_from_rows`."""
    return UPLOADS.start(product_id=owner_id, most=MAX_UPLOADS)


def uploads_from_rows(rows: Sequence[Row]) -> list[PictureUpload]:
    """Return the uploads that these rows store, oldest first."""
    return [_upload(row) for row in reversed(rows) if row.state]


def get_upload(owner_id: UUID, upload_id: UUID) -> PictureUpload | None:
    """Return an upload, or None. Raises CassandraUnavailable."""
    row = UPLOAD.one(product_id=owner_id, upload_id=upload_id)
    return _upload(row) if row and row.state else None


def list_waiting_uploads(days: Sequence[date], most: int) -> list[Row]:
    """Return rows (upload_id, product_id) of waiting uploads, added on these days. Raises CassandraUnavailable."""
    reading = [WAITING_UPLOADS.start(day=day, most=most) for day in days]
    return [row for pending in reading for row in pending.rows()]


def _upload(row: Row) -> PictureUpload:
    return PictureUpload(
        row.product_id,
        row.upload_id,
        row.file_name or "",
        row.incoming or "",
        row.state,
        row.tries or 0,
        row.picture or "",
        row.reason or "",
        row.salt or "",
    )
