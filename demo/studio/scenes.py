"""Scenes: products in use, for each category, and the front page's picture.

Each stands in a room of its own: a top of planks or plaster, a wall, and the sun through a window.
"""

import math
from collections.abc import Sequence
from random import Random

import bpy
from mathutils import Vector

from . import ceramics, materials, plants, shapes, shots, wood
from .frame import View
from .materials import Surface, Tint
from .shapes import Point, Shapes
from .shots import scene

OAK, WALNUT, BEECH = "c79a63", "7a5338", "dfb98a"


def put(
    key: str,
    code: str = "",
    at: Point = (0, 0, 0),
    turn: float = 0.0,
    *,
    shot: str = "scene",
    tip: float = 0.0,
    roll: float = 0.0,
    **options: str,
) -> Shapes:
    """Build a product and place it. The options are named as in the shop, such as Size="L"."""
    made = shots.build(key, code, shot, options)
    return shapes.place(made, at=at, turn=turn, tip=tip, roll=roll)


def planks(
    colour: str, *, deep: float = 0.15, rows: int = 9, front: float = -0.75, long: float = 3.2,
    thick: float = 0.03, gloss: float = 0.25,
) -> Shapes:  # fmt: skip
    """Return a top of boards along x, whose upper side is at z = 0."""
    made, chance = [], Random(11)  # noqa: S311 (a look, not a secret)
    for k in range(rows):
        offset = (chance.uniform(0, 2), chance.uniform(0.02, 0.12), chance.uniform(0.04, 0.14))
        sawn = materials.wood(colour, offset=offset, gloss=gloss)
        board = shapes.box((long, deep - 0.0012, thick), sawn, bevel=0.0016)
        shift = chance.uniform(-0.3, 0.3)
        made += shapes.place([board], at=(shift, front + deep * (k + 0.5), -thick))
    return made


def plaster(colour: Tint, *, rough: float = 1.0) -> bpy.types.Material:
    """Return a painted wall: strokes of the brush and the trowel."""
    s = Surface("plaster", Roughness=0.92, Specular_IOR_Level=0.15)
    trowel, grain = s.noise(0.16, detail=5, bend=0.8), s.noise(0.004, detail=4)
    cloud = s.span(trowel, 0.25, 0.75, 1 - 0.07 * rough, 1 + 0.04 * rough)
    relief = s.bump(trowel, 0.004 * rough, s.bump(grain, 0.0004))
    return s.done(Base_Color=s.shade(colour, cloud), Normal=relief)


def wall(colour: Tint, back: float, *, low: float = -0.9) -> Shapes:
    """Return the wall behind, so far back."""
    rows = [[(x, back, z) for x in (-4, 4)] for z in (low, 4)]
    return [shapes.grid("wall", rows, plaster(colour))]


def slab(colour: Tint, size: Point, at: Point) -> Shapes:
    """Return a shelf or a sill of painted wood, whose upper side is at the height of its place."""
    made = shapes.box(size, materials.lacquer(colour, gloss=0.35, peel=0.0001), bevel=0.003)
    return shapes.place([made], at=(at[0], at[1], at[2] - size[2]))


def sun(
    aim: Point, away: Point, power: float, *, spread: float = 0.3, leaves: float = 0.5,
    warm: float = 1.0,
) -> None:  # fmt: skip
    """Let the sun in through a window of six panes, with the shade of a tree before it.

    It comes from `away` of the place where it falls, and its patch is `spread` of that wide.
    """
    light = bpy.data.lights.new("sun", "SPOT")
    far = Vector(away).length
    light.energy, light.spot_size, light.spot_blend = power * far * far, math.radians(150), 0.0
    light.color, light.shadow_soft_size = (1.0, 1 - 0.12 * warm, 1 - 0.3 * warm), 0.006 * far
    light.use_nodes = True
    s = Surface.__new__(Surface)
    s.material, s.nodes = light, light.node_tree.nodes
    way = s.node("SeparateXYZ", Vector=s.node("TexCoord").outputs["Normal"])
    depth = s.math("ABSOLUTE", way.outputs["Z"])
    u, v = (s.math("DIVIDE", way.outputs[axis], depth) for axis in "XY")
    soft, part = 0.012, None
    for place, bars in ((u, (0.0,)), (v, (-spread / 2.2, spread / 2.2))):
        open_ = s.span(s.math("ABSOLUTE", place), spread * 0.8 + soft, spread * 0.8 - soft)
        for bar in bars:
            off = s.math("ABSOLUTE", s.math("SUBTRACT", place, bar))
            open_ = s.times(open_, s.span(off, 0.012 - soft * 0.5, 0.012 + soft))
        part = open_ if part is None else s.times(part, open_)
    spot = s.node("CombineXYZ", X=u, Y=v)
    shade = s.noise(spread * 0.5, detail=3, where=spot.outputs[0])
    part = s.times(part, s.span(shade, 0.44, 0.56, 1 - leaves, 1.0))
    s.feed(s.nodes["Emission"], Strength=part)
    lamp = bpy.data.objects.new("sun", light)
    lamp.location = Vector(aim) + Vector(away)
    lamp.rotation_euler = (-Vector(away)).to_track_quat("-Z", "Y").to_euler()
    bpy.context.scene.collection.objects.link(lamp)


