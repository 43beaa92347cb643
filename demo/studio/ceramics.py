"""Ceramics: stoneware mugs, bowls, plates, pots and vases, thrown and glazed."""

import math

import bpy
from mathutils import Vector

from . import materials, plants, shapes
from .frame import View
from .shapes import Shapes, mm
from .shots import Look, product

Line = list[tuple[float, float]]


def thrown(
    outside: Line,
    wall: float,
    material: bpy.types.Material,
    *,
    ring: float = 0.004,
    hand: float = 0.0006,
    seed: int = 3,
) -> bpy.types.Object:
    """Return a vessel with a foot ring. `outside` goes from the foot to the rim."""
    line = [Vector(p) for p in outside]
    inside = []
    for i, point in enumerate(line):
        ahead = (line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]).normalized()
        inside.append(point + Vector((-ahead.y, ahead.x)) * wall)
    lip = (line[-1] - line[-2]).normalized() * wall * 0.35
    top = [line[-1] + (inside[-1] - line[-1]) * part + lip for part in (0.3, 0.7)]
    floor = min(inside[0].y, inside[1].y) if inside[0].x > 0.004 else ring + wall
    inner = [p for p in inside if p.x > 0.004]
    foot = line[0].x
    base = [(0.001, ring), (foot - 0.007, ring), (foot - 0.005, 0.0), (foot - 0.001, 0.0)]
    end = [Vector((inner[0].x * 0.55, floor)), Vector((0.001, floor))]
    profile = [*base, *line, *top, *reversed(inner), *end]
    return shapes.wobble(shapes.lathe(profile, material, name="thrown"), hand, 0.07, seed)


def ear(
    start: tuple[float, float],
    end: tuple[float, float],
    reach: float,
    material: bpy.types.Material,
    *,
    width: float = 0.0062,
) -> bpy.types.Object:
    """Return a pulled handle in the xz plane, from one (x, z) of the wall to another."""
    (x1, z1), (x2, z2) = start, end
    high = z1 - z2
    far = max(x1, x2) + reach
    path = [(x1 - 0.002, 0, z1), (x1 + reach * 0.5, 0, z1 + high * 0.09)]
    path += [(far, 0, z1 - high * 0.02), (far + reach * 0.12, 0, z1 - high * 0.42)]
    path += [(far - reach * 0.12, 0, z2 + high * 0.17), (x2 + reach * 0.42, 0, z2 - high * 0.02)]
    path += [(x2 - 0.002, 0, z2)]
    made = shapes.sweep(
        path, lambda t: width * (1 + 0.65 * abs(2 * t - 1) ** 6), material, flat=0.62, name="ear"
    )
    return shapes.wobble(made, 0.0006, 0.05, 3)


def surface_of(
    radius: float, height: float, colour: str | materials.Colour, clear: float = 0.0
) -> bpy.types.Object:
    """Return a drink's surface, which creeps up the wall a little."""
    profile = [(0.001, height), (radius - 0.002, height), (radius + 0.0005, height + 0.0006)]
    return shapes.lathe(profile, materials.liquid(colour, clear=clear), rounds=1, name="drink")


@product(
    "everyday-mug",
    main=View(turn=-28),
    second=View(turn=-62, pitch=42),
    detail=View(turn=-28, at=(0.02, -0.038, 0.078), width=0.06, blur=0.06),
)
def mug(look: Look) -> Shapes:
    """Return the mug: 350 ml and 9 cm high, or 450 ml and 10.5 cm high."""
    high = 0.105 if look.options.get("Size") == "450" else 0.09
    material = materials.glaze(*look.colours, turn=0.002, foot=0.0035)
    wall = mm("33 0.5, 40.5 6, 42.8 18, 42.8 30")
    wall += [(0.0426, high * 0.6), (0.0422, high - 0.008), (0.042, high)]
    body = thrown(wall, 0.0036, material)
    return [body, ear((0.0415, high * 0.82), (0.0415, high * 0.24), 0.03, material)]


@product(
    "espresso-cups",
    main=View(turn=-20, pitch=22, fill=0.8),
    second=View(turn=25, pitch=50),
    detail=View(turn=-20, at=(-0.045, -0.028, 0.045), width=0.06, blur=0.06),
)
def espresso_cups(look: Look) -> Shapes:
    """Return two cups on their saucers, with coffee."""
    material = materials.glaze(look.colours[0], foot=0.003, speckle=0.5, breaks=0.8)
    wall = mm("20 0.5, 24.5 4, 29 14, 30.5 30, 31 52")
    rim = mm("30 1, 36 3, 50 8, 58.5 13.5")
    made = []
    for seed, (x, y) in enumerate(((-0.05, -0.03), (0.056, 0.045))):
        cup = thrown(wall, 0.0038, material, ring=0.003, seed=seed)
        pair = [cup, ear((0.0295, 0.041), (0.029, 0.015), 0.017, material, width=0.0045)]
        pair += [surface_of(0.0268, 0.04, look.colours[1])]
        shapes.place(pair, at=(0, 0, 0.007))
        saucer = thrown(rim, 0.0042, material, ring=0.0025, seed=seed + 5)
        made += shapes.place([*pair, saucer], at=(x, y, 0), turn=-25 - 30 * seed)
    return made


