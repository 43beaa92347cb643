"""The look: what every page's frame promises, and what it may weigh."""

import gzip
import json
import re
from html import unescape
from types import SimpleNamespace

import pytest
from django.contrib.messages import constants, get_messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest
from django.template import TemplateSyntaxError
from django.template.loader import render_to_string
from moneyed import Money

from catalogue.templatetags.pictures import picture, swatches, with_images
from pricing.templatetags.money import format_money
from tests.architecture.apps import ROOT
from tests.rules import for_each
from web.templates import collapse
from web.templatetags.icons import icon

STATIC = ROOT / "static"
CSS = (STATIC / "css" / "stoa.css").read_text()
STAFF_CSS = (STATIC / "css" / "staff.css").read_text()
POSTS_CSS = (STATIC / "css" / "posts.css").read_text()
PRODUCT_CSS = (STATIC / "css" / "product.css").read_text()
CHARTS_CSS = (STATIC / "css" / "charts.css").read_text()
BASE = collapse((ROOT / "templates" / "base.html").read_text())


def weight(name: str) -> int:
    return len(gzip.compress((STATIC / name).read_bytes(), 9))


def test_the_stylesheet_and_the_script_stay_small() -> None:
    assert weight("css/stoa.css") <= 20 * 1024
    assert weight("js/stoa.js") <= 4 * 1024
    assert weight("css/staff.css") <= 6 * 1024
    assert weight("css/posts.css") <= 2.5 * 1024
    assert weight("css/product.css") <= 1.5 * 1024
    assert weight("css/charts.css") <= 1.5 * 1024
    assert weight("js/product.js") <= 6 * 1024
    assert (STATIC / "js" / "staff.js").stat().st_size <= 12 * 1024


def test_shoppers_do_not_load_what_the_staffs_pages_alone_have() -> None:
    # A class of staff.css that a shopper's page uses would not look like anything there.
    theirs = set(re.findall(r"\.([a-z]+(?:[_-]+[a-z]+)*)", STAFF_CSS))
    only_theirs = theirs - set(re.findall(r"\.([a-z]+(?:[_-]+[a-z]+)*)", CSS))
    assert len(only_theirs) >= 20
    others = [
        path for path in (ROOT / "templates").rglob("*.html") if "adminpanel" not in path.parts
    ]
    used = {
        name: path
        for path in others
        for names in re.findall(r'class="([^"]*)"', path.read_text())
        for name in names.split()
        if name in only_theirs
    }
    assert not used
    assert not [path for path in others if re.search(r"/staff\.(css|js)", path.read_text())]


def test_the_stylesheet_fetches_nothing_and_orders_its_layers() -> None:
    assert CSS.count("@layer reset, tokens, base, layout, parts, pages, help, print;") == 1
    for text in (CSS, STAFF_CSS, POSTS_CSS, PRODUCT_CSS, CHARTS_CSS):
        assert not re.search(r"@import|url\(|@font-face", text)
        outside = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        assert not re.search(r"^[^@\s}]", outside, flags=re.MULTILINE), (
            "a rule stands outside of the layers"
        )
    others = STAFF_CSS + POSTS_CSS + PRODUCT_CSS + CHARTS_CSS
    layers = set(re.findall(r"^@layer (\w+) {", others, flags=re.M))
    assert layers <= set(re.findall(r"^@layer (\w+) {", CSS, flags=re.MULTILINE))


def test_x13_both_colour_schemes_name_the_same_colours() -> None:
    light, dark = (
        re.findall(r"(--[a-z-]+): #", part) for part in CSS.split("prefers-color-scheme: dark")[:2]
    )
    assert set(light) == set(dark)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@for_each(["light", "dark"])
