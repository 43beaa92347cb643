"""The staff's page of a product's pictures: uploaded, decoded by the worker, described, put in order, removed, put back."""

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
import time_machine
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from cassandra_db import current_time
from catalogue import jobs, operations, photos, queries, rules
from catalogue.entities import PictureUpload, Product, ProductPicture
from catalogue.errors import DecoderFailed
from catalogue.operations import picture_uploads
from catalogue.photos import Photo
from catalogue.rules import MAX_PICTURES
from catalogue.search_index import READER, build_index
from catalogue.variants import fingerprint_pictures
from storefront import choices
from tests.adminpanel.catalogue import product_page
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.catalogue.photo_files import make_file, make_zip
from tests.catalogue.reads import stored
from tests.factories import make_product, make_user, sign_in_staff
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes


def address(product: Product, name: str = "product_pictures") -> str:
    return reverse(f"adminpanel:{name}", args=(product.product_id,))


def make_photo() -> str:
    """The text of a photo; it has no files."""
    return str(Photo(uuid4().hex, 1600, 1200))


def show(product: Product, *alts: str) -> Product:
    """Put photos on a product's page."""
    pictures = [ProductPicture(make_photo(), alt) for alt in alts]
    shown, seen = (
        {each.picture for each in product.pictures},
        fingerprint_pictures(product.pictures),
    )
    return operations.save_pictures(
        product.product_id, [*product.pictures, *pictures], shown, seen, current_time()
    )


