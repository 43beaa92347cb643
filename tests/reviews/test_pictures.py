"""Pictures of reviews: sent with the form, decoded by the worker, shown once the staff have seen them, deleted when they are taken out."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from cassandra_db import CassandraUnavailable, current_time, statements
from cassandra_db.configuration import WRITE
from catalogue.entities import Product
from catalogue.errors import MediaUnavailable
from catalogue.operations import decode_upload
from catalogue.photos import parse_photo
from catalogue.queries import get_products, list_uploads
from consistency.findings import Scope
from consistency.runner import check_consistency
from jobs.due_rows import Sweep
from moderation.rules import ReviewRules
from moderation.states import HELD, PUBLISHED
from orders.queries import list_items
from reviews import operations, pictures, queries
from reviews.entities import Review
from reviews.jobs import finish_reviews, has_pictures
from reviews.links import guest_token
from reviews.privacy import erase_personal_data, export_personal_data
from tests.catalogue.photo_files import make_file
from tests.factories import make_order, make_user, sign_in_staff
from web.personal_data import DataSubject


@pytest.fixture
def ann(client: Client) -> User:
    user = make_user("Ann Lee")
    client.force_login(user)
    return user


def address(product: Product, name: str = "write") -> str:
    return reverse(f"reviews:{name}", args=(product.slug,))


def file(shade: int = 0, name: str = "jug.jpg", raw: bytes = b"") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, raw or make_file(width=120, height=100, shade=shade))


def send(client: Client, product: Product, *files: SimpleUploadedFile, **fields: Any) -> Any:
    form = {
        "stars": "4",
        "title": "Good jug",
        "body": f"It pours well. {uuid4().hex}",
        "version": "0",
        "operation": str(uuid4()),
        "pictures": list(files),
    } | fields
    return client.post(address(product), form)


def own(product: Product, user_id: UUID) -> Review:
    found = queries.get_review(product.product_id, user_id)
    assert found
    return found


def list_open(product: Product, user_id: UUID) -> list[str]:
    owner = pictures.picture_owner(product.product_id, user_id)
    return [each.state for each in list_uploads(owner)]


def work(product: Product, user_id: UUID, now: datetime | None = None) -> None:
    """What the worker does: decode the uploads of one person alone, and give the review its pictures."""
    now = now or current_time()
    owner = pictures.picture_owner(product.product_id, user_id)
    for each in list_uploads(owner):
        decode_upload(owner, each.upload_id, now)
    pictures.follow_pictures(product.product_id, user_id, now)


def publish(review: Review) -> Review:
    return operations.publish_review(
        review.product_id,
        review.user_id,
        seen=review.version,
        change_id=uuid4(),
        now=current_time(),
    )


def has_files(picture: str) -> bool:
    photo = parse_photo(picture)
    assert photo
    found = {default_storage.exists(name) for name in photo.list_file_names()}
    assert len(found) == 1, "all or none"
    return found.pop()


def find_violations(product: Product) -> list[str]:
    scope = Scope(products=frozenset([product.product_id]))
    rules = ("I37", "I38", "I39", "I41")
    return [str(each) for each in check_consistency(scope, rules, recheck_after=()).violations]


def test_x244_pictures_are_shown_once_the_staff_have_seen_them(
    client: Client, product: Product, ann: User
) -> None:
    page = client.get(address(product)).content.decode()
    assert 'enctype="multipart/form-data"' in page
    answer = send(client, product, file(1), file(2))
    assert answer.url == address(product), "where its pictures are seen to become ready"
    assert own(product, ann.user_id).state == PUBLISHED, "the text does not wait for them"
    page = client.get(address(product)).content.decode()
    assert page.count("Being prepared") == 2
    assert has_pictures(current_time())
    work(product, ann.user_id)
    review = own(product, ann.user_id)
    assert (len(review.new_pictures), review.pictures, review.held_for) == (2, (), "pictures")
    assert list_open(product, ann.user_id) == []
    part = client.get(
        address(product), headers={"HX-Request": "true", "X-Refreshes-Itself": "1"}
    ).content.decode()
    assert "Your pictures are ready" in part
    assert "<html" not in part
    shop_list = reverse("reviews:list", args=(product.slug,))
    assert "review-pictures" not in Client().get(shop_list).content.decode()
    assert review.new_pictures[0][6:38] in client.get(address(product)).content.decode()
    # A word is changed meanwhile: the text stays where it is, the pictures wait on.
    send(client, product, version=str(review.version), title="Very good jug")
    review = own(product, ann.user_id)
    assert (review.state, review.held_for, len(review.new_pictures)) == (PUBLISHED, "pictures", 2)
    staff = sign_in_staff(Client(), make_user("Sam", role="support"))
    assert "New pictures" in staff.get(reverse("adminpanel:reviews")).content.decode()
    where = (product.product_id, ann.user_id)
    detail = reverse("adminpanel:review", args=where)
    assert staff.get(detail).content.decode().count("review-pictures") == 1
    first, second = review.new_pictures
    remove = reverse("adminpanel:review_picture_remove", args=where)
    form = {"picture": first, "version": str(review.version), "operation": str(uuid4())}
    for _twice in range(2):
        assert staff.post(remove, form).status_code in (302, 303)
    assert staff.post(remove, form | {"operation": str(uuid4())}).status_code == 409
    assert staff.post(remove, {}).status_code == 422
    review = own(product, ann.user_id)
    assert review.new_pictures == (second,)
    form = {"act": "publish", "version": str(review.version), "operation": str(uuid4())}
    assert staff.post(reverse("adminpanel:review_decide", args=where), form).status_code in (
        *(302, 303),
    )
    review = own(product, ann.user_id)
    assert (review.pictures, review.new_pictures, review.held_for) == ((second,), (), "")
    for shown in (shop_list, reverse("product", args=(product.slug,))):
        assert second[6:38] in Client().get(shown).content.decode(), shown
    work(product, ann.user_id)
    assert (has_files(first), has_files(second)) == (False, True)
    assert find_violations(product) == []


def test_x245_files_that_are_no_pictures_too_many_or_too_large_are_told_beside_the_field(
    client: Client, product: Product, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for files, sentence in (
        ([file(each) for each in range(7)], "A review has at most 6 pictures."),
        ([file(raw=b"x" * (pictures.MAX_PICTURE_BYTES + 1))], "has more than 10 MB"),
        ([SimpleUploadedFile("empty.jpg", b"")], "A file that you chose is empty."),
    ):
        answer = send(client, product, *files, title="Kept words")
        page = answer.content.decode()
        assert answer.status_code == 422
        assert sentence in page
        assert "Kept words" in page
    assert list_open(product, ann.user_id) == []
    # The files of a form whose text is wrong are taken: a browser cannot send them again by itself.
    form = {"operation": str(uuid4())}
    answer = send(client, product, file(1), stars="", **form)
    assert answer.status_code == 422
    assert "Being prepared" in answer.content.decode()
    assert form["operation"] not in answer.content.decode()
    assert list_open(product, ann.user_id) == ["waiting"]
    send(client, product, file(raw=b"no picture"))
    work(product, ann.user_id)
    assert len(own(product, ann.user_id).new_pictures) == 1
    page = client.get(address(product)).content.decode()
    assert "This isn’t a JPEG, PNG, WebP or AVIF picture." in page
    owner = pictures.picture_owner(product.product_id, ann.user_id)
    (refused,) = list_uploads(owner)
    send(client, product, version="2", read=str(refused.upload_id))
    assert list_uploads(owner) == []
    monkeypatch.setattr("reviews.pictures.add_upload", Mock(side_effect=MediaUnavailable))
    answer = send(client, product, file(3), version="3")
    assert answer.status_code == 422
    assert "can’t be taken in at the moment" in answer.content.decode()


def test_x246_a_form_that_is_sent_twice_brings_its_pictures_once(
    client: Client, product: Product, ann: User
) -> None:
    form = {"operation": str(uuid4()), "body": "It pours well, and holds a litre."}
    for _twice in range(2):
        assert send(client, product, file(1), file(1), file(2), **form).status_code in (302, 303)
    assert len(list_open(product, ann.user_id)) == 3
    for _twice in range(2):
        work(product, ann.user_id)
    review = own(product, ann.user_id)
    assert len(review.new_pictures) == 3
    # With six of them there is room for no more, also of another tab.
    more = [file(each) for each in range(3, 7)]
    last = file(7)
    assert send(client, product, *more, version=str(review.version)).status_code == 422
    for each in more:
        each.seek(0)
    send(client, product, *more[:3], version=str(review.version))
    assert send(client, product, last, version="3").status_code == 422
    work(product, ann.user_id)
    assert len(own(product, ann.user_id).new_pictures) == 6


def test_x246_more_pictures_than_there_is_room_for_are_deleted(
    client: Client, product: Product, ann: User
) -> None:
    send(client, product)
    uploads = [file(each) for each in range(8)]
    # As if two tabs had sent them at the same moment: neither knew of the other's.
    for half in (uploads[:4], uploads[4:]):
        pictures.take_in_files(product.product_id, ann.user_id, half, [], uuid4(), current_time())
    work(product, ann.user_id)
    review = own(product, ann.user_id)
    assert (len(review.new_pictures), review.former_pictures) == (6, ())


def test_x247_what_is_taken_out_withdrawn_or_never_sent_is_deleted(
    client: Client, product: Product, ann: User
) -> None:
    ben = make_user("Ben")
    bens = Client()
    bens.force_login(ben)
    for each in (client, bens):
        send(each, product, file(1), file(2))
    for user in (ann, ben):
        work(product, user.user_id)
        publish(own(product, user.user_id))
    review, other = own(product, ann.user_id), own(product, ben.user_id)
    first, second = review.pictures
    send(client, product, version=str(review.version), remove=[first, other.pictures[0]])
    review = own(product, ann.user_id)
    assert (review.pictures, review.former_pictures) == ((second,), (first,))
    assert find_violations(product) == []
    work(product, ann.user_id)
    assert (has_files(first), has_files(second)) == (False, True)
    assert all(map(has_files, other.pictures)), "of another one, though the file was the same"
    client.post(
        address(product, "withdraw"), {"version": review.version, "operation": str(uuid4())}
    )
    work(product, ann.user_id)
    assert not has_files(second)
    # Sent with a form whose text was never right.
    send(client, product, file(5), stars="")
    work(product, ann.user_id)
    owner = pictures.picture_owner(product.product_id, ann.user_id)
    (ready,) = list_uploads(owner)
    assert has_files(ready.picture)
    work(product, ann.user_id, current_time() + timedelta(days=2))
    assert not has_files(ready.picture)
    assert list_uploads(owner) == []


def test_x247_x265_erasing_a_person_deletes_the_pictures_with_the_text(
    client: Client, product: Product, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for keeps in (True, False):
        user = make_user("Eve")
        client.force_login(user)
        send(client, product, file(1))
        work(product, user.user_id)
        review = publish(own(product, user.user_id))
        # The staff have not seen this one.
        send(client, product, file(2), version=str(review.version))
        work(product, user.user_id)
        (unseen,) = own(product, user.user_id).new_pictures
        person = DataSubject(user.user_id, user.email, user.name)
        (exported,) = export_personal_data(person)["reviews"]
        assert review.pictures[0][6:38] in exported["pictures"][0]
        monkeypatch.setattr(
            "reviews.privacy.get_review_rules",
            lambda keeps=keeps: ReviewRules(keeps_erased_texts=keeps),
        )
        erase_personal_data(person, current_time())
        nobody = operations.erased_id(review.review_id)
        work(product, nobody)
        left = own(product, nobody)
        assert left.pictures == (review.pictures if keeps else ())
        assert has_files(review.pictures[0]) == keeps
        assert (left.new_pictures, left.held_for, has_files(unseen)) == ((), "", False)
    assert find_violations(product) == []


def test_x248_a_guest_sends_pictures_by_the_link_of_a_mail() -> None:
    order = make_order(email=f"{uuid4().hex}@example.com")
    (item,) = list_items(order)
    product = get_products([item.product_id])[item.product_id]
    guest = Client()
    where = reverse("reviews:write_as_guest", args=(guest_token(order.order_id), product.slug))
    form = {
        "stars": "5",
        "title": "Good jug",
        "body": f"It pours well. {uuid4().hex}",
        "version": "0",
        "operation": str(uuid4()),
        "pictures": [file(1)],
    }
    assert guest.post(where, form).status_code in (302, 303)
    (guest_id, *_) = queries.guest_ids(order.email)
    work(product, guest_id)
    assert len(own(product, guest_id).new_pictures) == 1


def test_x249_pictures_that_a_crash_cuts_off_become_the_reviews_or_are_deleted(
    client: Client, product: Product, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(client, product, file(1))
    work(product, ann.user_id)
    publish(own(product, ann.user_id))
    review = own(product, ann.user_id)
    (first,) = review.pictures
    send(client, product, file(2), version=str(review.version), remove=[first])
    owner = pictures.picture_owner(product.product_id, ann.user_id)
    for upload in list_uploads(owner):
        decode_upload(owner, upload.upload_id, current_time())
    count = 0

    def cut(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            nonlocal count
            if getattr(args[0], "profile", WRITE) == WRITE:
                if count <= 0:
                    raise CassandraUnavailable("cut off")
                count -= 1
            return function(*args, **options)

        return run

    for cut_after in range(24):
        count = cut_after
        with monkeypatch.context() as patch, suppress(CassandraUnavailable):
            patch.setattr(statements.Statement, "start", cut(statements.Statement.start))
            for name in ("remove_upload", "delete_photo"):
                patch.setattr(pictures, name, cut(getattr(pictures, name)))
            patch.setattr(operations, "apply_batch", cut(operations.apply_batch))
            patch.setattr(
                operations, "forget_former_pictures", cut(operations.forget_former_pictures)
            )
            pictures.follow_pictures(product.product_id, ann.user_id, current_time())
    now = current_time()
    table = operations.PENDING_REVIEWS
    partitions = table.list_partitions(now - timedelta(minutes=2), now)
    finish_reviews(Sweep(table, partitions, now), now)
    review = own(product, ann.user_id)
    assert (len(review.new_pictures), review.former_pictures) == (1, ())
    assert not has_files(first)
    assert list_uploads(owner) == []
    assert find_violations(product) == []


def test_x249_pictures_of_a_held_review_are_published_with_it(
    client: Client, product: Product, ann: User
) -> None:
    send(client, product, file(1), body="Cheaper at www.example.org, look there.")
    work(product, ann.user_id)
    review = own(product, ann.user_id)
    assert (review.state, review.held_for, len(review.new_pictures)) == (HELD, "links", 1)
    review = publish(review)
    assert (len(review.pictures), review.held_for) == (1, "")


def test_i41_the_check_finds_and_mends_files_that_nobody_deletes(
    client: Client, product: Product, ann: User
) -> None:
    send(client, product, file(1))
    work(product, ann.user_id)
    review = own(product, ann.user_id)
    (gone,) = review.new_pictures
    operations.remove_picture(
        product.product_id,
        ann.user_id,
        gone,
        seen=review.version,
        change_id=uuid4(),
        now=current_time(),
    )
    now = current_time()
    for row in operations.PENDING_REVIEWS.list_between(now - timedelta(minutes=2), now):
        if row.product_id == product.product_id:
            operations.PENDING_REVIEWS.clear(row._asdict())
    (found,) = find_violations(product)
    assert "I41" in found
    scope = Scope(products=frozenset({product.product_id}))
    assert check_consistency(scope, ("I41",), repair=True, recheck_after=()).is_clean
    assert not has_files(gone)
    assert find_violations(product) == []