@product(
    "teapot",
    main=View(turn=10, pitch=17, fill=0.78),
    second=View(turn=-40, pitch=40, fill=0.74),
    detail=View(turn=10, at=(0.0, -0.045, 0.118), width=0.1, blur=0.05),
)
def teapot(look: Look) -> Shapes:
    """Return the pot of one litre, with its spout to the right and its lid on."""
    material = materials.glaze(look.colours[0], foot=0.006, speckle=0.35)
    wall = mm("42 0.5, 56 8, 72 30, 75.5 55, 70 83, 55 104, 40 112, 36 113")
    body = thrown(wall, 0.0045, material, hand=0.001)
    lid = mm("1 114, 30 113, 38.5 114.5, 38.5 117, 30 122.5, 12 127, 7.5 129")
    lid += mm("7 132, 11.5 136, 12 141, 7 145.5, 1 146")
    cover = shapes.wobble(shapes.lathe(lid, material, name="lid"), 0.0004, 0.05)
    path = mm("60 0 40, 85 0 50, 100 0 75, 112 0 100, 128 0 113")
    spout = shapes.sweep(
        path, lambda t: 0.018 - 0.0105 * t**0.7, material, ends=False, name="spout"
    )
    shapes.thicken(spout, 0.0025)
    loop = mm("-66 0 90, -85 0 103, -118 0 100, -130 0 70, -118 0 42, -92 0 30, -70 0 34")
    handle = shapes.sweep(
        loop, lambda t: 0.0085 + 0.004 * abs(2 * t - 1) ** 6, material, flat=0.6, name="handle"
    )
    return [body, cover, spout, shapes.wobble(handle, 0.0008, 0.06)]


def plate(across: float, material: bpy.types.Material, seed: int = 3) -> bpy.types.Object:
    """Return a coupe plate: flat, and raised at the edge."""
    r = across / 2
    wall = [(r * 0.56, 0.0008), (r * 0.62, 0.0035), (r * 0.8, 0.0055), (r * 0.9, 0.0085)]
    wall += [(r * 0.965, 0.0165), (r * 0.985, 0.0225), (r, 0.0262)]
    made = thrown(wall, 0.0046, material, ring=0.003, hand=0.0014, seed=seed)
    for vert in made.data.vertices:
        part = max(0.0, (math.hypot(vert.co.x, vert.co.y) / r - 0.86) / 0.14)
        vert.co.z += 0.0009 * part * math.sin(3 * math.atan2(vert.co.y, vert.co.x) + seed)
    return made


@product(
    "dinner-plate",
    main=View(pitch=34, fill=0.78),
    second=View(pitch=14, fill=0.74, turn=20),
    detail=View(pitch=40, at=(-0.03, -0.118, 0.02), width=0.09, blur=0.05),
)
def dinner_plate(look: Look) -> Shapes:
    """Return a plate, or a stack of two large and two small ones."""
    material = materials.glaze(
        look.colours[0], foot=0.002, speckle=0.7, breaks=0.4, rim=0.0022, mottle=0.45
    )
    if look.shot != "second":
        return [plate(0.27, material)]
    made = []
    for i, (across, lift) in enumerate(((0.27, 0), (0.27, 0.0085), (0.21, 0.0168), (0.21, 0.0253))):
        at = (look.chance.uniform(-0.002, 0.002), look.chance.uniform(-0.002, 0.002), lift)
        made += shapes.place([plate(across, material, i)], at=at, turn=70 * i)
    return made


BOWL = mm("31 1, 36 7, 50 15, 63 33, 68.5 55, 70 70")


@product(
    "breakfast-bowl",
    main=View(pitch=22),
    second=View(pitch=15, turn=30),
    detail=View(at=(0.0, -0.068, 0.064), pitch=24, width=0.065, blur=0.06),
)
def breakfast_bowl(look: Look) -> Shapes:
    """Return the bowl, or three in each other."""
    material = materials.glaze(*look.colours, turn=0.0025, foot=0.005, speckle=0.4)
    if look.shot != "second":
        return [thrown(BOWL, 0.0042, material, ring=0.005)]
    made = []
    for i in range(3):
        bowl = thrown(BOWL, 0.0042, material, ring=0.005, seed=i)
        made += shapes.place([bowl], at=(0.0015 * i, -0.001 * i, 0.0215 * i), turn=80 * i, roll=i)
    return made