def vase_of(kind: str, code: str, at: Point, twigs: Sequence[tuple[float, float, float]]) -> Shapes:
    """Return a vase with twigs of eucalyptus: each so long, turned and leaning."""
    made, chance = put("stoneware-vase", code, Size=kind), Random(5)  # noqa: S311
    high = 0.25 if kind == "L" else 0.15
    for long, turn, lean in twigs:
        twig = plants.branch(long, "8fa08a", chance)
        shapes.place(twig, at=(0, 0, 0), roll=lean)
        made += shapes.place(twig, at=(0, 0, high - 0.05), turn=turn)
    return shapes.place(made, at=at)


def coffee(radius: float = 0.0388, height: float = 0.072) -> bpy.types.Object:
    """Return the coffee in a mug."""
    return ceramics.surface_of(radius, height, "5a3a26")


@scene("breakfast-table", View(at=(0.01, 0.0, 0.05), width=0.7, pitch=24, blur=0.04, light=0.68,
    hang=2, focus=(0, -0.1, 0.05)))  # fmt: skip
def breakfast_table() -> Shapes:
    """Return breakfast: the teapot, mugs, bowls and a plate on an oak table."""
    planks(OAK)
    wall("cfd3cb", 0.75)
    made = put("teapot", "oat", (0.13, 0.17, 0), -22)
    mug = [*put("everyday-mug", "cla"), coffee()]
    made += shapes.place(mug, at=(0.2, -0.07, 0), turn=-38)
    made += put("everyday-mug", "ink", (-0.06, 0.2, 0), -150)
    made += put("dinner-plate", "sky", (-0.1, -0.1, 0), 20, Size="21")
    made += put("breakfast-bowl", "mus", (-0.1, -0.1, 0.006), 10)
    made += put("stoneware-jug", "sky", (-0.27, 0.15, 0), 35)
    made += put("espresso-cups", "cha", (0.34, 0.2, 0), 30)
    sun((0.0, 0.0, 0), (-2.3, -0.5, 1.9), 75, spread=0.2, leaves=0.5)
    return made


@scene("kitchen-shelf", View(at=(0.03, 0.0, 0.23), width=0.94, pitch=5, blur=0.03, light=0.7,
    hang=2))  # fmt: skip
def kitchen_shelf() -> Shapes:
    """Return two shelves on a green wall: plates, bowls, glasses, a jug and tea."""
    wall("a9b5a2", 0.13)
    for z in (0.0, 0.31):
        oak = materials.wood(OAK, offset=(z, 0.07, 0.05))
        shapes.place([shapes.box((1.6, 0.24, 0.026), oak, bevel=0.002)], at=(0, 0.01, z - 0.026))
    made = put("dinner-plate", "cha", (-0.24, 0, 0), 0, shot="second")
    made += put("breakfast-bowl", "sla", (0.0, 0.01, 0), 30, shot="second")
    made += put("breakfast-bowl", "blu", (0.005, 0.012, 0.065), 30)
    made += put("stoneware-jug", "coa", (0.17, 0.0, 0), -145)
    made += put("loose-leaf-tea", "green", (0.295, 0.02, 0), 8)
    made += put("loose-leaf-tea", "rooibos", (0.385, 0.03, 0), -6)
    made += put("serving-bowl", "tea", (-0.26, 0.0, 0.31), 0)
    made += put("everyday-mug", "but", (-0.05, -0.01, 0.31), -40)
    made += put("everyday-mug", "sag", (0.055, 0.02, 0.31), -28)
    made += put("glass-tumblers", "cle", (0.21, 0.0, 0.31), 0)
    pot = put("plant-pot", "ter", shot="second", Size="12")
    herb = plants.basil(0.17, Random(8))  # noqa: S311 (a look, not a secret)
    made += shapes.place([*pot, *shapes.place(herb, at=(0, 0, 0.105))], at=(0.385, 0.0, 0.31))
    sun((0.0, 0.1, 0.25), (-2.2, -1.9, 1.5), 46, spread=0.24, leaves=0.6)
    return made


