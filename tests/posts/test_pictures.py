"""Pictures of posts: sent with the form, decoded by the worker, and deleted when no post shows them."""

from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from cassandra_db import current_time
from catalogue.operations import decode_upload
from catalogue.photos import parse_photo
from catalogue.queries import list_uploads
from moderation.states import HELD
from posts import pictures, queries
from posts.entities import Post, PostInput
from posts.jobs import has_urgent
from posts.operations import posts as operations
from posts.pictures import follow_pictures, make_salt, refuse_files, take_in_files
from posts.rules import MAX_PICTURES
from posts.time_ids import make_form_id
from tests.catalogue.photo_files import make_file
from tests.factories import make_user
from tests.orders.crashes import kill_in
from tests.posts.posting import run_worker
from tests.reads import existing


@pytest.fixture
def ann() -> User:
    return make_user("Ann Lee")


def file(shade: int, raw: bytes | None = None) -> SimpleUploadedFile:
    content = make_file(width=120, height=100, shade=shade) if raw is None else raw
    return SimpleUploadedFile(f"{shade}.jpg", content)


def send(ann: User, *files: SimpleUploadedFile, post: Post | None = None, **said: Any) -> Post:
    """What the form does; each file's description is its place."""
    post_id, form = post.post_id if post else make_form_id(ann.user_id), uuid4()
    take_in_files(post_id, files, list_uploads(post_id), form, current_time())
    alts = dict(post.alts) if post else {}
    alts |= {make_salt(form, place): f"Picture {place}" for place in range(len(files))}
    return operations.write_post(
        post_id,
        ann,
        PostInput(body="My mug", alts=alts),
        seen=post.version if post else 0,
        change_id=form,
        now=current_time(),
        **said,
    )


def decode(post_id: UUID) -> None:
    for each in list_uploads(post_id):
        decode_upload(post_id, each.upload_id, current_time())


def work(post_id: UUID, now: datetime | None = None) -> Post:
    """What the worker does."""
    decode(post_id)
    follow_pictures(post_id, now or current_time())
    return existing(queries.get_post(post_id))


def has_files(picture: str) -> bool:
    photo = parse_photo(picture)
    assert photo
    (found,) = {default_storage.exists(name) for name in photo.list_file_names()}
    return found


def test_x454_a_post_gets_its_pictures_in_order_when_the_last_one_is_decoded(ann: User) -> None:
    sent = send(ann, file(1), file(2), file(3))
    assert (sent.picture_count, sent.queued_at) == (3, None)
    assert has_urgent(current_time())
    first = list_uploads(sent.post_id)[-1]
    decode_upload(sent.post_id, first.upload_id, current_time())
    assert not follow_pictures(sent.post_id, current_time())
    assert existing(queries.get_post(sent.post_id)).own_pictures == ()
    complete = work(sent.post_id)
    assert [complete.alts[each] for each in complete.new_pictures] == [
        "Picture 0",
        "Picture 1",
        "Picture 2",
    ]
    assert (complete.state, complete.is_waiting, complete.queued_at is None) == (HELD, True, False)
    assert list_uploads(sent.post_id) == []
    assert all(map(has_files, complete.new_pictures))
    kept, *removed = complete.new_pictures
    edited = send(ann, file(4), post=complete, removed=removed)
    assert (edited.own_pictures, edited.picture_count) == ((kept,), 2)
    last = work(sent.post_id)
    assert last.new_pictures[0] == kept
    assert [last.alts[each] for each in last.new_pictures] == ["Picture 0", "Picture 0"]
    assert (last.former_pictures, [has_files(each) for each in removed]) == ((), [False, False])


def test_x454_a_refused_picture_does_not_hold_up_the_others(ann: User) -> None:
    sent = send(ann, file(1, b"no picture"), file(2), file(3, b""))
    assert sent.picture_count == 2, "an empty file is refused at once"
    complete = work(sent.post_id)
    assert (len(complete.new_pictures), complete.picture_count) == (1, 1)
    assert complete.alts[complete.new_pictures[0]] == "Picture 1"
    assert complete.queued_at
    refused = list_uploads(sent.post_id)
    assert [each.state for each in refused] == ["refused", "refused"]
    assert all(each.reason for each in refused), "the author reads why"
    pictures.forget_refused(refused)
    assert work(sent.post_id) == complete
    alone = send(ann, file(1, b"no picture"))
    assert (work(alone.post_id).picture_count, work(alone.post_id).queued_at) == (0, None)


def test_x454_pictures_wait_a_day_for_a_form_with_errors_and_beyond_eight_none_is_taken(
    ann: User,
) -> None:
    post_id, form = make_form_id(ann.user_id), uuid4()
    for _twice in range(2):
        take_in_files(post_id, [file(1)], list_uploads(post_id), form, current_time())
    assert len(list_uploads(post_id)) == 1
    decode(post_id)
    assert not follow_pictures(post_id, current_time())
    written = operations.write_post(
        post_id, ann, PostInput(body="Now"), seen=0, change_id=form, now=current_time()
    )
    assert (written.picture_count, len(work(post_id).new_pictures)) == (1, 1)
    left = make_form_id(ann.user_id)
    take_in_files(left, [file(2)], [], uuid4(), current_time())
    decode(left)
    (upload,) = list_uploads(left)
    assert follow_pictures(left, current_time() + timedelta(days=2))
    assert (list_uploads(left), has_files(upload.picture)) == ([], False)
    files = [file(each) for each in range(MAX_PICTURES)]
    assert not refuse_files(files, 0, [], form)
    assert refuse_files(files, 1, [], form)
    assert refuse_files(files[:1], MAX_PICTURES - 1, [upload], form)


@pytest.mark.parametrize("name", ["remove_upload", "_delete"])
def test_x454_killed_between_the_writes_no_picture_is_lost_or_shown_twice(
    name: str, ann: User
) -> None:
    sent = send(ann, file(1), file(2))
    if name == "_delete":
        before = work(sent.post_id)
        send(ann, file(3), post=before, removed=before.new_pictures[:1])
    decode(sent.post_id)
    kill_in(pictures, name, lambda: follow_pictures(sent.post_id, current_time()))
    after = work(sent.post_id)
    assert len(set(after.own_pictures)) == len(after.own_pictures) == 2
    assert all(map(has_files, after.own_pictures))
    assert (after.former_pictures, list_uploads(sent.post_id)) == ((), [])


def test_x454_the_files_of_a_deleted_post_are_deleted(ann: User) -> None:
    post = work(send(ann, file(1)).post_id)
    send(ann, file(2), post=post)
    decode(post.post_id)
    uploads = [each.picture for each in list_uploads(post.post_id)]
    present = existing(queries.get_post(post.post_id))
    with patch.object(operations, "refresh_post"):
        operations.withdraw_post(
            post.post_id, seen=present.version, change_id=uuid4(), now=current_time()
        )
    run_worker(post.post_id)
    assert [has_files(each) for each in (*post.new_pictures, *uploads)] == [False, False]
    assert existing(queries.get_post(post.post_id)).former_pictures == ()
