"""The illustrations: every shape, in every kind of colour, is safe and well-formed SVG."""

import re
from functools import cache
from xml.etree import ElementTree

import pytest

from catalogue.drawings.tone import Tone
from catalogue.pictures import SHAPES, UnknownPicture, backdrop, draw, parse
from tests.rules import for_each

SVG = "{http://www.w3.org/2000/svg}"
DRAWN_WITH = {
    "svg", "title", "defs", "linearGradient", "radialGradient", "stop", "clipPath", "g", "path", "ellipse", "rect",
}  # fmt: skip
KINDS_OF_COLOUR = ("efeae0", "1d1f22", "c8724c", "2f4160", "ffffff", "000000")


@cache
def drawings(shape: str) -> list[str]:
    """Return the shape in as many colours as it takes, the first of each kind: drawn once, for all rules."""
    others = ("d6a03f", "3e7f80")[: SHAPES[shape].most_colours - 1]
    return [draw(shape, (first, *others)) for first in (*KINDS_OF_COLOUR, "62717f")]


def read(svg: str) -> ElementTree.Element:
    """Parse a picture; raises ParseError when it is not well-formed."""
    return ElementTree.fromstring(svg)  # noqa: S314 - our own drawing


@for_each(SHAPES, at_least=66)
def test_it_draws_well_formed_svg_that_the_strictest_policy_lets_through(shape: str) -> None:
    roots = [read(svg) for svg in drawings(shape)]

    assert {(root.tag, root.get("viewBox")) for root in roots} == {(f"{SVG}svg", "0 0 600 600")}
    for element in (element for root in roots for element in root.iter()):
        assert element.tag.removeprefix(SVG) in DRAWN_WITH
        for name, value in element.attrib.items():
            assert name not in {"style", "class"}
            assert not name.startswith("on")
            assert "href" not in name
            assert "url(" not in value or re.fullmatch(r"url\(#g\d+\)", value)


@for_each(SHAPES, at_least=66)
def test_it_draws_with_one_colour_alone(shape: str) -> None:
    assert read(draw(shape, ("9aae8c",))).findtext(f"{SVG}title")


@for_each(SHAPES, at_least=66)
def test_it_refers_only_to_gradients_and_clips_of_its_own_and_leaves_none_unused(shape: str) -> None:
    for svg in drawings(shape):
        defined = re.findall(r' id="([^"]+)"', svg)
        assert len(defined) == len(set(defined))
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) == set(defined)


@for_each(SHAPES, at_least=66)
def test_a_picture_is_small_and_not_empty(shape: str) -> None:
    for svg in drawings(shape):
        assert 1500 < len(svg) < (14_000 if shape.endswith("-scene") else 7_500)


@for_each(SHAPES, at_least=66)
def test_another_colour_gives_another_picture_and_the_same_colour_the_same(shape: str) -> None:
    red = draw(shape, ("9c3f52",))
    assert red != draw(shape, ("3f6350",))
    assert red == draw(shape, ("9c3f52",))


def test_it_parses_the_text_that_a_variant_keeps() -> None:
    assert parse("mug/4f6d7a-e8d9c5") == ("mug", ("4f6d7a", "e8d9c5"))


@for_each(
    [
        "",
        "mug",
        "mug/",
        "unicorn/4f6d7a",
        "../mug/4f6d7a",
        "Mug/4f6d7a",
        "mug/4f6d7",
        "mug/4f6d7ag",
        "mug/4F6D7A",
        "mug/4f6d7a-",
        "mug/4f6d7a-e8d9c5-000000",
        "mug/4f6d7a/e8d9c5",
        "mug/٤f6d7a",
        "mug/4f6d7a\n",
        'mug/"><script>',
    ],
    repr,
)
def test_it_refuses_what_it_cannot_draw(picture: str) -> None:
    with pytest.raises(UnknownPicture):
        parse(picture)


def test_draw_refuses_the_same_as_parse() -> None:
    with pytest.raises(UnknownPicture, match="no shape"):
        draw("unicorn", ("4f6d7a",))
    with pytest.raises(UnknownPicture, match="colours"):
        draw("mug", ("blue",))
    with pytest.raises(UnknownPicture, match="colours"):
        draw("mug", ())


@for_each([*KINDS_OF_COLOUR, "9aae8c", "b8b0a3", "ecd28a"])
def test_a_tone_comes_back_as_the_colour_it_was(colour: str) -> None:
    assert str(Tone.of(colour)) == f"#{colour}"


@for_each(KINDS_OF_COLOUR)
def test_lighter_is_lighter_and_darker_is_darker_and_never_out_of_range(colour: str) -> None:
    tone = Tone.of(colour)
    assert tone.down(0.1).lightness <= tone.lightness or tone.lightness < 0.08
    assert re.fullmatch(r"#[0-9a-f]{6}", str(tone.up(0.6)))
    assert re.fullmatch(r"#[0-9a-f]{6}", str(tone.down(0.9)))


@for_each(["efeae0", "9aae8c", "c8724c", "2f4160", "43474c", "ecd28a"])
def test_the_ground_is_pale_and_not_the_colour_of_the_thing(colour: str) -> None:
    ground = backdrop(Tone.of(colour))
    assert ground.lightness > 0.8
    assert ground.chroma < 0.04
    assert abs(ground.lightness - Tone.of(colour).lightness) > 0.04