@product(
    "serving-bowl",
    main=View(pitch=24, fill=0.76),
    second=View(pitch=52, turn=30, fill=0.74),
    detail=View(at=(-0.04, -0.145, 0.085), pitch=24, width=0.11, blur=0.05),
)
def serving_bowl(look: Look) -> Shapes:
    """Return the wide bowl with its thick lip."""
    material = materials.glaze(*look.colours, turn=0.006, foot=0.007, speckle=0.5)
    wall = mm("62 1, 70 8, 105 20, 138 50, 150 78")
    return [thrown([*wall, (0.155, 0.09)], 0.0075, material, ring=0.006, hand=0.0016)]


@product(
    "stoneware-jug",
    main=View(turn=-160, pitch=15),
    second=View(turn=-35, pitch=36),
    detail=View(turn=-160, at=(-0.045, 0.018, 0.172), width=0.08, blur=0.05),
)
def jug(look: Look) -> Shapes:
    """Return the straight jug of 1.1 litres, its lip to -x."""
    material = materials.glaze(look.colours[0], foot=0.012, speckle=0.45)
    wall = mm("46 0.5, 51.5 5, 53 20, 53 80, 50 130")
    body = thrown([*wall, (0.047, 0.16), (0.0465, 0.182)], 0.0042, material, hand=0.0009)
    for vert in body.data.vertices:
        x, y, z = vert.co
        part = max(0.0, (z - 0.135) / 0.047) ** 2.2
        round_ = math.exp(-((math.atan2(y, -x) / 0.42) ** 2))
        vert.co += Vector((-0.016, -y * 0.2, 0.003)) * part * round_
    return [body, ear((0.0475, 0.155), (0.0525, 0.05), 0.036, material, width=0.0085)]


@product(
    "stoneware-vase",
    main=View(pitch=12),
    second=View(pitch=30, turn=120),
    detail=View(at=(-0.02, -0.085, 0.075), pitch=12, width=0.1, blur=0.05),
    options={"second": {"Size": "L"}},
)
def vase(look: Look) -> Shapes:
    """Return the vase: 18 cm high, or 28."""
    size = 28 / 18 if look.options.get("Size") == "L" else 1.0
    material = materials.glaze(look.colours[0], foot=0.045 * size, gloss=0.55, speckle=0.5)
    wall = mm("36 0.5, 43 6, 58 40, 70 85, 73 115, 62 142, 35 156, 23.5 164, 23 172, 27.5 180")
    return [thrown([(r * size, z * size) for r, z in wall], 0.0045, material, hand=0.0014)]


@product(
    "bud-vase",
    main=View(pitch=12, fill=0.68),
    second=View(pitch=14, turn=15, fill=0.76),
    detail=View(at=(0, -0.03, 0.064), pitch=14, width=0.06, blur=0.06),
)
def bud_vase(look: Look) -> Shapes:
    """Return the small matt bottle, or three in a row."""
    material = materials.glaze(look.colours[0], foot=0.003, gloss=0.12, speckle=0.8)
    wall = mm("20 0.5, 26 3, 34.5 20, 35 40, 28.5 60, 13.5 73, 9.5 85, 9 105, 9.5 114, 13 120")
    places = [(0, 0)] if look.shot != "second" else mm("-85 30, 0 -10, 88 25")
    made = []
    for i, (x, y) in enumerate(places):
        bottle = thrown(wall, 0.0032, material, ring=0.002, hand=0.0008, seed=i)
        made += shapes.place([bottle], at=(x, y, 0), turn=50 * i)
    return made


@product(
    "plant-pot",
    main=View(pitch=16, fill=0.74),
    second=View(pitch=34, turn=40),
    detail=View(at=(0.01, -0.075, 0.12), pitch=16, width=0.09, blur=0.05),
    options={"main": {"Size": "16"}, "second": {"Size": "12"}, "detail": {"Size": "16"}},
)
def plant_pot(look: Look) -> Shapes:
    """Return the pot on its saucer. A plant grows in it, but for the second shot."""
    across = float(look.options.get("Size", "16")) / 100
    size = across / 0.16
    material = materials.glaze(look.colours[0], "b4714d", turn=0.006, foot=0.0, gloss=0.45)
    wall = mm("50 0.5, 55 2, 68.5 85, 73 112, 77.5 114, 80 118, 80 142")
    pot = thrown([(r * size, z * size) for r, z in wall], 0.006, material, hand=0.001)
    dish = mm("60 0.5, 66 2, 72 12, 75 24")
    saucer = thrown([(r * size, z * size) for r, z in dish], 0.005, material, seed=9)
    shapes.place([pot], at=(0, 0, 0.0075))
    if look.shot == "second":
        return [pot, saucer]
    leaves = plants.pilea(0.26 * size, look.colours[1], look.chance)
    shapes.place(leaves, at=(0, 0, 0.13 * size))
    return [pot, saucer, *plants.earth(0.0745 * size, 0.132 * size), *leaves]
