"""The form of a post: pictures, products, tags, and what is wrong with them."""

from random import Random
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid1, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from cassandra_db import current_time
from catalogue.errors import MediaUnavailable
from catalogue.operations import decode_upload
from catalogue.queries import list_uploads
from moderation.states import HELD, PUBLISHED
from posts import pictures, queries
from posts.entities import Post
from posts.operations.posts import publish_post, refuse_post
from posts.time_ids import make_form_id
from tests.catalogue.photo_files import make_file
from tests.factories import make_order, make_product, make_user
from tests.posts.posting import publish
from tests.reads import existing

_random = Random()


@pytest.fixture
def client() -> Client:
    return Client(REMOTE_ADDR=f"198.51.{_random.randrange(256)}.{_random.randrange(256)}")


@pytest.fixture
def ann(client: Client) -> User:
    user = make_user("Ann Lee")
    client.force_login(user)
    return user


def file(shade: int = 0, name: str = "jug.jpg", raw: bytes = b"") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, raw or make_file(width=120, height=100, shade=shade))


def address(post_id: UUID) -> str:
    return reverse("posts:write", args=(post_id,))


def send(client: Client, post_id: UUID, *files: SimpleUploadedFile, **fields: Any) -> Any:
    form = {
        "body": f"My jug {uuid4().hex}",
        "tags": "",
        "version": "0",
        "operation": str(uuid4()),
        "pictures": list(files),
    } | fields
    return client.post(address(post_id), form)


def refused(answer: Any, status: int = 422) -> str:
    assert answer.status_code == status
    return str(answer.content.decode())


def own(post_id: UUID) -> Post:
    return existing(queries.get_post(post_id))


def work(post_id: UUID) -> None:
    """What the worker does with the pictures of one post."""
    for each in list_uploads(post_id):
        decode_upload(post_id, each.upload_id, current_time())
    pictures.follow_pictures(post_id, current_time())


def decide(post_id: UUID, act: Any, *args: str) -> Post:
    post = own(post_id)
    act(post_id, *args, seen=post.version, change_id=uuid4(), now=current_time())
    return own(post_id)


def test_x418_a_post_is_written_waits_and_is_changed(client: Client, ann: User) -> None:
    jug, bowl = make_product("Jug"), make_product("Bowl")
    chosen = [f"{each.product_id.hex}.{each.variants[0].variant_id.hex}" for each in (jug, bowl)]
    start = client.get(reverse("posts:new"))["Location"]
    post_id = UUID(start.split("/")[-2])
    page = client.get(start).content.decode()
    assert ('enctype="multipart/form-data"' in page, "Share post" in page) == (True, True)
    form = {
        "operation": str(uuid4()),
        "body": "In the morning",
        "tags": "#Clay, breakfast clay",
        "products": chosen,
        "new_alt_0": "A jug on a table",
    }
    for _twice in range(2):
        answer = send(client, post_id, file(1), file(2), **form)
        assert (answer.status_code, answer["Location"]) == (303, start)
    page = client.get(start).content.decode()
    assert page.count("Being prepared") == 2
    work(post_id)
    post = own(post_id)
    assert (post.state, post.held_for, post.version) == (HELD, "pictures", 2)
    assert post.tags == ("clay", "breakfast")
    assert [each.product_id for each in post.products] == [jug.product_id, bowl.product_id]
    first, second = post.own_pictures
    assert [post.alts[each] for each in (first, second)] == ["A jug on a table", "Jug and Bowl"]
    headers = {"HX-Request": "true", "X-Refreshes-Itself": "1"}
    part = client.get(start, headers=headers).content.decode()
    assert "Your pictures are ready" in part
    assert "<html" not in part
    decide(post_id, publish_post)
    # An edit keeps it public, and the words of a picture are changed with it.
    fields = {f"alt:{first}": "My jug", "remove": second, "version": "3", "products": chosen[:1]}
    assert send(client, post_id, **fields)["Location"] == f"/posts/{post_id}/"
    post = own(post_id)
    assert (post.state, post.pictures, post.alts) == (PUBLISHED, (first,), {first: "My jug"})
    stale = refused(send(client, post_id, body="Second thoughts", version="3"), 409)
    assert (post.body in stale, "Second thoughts" in stale) == (True, True)
    decide(post_id, refuse_post, "It shows a person.")
    assert "It shows a person." in client.get(start).content.decode()
    version = str(own(post_id).version)
    delete = reverse("posts:withdraw", args=(post_id,))
    for _twice in range(2):
        answer = client.post(delete, {"version": version, "operation": str(uuid4())})
        assert (answer.status_code, answer["Location"]) == (303, reverse("posts:own"))
    assert own(post_id).is_gone
    assert client.get(start).status_code == 404


