"""The staff's page of the brand: words, colours, pictures and links, on all pages within seconds."""

import json
import re
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from PIL import Image, ImageCms

from adminpanel.settings.brand_forms import BrandForm
from adminpanel.settings.brand_views import MAX_OFFERED
from cassandra_db import current_time, process_copies
from catalogue import operations, queries
from catalogue.photos import parse_photo, photo_url
from shop_settings.brand import UPLOADS_OWNER, Brand, find_brand, get_brand
from shop_settings.brand_history import MAX_SAVED_BRANDS, list_saved_brands, save_brand
from shop_settings.queries import CURRENT_SETTINGS, clear_settings_cache, get_settings_at_quorum
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.catalogue.photo_files import make_file
from tests.factories import make_user, sign_in_staff
from tests.rules import assert_explained
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]
pytestmark = pytest.mark.usefixtures("own_settings")

PAGE, RESTORE = reverse("adminpanel:brand"), reverse("adminpanel:brand_restore")
KRAM = {
    "name": 'Ærø & Søn "Kram"',
    "tagline": "Bread & butter",
    "accent": "#1F5C4A",
    "ground": "eef3fa",
    "link_name_0": "Mastodon",
    "link_0": "https://social.example/@kram",
}


@pytest.fixture
def ada(client: Client) -> Client:
    return sign_in_staff(client, make_user("Ada", role="admin"))


def stored() -> Brand:
    return find_brand(get_settings_at_quorum())


def typed(**changes: Any) -> dict[str, Any]:
    """What the form would send as it is shown, with some fields typed anew."""
    form = BrandForm(stored())
    return {name: form[name].value() or "" for name in form.fields} | changes


def make_clear_file() -> bytes:
    """A picture that is transparent but for a spot, which differs each time."""
    image, target = Image.new("RGBA", (500, 200)), BytesIO()
    image.paste((*uuid4().bytes[:3], 255), (100, 50, 400, 150))
    image.save(
        target,
        "PNG",
        icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    )
    return target.getvalue()


def history(client: Client) -> list[str]:
    """Return the names of the earlier brands that the page shows."""
    page = client.get(PAGE).content.decode().partition('id="history"')[2]
    return re.findall(r'<span class="strong"><bdi>(.*?)</bdi>', page)


def test_x460_a_saved_brand_is_on_all_pages_and_a_repeat_changes_nothing() -> None:
    user = make_user("Ada", role="admin")
    ada = sign_in_staff(Client(), user)
    sent = typed(**KRAM)
    for _sent_twice in range(2):
        answer = ada.post(PAGE, sent)
        assert (answer.status_code, answer["Location"]) == (303, PAGE)
    brand = stored()
    assert (brand.name, brand.accent, brand.ground) == (KRAM["name"], "1f5c4a", "eef3fa")
    assert brand.links == (("Mastodon", "https://social.example/@kram"),)
    escaped = "Ærø &amp; Søn &quot;Kram&quot;"
    pages = [Client().get(each).content.decode() for each in ("/", "/nowhere/", "/account/login/")]
    pages += [ada.get(PAGE).content.decode(), render_to_string("errors/500.html")]
    for page in pages:
        sheet = re.search(
            r'href="/static/css/stoa[^"]*\.css"><link rel="stylesheet" href="(/brand/[^"]*)"', page
        )
        assert sheet
        assert escaped in page.partition("</header>")[0].rpartition('class="logo')[2]
        assert 'name="theme-color" content="#eef3fa" media="(prefers-color-scheme: light)"' in page
    front = pages[0]
    assert f"<title>Bread &amp; butter · {escaped}</title>" in front
    assert '<meta name="description" content="Bread &amp; butter">' in front
    assert '"sameAs": ["https://social.example/@kram"]' in front
    answer = Client().get(re.findall(r"/brand/[^\"]*", front)[0])
    assert "--accent:#1f5c4a" in answer.content.decode()
    assert (answer["Content-Type"], "immutable" in answer["Cache-Control"]) == (
        "text/css; charset=utf-8",
        True,
    )
    answer = Client().get(reverse("manifest"))
    said = json.loads(answer.content)
    assert (said["name"], said["theme_color"]) == (KRAM["name"], "#eef3fa")
    assert answer["Content-Type"] == "application/manifest+json"
    acts = [each for each in list_entries_this_month(user) if each.act == "adminpanel:brand"]
    assert any("Bread & butter" in str(each.changes) for each in acts)
    # The brand of the environment and the saved one.
    assert len(list_saved_brands(get_settings_at_quorum())) == 2


