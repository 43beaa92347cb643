"""Files of messages: stored in chunks, named by what they are, given to whom they belong."""

import gc
import tracemalloc
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import cast
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import ValidationError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.test import Client
from django.urls import reverse
from PIL import Image

import conversations.operations.attachments as module
from cassandra_db import current_time
from conversations.attachment_views import send_attachment
from conversations.entities import Attachment
from conversations.errors import AttachmentRefused
from conversations.file_types import OTHER, PDF, TEXT, find_type, fit_name
from conversations.operations import messages
from conversations.operations.attachments import (
    CHUNK,
    INSERT_CHUNK,
    PENDING_UPLOADS,
    delete_attachment,
    iterate_content,
    store_attachment,
    sweep_attachments,
)
from conversations.rules import CHUNK_BYTES, MAX_ATTACHMENT_BYTES
from conversations.states import CUSTOMER, NOTE
from conversations.tokens import conversation_token
from conversations.uploads import MessageFilesField, store_files
from jobs.leases import hold_lease, save_position
from tests.catalogue.photo_files import (
    make_file,
    make_flat_file,
    make_moving_file,
    make_telltale_file,
    make_zip,
)
from tests.conversations.mailboxes import customer_of, guest, new_message, start
from tests.factories import make_user
from tests.orders.crashes import Killed
from tests.rules import for_each

LATER = timedelta(hours=8)


def store(
    content: bytes = b"Some text", name: str = "a.txt", source_id: UUID | None = None
) -> Attachment:
    return store_attachment(BytesIO(content), name=name, source_id=source_id or uuid4())


def read(attachment: Attachment) -> bytes:
    return b"".join(iterate_content(attachment))


def is_stored(attachment: Attachment) -> bool:
    return CHUNK.one(attachment_id=attachment.attachment_id, chunk=0) is not None


def send_with(
    files: tuple[Attachment, ...], source_id: UUID, kind: str = CUSTOMER
) -> tuple[UUID, UUID]:
    """Send a message with files into a new conversation; return both ids."""
    ident = start(guest())
    new = replace(new_message("Look", kind, source_id), attachments=files)
    return ident, messages.send_message(ident, new, current_time())


def sweep(monkeypatch: pytest.MonkeyPatch, *own: Attachment) -> None:
    """Run the job now, and again eight hours later, on these uploads alone."""
    ids = {each.attachment_id for each in own}
    list_rows = type(PENDING_UPLOADS).list_rows
    with monkeypatch.context() as patch:
        patch.setattr(
            type(PENDING_UPLOADS),
            "list_rows",
            lambda table, hours: [
                row for row in list_rows(table, hours) if row.attachment_id in ids
            ],
        )
        with hold_lease("attachments"):
            save_position("attachments", (current_time() - timedelta(hours=1)).isoformat())
            sweep_attachments(current_time())
            sweep_attachments(current_time() + LATER)


# A name, what is in the file; the name and the type that it gets.
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
FILES = [
    ("page.html", b"<script>alert(1)</script>", "page.html.txt", TEXT.content_type),
    ("logo.svg", SVG, "logo.svg.txt", TEXT.content_type),
    ("photo.jpg", SVG, "photo.txt", TEXT.content_type),
    ("run.bat", b"del *", "run.bat.txt", TEXT.content_type),
    ("list.csv", "a;ü".encode(), "list.csv", TEXT.content_type),
    ("setup.exe", b"MZ\x90\x00\x03", "setup.exe.bin", OTHER.content_type),
    ("invoice.pdf", b"MZ\x90\x00\x03", "invoice.bin", OTHER.content_type),
    ("invoice.exe", b"%PDF-1.7 \xff", "invoice.exe.pdf", PDF.content_type),
    ("a.docx", make_zip(), "a.docx", OTHER.content_type),
    ("a.jar", make_zip(), "a.jar.zip", OTHER.content_type),
    ("half.txt", b"\xc3", "half.bin", OTHER.content_type),
    ("..\\..\\x\u202etxt.\x00exe", b"a\x00", "xtxt.exe.bin", OTHER.content_type),
    ("", b"text", "file.txt", TEXT.content_type),
    ('a"; x="%2F.txt', b"text", "a_; x=__2F.txt", TEXT.content_type),
    ("\udcff.txt", b"text", "txt.txt", TEXT.content_type),
    ("y" * 300 + ".txt", b"text", "y" * 96 + ".txt", TEXT.content_type),
]