def upload(client: Client, product: Product, *files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(address(product, "product_upload"), {"files": sent})


def decode(product: Product) -> list[PictureUpload]:
    """Let the worker decode what waits for this product, and return the uploads that are left."""
    for each in queries.list_uploads(product.product_id):
        if each.state == "waiting":
            operations.decode_upload(product.product_id, each.upload_id, current_time())
    return queries.list_uploads(product.product_id)


def typed(product: Product, *new: str, **changes: Any) -> dict[str, Any]:
    """What the page's form would send as it is shown, with some fields typed anew."""
    pictures = [*(each.picture for each in product.pictures), *new]
    lines = {f"line_{number}": each.alt for number, each in enumerate(product.pictures)}
    version = fingerprint_pictures(product.pictures)
    return {"version": version, "picture": pictures, "act": "save"} | lines | changes


def alts(product: Product) -> list[str]:
    return [each.alt for each in stored(product).pictures]


def test_x101_uploads_are_decoded_by_the_worker_shown_and_described() -> None:
    user = make_user("Cleo", role="catalogue")
    cleo = sign_in_staff(Client(), user)
    product = make_product("Mug", listed=True)
    files = [(f"{n}.jpg", make_file(width=500, shade=uuid4().int)) for n in range(2)]
    answer = upload(cleo, product, *files, ("broken.jpg", files[0][1][:500]), ("empty.png", b""))
    assert (answer.status_code, answer["Location"]) == (303, address(product))
    page = cleo.get(address(product)).content.decode()
    assert page.count("Being prepared") == 3
    assert "This file is empty." in page
    part = cleo.get(address(product), headers={"HX-Request": "true", "X-Refreshes-Itself": "1"})
    assert 'hx-trigger="every 2s"' in part.content.decode()
    assert jobs.has_uploads(current_time())
    waiting = queries.list_uploads(product.product_id)
    uploads = decode(product)
    assert [each.state for each in uploads] == ["refused"] * 2
    page = cleo.get(address(product)).content.decode()
    assert "This file is damaged, incomplete or too complex." in page
    assert "every 2s" not in page
    assert not any(default_storage.exists(each.incoming) for each in waiting if each.incoming)
    assert alts(product) == ["", ""]
    long = typed(stored(product), line_0="A mug from the side", line_1="x" * 251)
    answer = cleo.post(address(product), long)
    assert answer.status_code == 422
    assert "A mug from the side" in answer.content.decode()
    sent = typed(stored(product), line_0="A mug from the side", line_1="From above")
    assert cleo.post(address(product), sent).status_code == 303
    assert alts(product) == ["A mug from the side", "From above"]
    # Sent twice it is nothing new.
    assert cleo.post(address(product), sent).status_code in (303, 409)
    assert alts(product) == ["A mug from the side", "From above"]
    for each in uploads:
        cleo.post(address(product), {"dismiss": str(each.upload_id)})
    assert queries.list_uploads(product.product_id) == []
    entry = next(
        each
        for each in list_entries_this_month(user)
        if each.act == "adminpanel:product_pictures"
        and each.subject == str(product.product_id)
        and each.changes
    )
    assert "From above" in str(entry.changes)


def test_x101_what_cannot_be_taken_is_said_beside_the_field_or_the_file(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = make_product("Mug")
    for files, told in (
        ((), "Choose a file."),
        ([(f"{n}.jpg", b"x") for n in range(11)], "Choose at most 10 files at once."),
    ):
        answer = upload(cleo, product, *files)
        assert answer.status_code == 422
        assert told in answer.content.decode()
    full = show(make_product("Jug"), *("Jug" for _ in range(MAX_PICTURES - 1)))
    two = [(f"{n}.jpg", b"x") for n in range(2)]
    answer = upload(cleo, full, *two)
    assert answer.status_code == 422
    assert "at most 50 pictures" in answer.content.decode()
    assert upload(cleo, full, two[0]).status_code == 303
    assert upload(cleo, full, two[0]).status_code == 422, "one that waits counts as well"
    large = b"x" * (photos.MAX_PHOTO_BYTES + 1)
    polyglot = make_file() + make_zip()
    upload(cleo, product, ("large.jpg", large), ("../../more.jpg", polyglot), ("a.svg", b"<svg/>"))
    decode(product)
    page = cleo.get(address(product)).content.decode()
    for name, told in (
        ("large.jpg", "more than 15 MB"),
        ("more.jpg", "contains more than a picture"),
        ("a.svg", "isn’t a JPEG, PNG, WebP or AVIF"),
    ):
        assert re.search(rf"{re.escape(name)}.{{0,40}}: [^<]*{told}", page), name
    assert "../" not in page
    monkeypatch.setattr(default_storage, "save", Mock(side_effect=OSError("the disk is full")))
    upload(cleo, product, ("good.jpg", make_file()))
    assert "Try again later" in cleo.get(address(product)).content.decode()


def test_x102_pictures_are_moved_removed_and_put_back(cleo: Client) -> None:
    product = make_product("Mug", options={"Colour": ["Olive", "Oat"]})
    product = show(product, "One", "Two", "Three")
    first = product.pictures[0].picture
    chosen = product_page.typed(product, {"variant-1-picture": "1"})
    assert cleo.post(address(product, "product"), chosen).status_code == 303
    assert stored(product).variants[1].picture == first
    # What was typed beside another one is saved with the move.
    cleo.post(address(product), typed(product, act=f"down {first}", line_2="Third"))
    assert alts(product) == ["Two", "One", "Third"]
    product = stored(product)
    cleo.post(address(product), typed(product, act=f"up {product.pictures[2].picture}"))
    assert alts(product) == ["Two", "Third", "One"]
    # X148: dragged, it is sent with its place.
    for place, expected in ((1, "One Two Third"), (3, "Two Third One"), (0, "Two Third One")):
        cleo.post(address(product), typed(stored(product), act=f"to-{place} {first}"))
        assert " ".join(alts(product)) == expected
    product = stored(product)
    answer = cleo.post(address(product), typed(product, act=f"remove {first}"))
    assert alts(product) == ["Two", "Third"]
    assert stored(product).variants[1].picture == ""
    page = cleo.get(answer["Location"]).content.decode()
    found = re.search(r'name="undo" value="([^"]+)"', page)
    assert found
    for _sent_twice in range(2):
        cleo.post(address(product), {"undo": found[1]})
    assert alts(product) == ["Two", "Third", "One"]
    assert stored(product).variants[1].picture == first
    assert 'name="undo"' not in cleo.get(answer["Location"]).content.decode()
    other = make_product("Jug")
    cleo.post(address(other), {"undo": found[1]})
    cleo.post(address(other), {"undo": "nonsense"})
    assert alts(other) == []


def test_x501_a_typed_number_is_that_of_the_picture_which_the_page_showed(cleo: Client) -> None:
    product = show(make_product("Mug", options={"Colour": ["Olive", "Oat"]}), "One", "Two", "Three")
    _one, two, three = (each.picture for each in product.pictures)
    chosen = product_page.typed(product, {"variant-0-picture": "2"})
    cleo.post(address(product), typed(product, act=f"up {two}"))
    assert cleo.post(address(product, "product"), chosen).status_code == 303
    product = stored(product)
    assert product.variants[0].picture == two
    chosen = product_page.typed(product, {"variant-1-picture": "3"})
    cleo.post(address(product), typed(product, act=f"remove {three}"))
    refused = cleo.post(address(product, "product"), chosen)
    assert refused.status_code == 422
    assert "This picture was removed" in refused.content.decode()


def test_x504_a_picture_is_shown_with_its_products_name_until_its_alt_text_is_confirmed(
    cleo: Client,
) -> None:
    product = make_product("Mug", options={"Colour": ["Olive", "Oat"], "Size": ["S", "M"]})
    first, second = (make_photo() for _ in range(2))
    for picture in (first, second, first):
        operations.add_picture(product.product_id, picture, current_time())
    # Both sizes in oat have the second picture.
    operations.save_product(
        replace_pictures_of_variants(stored(product), "", "", second, second), current_time()
    )
    product = stored(product)
    assert [each.picture for each in product.pictures] == [first, second]
    assert choices.describe_look(product, product.variants[0], first) == "Mug"
    assert choices.describe_look(product, product.variants[0], second) == "Mug, Oat"
    page = cleo.get(address(product)).content.decode()
    assert page.count("Alt text to confirm") == 2
    assert 'value="Mug, Oat"' in page
    # Whoever sorts the pictures does not confirm what was suggested; whoever saves does.
    offered = {"line_0": "Mug", "line_1": "Mug, Oat"}
    cleo.post(address(product), typed(product, **offered, act=f"down {first}"))
    assert alts(product) == ["", ""]
    product = stored(product)
    assert product.pictures[0].picture == second
    cleo.post(address(product), typed(product, line_0="Mug, Oat", line_1="A green mug"))
    assert alts(product) == ["Mug, Oat", "A green mug"]
    assert "Alt text to confirm" not in cleo.get(address(product)).content.decode()
    # An empty text waits again.
    cleo.post(address(product), typed(stored(product), line_0=""))
    assert alts(product) == ["", "A green mug"]


def test_x504_alt_texts_to_confirm_are_counted_and_listed(tmp_path: Path) -> None:
    product, other = make_product("Mug"), make_product("Jug")
    operations.add_picture(product.product_id, make_photo(), current_time())
    products = reverse("adminpanel:products")
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([stored(product), other])
        READER.looked_at = -inf
        admin = sign_in_staff(Client(), make_user("Alan", role="admin"))
        home = admin.get(reverse("adminpanel:home")).content.decode()
        assert f'href="{products}?no_alt=on">Products with alt text to confirm' in home
        assert "1 product with alt text to confirm" in admin.get(products).content.decode()
        listed = admin.get(products, {"no_alt": "on"}).content.decode()
        assert address(product, "product") in listed
        assert address(other, "product") not in listed


def test_x504_a_picture_that_arrives_meanwhile_stays_behind_the_others(cleo: Client) -> None:
    product = show(make_product("Mug"), "One", "Two")
    sent = typed(product, act=f"down {product.pictures[0].picture}", line_1="Second")
    operations.add_picture(product.product_id, make_photo(), current_time())
    assert cleo.post(address(product), sent).status_code == 303
    assert alts(product) == ["Second", "One", ""]


def test_x102_of_two_who_change_the_pictures_the_later_sees_both_states(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = show(make_product("Mug"), "One", "Two")
    sent = typed(product, line_0="Mine")
    cleo.post(address(product), typed(product, line_1="Theirs"))
    answer = cleo.post(address(product), sent)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "Theirs" in text
    assert 'value="Mine"' in text
    assert alts(product) == ["One", "Theirs"]
    # The words are there even if the picture is not.
    other = show(make_product("Jug"), "One", "Two")
    cleo.post(address(other), typed(other, act=f"remove {other.pictures[1].picture}"))
    gone = cleo.post(address(other), typed(other, line_1="Two from the side"))
    assert gone.status_code == 409
    assert "Two from the side" in gone.content.decode()
    # And what is to be removed is still there when that was refused. A product without room leaves its upload.
    file = SimpleUploadedFile("a.jpg", make_file(shade=uuid4().int))
    operations.add_upload(other.product_id, file, current_time())
    with monkeypatch.context() as patched:
        patched.setattr(rules, "MAX_PICTURES", 1)
        [ready] = decode(other)
    removes = typed(other, ready.picture, act=f"remove {ready.picture}")
    assert cleo.post(address(other), removes).status_code == 409
    assert queries.list_uploads(other.product_id) == [ready]
    removes = typed(stored(other), ready.picture, act=f"remove {ready.picture}")
    assert cleo.post(address(other), removes).status_code == 303
    assert queries.list_uploads(other.product_id) == []
    found = re.search(r'name="overwrite" value="([^"]+)"', text)
    assert found
    assert cleo.post(address(product), sent | {"overwrite": found[1]}).status_code == 303
    assert alts(product) == ["Mine", "Two"]
    # Of what is no picture of this product nothing is saved.
    sent = typed(stored(product), make_photo(), line_2="Strange")
    cleo.post(address(product), sent)
    assert alts(product) == ["Mine", "Two"]


def test_x103_shoppers_see_all_pictures_with_their_words(client: Client) -> None:
    product = make_product("Mug", options={"Colour": ["Olive", "Oat"]}, listed=True, stock=5)
    product = show(product, "A mug on a table", "Its handle")
    operations.save_product(
        replace_pictures_of_variants(stored(product), "", product.pictures[1].picture),
        current_time(),
    )
    product = stored(product)
    page = client.get(reverse("product", args=(product.slug,)))
    text = page.content.decode()
    gallery = text.partition('class="product__gallery"')[2].partition("<h1>")[0]
    assert gallery.index("A mug on a table") < gallery.index("Its handle")
    assert gallery.count("image/avif") == 5, "the first one large, both full and both small"
    assert len(re.findall(r'href="[^"]+/1600\.jpg"', gallery)) == 3, "the full pictures"
    links = re.findall(r'id="look-[^"]+" href="([^"]+)"', gallery)
    assert len(links) == 2
    second = client.get(links[1].replace("&amp;", "&")).content.decode()
    assert 'alt="Its handle" width="1600" height="1200" loading="eager"' in second
    data = json.loads(re.search(r'ld\+json">(.*?)</script>', text)[1])  # type: ignore[index]
    images = next(each["image"] for each in data if each["@type"] == "ProductGroup")
    assert [each.rpartition("/")[2] for each in images] == ["1280.jpg"] * 2
    assert f'property="og:image" content="{images[0]}"' in text
    card = queries.product_card(product)
    assert (card.picture, card.swatches) == (product.pictures[0].picture, ())
    assert product.variant_columns(product.variants[0])["picture"] == product.pictures[0].picture
    assert product.variant_columns(product.variants[1])["picture"] == product.pictures[1].picture
    # A value to choose has the picture that its variant is shown by; and the one that is shown leads to no other variant.
    first, second = (each.picture for each in product.pictures)
    [colours] = choices.list_option_choices(product, product.variants[0], {})
    assert [each.picture for each in colours] == [first, second]
    same = replace_pictures_of_variants(product, "", first)
    shown = choices.list_picture_choices(same, same.variants[0], first)[0]
    assert same.variants[0].sku in shown.url


def replace_pictures_of_variants(product: Product, *pictures: str) -> Product:
    variants = tuple(
        replace(each, picture=picture)
        for each, picture in zip(product.variants, pictures, strict=True)
    )
    return replace(product, variants=variants)


def test_x101_an_upload_that_is_killed_at_any_write_is_decoded_once_or_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoded = Photo(uuid4().hex, 400, 300)
    monkeypatch.setattr(picture_uploads, "take_in_photo", lambda raw, name, salt, **_: decoded)
    content = make_file()

    def take_in(product: Product, now: datetime) -> None:
        file = SimpleUploadedFile("a.jpg", content)
        added = operations.add_upload(product.product_id, file, now)
        operations.decode_upload(product.product_id, added.upload_id, now)

    now = current_time()
    recorded = make_product("Mug")
    writes = first_and_last_writes(record_writes(lambda: take_in(recorded, now)))
    shown = []
    for target in writes:
        product = make_product("Mug")
        assert kill_at_write(target, lambda product=product: take_in(product, now))  # type: ignore[misc]
        waiting = [
            each
            for each in queries.list_waiting_uploads([now.date()], 1000)
            if each.product_id == product.product_id
        ]
        for each in waiting:
            operations.decode_upload(
                product.product_id, each.upload_id, now + timedelta(minutes=11)
            )
        assert queries.list_uploads(product.product_id) == []
        shown.append([each.picture for each in stored(product).pictures])
        left = queries.list_waiting_uploads([now.date()], 1000)
        assert product.product_id not in {each.product_id for each in left}, target
    # Killed before the upload is stored, it is gone; afterwards its picture is there once.
    assert shown == [[], [], *([[str(decoded)]] * (len(writes) - 2))]
    assert len(writes) >= 8


def test_x101_a_picture_that_kills_its_worker_again_and_again_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product, now = make_product("Mug"), current_time()
    file = SimpleUploadedFile("a.jpg", make_file())
    added = operations.add_upload(product.product_id, file, now)

    def decode_once() -> str:
        operations.decode_upload(product.product_id, added.upload_id, now)
        return queries.list_uploads(product.product_id)[0].state

    def fail(error: BaseException) -> None:
        monkeypatch.setattr(picture_uploads, "take_in_photo", Mock(side_effect=error))
        with pytest.raises(type(error)):
            decode_once()

    # A storage that is away is not the picture's fault.
    for _try in range(5):
        fail(OSError())
    for error in (KeyboardInterrupt(), DecoderFailed(), DecoderFailed()):
        fail(error)
    assert picture_uploads.MAX_ATTEMPTS == 3
    assert decode_once() == "refused"
    assert "can’t be read" in queries.list_uploads(product.product_id)[0].reason


def test_x101_what_nobody_has_decoded_within_a_day_is_swept() -> None:
    product, now = make_product("Mug"), current_time()
    added = operations.add_upload(product.product_id, SimpleUploadedFile("a.jpg", b"x"), now)
    assert default_storage.exists(added.incoming)
    jobs.sweep_incoming(current_time())
    assert default_storage.exists(added.incoming)
    with time_machine.travel(now + timedelta(days=1, minutes=1), tick=True):
        assert jobs.sweep_incoming(current_time())
    assert not default_storage.exists(added.incoming)
    # Whoever has another folder must not take what is in this one for gone.
    with pytest.raises(FileNotFoundError):
        operations.decode_upload(product.product_id, added.upload_id, now)
    later = now + picture_uploads.RAW_DURATION
    operations.decode_upload(product.product_id, added.upload_id, later)
    assert "gone" in queries.list_uploads(product.product_id)[0].reason


def test_x101_an_upload_that_cannot_be_read_keeps_none_of_the_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product, now = make_product("Mug"), current_time()
    first, second, third = (
        operations.add_upload(product.product_id, SimpleUploadedFile(f"{n}.jpg", b"x"), now)
        for n in range(3)
    )
    # What other tests have left waits as well.
    rows = [
        SimpleNamespace(product_id=product.product_id, upload_id=each.upload_id)
        for each in (first, second, third)
    ]
    monkeypatch.setattr(queries, "list_waiting_uploads", lambda days, most: rows)
    default_storage.delete(first.incoming)
    with pytest.raises(FileNotFoundError):
        jobs.decode_uploads(now)
    found = {each.upload_id: each.state for each in queries.list_uploads(product.product_id)}
    assert found == {
        first.upload_id: "waiting",
        second.upload_id: "refused",
        third.upload_id: "refused",
    }
    # A run is short, so that the worker's other jobs wait for no more than that.
    monkeypatch.setattr(jobs, "DECODING_SECONDS", -1.0)
    rows = rows[1:]
    assert jobs.decode_uploads(now).startswith("1 ")


def test_s82_pictures_are_for_the_catalogues_staff_alone(client: Client) -> None:
    product = make_product("Mug")
    assert upload(Client(), product, ("a.jpg", make_file()))["Location"].startswith(
        "/account/login/"
    )
    bob = sign_in_staff(client, make_user("Bob", role="support"))
    assert upload(bob, product, ("a.jpg", make_file())).status_code == 403
    cleo = sign_in_staff(Client(), make_user("Cleo", role="catalogue"))
    page = cleo.post(address(product), {"file": SimpleUploadedFile("a.jpg", b"x")})
    assert page.status_code == 400, "the page itself takes no files"
    assert queries.list_uploads(product.product_id) == []
