"""The staff's pages of filters and of colours."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html

from catalogue.colour_settings import ColourSetting, find_current_colour
from catalogue.filter_settings import list_filter_names
from catalogue.search_index import READER, build_index
from tests.catalogue.test_colours import save_colour
from tests.factories import make_product
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]
FILTERS, COLOURS = reverse("adminpanel:filters"), reverse("adminpanel:colours")
OPTIONS = {"Colour": ["Ink", "Sea green", "Wørble", "★"], "Width / depth": ["10 / 20", "<b>"]}


@pytest.fixture
def index(tmp_path: Path, own_settings: None) -> Iterator[None]:
    """An index of one product in several colours, and of two others."""
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        other = make_product("Jug", options={"Colour": ["Ink"]})
        bare = replace(make_product("Bowl"), details={"Made in": "Portugal", "Fit": "x" * 900})
        build_index([make_product("Mug", options=OPTIONS), other, bare])
        READER.looked_at = -inf
        yield


def rows(client: Client, address: str) -> list[list[str]]:
    page = html.fromstring(client.get(address).content)
    return [
        [" ".join(cell.text_content().split()) for cell in row]
        for row in page.xpath("//main//tbody/tr")
    ]


def send(client: Client, address: str, **typed: str) -> Any:
    """Send the page's form as a browser would, with some fields typed anew."""
    (form,) = html.fromstring(client.get(address).content).xpath("//form[@id='setting']")
    return client.post(form.get("action"), {**dict(form.form_values()), **typed})


@pytest.mark.usefixtures("index")
def test_x294_staff_turn_options_and_details_on_and_off(cleo: Client) -> None:
    assert rows(cleo, FILTERS) == [
        ["Colour", "4 values, such as Ink", "Colours", "1"],
        ["Color", "No product has it", "Colours", "2"],
        ["Size", "No product has it", "Sizes", "3"],
        ["Made in", "1 value: Portugal", "No filter", "–"],
        ["Material", "1 value: Stoneware", "No filter", "–"],
        ["Width / depth", "2 values, such as 10 / 20", "No filter", "–"],
    ]
    page = html.fromstring(cleo.get(FILTERS).content)
    (address,) = page.xpath("//a[contains(., 'Width')]/@href")
    changed = send(cleo, address, name="Width", filter_kind="size", position="1")
    assert (changed.status_code, changed.url) == (303, FILTERS)
    assert send(cleo, f"{FILTERS}color/", filter_kind="off").status_code == 303
    names = [(each.key, each.name, each.kind) for each in list_filter_names()]
    assert names == [
        ("colour", "Colour", "colour"),
        ("width / depth", "Width", "size"),
        ("size", "Size", "size"),
    ]
    assert rows(cleo, FILTERS)[1] == ["Width", "2 values, such as 10 / 20", "Sizes", "1"]
    # Bad input is told beside its field, and stays typed.
    refused = send(cleo, f"{FILTERS}size/", position="-1", filter_kind="glitter", name="W" * 101)
    assert refused.status_code == 422
    text = refused.content.decode()
    for words in ("from 0 to 99", "Choose a type of filter", "at most 100", "W" * 101):
        assert words in text
    refused = send(cleo, f"{FILTERS}colour/", filter_kind="plain")
    assert refused.status_code == 422
    assert "Every list has its own filter “colour”" in refused.content.decode()
    # Of two who change the same filter, the later sees both.
    late = send(cleo, f"{FILTERS}size/", position="7", version="0" * 16)
    assert late.status_code == 409
    assert "Someone else has changed this" in late.content.decode()
    # A form that is sent twice, or from a page of long ago, of which nothing has changed.
    assert send(cleo, f"{FILTERS}size/").status_code == 303
    assert cleo.get(f"{FILTERS}no-such-name/").status_code == 404


@pytest.mark.usefixtures("index")
def test_x293_staff_see_the_unknown_colours_first_and_say_what_they_look_like(cleo: Client) -> None:
    assert rows(cleo, COLOURS) == [
        ["★", "none", "Other", "1"],
        ["Wørble", "none", "Other", "1"],
        ["Sea green", "#3c9a74", "Green", "1"],
        ["Ink", "#2c3b59", "Blue", "2"],
    ]
    assert "2 colours aren’t known" in cleo.get(COLOURS).content.decode()
    worble = f"{COLOURS}{quote('wørble')}/"
    refused = send(cleo, worble, hex="#12345g")
    assert refused.status_code == 422
    assert "#12345g" in refused.content.decode()
    assert "Enter six hexadecimal digits" in refused.content.decode()
    assert send(cleo, worble, hex="#D02").status_code == 303
    assert find_current_colour("Wørble") == find_current_colour("wørble") == ("dd0022", "red")
    assert send(cleo, worble, hex="", family="purple").status_code == 303
    assert send(cleo, f"{COLOURS}ink/", family="grey").status_code == 303
    assert rows(cleo, COLOURS) == [
        ["★", "none", "Other", "1"],
        ["Ink", "#2c3b59", "Grey", "2"],
        ["Sea green", "#3c9a74", "Green", "1"],
        ["Wørble", "none", "Purple", "1"],
    ]
    # A colleague has been faster.
    save_colour("Sea green", hex="2f62c4")
    late = send(cleo, f"{COLOURS}sea%20green/", hex="#000000", version="")
    assert late.status_code == 409
    assert "2f62c4" in late.content.decode()
    assert find_current_colour("Sea green")[0] == "2f62c4"
    save_colour("Sea green", ColourSetting("sea green", "2f62c4"), hex="3f9a74")
    assert find_current_colour("sea green")[0] == "3f9a74"
    for unnamed in ("Ink", "%E2%98%85", "sea--green"):
        assert cleo.get(f"{COLOURS}{unnamed}/").status_code == 404


@pytest.mark.usefixtures("own_settings")
def test_x293_x294_without_an_index_the_pages_say_when_something_is_listed(
    cleo: Client, will: Client, tmp_path: Path
) -> None:
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        READER.looked_at = -inf
        assert "No colours yet" in cleo.get(COLOURS).content.decode()
        assert len(rows(cleo, FILTERS)) == 3
    for address in (FILTERS, f"{FILTERS}size/", COLOURS, f"{COLOURS}ink/"):
        assert will.get(address).status_code == 403