@scene("kitchen-counter", View(at=(0.0, 0.02, 0.19), width=1.08, pitch=13, blur=0.03, light=0.66,
    hang=2))  # fmt: skip
def kitchen_counter() -> Shapes:
    """Return the counter: boards against the wall, the pot, the kettle, spoons and the knife."""
    planks(BEECH, deep=0.045, rows=33, front=-1.05, gloss=0.35)
    wall("dcd8cf", 0.36)
    made = put("casserole", "rus", (0.16, 0.1, 0), 20)
    made += put("stove-kettle", "but", (-0.36, 0.16, 0), 25)
    board = put("cutting-board", "oak", (0, 0, 0), Size="L")
    shapes.place(board, at=(0, 0, 0), turn=90)
    made += shapes.place(board, at=(-0.08, 0.318, 0.25), tip=81)
    other = put("cutting-board", "wal")
    shapes.place(other, turn=12)
    made += shapes.place(other, at=(-0.06, -0.13, 0))
    made += put("chefs-knife", "wal", (-0.03, -0.15, 0.02), 22)
    jug = put("stoneware-jug", "oat", (0.44, 0.15, 0), 30)
    for k, kind in enumerate(("spatula", "spoon", "slotted")):
        beech = materials.wood(BEECH, offset=(0.2 * k, 0.05, 0.04), gloss=0.2)
        spoon = wood.carved(wood.spoon(kind, beech), deep=kind != "spatula")
        shapes.place([spoon], at=(0, 0, 0.19), roll=-79 - 3 * k)
        made += shapes.place([spoon], at=(0.44, 0.15, 0), turn=140 * k + 20)
    made += put("loose-leaf-tea", "black", (-0.52, 0.05, 0), 10)
    sun((0.0, 0.15, 0.1), (-2.3, -1.1, 1.9), 50, spread=0.26, leaves=0.5)
    return made + jug


@scene("desk", View(at=(0.0, 0.02, 0.22), width=0.98, pitch=14, blur=0.03, light=0.66, hang=2))
def desk() -> Shapes:
    """Return the desk: the lamp, an open notebook, the organiser, the clock and coffee."""
    planks(WALNUT, deep=0.2, rows=7, gloss=0.35)
    wall("c9cfd2", 0.5)
    made = put("desk-lamp", "coa", (-0.22, 0.14, 0), 12)
    made += put("a5-notebook", "ink", (-0.02, -0.16, 0), 8, shot="second")
    pen = put("brass-pen", "bra", (0, 0, 0))
    made += shapes.place(pen, at=(0.16, -0.17, 0), turn=62)
    made += put("desk-organiser", "oak", (0.31, 0.18, 0), -8)
    made += put("desk-clock", "but", (-0.38, 0.24, 0), 16)
    mug = [*put("everyday-mug", "ber"), coffee()]
    made += shapes.place(mug, at=(0.3, -0.05, 0), turn=-30)
    for k, code in enumerate(("sag", "mus", "ber")):
        made += put("a5-notebook", code, (0.03, 0.25, 0.017 * k), 100 + 7 * k)
    sun((0.05, 0.0, 0.1), (-2.3, -0.3, 1.7), 46, spread=0.24, leaves=0.5)
    return made


