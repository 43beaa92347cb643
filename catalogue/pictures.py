"""The shop's own illustrations: a picture is a shape and one to three colours.

A picture is stored as text, `mug/4f6d7a-e8d9c5`, and drawn on request. `drawings/mug.svg` is an SVG file with slots for colours,
`{b.down(.17)}`. Its first line, `<!-- a; b = #f6f1e6 -->`, names the shape's colours and the defaults of optional colours. A slot holds:

    a  b  c      a colour of the picture          .up(.1)  .down(.1)  made lighter, made darker
    backdrop     a background that suits a        .against(.3)        made lighter if dark, darker if light
    #f6f1e6      this fixed colour                .deepened(.2)       made darker if light
                                                  .mix(b, .3)         mixed with a share of another colour

The result is plain SVG with presentation attributes only. Without styles, scripts and external files it passes the strictest content
security policy.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from catalogue.tone import Tone

# The largest number of pictures in one SVG document.
MAX_SHEET = 24
_COLOUR = re.compile(r"[0-9a-f]{6}")
_SLOT = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"\.[a-z]+\(|#[0-9a-f]{6}|[a-z]+|-?\.?[0-9]+|\S")
_FIXED_COLOUR = re.compile(r"#[0-9a-f]{6}")
_NUMBER = re.compile(r"-?\.?[0-9]+")
_CHANGES: Mapping[str, Callable[..., Tone]] = {
    f".{change.__name__}(": change
    for change in (Tone.up, Tone.down, Tone.against, Tone.deepened, Tone.mix)
}
Tones: TypeAlias = Mapping[str, Tone]
Paint: TypeAlias = Callable[[Tones], Tone]


class NoSuchPicture(ValueError):
    """There is no shape with this name, or it does not take these colours."""


class InvalidDrawing(ValueError):
    """A slot in a drawing is malformed; the error's text is the part of the slot that was not understood."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A parsed drawing file: its texts with a number in place of each slot, and the paint for each number."""

    colours: Mapping[str, Paint | None]
    paints: tuple[Paint, ...]
    head: str
    definitions: tuple[tuple[str, str], ...]
    marks: str


@dataclass(frozen=True)
class Shape:
    """A drawing, whose file is read on first use."""

    file: Path

    @cached_property
    def drawing(self) -> Drawing:
        return parse_drawing(self.file.read_text(encoding="utf-8"))

    @property
    def most_colours(self) -> int:
        return len(self.drawing.colours)


SHAPES: Mapping[str, Shape] = {
    file.stem: Shape(file) for file in sorted((Path(__file__).parent / "drawings").glob("*.svg"))
}


def parse_picture(picture: str) -> tuple[str, tuple[str, ...]]:
    """Split the text `shape/hex-hex` into the shape and its colours. Raises NoSuchPicture."""
    shape, _, colours = picture.partition("/")
    return check_picture(shape, tuple(colours.split("-")))


