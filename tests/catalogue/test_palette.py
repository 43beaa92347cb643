"""The colours that follow from a brand's two."""

import re
from collections.abc import Mapping

from catalogue.brand_files import make_stylesheet, stylesheet_url
from catalogue.palette import (
    DARK,
    EDGE_PAIRS,
    LIGHT,
    TEXT_PAIRS,
    contrast,
    find_nearest,
    find_weak_pairs,
    make_palette,
    read_stylesheet,
)
from tests.rules import for_each

# Accent and ground of shops of several trades; "" leaves one to the stylesheet.
BRANDS = [
    ("", ""),
    ("1f5c4a", ""),
    ("", "eef3fa"),
    ("0b57d0", "ffffff"),
    ("00695c", "e8f5e9"),
    ("b3261e", "fff8f6"),
    ("4a148c", "f3e5f5"),
    ("333333", "fafafa"),
    ("8a4b00", "fff3e0"),
]


@for_each(BRANDS)
def test_x461_all_that_follows_from_the_two_colours_stands_out(brand: tuple[str, str]) -> None:
    palette = make_palette(*brand)
    assert palette.keys() == {LIGHT, DARK}
    for colours in palette.values():
        weak = [pair for pair in TEXT_PAIRS if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
        weak += [pair for pair in EDGE_PAIRS if contrast(colours[pair[0]], colours[pair[1]]) < 3]
        assert not weak
    assert find_weak_pairs(*brand) == []
    accent, ground = brand
    assert palette[LIGHT]["accent"] == accent or not accent
    assert palette[LIGHT]["paper"] == ground or not ground


def test_x461_what_does_not_stand_out_is_named_and_the_nearest_colour_passes() -> None:
    weak = find_weak_pairs("ffffff", "ffffff")
    assert {(pair.front, pair.back) for pair in weak} >= {("accent", "paper"), ("on-fill", "fill")}
    assert all(pair.has_accent for pair in weak)
    found = find_nearest("ffd000", lambda colour: not find_weak_pairs(colour, "ffffff"))
    assert found is not None
    assert not find_weak_pairs(found, "ffffff")
    # One step nearer to what was typed is not enough.
    assert contrast(found, make_palette(found, "ffffff")[LIGHT]["well"]) < 4.7
    # A page that is dark in light windows has no words about a state.
    assert [pair for pair in find_weak_pairs("1f5c4a", "222222") if not pair.has_accent]
    assert find_nearest("808080", lambda _colour: False) is None


def rules(text: str) -> dict[str, Mapping[str, str]]:
    """Return the colours of a stylesheet by its selectors."""
    return {
        selector: dict(re.findall(r"--([a-z-]+):#([0-9a-f]{6});", body))
        for selector, body in re.findall(r"([.:][\w-]+)\{([^{}]*)\}", text)
    }


def test_x462_the_stylesheets_address_has_its_colours_and_only_what_differs_is_in_it() -> None:
    address = stylesheet_url("1f5c4a", "")
    key = address.removeprefix("/brand/").removesuffix(".css")
    made = make_stylesheet(key, is_preview=False)
    assert made is not None
    text, is_current = made
    assert is_current
    assert text.startswith("@layer tokens{:root{")
    assert set(rules(text)[":root"]) == {
        "accent", "accent-deep", "accent-soft", "fill", "fill-deep", "on-fill",
    }  # fmt: skip
    # An address of another release is answered, but not for ever.
    assert make_stylesheet(f"{key[:-8]}00000000", is_preview=False) == (text, False)
    for unknown in ("", "1f5c4a", key[:-1], f"{key}0", key.replace("1f", "zz"), key.upper()):
        assert make_stylesheet(unknown, is_preview=False) is None
    shown = rules((make_stylesheet("own-own-00000000", is_preview=True) or ("",))[0])
    assert shown == {f".preview--{name}": each for name, each in read_stylesheet().items()}
