"""Colours by name and by family, and what staff set about colours and filters."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cassandra_db import count_statements, process_copies
from catalogue import colours
from catalogue.colour_settings import (
    COLOURS,
    CURRENT_COLOURS,
    MAX_COLOURS,
    ColourSetting,
    find_current_colour,
)
from catalogue.colours import OTHER, colour_key, family_of_hex, load_colour_names
from catalogue.filter_settings import FILTERS, MAX_FILTERS, OFF, FilterName, list_filter_names
from demo.catalogue_data import PALETTE
from demo.loader import FILTER_NAMES, load_settings
from shop_settings.errors import SettingChanged, SettingRefused
from shop_settings.operations import change_settings, save_setting
from tests.clock import now
from tests.rules import for_each
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]
# Colours as CSS names them, and what a person calls them.
WELL_KNOWN = {
    "black": "000000 0a0a0a 1c1c1c",
    "white": "ffffff f5f5f5 fffafa fffff0 f8f8ff faf0e6 f5fffa",
    "grey": "808080 c0c0c0 dcdcdc 696969 708090 778899 36454f",
    "beige": "f5f5dc d2b48c f5deb3 faebd7 ffe4c4 deb887",
    "brown": "8b4513 a0522d 654321 3f2b22 b98a55",
    "red": "ff0000 dc143c b22222 8b0000 800000 800020 cd5c5c ff6347",
    "orange": "ffa500 ff8c00 ff7f50 ff4500 f4a460 d2691e",
    "yellow": "ffff00 ffd700 daa520 f0e68c fffacd",
    "green": "008000 00ff00 808000 6b8e23 2e8b57 228b22 006400 7fffd4 adff2f f0fff0",
    "blue": "0000ff 000080 4169e1 87ceeb 4682b4 00ffff 40e0d0 add8e6 191970 1e90ff",
    "purple": "800080 4b0082 ee82ee da70d6 dda0dd 6a5acd 663399 d8bfd8",
    "pink": "ffc0cb ff69b4 ff1493 ff00ff fa8072 ffe4e1 db7093 bc8f8f",
}
# Colours of the demo for which a person would not think twice.
OF_THE_DEMO = {
    "Chalk": "white",
    "Charcoal": "grey",
    "Ink": "blue",
    "Oat": "beige",
    "Walnut": "brown",
    "Berry": "red",
    "Terracotta": "orange",
    "Mustard": "yellow",
    "Moss": "green",
    "Denim": "blue",
    "Lilac": "purple",
    "Blush": "pink",
}


@for_each(WELL_KNOWN)
def test_x290_a_hex_belongs_to_the_family_that_a_person_names(family: str) -> None:
    found = {hex6: family_of_hex(hex6) for hex6 in WELL_KNOWN[family].split()}
    assert found == dict.fromkeys(found, family)


def test_x290_each_known_name_is_in_the_family_under_which_the_file_lists_it() -> None:
    text = (Path(colours.__file__).parent / "colour_names.toml").read_text()
    sections = re.findall(r"^# (\w+)\n((?:[^#\n].*\n)+)", text, re.MULTILINE)
    listed = {
        name.strip('"'): family.lower()
        for family, rows in sections
        for name in re.findall(r"^(.+) =", rows, re.MULTILINE)
    }
    known = load_colour_names()
    assert len(sections) == 12
    assert listed.keys() == known.keys() == {colour_key(name) for name in known}
    assert len(known) >= 250
    assert {name: family_of_hex(hex6) for name, hex6 in known.items()} == listed
    of_the_demo = {name: family_of_hex(PALETTE[name]["hex"]) for name in OF_THE_DEMO}
    assert of_the_demo == OF_THE_DEMO


@for_each(
    {
        "Navy": "blue",
        "NAVY-BLUE": "blue",
        "navy blue": "blue",
        "Dark blue": "blue",
        "Washed dark blue": "blue",
        "Blue, matt": "blue",
        "Chalk and ink": "white",
        "Black/white": "black",
        "rosé gold": "pink",
        "Gray": "grey",
        "Heather brown melange": "brown",
        "Oak with brass": "brown",
        "Unscented": OTHER,
        "": OTHER,
        "★": OTHER,
        "blue" * 5000: OTHER,
    }.items()
)
def test_x291_a_name_is_known_in_other_spellings(named: tuple[str, str]) -> None:
    value, family = named
    found = find_current_colour(value)
    assert (bool(found[0]), found[1]) == (family != OTHER, family)


def save_colour(name: str, seen: ColourSetting | None = None, **values: str) -> ColourSetting:
    colour = ColourSetting(colour_key(name), **values)
    save_setting(COLOURS, colour.key, colour, COLOURS.fingerprint(seen), now())
    return colour


@pytest.mark.usefixtures("own_settings")
def test_x291_what_staff_set_goes_before_what_every_shop_knows() -> None:
    values = ["Chalk", "Ink", "Chalk and ink", "Midnight hour", "Nothing known"]
    before = [find_current_colour(each) for each in values]
    assert before[0] == ("f3f1ea", "white")
    save_colour("chalk", hex="c8724c")
    save_colour("Ink", family="grey")
    save_colour("Midnight hour", family="purple")
    assert [find_current_colour(each) for each in values] == [
        ("c8724c", "orange"),
        (before[1][0], "grey"),
        ("c8724c", "orange"),
        ("", "purple"),
        ("", OTHER),
    ]
    # A colour of its own goes before the first of its parts.
    save_colour("Chalk and Ink", hex="2f4160")
    assert find_current_colour("chalk and ink")[1] == "blue"


@pytest.mark.usefixtures("own_settings")
def test_x292_own_saves_are_seen_at_once_and_those_of_others_after_five_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(CURRENT_COLOURS, "max_seconds", 5.0)
    monkeypatch.setattr(process_copies, "monotonic", lambda: clock[0])
    CURRENT_COLOURS.forget()
    with count_statements() as meter:
        list_filter_names()
    known = meter.read_count
    assert find_current_colour("Fogbank")[1] == OTHER
    kept = CURRENT_COLOURS.cached
    first = save_colour("Fogbank", hex="808080")
    assert find_current_colour("Fogbank")[1] == "grey"
    # Another process has saved: this one still has its copy.
    CURRENT_COLOURS.cached = kept
    with count_statements() as meter:
        list_filter_names()
        assert find_current_colour("Fogbank")[1] == OTHER
        clock[0] += 4.9
        assert find_current_colour("Fogbank")[1] == OTHER
        assert meter.read_count == 0
        clock[0] += 0.2
        assert find_current_colour("Fogbank")[1] == "grey"
    assert meter.read_count == 1
    assert known <= 1
    # Who saves over what somebody else has saved meanwhile is told so.
    save_colour("Fogbank", first, hex="2f62c4")
    with pytest.raises(SettingChanged):
        save_colour("Fogbank", first, hex="d0202a")
    assert find_current_colour("Fogbank")[1] == "blue"


@pytest.mark.usefixtures("own_settings")
def test_x292_filters_are_live_and_bounded() -> None:
    assert [(each.key, each.kind) for each in list_filter_names()] == [
        ("colour", "colour"),
        ("color", "colour"),
        ("size", "size"),
    ]

    def save(*names: FilterName) -> None:
        change_settings(FILTERS, lambda _: {each.key: each for each in names}, now())

    made_in = FilterName("made in", "Made in", position=2)
    save(made_in, FilterName("wood", "Wood", OFF), FilterName("grosse", "Größe", "size", 1))
    assert [each.name for each in list_filter_names()] == ["Größe", "Made in"]
    save(replace(made_in, kind=OFF))
    assert list_filter_names() == ()
    with pytest.raises(SettingRefused, match="At most 50"):
        save(*(FilterName(f"name {number}", "") for number in range(MAX_FILTERS + 1)))
    many = {str(number): ColourSetting(str(number)) for number in range(MAX_COLOURS + 1)}
    with pytest.raises(SettingRefused, match="too many"):
        change_settings(COLOURS, lambda _: many, now())
    with pytest.raises(SettingRefused, match="hexadecimal"):
        save_colour("Fogbank", hex="#fff")


@pytest.mark.usefixtures("own_settings")
def test_x292_the_demo_saves_its_palette_and_leaves_what_staff_have_set() -> None:
    save_colour("Ink", hex="000000")
    for _ in range(2):
        load_settings(now(), lambda: None)
    assert find_current_colour("ink")[0] == "000000"
    assert find_current_colour("Charcoal")[0] == PALETTE["Charcoal"]["hex"]
    assert list_filter_names() == FILTER_NAMES