@for_each(FILES, at_least=16)
def test_s117_a_file_is_what_its_content_says(file: tuple[str, bytes, str, str]) -> None:
    name, content, fitting, content_type = file
    kind = find_type(iter([content]))
    assert (fit_name(name, kind), kind.content_type) == (fitting, content_type)


def test_x380_a_picture_is_stored_anew_without_what_else_its_file_has() -> None:
    stored = store(make_telltale_file(), "me.png")
    assert (stored.name, stored.content_type, stored.is_image) == ("me.jpg", "image/jpeg", True)
    content = read(stored)
    assert b"elltale" not in content
    with Image.open(BytesIO(content)) as shown:
        assert (shown.format, shown.size) == ("JPEG", (300, 400)), "upright"
    assert len(content) == stored.size
    for kind, width, height in (("PNG", 90, 900), ("WEBP", 30, 30)):
        stored = store(make_file(kind, width, height), "x")
        with Image.open(BytesIO(read(stored))) as shown:
            assert (shown.format, shown.size) == (kind, (width, height)), "of any shape"
    bad = [make_flat_file(20_000, 20_000), make_moving_file(), make_file()[:200], make_file() + SVG]
    for content in bad:
        with pytest.raises(AttachmentRefused, match=r"^bad\.(jpg|png|webp): .+\.$"):
            store(content, "bad")


def test_x380_a_file_of_25_mb_passes_through_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def insert(**values: object) -> None:
        INSERT_CHUNK.run(**values)
        gc.collect()  # what the driver no longer needs

    monkeypatch.setattr(module, "INSERT_CHUNK", Mock(run=insert))
    path = tmp_path / "large"
    with path.open("wb") as target:
        for number in range(25):
            target.write(bytes([number]) * CHUNK_BYTES)
    source_id = uuid4()
    gc.collect()
    gc.freeze()  # the rest of the suite is not looked at again
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            stored = store_attachment(file, name="large.txt", source_id=source_id)
        assert stored.size == MAX_ATTACHMENT_BYTES
        digits = []
        for chunk in iterate_content(stored):
            digits.append((len(chunk), chunk[0]))
            gc.collect()
        assert tracemalloc.get_traced_memory()[1] < 10 * CHUNK_BYTES
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert digits == [(CHUNK_BYTES, number) for number in range(25)]
    with path.open("ab") as target:
        target.write(b"x")
    with path.open("rb") as file, pytest.raises(AttachmentRefused, match="25 MB"):
        store_attachment(file, name="large.txt", source_id=source_id)
    with pytest.raises(AttachmentRefused, match="empty"):
        store(b"")
    delete_attachment(stored)
    assert not is_stored(stored)


def test_x381_uploads_without_a_message_are_swept_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent_id, twice_id = uuid4(), uuid4()
    sent, lost = store(source_id=sent_id), store(b"lost")
    with hold_lease("attachments"):
        sweep_attachments(current_time())
    assert is_stored(lost), "its form may still be under way"
    send_with((sent,), sent_id)
    other = store(b"chosen, then taken out", source_id=sent_id)
    # The form was sent, failed, and is sent again while the sweep runs: the same row, later.
    again = store(b"again", source_id=twice_id)

    def store_again(*_: object) -> bool:
        store(b"again", source_id=twice_id)
        return False

    with monkeypatch.context() as patch:
        patch.setattr(module, "_is_sent", store_again)
        sweep(monkeypatch, again)
    assert is_stored(again)
    send_with((again,), twice_id)
    sweep(monkeypatch, sent, lost, other, again)
    assert [is_stored(each) for each in (sent, lost, other, again)] == [True, False, False, True]
    sweep(monkeypatch, sent, again)
    assert is_stored(sent)


def test_x381_a_repeat_stores_the_same_and_a_crash_leaves_what_the_sweep_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source_id = uuid4()
    assert store(source_id=source_id) == store(source_id=source_id)
    assert store(source_id=source_id) != store()
    monkeypatch.setattr(module, "INSERT_CHUNK", Mock(run=Mock(side_effect=Killed)))
    with pytest.raises(Killed):
        store(b"killed", source_id=source_id)
    hour = PENDING_UPLOADS.find_partition(current_time())
    found = [row for row in PENDING_UPLOADS.list_rows([hour]) if row.source_id == source_id]
    assert len(found) == 2