def test_x418_what_is_wrong_is_told_beside_its_field_and_nothing_is_lost(
    client: Client, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id = make_form_id(ann.user_id)
    product = make_product("Jug")
    ticked = f"{product.product_id.hex}.{product.variants[0].variant_id.hex}"
    for files, fields, sentence in (
        ([], {}, "Choose a picture"),
        ([file(each) for each in range(9)], {}, "A post has at most 8 pictures."),
        ([SimpleUploadedFile("empty.jpg", b"")], {}, "A file that you chose is empty."),
        ([], {"body": ""}, "Enter a text"),
        ([], {"body": "x" * 10_000}, "Enter a text of up to 5,000 characters"),
        ([], {"tags": " ".join(f"t{each}" for each in range(11))}, "Enter at most 10 tags"),
        ([], {"tags": "x" * 31}, "Enter tags of at most 30 characters"),
        ([], {"tags": "a&b"}, "Use letters, digits and hyphens"),
        (
            [],
            {"products": [f"{uuid4().hex}.{uuid4().hex}" for _ in range(11)]},
            "Choose at most 10 products",
        ),
        ([], {"products": "jug"}, "Choose the products again"),
    ):
        sent = {"body": "Typed words", "tags": "typed-tag", "products": ticked} | fields
        page = refused(send(client, post_id, *files, **sent))
        assert sentence in page, sentence
        for name in {"body", "tags"} - fields.keys():
            assert str(sent[name]) in page, sentence
        if "products" not in fields:
            assert f'value="{ticked}"' in page
    assert (queries.get_post(post_id), list_uploads(post_id)) == (None, [])
    # The files of a form whose text is wrong are taken: a browser cannot send them again by itself.
    form = {"operation": str(uuid4())}
    page = refused(send(client, post_id, file(1), body="", **form))
    assert "Being prepared" in page
    assert form["operation"] not in page
    assert send(client, post_id, body="Now right").status_code == 303
    work(post_id)
    assert len(own(post_id).new_pictures) == 1
    send(client, post_id, file(raw=b"no picture"), version="2")
    work(post_id)
    page = client.get(address(post_id)).content.decode()
    assert "This isn’t a JPEG, PNG, WebP or AVIF picture." in page
    monkeypatch.setattr("posts.pictures.add_upload", Mock(side_effect=MediaUnavailable))
    answer = send(client, post_id, file(3), version=str(own(post_id).version))
    assert "can’t be taken in at the moment" in refused(answer)


def test_x418_a_strangers_post_or_an_address_of_ones_own_making_is_not_found(
    client: Client, ann: User
) -> None:
    theirs = publish()
    for post_id in (uuid1(), uuid4(), make_form_id(uuid4()), theirs.post_id):
        assert client.get(address(post_id)).status_code == 404
        assert send(client, post_id, file(1)).status_code == 404
        assert list_uploads(post_id) == []
        sent = {"version": "1", "operation": str(uuid4())}
        assert client.post(reverse("posts:withdraw", args=(post_id,)), sent).status_code == 404
    assert own(theirs.post_id) == theirs
    assert client.post(reverse("posts:withdraw", args=(theirs.post_id,))).status_code == 404


def test_x418_products_are_chosen_from_orders_or_by_a_search(
    client: Client, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_order(user_id=ann.user_id)
    found = make_product("Ladle")
    value = f"{found.product_id.hex}.{found.variants[0].variant_id.hex}"
    url, choices = address(make_form_id(ann.user_id)), reverse("posts:product_choices")
    page = client.get(url).content.decode()
    assert order.number not in page
    assert page.count('name="products"') == 1
    card = Mock(product_id=found.product_id, picture=found.picture_of(found.variants[0]))
    monkeypatch.setattr("posts.shop_products.search_products", lambda *_: Mock(cards=[card]))
    part = client.get(choices, {"find_products": "ladle"}, headers={"HX-Request": "true"})
    text = part.content.decode()
    assert f'value="{value}"' in text
    assert "checked" not in text
    # Without scripts the button sends the whole form, which comes back with all that was typed.
    answer = client.post(
        url,
        {
            "body": "Typed words",
            "find_products": "ladle",
            "find": "1",
            "products": value,
            "version": "0",
            "operation": str(uuid4()),
        },
    )
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Typed words" in page
    assert "checked" in page
    assert "There is a problem" not in page