def test_x13_words_and_controls_stand_out(scheme: str) -> None:
    rules = CSS.split("prefers-color-scheme: dark")[("light", "dark").index(scheme)]
    colours = dict(re.findall(r"--([a-z-]+): #([0-9a-f]{6})", rules))
    colours.setdefault("on-fill", "ffffff")
    words = [
        (ink, paper)
        for ink in ("ink", "ink-soft", "accent", "bad")
        for paper in ("paper", "surface", "well")
    ]
    words += [(tone, f"{tone}-soft") for tone in ("good", "warn", "bad", "calm", "accent")]
    words += [("ink", f"{tone}-soft") for tone in ("good", "warn", "bad", "calm", "accent")]
    words += [("on-fill", "fill"), ("on-fill", "fill-deep"), ("good", "paper"), ("warn", "paper")]
    assert not [pair for pair in words if _contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    controls = [
        (edge, paper)
        for edge in ("line-strong", "focus", "fill", "star")
        for paper in ("paper", "surface")
    ]
    assert not [pair for pair in controls if _contrast(colours[pair[0]], colours[pair[1]]) < 3]


def test_x4_x9_htmx_is_set_as_the_security_recipe_says() -> None:
    found = re.search(r"<meta name=\"htmx-config\" content='([^']*)'>", BASE)
    assert found
    config = json.loads(unescape(found[1]))
    assert (
        config["allowEval"]
        is config["allowScriptTags"]
        is config["includeIndicatorStyles"]
        is False
    )
    assert config["selfRequestsOnly"] is True
    assert config["historyCacheSize"] == 0
    assert config["historyRestoreAsHxRequest"] is False
    assert config["timeout"] == 10000
    swapped = {rule["code"] for rule in config["responseHandling"] if rule["swap"]}
    assert swapped == {"[23]..", "(409|422|429)"}


def test_x8_the_live_region_is_there_at_load_and_no_swap_replaces_it() -> None:
    assert render_to_string("_status.html").count('<div id="status" role="status">') == 1
    assert '"_status.html"' in BASE
    assert 'hx-swap-oob="innerHTML:#status"' in _answer("Added. 3 items, €43.20")
    assert "#status" not in _answer()


def _answer(*words: str) -> str:
    messages = [Message(constants.SUCCESS, each) for each in words]
    return render_to_string(
        "_oob.html", {"messages": messages, "cart_badge": {"name": "Basket", "item_count": 3}}
    )


def test_x8_a_message_shows_its_words_and_can_be_dismissed() -> None:
    text = _answer("Added <3 items>")
    assert "Added &lt;3 items&gt;" in text
    assert "data-dismiss" in text
    assert get_messages(HttpRequest()) == []


@for_each([500, 503])
def test_x17_the_worst_pages_need_no_database_no_request_and_no_context(status: int) -> None:
    text = render_to_string(f"errors/{status}.html")
    assert text.lstrip().startswith("<!doctype html>")
    assert text.count("<h1>") == 1
    assert 'class="button"' in text


def test_icons_are_our_own_files_in_the_colour_of_the_words() -> None:
    assert 'aria-hidden="true"' in icon("bag")
    for name in ("none-such", "../css/stoa"):
        with pytest.raises(TemplateSyntaxError):
            icon(name)
    used = {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r'{% icon "([a-z-]+)"', path.read_text())
    }
    assert len(used) >= 23
    assert not [name for name in used if not (STATIC / "icons" / f"{name}.svg").exists()]


def test_x22_x30_a_picture_keeps_its_space_and_says_how_soon_it_is_wanted() -> None:
    late = picture("mug/4f6d7a-e8d9c5", "Mug <b>")
    assert 'width="600" height="600" loading="lazy"' in late
    assert 'alt="Mug &lt;b&gt;"' in late
    first = picture("mug/4f6d7a-e8d9c5", "Mug", first=True)
    assert 'loading="eager" fetchpriority="high"' in first
    assert 'src="/pictures/mug/4f6d7a-e8d9c5.svg"' in first
    # The main one fills its frame, unless a square would cut too much of it.
    whole = [
        f"{width}x{height}"
        for width, height in ((1400, 1120), (1120, 1400), (1000, 1000), (900, 1400), (2000, 1000))
        if "picture--whole"
        in picture(f"photo/{'0' * 32}-{width}x{height}", size="main", first=True)
    ]
    assert whole == ["900x1400", "2000x1000"]


def test_x140_drawings_of_a_row_come_in_one_file_and_photos_by_themselves() -> None:
    photo = f"photo/{'0' * 32}-800x600"
    pictures = ["mug/c8724c", photo, "cup/4f6d7a", "", "mug/c8724c"]
    things = [SimpleNamespace(picture=each, picture_alt="A mug") for each in pictures]
    paired = with_images(things)
    assert [thing for thing, _ in paired] == things
    images = [image for _, image in paired]
    sheet = "/pictures/mug.c8724c,cup.4f6d7a.svg"
    assert [re.findall(r'src="([^"]+)"', each)[0] for each in (images[0], images[2])] == [
        f"{sheet}#p0",
        f"{sheet}#p1",
    ]
    assert images[4] == images[0]
    assert images[1:4:2] == [picture(photo, "A mug"), picture("", "A mug")]
    assert 'width="600" height="600" loading="lazy"' in images[0]
    assert with_images(things[:2]) == [
        (each, picture(each.picture, "A mug")) for each in things[:2]
    ]


def test_swatches_take_colours_only() -> None:
    text = swatches(["#4f6d7a", "e8d9c5"])
    assert text.count("<circle") == 2
    assert 'fill="#4f6d7a"' in text
    with pytest.raises(ValueError, match="invalid literal"):
        swatches(['"/><script>'])


def test_x19_money_is_written_as_the_shop_does() -> None:
    assert format_money(Money("1243.20", "EUR")) == "€1,243.20"
    assert format_money(None) == ""


def test_x29_an_old_price_is_crossed_out_and_said() -> None:
    text = render_to_string(
        "catalogue/_price.html", {"price": Money("11.50", "EUR"), "compare_at": Money("14", "EUR")}
    )
    assert '<s><span class="vh">was </span>€14.00</s>' in text


@for_each([("in", "In stock"), ("few", "Only a few left"), ("out", "Sold out")])
def test_x29_availability_is_shown_in_words(proof_report: tuple[str, str]) -> None:
    word, words = proof_report
    assert words in render_to_string("catalogue/_stock.html", {"word": word})


def test_x43_a_quantity_has_its_label_its_buttons_and_keeps_what_was_typed() -> None:
    text = render_to_string(
        "forms/quantity.html",
        {"id": "q", "label": "Quantity", "value": "1e9", "error": "Enter a number from 1 to 99."},
    )
    assert 'inputmode="numeric"' in text
    assert 'value="1e9"' in text
    assert 'aria-invalid="true" aria-describedby="q_error"' in text
    assert 'id="q_error"' in text
    assert text.count("data-step") == 2
