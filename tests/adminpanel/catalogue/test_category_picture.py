"""The staff's page of a category's picture: uploaded, described, shown to shoppers, removed, put back."""

import re
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from adminpanel.catalogue.picture_forms import CategoryPictureForm
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import CategoryNode
from catalogue.errors import CategoryRefused
from tests.adminpanel.catalogue.test_pictures import make_photo
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.catalogue.photo_files import make_file
from tests.catalogue.reads import stored_category
from tests.factories import make_category, make_user, sign_in_staff
from tests.orders.crashes import kill_at_write, record_writes


def address(node: CategoryNode, name: str = "category_picture") -> str:
    return reverse(f"adminpanel:{name}", args=(node.category_id,))


def upload(client: Client, node: CategoryNode, *files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(address(node, "category_upload"), {"files": sent})


def decode(node: CategoryNode) -> list[str]:
    """Let the worker decode what waits for this category, and return the pictures that became of it."""
    for each in queries.list_uploads(node.category_id):
        if each.state == "waiting":
            operations.decode_upload(node.category_id, each.upload_id, current_time())
    return [each.picture for each in queries.list_uploads(node.category_id) if each.picture]


def typed(node: CategoryNode, picture: str, alt: str, **more: str) -> dict[str, Any]:
    """What the form of a picture's row would send as it is shown, with words typed anew."""
    form = CategoryPictureForm.of(stored_category(node), picture)
    return {name: form[name].value() for name in ("version", "picture")} | {"alt": alt} | more


def show(node: CategoryNode, alt: str) -> str:
    """Show the category by a photo."""
    picture, seen = make_photo(), operations.fingerprint_category_picture(stored_category(node))
    operations.save_category_picture(node.category_id, picture, alt, seen)
    return picture


def test_x146_an_uploaded_picture_is_described_and_shown_where_the_drawing_was() -> None:
    user = make_user("Cleo", role="catalogue")
    cleo = sign_in_staff(Client(), user)
    parent = make_category("Lamps")
    node = make_category("Table lamps", parent=parent)
    answer = upload(cleo, node, ("a.jpg", make_file(width=500, shade=uuid4().int)), ("b.jpg", b"x"))
    assert (answer.status_code, answer["Location"]) == (303, address(node))
    assert cleo.get(address(node)).content.decode().count("Being prepared") == 2
    (picture,) = decode(node)
    page = cleo.get(address(node)).content.decode()
    assert "This isn’t a JPEG" in page
    # Without words nothing is shown, and what is shown already stays.
    answer = cleo.post(address(node), typed(node, picture, " "))
    assert (answer.status_code, stored_category(node).picture) == (422, "mug/c8724c-efeae0")
    assert "Enter the alt text" in answer.content.decode()
    sent = typed(node, picture, "A lamp beside a bed")
    for _sent_twice in range(2):
        assert cleo.post(address(node), sent).status_code == 303
    assert (stored_category(node).picture, stored_category(node).picture_alt) == (
        picture,
        "A lamp beside a bed",
    )
    assert [each.state for each in queries.list_uploads(node.category_id)] == ["refused"]
    shopper = Client()
    front = shopper.get("/").content.decode()
    tile = re.search(rf'class="tile" href="/c/{node.slug}/">(.*?)</a>', front)
    assert tile
    assert 'type="image/avif"' in tile[1]
    assert 'alt="A lamp beside a bed" width="500"' in tile[1]
    page = shopper.get(reverse("category", args=(parent.slug,))).content.decode()
    assert "image/webp" in page.partition('class="chips"')[2].partition("</nav>")[0]
    # Its other fields are saved without it.
    kept = stored_category(node)
    seen = operations.fingerprint_category(kept)
    operations.save_category(
        category_id=kept.category_id,
        slug=kept.slug,
        name="Lights",
        parent_id=parent.category_id,
        seen=seen,
    )
    assert (stored_category(node).picture, stored_category(node).picture_alt) == (
        kept.picture,
        kept.picture_alt,
    )
    entry = next(
        each
        for each in list_entries_this_month(user)
        if each.act == "adminpanel:category_picture" and each.changes
    )
    assert "A lamp beside a bed" in str(entry.changes)


def test_x146_a_picture_is_replaced_removed_and_put_back(cleo: Client) -> None:
    node = make_category("Rugs")
    first = show(node, "A rug")
    upload(cleo, node, ("a.jpg", make_file(shade=uuid4().int)))
    (second,) = decode(node)
    for sent, expected in (
        (typed(node, second, "Another rug"), (second, "Another rug")),
        (typed(node, second, "") | {"remove": "1"}, ("", "")),
    ):
        sent["version"] = operations.fingerprint_category_picture(stored_category(node))
        before = stored_category(node)
        answer = cleo.post(address(node), sent)
        assert (stored_category(node).picture, stored_category(node).picture_alt) == expected
        page = cleo.get(answer["Location"]).content.decode()
        notice = page.partition("The former picture was removed.")[0]
        back = dict(re.findall(r'name="(version|picture|alt)" value="([^"]*)"', notice))
        cleo.post(address(node), {name: unescape(text) for name, text in back.items()})
        assert (stored_category(node).picture, stored_category(node).picture_alt) == (
            before.picture,
            before.picture_alt,
        )
        # What was put back can be exchanged again.
        sent["version"] = operations.fingerprint_category_picture(stored_category(node))
        assert cleo.post(address(node), sent).status_code == 303
    assert "No picture yet" in cleo.get(address(node)).content.decode()
    # A token of another category puts nothing back.
    other = make_category("Mats")
    token = answer["Location"].partition("?")[2]
    assert "former picture" not in cleo.get(f"{address(other)}?{token}").content.decode()
    assert "former picture" not in cleo.get(f"{address(other)}?former=x").content.decode()
    assert first
    # Of those that wait some are discarded.
    upload(cleo, node, *((f"{n}.jpg", make_file(shade=uuid4().int)) for n in range(2)))
    decode(node)
    for each in queries.list_uploads(node.category_id):
        cleo.post(address(node), {"dismiss": str(each.upload_id)})
    assert queries.list_uploads(node.category_id) == []


def test_x146_of_two_who_change_a_picture_the_later_sees_both_states(cleo: Client) -> None:
    node = make_category("Rugs")
    first = show(node, "A rug")
    late, removes = typed(node, first, "My rug"), typed(node, first, "A rug", remove="1")
    theirs = show(node, "Their rug")
    answer = cleo.post(address(node), late)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Their rug" in text
    assert 'value="My rug"' in text
    assert cleo.post(address(node), removes).status_code == 409
    assert stored_category(node).picture == theirs
    found = re.search(r'form="([^"]+)" name="overwrite" value="([^"]+)"', text)
    assert found
    assert f'id="{found[1]}"' in text
    assert cleo.post(address(node), late | {"overwrite": found[2]}).status_code == 303
    assert (stored_category(node).picture, stored_category(node).picture_alt) == (first, "My rug")


def test_s89_a_category_is_shown_by_nothing_but_what_was_uploaded_for_it(cleo: Client) -> None:
    node, other = make_category("Rugs"), make_category("Mats")
    before = stored_category(node).picture
    theirs = typed(other, make_photo(), "Theirs") | {"version": typed(node, before, "")["version"]}
    for sent in (theirs, theirs | {"picture": make_photo()}, theirs | {"picture": "javascript:x"}):
        answer = cleo.post(address(node), sent)
        assert answer.status_code == 422
        assert "This picture no longer exists." in answer.content.decode()
    too_long = cleo.post(address(node), typed(node, make_photo(), "x" * 251))
    assert (too_long.status_code, "x" * 251 in too_long.content.decode()) == (422, True)
    assert stored_category(node).picture == before
    seen = operations.fingerprint_category_picture(stored_category(node))
    for picture, alt in (("../x", "Words"), (make_photo(), " "), (make_photo(), "x" * 251)):
        with pytest.raises(CategoryRefused):
            operations.save_category_picture(node.category_id, picture, alt, seen)
    files = [(f"{n}.jpg", b"x") for n in range(10)]
    for taken, told in (
        ([], "Choose a file."),
        ([*files, files[0]], "Choose at most 10 files at once."),
        (files, ""),
        (files[:1], "Up to 10 pictures can wait here"),
    ):
        answer = upload(cleo, node, *taken)
        assert answer.status_code == (422 if told else 303)
        assert told in answer.content.decode()
    bob = sign_in_staff(Client(), make_user("Bob", role="warehouse"))
    assert upload(bob, other, *files).status_code == 403
    page = cleo.post(address(other), {"file": SimpleUploadedFile("a.jpg", b"x")})
    assert page.status_code == 400, "the page itself takes no files"
    gone = reverse("adminpanel:category_picture", args=(uuid4(),))
    assert [cleo.get(gone).status_code, cleo.post(gone, {"alt": "x"}).status_code] == [404, 404]


def test_x146_a_picture_whose_saving_is_cut_off_at_any_write_is_shown_or_waits(
    cleo: Client,
) -> None:
    def prepare() -> tuple[CategoryNode, dict[str, Any], str]:
        node = make_category("Rugs")
        file = SimpleUploadedFile("a.jpg", make_file(width=100, height=100))
        operations.add_upload(node.category_id, file, current_time())
        (picture,) = decode(node)
        return node, typed(node, picture, "A rug"), picture

    def in_catalogue(text: str) -> bool:
        return "categories" in text or "picture_uploads" in text

    node, sent, _picture = prepare()
    writes = record_writes(lambda: cleo.post(address(node), sent))
    writes = [each for each in writes if in_catalogue(each.tables)]
    assert [each.tables for each in writes] == ["categories", "picture_uploads"]
    for target in writes:
        node, sent, picture = prepare()
        assert kill_at_write(target, lambda node=node, sent=sent: cleo.post(address(node), sent))  # type: ignore[misc]
        is_shown = stored_category(node).picture == picture
        assert is_shown == (target is writes[1]), target
        assert is_shown == (stored_category(node).picture_alt == "A rug")
        # The page shows each picture once, and the form that is sent again ends it.
        assert cleo.get(address(node)).content.decode().count('name="alt"') == 2 - is_shown
        assert cleo.post(address(node), sent).status_code == 303
        assert (stored_category(node).picture, queries.list_uploads(node.category_id)) == (
            picture,
            [],
        )
