"""Scenes for the demo's posts: what customers would photograph at home, from where they stand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from . import ceramics, plants, shapes, shots
from .frame import View
from .scenes import BEECH, OAK, WALNUT, coffee, planks, put, slab, sun, vase_of, wall
from .shapes import Point, Shapes

STONE, CHALK = "d9d4c8", "efece4"


@dataclass(frozen=True)
class Item:
    """A product on the table: its key and colour, where it stands, how it is turned, and its options."""

    key: str
    code: str
    at: tuple[float, float]
    turn: float = 0.0
    high: float = 0.0
    shot: str = "scene"
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Photograph:
    """A customer's picture: what stands on which top before which wall, and how the camera sees it.

    `wide` is how many metres are seen across, `extra` returns what else stands there.
    """

    name: str
    top: str
    back: str
    wide: float
    pitch: float
    items: tuple[Item, ...]
    extra: Callable[[], Shapes] | None = None
    high: float = 0.07  # of the point that the camera looks at
    away: Point = (-2.3, -0.4, 1.8)  # from where the sun comes
    light: float = 0.62
    power: float = 60
    far: float = 0.5  # of the wall


def of(key: str, code: str, x: float, y: float, turn: float = 0.0, **more: Any) -> Item:
    """Return an item. What is no field of it is an option, such as Size="L"."""
    known = {name: more.pop(name) for name in ("high", "shot") if name in more}
    return Item(key, code, (x, y), turn, options=more, **known)


def full(key: str, code: str, x: float, y: float, turn: float = 0.0) -> Shapes:
    """Return a mug of coffee."""
    return shapes.place([*put(key, code), coffee()], at=(x, y, 0), turn=turn)


def herb(code: str, x: float, y: float, seed: int = 8) -> Shapes:
    """Return a pot of basil."""
    leaves = plants.basil(0.17, Random(seed))  # noqa: S311 (a look, not a secret)
    pot = put("plant-pot", code, shot="second", Size="12")
    return shapes.place([*pot, *shapes.place(leaves, at=(0, 0, 0.105))], at=(x, y, 0))


def grasses(x: float, y: float, count: int = 8, seed: int = 6) -> Shapes:
    """Return grasses that stand in a bud vase."""
    chance = Random(seed)  # noqa: S311 (a look, not a secret)
    return shapes.place(plants.grasses(count, 0.3, chance), at=(x, y, 0.06))


def twigs(code: str, x: float, y: float, kind: str = "L") -> Shapes:
    """Return a vase of eucalyptus."""
    return vase_of(kind, code, (x, y, 0), ((0.36, 15, 15), (0.31, 130, 18), (0.38, 250, 10)))


def several(*makers: Callable[[], Shapes]) -> Callable[[], Shapes]:
    """Return a function that makes all of these."""
    return lambda: [each for make in makers for each in make()]


def porridge() -> Shapes:
    """Return porridge in a bowl."""
    return [ceramics.surface_of(0.062, 0.052, "d8c7a6")]


P = Photograph
PHOTOGRAPHS = (
    P("morning-mug", OAK, "d8d2c4", 0.46, 30, (of("a5-notebook", "sag", 0.1, 0.09, 14),),
      partial(full, "everyday-mug", "cla", -0.07, -0.02, -38)),
    P("tea-for-two", WALNUT, "c6cbc2", 0.66, 26, (of("teapot", "rus", 0.06, 0.1, -24), of("everyday-mug", "oat", -0.16, -0.02, -40),
      of("everyday-mug", "oat", 0.2, -0.1, 30), of("loose-leaf-tea", "green", -0.17, 0.19, 12))),
    P("porridge", BEECH, "dfe0d8", 0.44, 48, (of("breakfast-bowl", "mus", 0, 0), of("stoneware-jug", "oat", 0.15, 0.17, 20),
      of("everyday-mug", "sag", -0.17, 0.14, -130)), porridge, 0.03),
    P("five-mugs", CHALK, "b9c3bb", 0.78, 12, tuple(of("everyday-mug", code, -0.28 + 0.14 * k, 0.01 * (k % 2), -38 + 9 * k)
      for k, code in enumerate(("oat", "cla", "sag", "ink", "ber"))), high=0.05, far=0.25),
    P("espresso-corner", WALNUT, "d3c6b5", 0.5, 24, (of("espresso-cups", "ter", 0.02, -0.03, 20), of("loose-leaf-tea", "black", -0.14, 0.13, 8),
      of("cutting-board", "oak", 0.12, 0.2, 80))),
    P("herbs-on-the-sill", CHALK, "cfd8d6", 0.72, 12, (of("watering-can", "ink", 0.18, 0.02, 24),),
      several(partial(herb, "ter", -0.22, 0.04), partial(herb, "cha", -0.04, 0.07, 3)), 0.13, far=0.3),
    P("first-basil", OAK, "cdd3c8", 0.42, 20, (of("wildflower-seeds", "bees", 0.13, -0.08, 14),), partial(herb, "den", -0.03, 0.02), 0.11),
    P("eucalyptus", OAK, "d9cfc0", 0.74, 8, (of("a5-notebook", "mus", 0.2, -0.02, 16),), partial(twigs, "tea", -0.03, 0.05), 0.22, far=0.4),
    P("three-bud-vases", CHALK, "c4b7a6", 0.6, 10, tuple(of("bud-vase", code, -0.17 + 0.16 * k, 0.02 * k)
      for k, code in enumerate(("ber", "cha", "mus"))),
      several(partial(grasses, -0.17, 0.0, 6, 2), partial(grasses, -0.01, 0.02, 5, 4), partial(grasses, 0.15, 0.04, 7, 9)), 0.16, far=0.3),
    P("desk-in-the-morning", OAK, "c9cfd2", 0.86, 16, (of("desk-lamp", "sky", -0.2, 0.16, 14), of("a5-notebook", "ink", 0.08, -0.06, 8, shot="second"),
      of("brass-pen", "bra", 0.26, -0.05, 62), of("desk-clock", "coa", 0.24, 0.2, -14)), high=0.15),
    P("everything-in-its-place", WALNUT, "d5d6cf", 0.62, 30, (of("desk-organiser", "oak", -0.04, 0.1, -8), of("paper-scissors", "tea", 0.18, -0.03, 40),
      of("pencil-set", "quiet", -0.16, -0.1, 66), of("pocket-notebooks", "dusk", 0.12, -0.14, -12)), high=0.03),
    P("a-letter", OAK, "d9d3c6", 0.56, 58, (of("letter-set", "cha", 0.0, -0.02, -8), of("brass-pen", "blk", 0.15, -0.08, -46),
      of("scented-candle", "fig", -0.18, 0.14, 10)), high=0.0),
    P("sunday-plans", BEECH, "d9d3c6", 0.6, 52, (of("desk-planner", "lil", 0.02, 0.02, 6), of("brass-pen", "ste", 0.2, -0.08, 70)),
      partial(full, "everyday-mug", "ber", -0.2, 0.13, -120), 0.0),
    P("bedside-light", WALNUT, "8d9a94", 0.74, 12, (of("table-lamp", "ink", -0.08, 0.08), of("a5-notebook", "ber", 0.16, -0.04, 18),
      of("glass-tumblers", "amb", 0.24, 0.14, shot="second")), high=0.18, light=0.16, far=0.36),
    P("candle-hour", WALNUT, "56635b", 0.66, 18, (of("storm-lantern", "rus", -0.1, 0.08, -10), of("dinner-candles", "ber", 0.06, -0.12, 18),
      of("glass-tumblers", "cle", 0.19, 0.06)), high=0.1, light=0.14, far=0.8),
    P("by-the-basin", CHALK, "b7c5c6", 0.5, 20, (of("olive-soap", "lemon", -0.04, -0.05, -12), of("olive-soap", "lavender", 0.11, 0.03, 30),
      of("scented-candle", "sea", -0.15, 0.08)), partial(twigs, "oat", 0.06, 0.16, "M"), 0.08, far=0.3),
    P("behind-the-door", OAK, "b9c0b4", 1.05, 14, (of("seagrass-basket", "", -0.16, 0.06, 20, Size="L"), of("plant-stool", "wal", 0.24, 0.1, 16),
      of("zip-pouch", "cla", 0.24, 0.1, 24, high=0.441)), high=0.26, away=(-2.6, -1.6, 1.8), far=0.45),
    P("a-stool-for-the-fern", OAK, "d0c7b8", 0.9, 10, (of("plant-stool", "oak", 0.0, 0.0, 20), of("plant-pot", "den", 0.0, 0.0, 0, high=0.441, Size="16"),
      of("watering-can", "sag", 0.28, -0.1, 40)), high=0.36, far=0.4),
    P("soup-for-six", BEECH, "d8d4ca", 0.78, 28, (of("casserole", "ink", -0.08, 0.08, 20), of("serving-bowl", "cha", 0.22, -0.05),
      of("wooden-spoons", "oak", -0.05, -0.2, 8)), high=0.06),
    P("pan-and-board", WALNUT, "c9c8be", 0.72, 36, (of("iron-pan", "", -0.08, 0.05, 150, Size="24"), of("cutting-board", "oak", 0.2, -0.02, 84),
      of("wooden-spoons", "bee", -0.02, -0.2, 4)), high=0.03),
    P("the-good-knife", OAK, "d5d0c4", 0.52, 40, (of("cutting-board", "wal", 0.0, 0.0, 12), of("chefs-knife", "oak", 0.03, -0.02, 30, high=0.02),
      of("breakfast-bowl", "for", -0.17, 0.14)), high=0.02),
    P("table-for-two", OAK, "cfd3cb", 0.86, 34, (of("dinner-plate", "sag", -0.18, -0.02, 10, Size="27"), of("dinner-plate", "sag", 0.2, 0.06, 40, Size="27"),
      of("breakfast-bowl", "sla", -0.18, -0.02, 20, high=0.006), of("glass-tumblers", "sea", 0.02, 0.2), of("dinner-candles", "sky", 0.0, -0.16, 80)), high=0.03),
    P("water-on-the-table", BEECH, "dcd6ca", 0.56, 18, (of("stoneware-jug", "sky", -0.1, 0.07, 30), of("glass-tumblers", "amb", 0.09, 0.0),), high=0.1),
    P("coffee-outside", WALNUT, "7d8a7c", 0.6, 24, (of("enamel-mug", "den", -0.09, -0.05, -44), of("enamel-mug", "for", 0.06, 0.06, 30),
      of("insulated-bottle", "coa", 0.2, 0.1, 0)), high=0.07, far=0.9),
    P("kettle-on", CHALK, "c5cdcb", 0.62, 16, (of("stove-kettle", "ter", -0.06, 0.05, 24), of("everyday-mug", "but", 0.19, -0.03, -30)), high=0.1, far=0.35),
    P("drawing-hour", OAK, "d3d6d4", 0.66, 44, (of("sketchbook", "coa", 0.02, 0.0, 10), of("pencil-set", "bright", 0.2, -0.14, 60),
      of("desk-clock", "but", -0.2, 0.2, 16)), high=0.02),
    P("a-year-of-notebooks", WALNUT, "cdc6ba", 0.46, 28, tuple(of("a5-notebook", code, 0.008 * (k % 3) - 0.02, 0.006 * k, 80 + 6 * k, high=0.017 * k)
      for k, code in enumerate(("ink", "sag", "ber", "mus", "ink"))), high=0.04),
    P("seeds-for-spring", BEECH, "d4d9cd", 0.6, 46, (of("wildflower-seeds", "meadow", -0.12, -0.05, 10), of("wildflower-seeds", "sun", 0.02, -0.09, -8),
      of("plant-pot", "ter", -0.02, 0.13, 0), of("watering-can", "mus", 0.2, 0.06, 50)), high=0.03),
    P("packed-for-the-train", OAK, "bcc3c4", 0.96, 12, (of("canvas-backpack", "for", -0.08, 0.08, -18), of("insulated-bottle", "sky", 0.25, 0.0),
      of("zip-pouch", "sla", 0.2, -0.18, 28)), high=0.22, far=0.4),
    P("breakfast-for-two", OAK, "d2d4cc", 0.84, 30, (of("breakfast-bowl", "blu", -0.18, -0.05), of("breakfast-bowl", "lil", 0.18, -0.02),
      of("stoneware-jug", "ber", 0.0, 0.18, 30), of("dinner-plate", "cha", 0.02, -0.16, Size="21")),
      several(partial(full, "everyday-mug", "ink", -0.3, 0.13, -140), partial(full, "everyday-mug", "oat", 0.32, 0.14, -30)), 0.04),
)  # fmt: skip


def arrange(picture: Photograph) -> Shapes:
    """Build what a customer's picture shows."""
    if picture.top in (STONE, CHALK):
        slab(picture.top, (3, 1.6, 0.04), (0, 0, 0))
    else:
        planks(picture.top, rows=14, front=-1.1, long=4)
    wall(picture.back, picture.far)
    made: Shapes = []
    for item in picture.items:
        at = (*item.at, item.high)
        made += put(item.key, item.code, at, item.turn, shot=item.shot, **item.options)
    made += picture.extra() if picture.extra else []
    sun((0.0, 0.05, 0.05), picture.away, picture.power, spread=0.24, leaves=0.55)
    return made


for each in PHOTOGRAPHS:
    seen = View(
        at=(0.0, 0.02, each.high), width=each.wide, pitch=each.pitch, blur=0.03,
        light=each.light, hang=2,
    )  # fmt: skip
    shots.scene(f"post-{each.name}", seen)(partial(arrange, each))