def test_s117_a_customers_own_link_or_login_opens_a_file_and_no_others() -> None:
    user, source_id, guests_id = make_user(), uuid4(), uuid4()
    file, guests = store(source_id=source_id), store(source_id=guests_id)
    ident = start(customer_of(user))
    new = replace(new_message("Look", CUSTOMER, source_id), attachments=(file,))
    message_id = messages.send_message(ident, new, current_time())
    guest_ids = send_with((guests,), guests_id)
    own = reverse("conversations:file", args=(ident, message_id, file.attachment_id))
    token = conversation_token(guest_ids[0])
    linked = reverse("conversations:guest_file", args=(token, guest_ids[1], guests.attachment_id))
    member, stranger, nobody = Client(), Client(), Client()
    member.force_login(user)
    stranger.force_login(make_user("Eve"))
    assert [each.get(own).status_code for each in (member, stranger, nobody)] == [200, 404, 302]
    assert [each.get(linked).status_code for each in (stranger, nobody)] == [200, 200]
    assert "no-store" in nobody.get(linked)["Cache-Control"]
    assert nobody.get(linked.replace(token, token[:-1])).status_code == 404
    others = reverse("conversations:guest_file", args=(token, message_id, file.attachment_id))
    assert nobody.get(others).status_code == 404
    assert member.post(own).status_code == 405


def answer_of(*ids: UUID, for_staff: bool = False) -> HttpResponse:
    return send_attachment(ids[0], ids[1], ids[2], for_staff=for_staff)


def test_s117_only_pictures_are_shown_and_all_else_is_a_download() -> None:
    source_id = uuid4()
    files = tuple(
        store(content, name, source_id)
        for name, content in (("ü.jpg", make_file()), ("page.html", SVG), ("a.pdf", b"%PDF-1\xff"))
    )
    ids = send_with(files, source_id)
    for file, shown in zip(files, ("inline", "attachment", "attachment"), strict=True):
        answer = answer_of(*ids, file.attachment_id)
        assert answer["Content-Disposition"].startswith(f"{shown}; filename")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Type"] == file.content_type
        content = b"".join(cast("StreamingHttpResponse", answer))
        assert len(content) == file.size == int(answer["Content-Length"])
    assert (
        "filename*=utf-8''%C3%BC.jpg"
        in answer_of(*ids, files[0].attachment_id)["Content-Disposition"]
    )


def test_s117_a_file_is_found_by_its_own_message_alone() -> None:
    source_id, note_id = uuid4(), uuid4()
    file, secret = store(source_id=source_id), store(b"secret", source_id=note_id)
    ident, message_id = send_with((file,), source_id)
    others = send_with((secret,), note_id, NOTE)
    for ids in (
        (ident, message_id, secret.attachment_id),
        (ident, others[1], file.attachment_id),
        (others[0], message_id, file.attachment_id),
        (ident, uuid4(), file.attachment_id),
        (*others, secret.attachment_id),
    ):
        with pytest.raises(Http404):
            answer_of(*ids)
    assert answer_of(*others, secret.attachment_id, for_staff=True).status_code == 200
    delete_attachment(file)
    with pytest.raises(Http404):
        answer_of(ident, message_id, file.attachment_id)


def test_x380_a_form_takes_ten_files_of_25_mb_together() -> None:
    def clean(*sizes: int) -> list[object]:
        files = [SimpleUploadedFile("a.txt", b"x" * min(size, 9)) for size in sizes]
        for file, size in zip(files, sizes, strict=True):
            file.size = size
        return list(MessageFilesField().clean(files))

    assert clean() == []
    assert len(clean(*[9] * 10)) == 10
    for sizes, reason in (
        ([1] * 11, "at most 10 files"),
        ([9, 0], "empty"),
        ([MAX_ATTACHMENT_BYTES, 1], "at most 25 MB together"),
    ):
        with pytest.raises(ValidationError, match=reason):
            clean(*sizes)
    files = [SimpleUploadedFile("a.txt", b"first"), SimpleUploadedFile("b.txt", b"second")]
    assert [each.name for each in store_files(files, uuid4())] == ["a.txt", "b.txt"]
