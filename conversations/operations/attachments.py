"""Writes and reads of attachments: chunks of 1 MiB, each a partition.

A pending row is written first. It has the timestamp of the chunks, so the sweep of an upload that never became a message deletes
nothing that was stored again later. An id is made of the form and the content, so a repeated form stores the same rows.
"""

import hashlib
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Protocol
from uuid import UUID, uuid5

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cassandra_db import Row, current_microseconds, read, write
from catalogue.errors import DecoderFailed, PhotoRefused
from catalogue.photos import copy_picture, explain_refusal
from conversations import queries
from conversations.entities import Attachment
from conversations.errors import AttachmentMissing, AttachmentRefused
from conversations.file_types import FileType, find_type, fit_name
from conversations.rules import CHUNK_BYTES, MAX_ATTACHMENT_BYTES
from jobs.due_rows import DueRows
from jobs.registry import describe_count

CHUNK = read(
    "M4", "SELECT content FROM attachments WHERE attachment_id = :attachment_id AND chunk = :chunk"
)
INSERT_CHUNK = write(
    "M4",
    """INSERT INTO attachments (attachment_id, chunk, content) VALUES (:attachment_id, :chunk, :content)
       USING TIMESTAMP :written""",
)
DELETE_CHUNK = write(
    "M4",
    """DELETE FROM attachments USING TIMESTAMP :written
       WHERE attachment_id = :attachment_id AND chunk = :chunk""",
)
SELECT_PENDING = read(
    "M4",
    """SELECT hour, attachment_id, source_id, chunk_count, written FROM pending_attachments_by_hour
       WHERE hour = :hour""",
)
# The row is gone before the claim is, or a sweep after a month would take a message's file for one without a message.
INSERT_PENDING = write(
    "M4",
    """INSERT INTO pending_attachments_by_hour (hour, attachment_id, source_id, chunk_count, written)
       VALUES (:hour, :attachment_id, :source_id, :chunk_count, :written) USING TIMESTAMP :written AND TTL 2419200""",
)
DELETE_PENDING = write(
    "M4",
    """DELETE FROM pending_attachments_by_hour USING TIMESTAMP :written
       WHERE hour = :hour AND attachment_id = :attachment_id""",
)
# Until `wait` is over, the message may still be about to be sent. Each run reads the partitions since then again.
PENDING_UPLOADS = DueRows(
    job="attachments",
    label="attachment",
    select=SELECT_PENDING,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
    column="hour",
    length=timedelta(hours=1),
    wait=timedelta(hours=6),
    max_write_delay=timedelta(hours=7),
)


class OpenFile(Protocol):
    """A file that can be read more than once."""

    def read(self, size: int = -1, /) -> bytes: ...
    def seek(self, offset: int, /) -> int: ...


def store_attachment(file: OpenFile, *, name: str, source_id: UUID) -> Attachment:
    """Store a file of the message that the form or mail `source_id` will become. A repeat stores the same rows.

    A picture is stored as a copy without metadata. Raises AttachmentRefused, CassandraUnavailable.
    """
    kind = find_type(_iterate_chunks(file))
    name = fit_name(name, kind)
    if not kind.is_image:
        return _store(file, name, kind, source_id)
    with TemporaryDirectory() as folder:
        source = Path(folder, "source")
        file.seek(0)
        with source.open("wb") as target:
            shutil.copyfileobj(file, target, CHUNK_BYTES)
        try:
            copied = copy_picture(source, kind.suffixes[0], Path(folder))
        except PhotoRefused as error:
            raise AttachmentRefused(f"{name}: {error}") from error
        except DecoderFailed as error:
            raise AttachmentRefused(f"{name}: {explain_refusal('broken')}") from error
        with copied.open("rb") as content:
            return _store(content, name, kind, source_id)


def _iterate_chunks(file: OpenFile | IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _store(file: OpenFile | IO[bytes], name: str, kind: FileType, source_id: UUID) -> Attachment:
    digest, size = hashlib.sha256(), 0
    for chunk in _iterate_chunks(file):
        digest.update(chunk)
        size += len(chunk)
    if not size:
        raise AttachmentRefused(_("%(name)s: This file is empty.") % {"name": name})
    if size > MAX_ATTACHMENT_BYTES:
        most = MAX_ATTACHMENT_BYTES // 1024**2
        raise AttachmentRefused(
            _("%(name)s: This file has more than %(most)d MB.") % {"name": name, "most": most}
        )
    found = Attachment(
        uuid5(source_id, f"{digest.hexdigest()} {name}"),
        name,
        kind.content_type,
        size,
        digest.hexdigest(),
    )
    pending = PENDING_UPLOADS.note(
        attachment_id=found.attachment_id, source_id=source_id, chunk_count=_count_chunks(size)
    )
    for index, chunk in enumerate(_iterate_chunks(file)):
        INSERT_CHUNK.run(
            attachment_id=found.attachment_id,
            chunk=index,
            content=chunk,
            written=pending["written"],
        )
    return found


def _count_chunks(size: int) -> int:
    return -(-size // CHUNK_BYTES)


def iterate_content(attachment: Attachment) -> Iterator[bytes]:
    """Yield the chunks of an attachment; the next one is read while the caller works.

    Raises AttachmentMissing for a chunk that is gone, so that no half of a file looks whole; and CassandraUnavailable.
    """
    ident, count = attachment.attachment_id, _count_chunks(attachment.size)
    reading = CHUNK.start(attachment_id=ident, chunk=0)
    for index in range(count):
        row = reading.one()
        if row is None or row.content is None:
            raise AttachmentMissing(f"chunk {index} of attachment {ident}")
        if index + 1 < count:
            reading = CHUNK.start(attachment_id=ident, chunk=index + 1)
        yield row.content


def delete_attachment(attachment: Attachment) -> None:
    """Delete an attachment's chunks; a repeat changes nothing. Raises CassandraUnavailable."""
    _delete(attachment.attachment_id, _count_chunks(attachment.size), current_microseconds())


def _delete(attachment_id: UUID, chunk_count: int, written: int) -> None:
    for chunk in range(chunk_count):
        DELETE_CHUNK.run(attachment_id=attachment_id, chunk=chunk, written=written)


def sweep_attachments(now: datetime) -> str:
    """Delete the uploads that no message has, six hours after they were stored."""
    with PENDING_UPLOADS.sweep(now) as sweep:
        for rows in sweep.groups("attachment_id"):
            with sweep.handle(rows, rows[0].attachment_id):
                for row in rows:
                    if not _is_sent(row):
                        _delete(row.attachment_id, row.chunk_count, row.written)
    return describe_count(
        ngettext("%(count)s upload checked", "%(count)s uploads checked", sweep.count), sweep.count
    )


def _is_sent(row: Row) -> bool:
    """Return whether the upload's form became a message that has the file."""
    claim = queries.CLAIM.one(source_id=row.source_id)
    message = queries.get_message(claim.conversation_id, claim.message_id) if claim else None
    has = message.attachments if message else ()
    return any(each.attachment_id == row.attachment_id for each in has)