@scene("letters", View(at=(0.0, 0.0, 0.0), width=0.72, pitch=66, blur=0.012, light=0.66, hang=2))
def letters() -> Shapes:
    """Return paper on a table, from above: letters, the planner, notebooks and pencils."""
    planks(OAK, deep=0.14, rows=12, front=-0.8)
    made = put("letter-set", "blu", (0.02, -0.1, 0), -6)
    made += put("desk-planner", "tea", (-0.2, 0.2, 0), 8)
    made += put("pocket-notebooks", "orchard", (0.24, 0.2, 0), -20)
    made += put("pencil-set", "bright", (-0.24, -0.1, 0), 62)
    made += put("brass-pen", "bra", (0.215, 0.0, 0), 70)
    made += put("espresso-cups", "ter", (0.255, -0.19, 0), 60)
    sun((0.0, 0.0, 0), (-1.9, 0.9, 1.9), 46, spread=0.22, leaves=0.65)
    return made


@scene("hallway", View(at=(0.02, 0.0, 0.42), width=1.28, pitch=9, blur=0.02, light=0.66, hang=2))
def hallway() -> Shapes:
    """Return the hallway: the backpack on the stool, the basket, and a rubber plant behind."""
    planks(OAK, deep=0.13, rows=14, front=-1.2, long=4)
    wall("b9c0b4", 0.5)
    skirting = materials.lacquer("ece8de", gloss=0.5)
    shapes.place([shapes.box((6, 0.018, 0.1), skirting, bevel=0.004)], at=(0, 0.49, 0))
    made = put("plant-stool", "oak", (-0.16, 0.1, 0), 20)
    made += put("canvas-backpack", "mus", (-0.16, 0.1, 0.441), -16)
    made += put("seagrass-basket", "", (0.27, 0.02, 0), 24, Size="L")
    pot = put("plant-pot", "cha", shot="second", Size="16")
    ground = plants.earth(0.0745, 0.132)
    tall = plants.rubber_plant(0.78, "4f7a4c", Random(3))  # noqa: S311 (a look, not a secret)
    tree = [*pot, *ground, *shapes.place(tall, at=(0, 0, 0.13))]
    made += shapes.place(tree, at=(0.4, 0.33, 0), turn=30)
    sun((0.0, 0.3, 0.35), (-2.6, -1.9, 1.7), 46, spread=0.3, leaves=0.55)
    return made


@scene("bedside", View(at=(0.0, 0.0, 0.19), width=0.84, pitch=12, blur=0.03, light=0.2, hang=2))
def bedside() -> Shapes:
    """Return the bedside in the evening: the lamp, a candle, a book and a glass of water."""
    planks(WALNUT, deep=0.2, rows=6, front=-0.7, gloss=0.35)
    wall("8d9a94", 0.36)
    made = put("table-lamp", "ter", (-0.12, 0.08, 0), 0)
    made += put("a5-notebook", "ink", (0.15, -0.05, 0), 20)
    made += put("a5-notebook", "ber", (0.155, -0.045, 0.017), 12)
    made += put("scented-candle", "fig", (-0.25, -0.1, 0), 14)
    made += put("glass-tumblers", "cle", (0.2, 0.14, 0), 0, shot="second")
    made += put("bud-vase", "sky", (0.31, 0.08, 0), 0)
    chance = Random(4)  # noqa: S311 (a look, not a secret)
    made += shapes.place(plants.grasses(7, 0.3, chance), at=(0.31, 0.08, 0.06))
    return made


@scene("window-sill", View(at=(0.0, 0.0, 0.19), width=0.92, pitch=9, blur=0.03, light=0.7, hang=2))
def window_sill() -> Shapes:
    """Return plants on a sill: the pot, the can, vases with twigs and grasses, and seeds."""
    slab("ece7db", (3, 0.5, 0.04), (0, 0, 0))
    wall("d8cdbd", 0.26)
    slab("d8cdbd", (3, 0.42, 1), (0, 0, -0.04))
    made = put("plant-pot", "den", (-0.26, 0.05, 0), 10, Size="16")
    made += put("watering-can", "mus", (-0.02, -0.1, 0), -6)
    made += vase_of("L", "tea", (0.3, 0.08, 0), ((0.34, 20, 14), (0.3, 140, 16), (0.36, 250, 10)))
    made += put("bud-vase", "cha", (0.02, 0.13, 0), 0)
    chance = Random(6)  # noqa: S311 (a look, not a secret)
    made += shapes.place(plants.grasses(8, 0.32, chance), at=(0.02, 0.13, 0.06))
    made += put("wildflower-seeds", "meadow", (-0.22, -0.16, 0), -16)
    sun((0.0, 0.1, 0.2), (-2.0, -1.7, 1.3), 48, spread=0.26, leaves=0.6)
    return made


