"""The illustrations: every shape, in every kind of colour, is safe and well-formed SVG."""

import re
from functools import cache
from hashlib import blake2b
from xml.etree import ElementTree

import pytest

from catalogue.pictures import (
    MAX_SHEET,
    SHAPES,
    InvalidDrawing,
    NoSuchPicture,
    backdrop_tone,
    draw_picture,
    draw_sheet,
    join_sheet,
    parse_picture,
    parse_slot,
    split_sheet,
)
from catalogue.tone import Tone
from demo.catalogue_data import CATEGORIES, PRODUCTS
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
    return [draw_picture(shape, (first, *others)) for first in (*KINDS_OF_COLOUR, "62717f")]


def read(svg: str) -> ElementTree.Element:
    """Parse a picture; raises ParseError when it is not well-formed."""
    return ElementTree.fromstring(svg)  # noqa: S314 - our own drawing


@for_each(SHAPES, at_least=196)
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


@for_each(SHAPES, at_least=196)
def test_it_draws_with_one_colour_alone(shape: str) -> None:
    assert read(draw_picture(shape, ("9aae8c",))).findtext(f"{SVG}title")


@for_each(SHAPES, at_least=196)
def test_it_shows_each_colour_that_it_takes(shape: str) -> None:
    colours = ("9aae8c", "d6a03f", "3e7f80")[: SHAPES[shape].most_colours]
    for place in range(len(colours)):
        assert draw_picture(shape, colours) != draw_picture(
            shape, (*colours[:place], "2f4160", *colours[place + 1 :])
        )


@for_each(SHAPES, at_least=196)
def test_it_refers_only_to_gradients_and_clips_of_its_own_and_leaves_none_unused(
    shape: str,
) -> None:
    for svg in drawings(shape):
        defined = re.findall(r' id="([^"]+)"', svg)
        assert len(defined) == len(set(defined))
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) == set(defined)


@for_each(SHAPES, at_least=196)
def test_a_picture_is_small_and_not_empty(shape: str) -> None:
    most = 22_000 if shape.endswith("-3") else 14_000 if shape.endswith(("-2", "-scene")) else 7_500
    for svg in drawings(shape):
        assert 1500 < len(svg) < most


def test_x140_pictures_in_one_file_stay_apart_and_each_has_its_view() -> None:
    pictures = [*[each.picture for each in CATEGORIES][: MAX_SHEET - 1], "mug/c8724c-efeae0"]
    assert split_sheet(join_sheet(pictures)) == pictures
    text = draw_sheet(pictures)
    sheet = read(text)
    views = {each.get("id"): each.get("viewBox") for each in sheet.iter(f"{SVG}view")}
    drawn = sheet.findall(f"{SVG}svg")
    assert len(drawn) == len(pictures) == len(views) > 10
    for number, (picture, each) in enumerate(zip(pictures, drawn, strict=True)):
        assert views[f"p{number}"] == f"{each.get('x', '0')} 0 600 600"
        title = read(draw_picture(*parse_picture(picture))).findtext(f"{SVG}title")
        assert each.findtext(f"{SVG}title") == title
        ids = {inner.get("id") for inner in each.iter() if inner.get("id")}
        used = set(re.findall(r"url\(#([^)]+)\)", ElementTree.tostring(each, encoding="unicode")))
        assert ids == used
    defined = re.findall(r' id="([^"]+)"', text)
    assert len(defined) == len(set(defined))
    for wrong in ([], pictures * 2, ["nothing/c8724c"]):
        with pytest.raises(NoSuchPicture):
            draw_sheet(wrong)


def test_what_the_demo_shop_sells_looks_as_it_always_did() -> None:
    """Browsers cache a picture's URL for a year: if this has to change, so do the URLs."""
    sold = {variant.picture for product in PRODUCTS for variant in product.variants}
    pictures = sorted(sold | {category.picture for category in CATEGORIES})
    drawn = blake2b(
        "".join(draw_picture(*parse_picture(picture)) for picture in pictures).encode(),
        digest_size=16,
    )
    assert (len(pictures), drawn.hexdigest()) == (227, "edce776e940589a5b23c6f545c670f27")


def test_it_parses_the_text_that_a_variant_keeps() -> None:
    assert parse_picture("mug/4f6d7a-e8d9c5") == ("mug", ("4f6d7a", "e8d9c5"))


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
    with pytest.raises(NoSuchPicture):
        parse_picture(picture)


def test_draw_refuses_the_same_as_parse() -> None:
    with pytest.raises(NoSuchPicture, match="no shape"):
        draw_picture("unicorn", ("4f6d7a",))
    with pytest.raises(NoSuchPicture, match="colours"):
        draw_picture("mug", ("blue",))
    with pytest.raises(NoSuchPicture, match="colours"):
        draw_picture("mug", ())


def test_a_slot_holds_a_colour_and_what_is_done_to_it() -> None:
    tones = {"a": Tone.from_hex("4f6d7a"), "b": Tone.from_hex("e8d9c5")}
    a, b = tones.values()
    for text, tone in (
        ("a", a),
        ("b.down(.17)", b.down(0.17)),
        ("a.up(.05).against(.3).deepened(0)", a.up(0.05).against(0.3).deepened(0)),
        (
            "#f6f1e6.mix(a.mix(b, .35).up(-.1), .3)",
            Tone.from_hex("f6f1e6").mix(a.mix(b, 0.35).up(-0.1), 0.3),
        ),
    ):
        assert parse_slot(text, frozenset(tones))(tones) == tone


@for_each(
    [
        "",
        "c",
        "#f6f1e",
        "#f6f1e6a",
        "A",
        "a b",
        "a.",
        "a.up",
        "a.up()",
        "a.up(.1",
        "a.up(.1))",
        "a.up(b)",
        "a.up(nan)",
        "a.up(#f6f1e6)",
        "a.up(٤)",
        "xf6f1e6",
        "xabcdef",
        "a.up(.1, .2)",
        "a.hue",
        "a.polar(.1)",
        "a.__str__()",
        "a.mix(b)",
        "a.mix(.3, b)",
        "a.mix(b, .3",
        "up(.1)",
        "a+b",
        "__import__('os')",
    ],
    repr,
)
def test_a_slot_holds_nothing_else(text: str) -> None:
    with pytest.raises(InvalidDrawing):
        parse_slot(text, frozenset({"a", "b"}))


@for_each([*KINDS_OF_COLOUR, "9aae8c", "b8b0a3", "ecd28a"])
def test_a_tone_comes_back_as_the_colour_it_was(colour: str) -> None:
    assert str(Tone.from_hex(colour)) == f"#{colour}"


@for_each(KINDS_OF_COLOUR)
def test_lighter_is_lighter_and_darker_is_darker_and_never_out_of_range(colour: str) -> None:
    tone = Tone.from_hex(colour)
    assert tone.down(0.1).lightness <= tone.lightness or tone.lightness < 0.08
    assert re.fullmatch(r"#[0-9a-f]{6}", str(tone.up(0.6)))
    assert re.fullmatch(r"#[0-9a-f]{6}", str(tone.down(0.9)))


@for_each(["efeae0", "9aae8c", "c8724c", "2f4160", "43474c", "ecd28a"])
def test_the_ground_is_pale_and_not_the_colour_of_the_thing(colour: str) -> None:
    ground = backdrop_tone(Tone.from_hex(colour))
    assert ground.lightness > 0.8
    assert ground.chroma < 0.04
    assert abs(ground.lightness - Tone.from_hex(colour).lightness) > 0.04
