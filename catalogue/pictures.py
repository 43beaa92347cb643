"""The shop's own illustrations: a shape and one to three colours give a picture.

A variant's picture is kept as text, `mug/4f6d7a-e8d9c5`, and drawn when it is asked for. What comes out is
plain SVG with presentation attributes only: no style, no script, nothing fetched from elsewhere, so that it
passes the strictest content security policy.
"""

import math
import re
from collections.abc import Callable, Mapping
from inspect import signature

from catalogue.drawings import clothes, desk, light_and_plants, tableware, textiles
from catalogue.drawings.sheet import SIDE, Sheet, box
from catalogue.drawings.tone import Tone

_COLOUR = re.compile(r"[0-9a-f]{6}")

SHAPES: Mapping[str, Callable[..., None]] = {
    "apron": tableware.apron,
    "backpack": clothes.backpack,
    "basket": textiles.basket,
    "beanie": clothes.beanie,
    "blanket": textiles.blanket,
    "board": tableware.board,
    "bottle": tableware.bottle,
    "bowl": tableware.bowl,
    "bud-vase": light_and_plants.bud_vase,
    "cable-jumper": clothes.cable_jumper,
    "candle": light_and_plants.candle,
    "candles": light_and_plants.candles,
    "cardigan": clothes.cardigan,
    "casserole": tableware.casserole,
    "clock": desk.clock,
    "corduroy-cushion": textiles.corduroy_cushion,
    "cup": tableware.cup,
    "cushion": textiles.cushion,
    "desk-lamp": desk.desk_lamp,
    "enamel-mug": tableware.enamel_mug,
    "envelopes": desk.envelopes,
    "folded-blanket": textiles.folded_blanket,
    "hoodie": clothes.hoodie,
    "jug": tableware.jug,
    "jumper": clothes.jumper,
    "kettle": tableware.kettle,
    "knife": tableware.knife,
    "lamp": light_and_plants.lamp,
    "lantern": light_and_plants.lantern,
    "long-cushion": textiles.long_cushion,
    "mug": tableware.mug,
    "notebook": desk.notebook,
    "organiser": desk.organiser,
    "pan": tableware.pan,
    "pen": desk.pen,
    "pencils": desk.pencils,
    "pendant": light_and_plants.pendant,
    "planner": desk.planner,
    "plant-pot": light_and_plants.plant_pot,
    "plate": tableware.plate,
    "pocket-notebooks": desk.pocket_notebooks,
    "pocket-tee": clothes.pocket_tee,
    "pouch": clothes.pouch,
    "rolled-mat": textiles.rolled_mat,
    "scarf": clothes.scarf,
    "scissors": desk.scissors,
    "seed-packet": light_and_plants.seed_packet,
    "serving-bowl": tableware.serving_bowl,
    "shirt": clothes.shirt,
    "sketchbook": desk.sketchbook,
    "soap": textiles.soap,
    "socks": clothes.socks,
    "spoons": tableware.spoons,
    "stool": light_and_plants.stool,
    "striped-tee": clothes.striped_tee,
    "t-shirt": clothes.t_shirt,
    "tea-towel": textiles.tea_towel,
    "teapot": tableware.teapot,
    "tin": tableware.tin,
    "tote": clothes.tote,
    "towel": textiles.towel,
    "tumbler": tableware.tumbler,
    "vase": light_and_plants.vase,
    "watering-can": light_and_plants.watering_can,
}


class UnknownPicture(ValueError):  # noqa: N818 - it says what is wrong, as the shop's other errors do
    """No such shape, or not the colours that it takes."""


def parse(picture: str) -> tuple[str, tuple[str, ...]]:
    """This function will split `shape/hex-hex` into the shape and its colours; raises UnknownPicture."""
    shape, _, colours = picture.partition("/")
    return checked(shape, tuple(colours.split("-")))


def checked(shape: str, colours: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """This function will return what it is given if it can be drawn, and raise UnknownPicture otherwise."""
    if shape not in SHAPES:
        raise UnknownPicture(f"no shape is called {shape!r}")
    most = len(signature(SHAPES[shape]).parameters) - 1
    if not 1 <= len(colours) <= most or not all(_COLOUR.fullmatch(colour) for colour in colours):
        raise UnknownPicture(f"{shape} takes 1 to {most} colours of six small hexadecimal digits each")
    return shape, colours


def draw(shape: str, colours: tuple[str, ...]) -> str:
    """This function will return the picture as an SVG document, 600 by 600; raises UnknownPicture."""
    checked(shape, colours)
    tones = tuple(Tone.of(colour) for colour in colours)
    sheet = Sheet(backdrop(tones[0]))
    _paint_backdrop(sheet)
    SHAPES[shape](sheet, *tones)
    return sheet.document(shape.replace("-", " ").capitalize())


def backdrop(tone: Tone) -> Tone:
    """This function will return a calm ground on which a thing of this colour stands out."""
    # A pale thing stands on a deeper ground. The hue answers the thing's own, and warm paper calms it.
    lightness = 0.905 if tone.lightness < 0.8 else 0.82
    paper = Tone.polar(lightness, 0.02, math.radians(80))
    if tone.chroma < 0.03:
        return paper
    return paper.mix(Tone.polar(lightness, 0.034, tone.hue + math.pi), 0.6)


def _paint_backdrop(sheet: Sheet) -> None:
    ground = sheet.backdrop
    wall = sheet.linear(
        (0, ground.up(0.03)), (0.6, ground.up(0.005)), (0.74, ground.down(0.022)), (1, ground.down(0.006))
    )
    sheet.fill(box(0, 0, SIDE, SIDE), wall)
