"""The shop's own illustrations: a shape and one to three colours give a picture.

A variant's picture is kept as text, `mug/4f6d7a-e8d9c5`, and drawn when it is asked for. What comes out is
plain SVG with presentation attributes only: no style, no script, nothing fetched from elsewhere, so that it
passes the strictest content security policy.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature

from catalogue.drawings import clothes, desk, light_and_plants, scenes, tableware, textiles
from catalogue.drawings.sheet import SIDE, Sheet, box, number
from catalogue.drawings.tone import Tone

_COLOUR = re.compile(r"[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a shape is drawn, and how much its drawing is enlarged so that it fills the sheet well."""

    paint: Callable[..., None]
    zoom: float = 1.0

    @property
    def most_colours(self) -> int:
        return len(signature(self.paint).parameters) - 1


SHAPES: Mapping[str, Shape] = {
    "apron": Shape(tableware.apron, 1.06),
    "backpack": Shape(clothes.backpack, 1.04),
    "basket": Shape(textiles.basket, 1.14),
    "beanie": Shape(clothes.beanie, 1.12),
    "blanket": Shape(textiles.blanket, 1.04),
    "board": Shape(tableware.board, 1.06),
    "bottle": Shape(tableware.bottle, 1.08),
    "bowl": Shape(tableware.bowl, 1.16),
    "bud-vase": Shape(light_and_plants.bud_vase, 1.08),
    "cable-jumper": Shape(clothes.cable_jumper, 1.1),
    "candle": Shape(light_and_plants.candle, 1.22),
    "candles": Shape(light_and_plants.candles, 1.14),
    "cardigan": Shape(clothes.cardigan, 1.1),
    "casserole": Shape(tableware.casserole, 1.08),
    "clothing-scene": Shape(scenes.clothing),
    "clock": Shape(desk.clock, 1.06),
    "corduroy-cushion": Shape(textiles.corduroy_cushion, 1.14),
    "cup": Shape(tableware.cup, 1.06),
    "cushion": Shape(textiles.cushion, 1.16),
    "desk-scene": Shape(scenes.workspace),
    "desk-lamp": Shape(desk.desk_lamp, 1.06),
    "enamel-mug": Shape(tableware.enamel_mug, 1.2),
    "envelopes": Shape(desk.envelopes, 1.04),
    "folded-blanket": Shape(textiles.folded_blanket, 1.12),
    "home-scene": Shape(scenes.home),
    "hoodie": Shape(clothes.hoodie, 1.08),
    "jug": Shape(tableware.jug, 1.14),
    "jumper": Shape(clothes.jumper, 1.1),
    "kitchen-scene": Shape(scenes.kitchen),
    "kettle": Shape(tableware.kettle, 1.12),
    "knife": Shape(tableware.knife, 1.08),
    "lamp": Shape(light_and_plants.lamp, 1.04),
    "lantern": Shape(light_and_plants.lantern, 1.02),
    "long-cushion": Shape(textiles.long_cushion, 1.06),
    "mug": Shape(tableware.mug, 1.2),
    "notebook": Shape(desk.notebook, 1.06),
    "organiser": Shape(desk.organiser, 1.1),
    "pan": Shape(tableware.pan, 1.06),
    "pen": Shape(desk.pen, 1.2),
    "pencils": Shape(desk.pencils, 1),
    "pendant": Shape(light_and_plants.pendant, 1),
    "planner": Shape(desk.planner, 1.08),
    "plant-pot": Shape(light_and_plants.plant_pot, 0.98),
    "plate": Shape(tableware.plate, 1.12),
    "pocket-notebooks": Shape(desk.pocket_notebooks, 1.14),
    "pocket-tee": Shape(clothes.pocket_tee, 1.12),
    "pouch": Shape(clothes.pouch, 1.14),
    "rolled-mat": Shape(textiles.rolled_mat, 1.1),
    "scarf": Shape(clothes.scarf, 1.06),
    "scissors": Shape(desk.scissors, 1.16),
    "seed-packet": Shape(light_and_plants.seed_packet, 1.06),
    "serving-bowl": Shape(tableware.serving_bowl, 1.1),
    "shirt": Shape(clothes.shirt, 1.08),
    "sketchbook": Shape(desk.sketchbook, 1.08),
    "soap": Shape(textiles.soap, 1.12),
    "socks": Shape(clothes.socks, 1.02),
    "spoons": Shape(tableware.spoons, 1.08),
    "stool": Shape(light_and_plants.stool, 1.1),
    "striped-tee": Shape(clothes.striped_tee, 1.1),
    "t-shirt": Shape(clothes.t_shirt, 1.12),
    "tea-towel": Shape(textiles.tea_towel, 1.06),
    "teapot": Shape(tableware.teapot, 1.14),
    "tin": Shape(tableware.tin, 1.22),
    "tote": Shape(clothes.tote, 1.04),
    "towel": Shape(textiles.towel, 1.1),
    "tumbler": Shape(tableware.tumbler, 1.12),
    "vase": Shape(light_and_plants.vase, 1.06),
    "watering-can": Shape(light_and_plants.watering_can, 1.14),
}


class UnknownPicture(ValueError):
    """No such shape, or not the colours that it takes."""


def parse(picture: str) -> tuple[str, tuple[str, ...]]:
    """Split `shape/hex-hex` into the shape and its colours; raises UnknownPicture."""
    shape, _, colours = picture.partition("/")
    return checked(shape, tuple(colours.split("-")))


def checked(shape: str, colours: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return what it is given if it can be drawn, and raise UnknownPicture otherwise."""
    if shape not in SHAPES:
        raise UnknownPicture(f"no shape is called {shape!r}")
    most = SHAPES[shape].most_colours
    if not 1 <= len(colours) <= most or not all(_COLOUR.fullmatch(colour) for colour in colours):
        raise UnknownPicture(f"{shape} takes 1 to {most} colours of six small hexadecimal digits each")
    return shape, colours


def draw(shape: str, colours: tuple[str, ...]) -> str:
    """Return the picture as an SVG document, 600 by 600; raises UnknownPicture."""
    checked(shape, colours)
    tones = tuple(Tone.of(colour) for colour in colours)
    sheet = Sheet(backdrop(tones[0]))
    _paint_backdrop(sheet)
    with sheet.group(transform=_enlarged(SHAPES[shape].zoom)):
        SHAPES[shape].paint(sheet, *tones)
    return sheet.document(shape.replace("-", " ").capitalize())


def backdrop(tone: Tone) -> Tone:
    """Return a calm ground on which a thing of this colour stands out."""
    # A pale thing stands on a deeper ground. The hue answers the thing's own, and warm paper calms it.
    lightness = 0.905 if tone.lightness < 0.8 else 0.82
    paper = Tone.polar(lightness, 0.02, math.radians(80))
    if tone.chroma < 0.03:
        return paper
    return paper.mix(Tone.polar(lightness, 0.034, tone.hue + math.pi), 0.6)


def _enlarged(zoom: float) -> str | None:
    shift = number(SIDE / 2 * (1 - zoom))
    return None if zoom == 1 else f"translate({shift} {shift}) scale({zoom:g})"


def _paint_backdrop(sheet: Sheet) -> None:
    ground = sheet.backdrop
    wall = sheet.linear((0, ground.up(0.03)), (1, ground.down(0.01)))
    sheet.fill(box(0, 0, SIDE, SIDE), wall)