@scene("bath-shelf", View(at=(0.0, 0.0, 0.13), width=0.72, pitch=14, blur=0.03, light=0.7, hang=2))
def bath_shelf() -> Shapes:
    """Return the bath: soap, a candle, the basket and a twig on a pale shelf."""
    slab("e6e2d8", (3, 0.6, 0.04), (0, 0, 0))
    wall("b7c5c6", 0.3)
    slab("b7c5c6", (3, 0.52, 1), (0, 0, -0.04))
    made = put("olive-soap", "lavender", (-0.03, -0.1, 0), -14)
    made += put("scented-candle", "sea", (0.17, -0.04, 0), 6)
    made += put("seagrass-basket", "", (-0.2, 0.1, 0), 0)
    made += vase_of("M", "oat", (0.12, 0.14, 0), ((0.28, 0, 16), (0.25, 120, 20), (0.3, 230, 12)))
    made += put("olive-soap", "lemon", (0.275, 0.03, 0), 70)
    sun((0.0, 0.1, 0.1), (-2.1, -1.4, 1.6), 48, spread=0.22, leaves=0.6)
    return made


@scene(
    "garden-evening", View(at=(0.0, 0.0, 0.13), width=0.86, pitch=16, blur=0.03, light=0.22, hang=2)
)
def garden_evening() -> Shapes:
    """Return the garden table at dusk: the lantern, candles, tumblers and enamel."""
    planks(WALNUT, deep=0.11, rows=12, gloss=0.15)
    wall("56635b", 0.8)
    made = put("storm-lantern", "mos", (-0.14, 0.06, 0), -10)
    made += put("enamel-mug", "cha", (0.08, -0.1, 0), -40)
    made += put("enamel-mug", "mus", (0.2, 0.02, 0), -150)
    made += put("dinner-candles", "but", (-0.16, -0.17, 0), 16)
    made += put("glass-tumblers", "amb", (0.22, 0.2, 0), 0)
    made += put("serving-bowl", "ter", (-0.06, 0.36, 0), 0)
    return made


@scene("front-page", View(at=(0.01, 0.0, 0.27), width=1.5, pitch=7, blur=0.02, light=0.58, hang=2),
    ratio=1.6)  # fmt: skip
def front_page() -> Shapes:
    """Return the hero: a sideboard in the sun, with a lamp, vases, books, tea and a plant."""
    planks(OAK, deep=0.14, rows=5, front=-0.37, long=4, gloss=0.3)
    wall("d9cfc0", 0.32)
    for k in range(-2, 2):
        oak = materials.wood(OAK, offset=(0.7 * k, 0.09, 0.3), gloss=0.3)
        door = shapes.box((0.714, 0.6, 0.7), oak, bevel=0.002)
        shapes.place([door], at=(0.36 + 0.717 * k, -0.04, -0.734))
    made = put("table-lamp", "for", (-0.55, 0.1, 0), 0)
    for k, (code, turn) in enumerate((("ink", 84), ("mus", 96), ("sag", 90))):
        made += put("a5-notebook", code, (-0.27, 0.0, 0.017 * k), turn)
    made += shapes.place([*put("everyday-mug", "cla"), coffee()], at=(-0.27, 0.0, 0.051), turn=-40)
    made += vase_of("L", "cla", (0.02, 0.12, 0), ((0.4, 15, 15), (0.36, 130, 18), (0.42, 250, 9),
        (0.33, 320, 24)))  # fmt: skip
    made += put("bud-vase", "mus", (-0.1, 0.03, 0), 0)
    made += put("teapot", "tea", (0.24, -0.03, 0), 14)
    made += put("everyday-mug", "oat", (0.42, -0.08, 0), -30)
    made += put("plant-pot", "ter", (0.58, 0.1, 0), 0, Size="16")
    sun((0.0, 0.2, 0.3), (-2.7, -2.2, 1.8), 46, spread=0.3, leaves=0.6)
    return made