def test_x460_other_processes_show_a_brand_within_five_seconds(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(CURRENT_SETTINGS, "max_seconds", 5.0)
    monkeypatch.setattr(process_copies, "monotonic", lambda: clock[0])
    clear_settings_cache()

    def title() -> str:
        return Client().get("/").content.decode().partition("<title>")[2].partition("</title>")[0]

    before = title()
    of_another_process = CURRENT_SETTINGS.cached
    assert ada.post(PAGE, typed(**KRAM)).status_code == 303
    assert title().startswith("Bread")
    CURRENT_SETTINGS.cached = of_another_process
    assert title() == before
    clock[0] += 5.1
    assert title().startswith("Bread")


def test_x461_what_cannot_be_a_brand_is_said_beside_its_field(ada: Client) -> None:
    before = stored()
    cases = [
        (
            {"accent": "#ffffff", "ground": "#ffffff"},
            "The contrast between links and the page is 1.0 to 1.",
        ),
        ({"accent": "#ffd000"}, "The nearest colour that passes is #"),
        ({"ground": "#222222"}, "The contrast between the text and the page is"),
        ({"accent": "red"}, "Enter six hexadecimal digits"),
        ({"ground": "#12345"}, "Enter six hexadecimal digits"),
        ({"name": ""}, "Enter the name of the shop"),
        ({"name": "x" * 41}, "Enter at most 40 characters"),
        ({"logo": "photo/" + "0" * 32 + "-400x300"}, "Choose one of the pictures shown"),
        ({"link_name_0": "Us"}, "Fill in the whole line"),
        ({"link_name_0": "Us", "link_0": "http://us.example/"}, "begins with https://"),
        ({"link_name_0": "Us", "link_0": "javascript:alert(1)"}, "begins with https://"),
    ]
    assert_explained(lambda changes: ada.post(PAGE, typed(**changes)), cases, "field__error")
    assert stored() == before
    # What is suggested passes.
    page = ada.post(PAGE, typed(accent="#ffd000")).content.decode()
    found = re.search(r"The nearest colour that passes is (#[0-9a-f]{6})", page)
    assert found
    assert ada.post(PAGE, typed(accent=found[1])).status_code == 303
    assert f"#{stored().accent}" == found[1]


def test_x461_a_preview_shows_what_is_typed_and_saves_nothing(ada: Client) -> None:
    address, before = reverse("adminpanel:brand_preview"), stored()
    answer = ada.post(address, typed(**KRAM))
    page = answer.content.decode()
    assert answer.status_code == 200
    assert re.search(r'class="window preview--dark"', page)
    sheet = re.search(r'href="(/brand/preview/[^"]*)"', page)
    assert sheet
    assert (
        ".preview--light{color-scheme:light;--paper:#eef3fa;"
        in Client().get(sheet[1]).content.decode()
    )
    # Also what is refused is shown, beside the reason.
    part = ada.post(address, typed(accent="#ffffff"), headers={"HX-Request": "true"})
    assert part.status_code == 422
    assert b"<html" not in part.content
    assert b"/brand/preview/ffffff-own-" in part.content
    assert b"The contrast between the words on buttons and the buttons is 1.0 to 1" in part.content
    assert stored() == before


def test_x463_of_two_who_change_the_brand_the_later_sees_both(ada: Client) -> None:
    late = typed(name="Late")
    assert ada.post(PAGE, typed(name="First")).status_code == 303
    answer = ada.post(PAGE, late)
    page = answer.content.decode()
    assert (answer.status_code, stored().name) == (409, "First")
    assert "Someone else has changed this" in page
    version = re.search(r'name="overwrite"\s+value="(\w+)"', page)
    assert version
    assert ada.post(PAGE, late | {"overwrite": version[1]}).status_code == 303
    assert stored().name == "Late"


def test_x463_an_earlier_brand_is_used_again_and_the_last_twenty_are_kept(ada: Client) -> None:
    first = stored()
    assert ada.post(PAGE, typed(**KRAM)).status_code == 303
    assert ada.post(PAGE, typed(name="Other")).status_code == 303
    assert history(ada) == ["Other", "Ærø &amp; Søn &quot;Kram&quot;", first.name]
    page = ada.get(PAGE).content.decode()
    assert "Ada" in page.partition('id="history"')[2]
    version = re.findall(r'name="version" value="(\w+)"', page)[-1]
    keys = re.findall(r'name="key" value="([^"]*)"', page)
    # The one in use has no button.
    assert len(keys) == 2
    stale = ada.post(RESTORE, {"key": keys[0], "version": "0" * 16})
    assert (stale.status_code, stored().name) == (409, "Other")
    for _sent_twice in range(2):
        assert ada.post(RESTORE, {"key": keys[0], "version": version}).status_code == 303
    assert (stored().name, stored().accent) == (KRAM["name"], "1f5c4a")
    assert ada.post(RESTORE, {"key": "nothing", "version": version}).status_code == 404
    user_id = uuid4()
    for number in range(MAX_SAVED_BRANDS):
        brand = Brand(f"Shop {number}", "Things")
        save_brand(brand, BrandForm(stored())["version"].value(), user_id, current_time())
    saved = list_saved_brands(get_settings_at_quorum())
    assert [each.brand.name for each in saved] == [f"Shop {n}" for n in reversed(range(20))]
    assert "deleted account" in ada.get(PAGE).content.decode()


def test_x464_pictures_are_uploaded_chosen_and_shown_and_no_drawing_with_a_script_is_taken(
    ada: Client,
) -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    files = [
        SimpleUploadedFile("logo.png", make_clear_file()),
        SimpleUploadedFile("hero.jpg", make_file(width=800, height=500, shade=uuid4().int)),
        SimpleUploadedFile("logo.svg", svg),
        SimpleUploadedFile("large.jpg", b"x" * 40 * 1024 * 1024),
    ]
    upload = reverse("adminpanel:brand_upload")
    assert ada.post(upload, {"files": files}).status_code == 303
    page = ada.get(PAGE).content.decode()
    assert "This file has more than 15 MB" in page
    assert page.count("Being prepared") == 3
    for each in queries.list_uploads(UPLOADS_OWNER):
        operations.decode_upload(UPLOADS_OWNER, each.upload_id, current_time())
    page = ada.get(PAGE).content.decode()
    assert "This isn’t a JPEG, PNG, WebP or AVIF picture" in page
    ready = {
        each.file_name: each.picture for each in queries.list_uploads(UPLOADS_OWNER) if each.picture
    }
    assert ready.keys() == {"logo.png", "hero.jpg"}
    sent = typed(logo=ready["logo.png"], favicon=ready["logo.png"], hero=ready["hero.jpg"])
    assert ada.post(PAGE, sent).status_code == 303
    assert not any(each.picture for each in queries.list_uploads(UPLOADS_OWNER))
    front = Client().get("/").content.decode()
    logo, hero = parse_photo(ready["logo.png"]), parse_photo(ready["hero.jpg"])
    assert logo
    assert hero
    for page in (front, ada.get(PAGE).content.decode(), render_to_string("errors/500.html")):
        header = page.partition("</header>")[0]
        assert f'alt="{get_brand().name}" width="500" height="200"' in header
        assert f'rel="icon" href="{photo_url(logo, 320, "webp")}" type="image/webp"' in header
    # A logo keeps its transparency, and nothing else of its file.
    for ending, mode in (("webp", "RGBA"), ("avif", "RGBA"), ("jpg", "RGB")):
        with default_storage.open(logo.file_name(320, ending)) as file, Image.open(file) as image:
            assert image.mode == mode
            assert not image.info.keys() & {"exif", "xmp", "icc_profile"}
            corner = image.convert("RGBA").tobytes()[:4]
        assert corner[3] == 0 if mode == "RGBA" else min(corner) > 250
    assert f'class="hero__art" src="{photo_url(hero, 800, "jpg")}"' in front
    assert "icons/hero" not in front
    assert Client().get("/favicon.ico")["Location"] == photo_url(logo, 320, "webp")
    icon = json.loads(Client().get(reverse("manifest")).content)["icons"][0]
    assert (icon["src"], icon["sizes"]) == (photo_url(logo, 320, "webp"), "320x128")
    # A picture that no brand uses any more is still offered, as long as it stands in the history.
    assert ada.post(PAGE, typed(logo="", favicon="", hero="")).status_code == 303
    assert ready["hero.jpg"] in ada.get(PAGE).content.decode()
    assert MAX_OFFERED >= MAX_SAVED_BRANDS
    # Without a file there is nothing to take.
    assert ada.post(upload, {}).status_code == 422