def check_picture(shape: str, colours: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return shape and colours if the shape can be drawn in these colours. Raises NoSuchPicture."""
    if shape not in SHAPES:
        raise NoSuchPicture(f"no shape is called {shape!r}")
    most = SHAPES[shape].most_colours
    if not 1 <= len(colours) <= most or not all(_COLOUR.fullmatch(colour) for colour in colours):
        raise NoSuchPicture(
            f"{shape} takes 1 to {most} colours of six small hexadecimal digits each"
        )
    return shape, colours


def is_drawing(picture: str) -> bool:
    """Return whether a picture's text names a drawing."""
    try:
        parse_picture(picture)
    except NoSuchPicture:
        return False
    return True


def list_drawn_views(picture: str) -> tuple[str, ...]:
    """Return a picture. For a drawing, also return its further views in the same colours: a close-up and a scene."""
    shape, _, colours = picture.partition("/")
    further = (each for each in (f"{shape}-2", f"{shape}-3") if each in SHAPES)
    return (picture, *(f"{each}/{colours}" for each in further))


def draw_picture(shape: str, colours: tuple[str, ...], prefix: str = "g") -> str:
    """Return the picture as an SVG document of 600 by 600 pixels. All its ids begin with `prefix`. Raises NoSuchPicture."""
    check_picture(shape, colours)
    drawing = SHAPES[shape].drawing
    tones = _tones(drawing, colours)
    paints = [str(paint(tones)) for paint in drawing.paints]
    # With some colours two gradients are equal; the document then has only one of them.
    defined: dict[str, tuple[str, str]] = {}
    names = []
    for element, rest in drawing.definitions:
        _, name = defined.setdefault(rest.format(*paints), (element, f"{prefix}{len(defined)}"))
        names.append(name)
    definitions = "".join(
        f'<{element} id="{name}"{rest}' for rest, (element, name) in defined.items()
    )
    return drawing.head + definitions + drawing.marks.format(*paints, *names)


def draw_sheet(pictures: Sequence[str]) -> str:
    """Return pictures as one SVG document. `#p0`, `#p1` … at the end of its address shows one of them. Raises NoSuchPicture."""
    if not 1 <= len(pictures) <= MAX_SHEET:
        raise NoSuchPicture(f"a sheet has 1 to {MAX_SHEET} pictures")
    # The pictures are side by side. If the address names none of them, the first one is visible.
    drawn = [
        draw_picture(*parse_picture(each), prefix=f"p{number}g").replace(
            "<svg ", f'<svg x="{600 * number}" ', 1
        )
        for number, each in enumerate(pictures)
    ]
    views = [
        f'<view id="p{number}" viewBox="{600 * number} 0 600 600"/>' for number in range(len(drawn))
    ]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600" width="600" height="600">'
    return f"{head}{''.join(views)}{''.join(drawn)}</svg>"


def join_sheet(pictures: Sequence[str]) -> str:
    """Return the pictures as one text for the address of their common document."""
    return ",".join(each.replace("/", ".") for each in pictures)


def split_sheet(named: str) -> list[str]:
    """Return the pictures that the address of a common document names."""
    return [each.replace(".", "/") for each in named.split(",")]


def _tones(drawing: Drawing, colours: tuple[str, ...]) -> Tones:
    """Return the tone for each colour name in a drawing. Missing colours are derived from earlier ones."""
    tones = dict(zip(drawing.colours, map(Tone.from_hex, colours), strict=False))
    for name, instead in drawing.colours.items():
        if instead and name not in tones:
            tones[name] = instead(tones)
    return {**tones, "backdrop": backdrop_tone(tones["a"])}


def backdrop_tone(tone: Tone) -> Tone:
    """Return a calm background on which an object of this colour stands out."""
    # A pale object gets a deeper background. The background's hue is opposite to the object's, and softened by warm paper.
    lightness = 0.905 if tone.lightness < 0.8 else 0.82
    paper = Tone.from_polar(lightness, 0.02, math.radians(80))
    if tone.chroma < 0.03:
        return paper
    return paper.mix(Tone.from_polar(lightness, 0.034, tone.hue + math.pi), 0.6)


def parse_drawing(text: str) -> Drawing:
    """Parse a drawing's file, independently of colours. Raises InvalidDrawing."""
    first, *lines = (line.strip() for line in text.splitlines())
    colours: dict[str, Paint | None] = {}
    for each in first.removeprefix("<!-- ").removesuffix(" -->").split("; "):
        name, _, instead = each.partition(" = ")
        colours[name] = parse_slot(instead, frozenset(colours)) if instead else None
    start, end = lines.index("<defs>"), lines.index("</defs>")
    found: dict[str, int] = {}
    marks = _number_slots("".join(lines[end:]), found)
    definitions = [
        _number_slots(line, found).split(f' id="g{number}"')
        for number, line in enumerate(lines[start + 1 : end])
    ]
    return Drawing(
        colours=colours,
        paints=tuple(parse_slot(each, frozenset({*colours, "backdrop"})) for each in found),
        head="".join(lines[: start + 1]),
        definitions=tuple((element.removeprefix("<"), rest) for element, rest in definitions),
        marks=re.sub(
            r"(?<=url\(#)g(\d+)(?=\))", lambda match: f"{{{len(found) + int(match[1])}}}", marks
        ),
    )


def _number_slots(text: str, found: dict[str, int]) -> str:
    """Replace each slot by a number; equal slots share it."""
    return _SLOT.sub(lambda match: f"{{{found.setdefault(match[1], len(found))}}}", text)


def parse_slot(text: str, names: frozenset[str]) -> Paint:
    """Parse a slot, which may contain these colour names. Raises InvalidDrawing."""
    words = _WORD.findall(text)
    paint = _colour(words, names)
    if words:
        raise InvalidDrawing(text)
    return paint


def _colour(words: list[str], names: frozenset[str]) -> Paint:
    """Parse a colour and its changes from the front of `words`, and remove these words."""
    word = _take_word(words, lambda word: word in names or _FIXED_COLOUR.fullmatch(word))
    paint = _fixed_tone(Tone.from_hex(word[1:])) if word[0] == "#" else itemgetter(word)
    while words and words[0].endswith("("):
        change = _take_word(words, _CHANGES.__contains__)
        other = _colour(words, names) if change == ".mix(" else None
        if other:
            _take_word(words, ",".__eq__)
        paint = _change_paint(paint, _CHANGES[change], _number(words), other)
    return paint


def _fixed_tone(tone: Tone) -> Paint:
    return lambda tones: tone


def _change_paint(
    paint: Paint, change: Callable[..., Tone], step: float, other: Paint | None
) -> Paint:
    if other:
        return lambda tones: change(paint(tones), other(tones), step)
    return lambda tones: change(paint(tones), step)


def _number(words: list[str]) -> float:
    number = float(_take_word(words, _NUMBER.fullmatch))
    _take_word(words, ")".__eq__)
    return number


def _take_word(words: list[str], fits: Callable[[str], object]) -> str:
    if not words or not fits(words[0]):
        raise InvalidDrawing(" ".join(words))
    return words.pop(0)
