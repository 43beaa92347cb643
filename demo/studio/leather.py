"""Bags: canvas, wax and leather, webbing, buckles and zips."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix, Vector, noise

from . import materials, shapes, stitches, weaves
from .frame import View
from .materials import Surface, Tint
from .shapes import Point, Shapes
from .shots import Look, product

BRASS = "c9a24e"


def leather(colour: Tint, *, grain: float = 0.0011, gloss: float = 0.4) -> bpy.types.Material:
    """Return vegetable-tanned leather: pebbled, uneven, and paler where it is rubbed."""
    s = Surface("leather", IOR=1.45)
    pebble = s.cells(grain, where=s.vector("ADD", s.space(), (0.3, 0.1, 0.2)))
    blot = s.span(s.noise(0.035, detail=5, bend=0.5), 0.25, 0.75, 0.8, 1.12)
    fine = s.span(s.noise(0.0012, detail=3), 0.25, 0.75, 0.93, 1.05)
    edges = s.node("NewGeometry").outputs["Pointiness"]
    rubbed = s.times(s.span(edges, 0.52, 0.6), 0.35)
    tone = s.mix(rubbed, s.shade(colour, s.times(blot, fine)), "c9a57c")
    pores = s.bump(s.span(pebble, 0.0, 0.55, 1, 0), 0.00012)
    wrinkle = s.bump(s.noise(0.008, detail=4), 0.0005, pores)
    rough = s.span(s.noise(0.02, detail=4), 0.25, 0.75, 0.62 - 0.4 * gloss, 0.74 - 0.4 * gloss)
    return s.done(Base_Color=tone, Roughness=rough, Normal=wrinkle)


def waxed(colour: Tint) -> bpy.types.Material:
    """Return waxed canvas: a tight weave, darker with wax, with pale lines where it was bent."""
    s = Surface("waxed", IOR=1.45)
    t = weaves.threads(s, 0.00085, 0.25)
    pair = s.math("ADD", t["nu"], t["nv"])
    top = s.math("MODULO", s.math("ABSOLUTE", pair), 2.0)
    height = s.mix(top, t["u"], t["v"])
    own = s.span(s.mix(top, t["ru"], t["rv"]), 0, 1, 0.92, 1.06)
    cloud = s.span(s.noise(0.05, detail=6, bend=0.8), 0.25, 0.75, 0.76, 1.1)
    bent = s.math("ABSOLUTE", s.math("SUBTRACT", s.noise(0.035, detail=3, bend=1.2), 0.5))
    rare = s.span(s.noise(0.07), 0.48, 0.62)
    line = s.times(s.span(bent, 0.011, 0.0), rare, 0.3)
    edges = s.span(s.node("NewGeometry").outputs["Pointiness"], 0.51, 0.56, 0, 0.3)
    pale = s.math("MAXIMUM", line, edges)
    level = s.times(cloud, own, s.span(height, 0.1, 0.9, 0.8, 1.03))
    tone = s.mix(pale, s.shade(colour, level), "d8d2c4")
    rough = s.span(s.noise(0.04, detail=4), 0.3, 0.7, 0.5, 0.68)
    crumple = s.bump(s.noise(0.02, detail=4), 0.0012)
    normal = s.bump(height, 0.00022, s.bump(bent, 0.0008, crumple))
    return s.done(Base_Color=tone, Roughness=rough, Normal=normal, Sheen_Weight=0.08)


def strap(
    path: Sequence[Point],
    width: float,
    material: bpy.types.Material,
    *,
    up: Point = (0, 0, 1),
    thick: float = 0.0024,
    tilt: Callable[[float], float] | None = None,
    rounds: int = 3,
    name: str = "strap",
) -> bpy.types.Object:
    """Return a flat band along a path, its face to `up`, and turned about it by `tilt` degrees."""
    line = shapes.smooth(path, rounds) if rounds else [Vector(p) for p in path]
    section = shapes.rounded(width, thick, thick * 0.46, 3)
    normal, rows = Vector(up), []
    for i, point in enumerate(line):
        ahead = (line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]).normalized()
        normal = (normal - ahead * normal.dot(ahead)).normalized()
        turn = Matrix.Rotation(math.radians(tilt(i / (len(line) - 1)) if tilt else 0), 3, ahead)
        face, side = turn @ normal, turn @ ahead.cross(normal)
        rows.append([point + side * x + face * y for x, y in section])
    return shapes.grid(name, rows, material, around=True, caps=(True, True))


def seam(
    path: Sequence[Point],
    thread: bpy.types.Material,
    *,
    up: Point = (0, 0, 1),
    long: float = 0.0034,
    radius: float = 0.0003,
    rounds: int = 2,
) -> bpy.types.Object:
    """Return stitches along a path through the air, each of which dips below it."""
    line = np.array(shapes.smooth(path, rounds) if rounds else path, dtype=float)
    far = np.r_[0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))]
    part = np.array((0.06, 0.16, 0.36, 0.5, 0.64, 0.84, 0.94))
    at = (np.arange(int(far[-1] / long))[:, None] + part) * long
    points = np.stack([np.interp(at, far, line[:, k]) for k in range(3)], -1)
    points += np.array((-1.8, 0.2, 0.9, 1, 0.9, 0.2, -1.8))[:, None] * np.array(up) * radius
    return stitches.yarns(list(points), radius, thread, name="seam")


def ridges(x: float, y: float, wave: float, seed: float = 0.0) -> float:
    """Return creases between 0 and 1: sharp ridges with soft valleys between."""
    return (1 - abs(noise.noise(Vector((x / wave, y / wave, seed))))) ** 4


def zip_of(
    path: Callable[[float], Point], long: float, tape: bpy.types.Material, pull: Tint
) -> Shapes:
    """Return a brass zip along x, from 0 to a length: tape, teeth, slider and a leather pull."""
    brass = materials.metal(BRASS, rough=0.28, brushed=0.2, wear=0.5)
    lower = [Vector(path(long * k / 40)) for k in range(41)]
    made = [strap(lower, 0.017, tape, thick=0.0011, rounds=0, name="tape")]
    tooth = shapes.box((0.0013, 0.0042, 0.0022), brass, bevel=0.0003, name="tooth")
    count = int(long / 0.00135)
    for k in range(count):
        x, y, z = path(long * (k + 0.5) / count)
        side = 0.0011 * (1 if k % 2 else -1)
        made += shapes.place(shapes.copy([tooth]), at=(x, y + side, z - 0.0002))
    x, y, z = path(long * 0.9)
    tooth.hide_render = True
    plate = [(-0.0065, 0.0048), (0.0055, 0.004), (0.0075, 0), (0.0055, -0.004), (-0.0065, -0.0048)]
    slider = shapes.extrude(shapes.smooth(plate, 1, closed=True), 0.0026, brass, bevel=0.0009)
    bridge = shapes.sweep([(-0.005, 0, 0.002), (-0.004, 0, 0.0062), (0.004, 0, 0.0062),
        (0.005, 0, 0.002)], 0.0014, brass)  # fmt: skip
    made += shapes.place([slider, bridge], at=(x, y, z + 0.0012))
    tab = shapes.rounded(0.044, 0.011, 0.0054, 6)
    skin = shapes.extrude([(a + 0.022, b) for a, b in tab], 0.0026, leather(pull), bevel=0.0006,
        holes=[shapes.circle(0.0021, 16, at=(0.006, 0))])  # fmt: skip
    thread = weaves.fibre("d9c9a8")
    ring = [(0.006 * math.cos(a) + 0.001, 0, 0.0045 * math.sin(a)) for a in
            (math.tau * k / 20 for k in range(20))]  # fmt: skip
    loop = shapes.sweep(ring, 0.0008, brass, closed=True, rounds=1, side=(0, 1, 0), steps=10)
    marks = [seam([(0.014, b, 0.0027), (0.04, b, 0.0027)], thread, long=0.0026, radius=0.00022,
        rounds=0) for b in (-0.0036, 0.0036)]  # fmt: skip
    at = (x + 0.004, y - 0.001, z + 0.0066)
    return made + shapes.place([skin, loop, *marks], at=at, turn=-118, roll=3)


@product(
    "zip-pouch",
    main=View(turn=-12, pitch=64, fill=0.8, blur=0.012),
    second=View(turn=24, pitch=32, fill=0.82, blur=0.03),
    detail=View(turn=-12, at=(0.062, 0.04, 0.016), pitch=56, width=0.085, blur=0.014),
)
def zip_pouch(look: Look) -> Shapes:
    """Return the pouch on its back, 22 by 14 cm, filled a little."""
    wax, lining = waxed(look.colours[0]), weaves.weave("8b7f6d", thread=0.0005)
    wide, high = 0.22, 0.14

    def lay(x: float, y: float) -> float:
        """Return the height of the front at a place."""
        edge = max(0.0, 1 - abs(2 * x / wide) ** 3.2) * max(0.0, 1 - abs(2 * y / high) ** 3.2)
        fold = 0.004 * ridges(x, y, 0.075, 2.0) + 0.0035 * noise.noise(Vector((x, y, 0.1)) / 0.045)
        sunk = -0.0016 * math.exp(-(((y - 0.043) / 0.006) ** 2))
        return 0.003 + (0.016 * edge**0.7) + (fold + sunk) * min(1.0, 3 * edge)

    rows = [[(x, y, lay(x, y)) for x in np.linspace(-wide / 2, wide / 2, 120)]
            for y in np.linspace(-high / 2, high / 2, 90)]  # fmt: skip
    made = [shapes.thicken(shapes.grid("front", rows, wax), 0.0012)]
    under = shapes.rounded(wide - 0.001, high - 0.001, 0.006)
    made.append(shapes.extrude(under, 0.0022, wax, bevel=0.0008, name="back"))
    made += zip_of(lambda t: (-0.1 + t, 0.043, lay(-0.1 + t, 0.043) + 0.0004), 0.2, lining,
        "8a5a38")  # fmt: skip
    thread = weaves.fibre(look.colours[0])
    for y, lift in ((0.0535, 1), (0.0325, 1)):
        line = [(x, y, lay(x, y) + 0.0006) for x in np.linspace(-0.106, 0.106, 60)]
        lip = [(x, y + (0.0016 if y < 0.04 else -0.0016), z) for x, y, z in line]
        made += [strap(lip, 0.0075, wax, thick=0.0018 * lift, rounds=0, name="lip")]
        made.append(seam([(x, y, z + 0.0006) for x, y, z in line], thread, rounds=0))
    for side in (-1, 1):
        tab = [(side * 0.103, 0.043 + k, lay(side * 0.102, 0.043 + k) + 0.0016)
               for k in (-0.014, 0, 0.014)]  # fmt: skip
        made.append(strap(tab, 0.016, wax, thick=0.0016, name="end"))
    return made


@product(
    "canvas-tote",
    main=View(turn=-8, pitch=76, fill=0.84, blur=0.008),
    second=View(turn=34, pitch=40, fill=0.84, blur=0.02),
    detail=View(turn=-8, at=(-0.085, 0.335, 0.012), pitch=66, width=0.15, blur=0.01),
)
def canvas_tote(look: Look) -> Shapes:
    """Return the tote, laid flat: 40 by 38 cm, with webbing stitched down to its base."""
    canvas = weaves.weave(look.colours[0], thread=0.0011, uneven=0.3, depth=0.0004, sheen=0.1)
    webbing = weaves.weave(look.colours[1], thread=0.0014, uneven=0.1, depth=0.0005, sheen=0.1)
    thread = weaves.fibre(look.colours[0])
    wide, high = 0.4, 0.38

    def lay(x: float, y: float, lift: float = 0.0) -> float:
        """Return the height of the front: creases run from the handles and the folded base."""
        edge = max(0.0, 1 - abs(2 * x / wide) ** 4) * max(0.0, 1 - abs(2 * y / high - 1) ** 6)
        pull = math.exp(-(((abs(x) - 0.085) / 0.05) ** 2)) * (y / high) ** 2
        fold = 0.006 * ridges(x, y * 0.5, 0.12, 4.0) + 0.004 * ridges(x, y, 0.06, 1.0)
        fold += 0.003 * noise.noise(Vector((x, y, 0.3)) / 0.05)
        base = 0.005 * math.exp(-(((y - 0.06 - 0.1 * abs(x)) / 0.005) ** 2)) * (abs(x) / 0.2) ** 2
        return 0.004 + 0.012 * edge**0.6 + fold * (0.35 + 0.65 * edge) + 0.003 * pull + base + lift

    made = []
    for lift, longer, name in ((0.0, 0.0, "front"), (-0.0035, 0.004, "back")):
        rows = []
        for t in np.linspace(0, 1, 110):
            sides = wide * (1 - 0.02 * math.sin(math.pi * t)) + 0.5 * longer
            y = t * (high + longer)
            bend = 0.004 * noise.noise(Vector((0, y, lift)) / 0.1)
            xs = np.linspace(-sides / 2, sides / 2, 120) + bend
            rows.append([(x, y + 0.003 * noise.noise(Vector((x, lift, 1)) / 0.09),
                lay(x, min(y, high)) * (1 if not lift else 0.5)) for x in xs])  # fmt: skip
        made.append(shapes.thicken(shapes.grid(name, rows, canvas), 0.0012))
    xs = np.linspace(-0.192, 0.192, 80)
    hems = [[(x, y, lay(x, y, 0.0004)) for x in xs] for y in (0.345, 0.3475, 0.372)]
    made += [seam(each, thread, rounds=0) for each in hems]
    for front in (1, 0):
        made += _tote_handle(look, webbing, thread, lay, front)
    return made


def _tote_handle(
    look: Look,
    webbing: bpy.types.Material,
    thread: bpy.types.Material,
    lay: Callable[..., float],
    front: int,
) -> Shapes:
    """Return a handle that lies above the bag. The front one is sewn down to the base."""
    made, lean = [], 0.022 if front else -0.02
    top, z = 0.38, lay(0.085, 0.37, 0.002) if front else 0.004
    arch = [(-0.085, top - 0.004, z), (-0.087 + lean * 0.2, top + 0.07, 0.009 + 0.006 * front),
        (-0.07 + lean, top + 0.16, 0.017), (lean - 0.02, top + 0.215, 0.018),
        (lean + 0.03, top + 0.212, 0.017), (0.078 + lean, top + 0.15, 0.014 + 0.006 * front),
        (0.088 + lean * 0.2, top + 0.07, 0.009), (0.085, top - 0.004, z)]  # fmt: skip
    tilt = 62 if front else -50
    made.append(strap(arch, 0.03, webbing, thick=0.0026, tilt=lambda t:
        tilt * math.sin(math.pi * t) ** 2))  # fmt: skip
    if not front:
        return made
    for x in (-0.085, 0.085):
        ys = np.linspace(0.003, top, 70)
        line = [(x + 0.0012 * math.sin(40 * y), y, lay(x, y, 0.0016)) for y in ys]
        made.append(strap(line, 0.03, webbing, thick=0.0024, rounds=0))
        for side in (-0.0122, 0.0122):
            edge = [(a + side, b, lay(a + side, b, 0.0031)) for a, b, _ in line if b < 0.365]
            made.append(seam(edge, thread, rounds=0))
        for ends in ((0.325, 0.365), (0.365, 0.325)):
            places = zip(np.linspace(-0.0122, 0.0122, 12), np.linspace(*ends, 12), strict=True)
            cross = [(x + a, b, lay(x + a, b, 0.0033)) for a, b in places]
            made.append(seam(cross, thread, rounds=0))
    return made


def bag_ring(
    wide: float, deep: float, z: float, *, power: float = 4.0, count: int = 144, lean: float = 0.0
) -> list[Vector]:
    """Return the outline of a bag at a height: a rectangle with soft corners."""
    made = []
    for k in range(count):
        a = math.tau * k / count - math.pi / 2
        c, s = math.cos(a), math.sin(a)
        r = (abs(c) ** power + abs(s) ** power) ** (-1 / power)
        made.append(Vector((r * c * wide / 2, r * s * deep / 2 + lean, z)))
    return made


def crumpled(made: bpy.types.Object, amount: float, wave: float, seed: float) -> bpy.types.Object:
    """Press creases into the sides of a bag, more towards its top."""
    for vert in made.data.vertices:
        x, y, z = vert.co
        away = Vector((x * 0.4, y, 0)).normalized()
        part = min(1.0, max(0.0, z - 0.06) / 0.07) * (0.5 + 0.5 * min(1.0, z / 0.3))
        fold = ridges(x + 0.5 * y, z * 0.8 + 0.35 * x, wave, seed) - 0.35
        fold += 0.8 * noise.noise(Vector((x, y, z)) / (wave * 0.8) + Vector((seed, 0, 0)))
        vert.co += away * fold * amount * part
    return made


@product(
    "canvas-backpack",
    main=View(turn=-24, pitch=12, fill=0.82, blur=0.02),
    second=View(turn=148, pitch=20, fill=0.82, blur=0.02),
    detail=View(turn=-24, at=(0.0, -0.085, 0.3), pitch=14, width=0.17, blur=0.012),
)
def canvas_backpack(look: Look) -> Shapes:
    """Return the backpack, standing: 44 by 29 by 14 cm, its top rolled and buckled."""
    wax, skin = waxed(look.colours[0]), leather(look.colours[1])
    thread = weaves.fibre("d8c6a2")
    levels = [(0.0, 0.27, 0.12), (0.012, 0.286, 0.136), (0.05, 0.292, 0.142), (0.2, 0.29, 0.145),
        (0.29, 0.286, 0.13), (0.34, 0.292, 0.095), (0.375, 0.3, 0.05), (0.392, 0.304, 0.022),
        (0.4, 0.304, 0.018)]  # fmt: skip
    line = shapes.smooth(levels, 3)
    rings = [bag_ring(w, d, z, lean=0.012 * (z / 0.4) ** 3) for z, w, d in line]
    body = crumpled(shapes.grid("body", _finer(rings), wax, around=True, caps=(True, True)),
        0.0065, 0.085, 3.0)  # fmt: skip
    base = [bag_ring(w + 0.0055, d + 0.0055, z - 0.001) for z, w, d in line if z < 0.075]
    made = [body, shapes.wobble(shapes.grid("base", _finer(base), skin, around=True,
        caps=(True, False)), 0.0012, 0.05)]  # fmt: skip
    top = base[-1][0].z
    ring = bag_ring(0.2985, 0.149, top - 0.006)
    made.append(seam([*ring, ring[0]], thread, up=(0, -1, 0.2), long=0.0045, radius=0.0004))
    made += _roll(wax) + _front_pocket(wax, skin, thread) + _buckled(skin, thread)
    for side in (-1, 1):
        path = [(side * 0.045, 0.03, 0.395), (side * 0.06, 0.07, 0.385), (side * 0.085, 0.112, 0.3),
            (side * 0.1, 0.118, 0.2), (side * 0.112, 0.1, 0.11),
            (side * 0.115, 0.078, 0.05)]  # fmt: skip
        made.append(
            shapes.wobble(strap(path, 0.058, wax, up=(0, 1, 0.5), thick=0.011), 0.001, 0.05)
        )
        tab = [
            (side * 0.115, 0.082, 0.085),
            (side * 0.116, 0.081, 0.05),
            (side * 0.116, 0.074, 0.02),
        ]
        made.append(strap(tab, 0.034, skin, up=(0, 1, 0), thick=0.003))
    loop = [(-0.035, 0.03, 0.385), (-0.034, 0.036, 0.415), (-0.015, 0.04, 0.437),
        (0.015, 0.04, 0.437), (0.034, 0.036, 0.415), (0.035, 0.03, 0.385)]  # fmt: skip
    return [*made, strap(loop, 0.024, skin, up=(0, 1, 0), thick=0.004)]


def _finer(rows: Sequence[Sequence[Vector]], step: float = 0.0045) -> list[list[Vector]]:
    """Return rows with more rows between them, at most a step apart."""
    made = []
    for low, high in pairwise(rows):
        count = max(1, math.ceil((high[0] - low[0]).length / step))
        made += [[a.lerp(b, k / count) for a, b in zip(low, high, strict=True)]
                 for k in range(count)]  # fmt: skip
    return [*made, list(rows[-1])]


def _roll(wax: bpy.types.Material) -> Shapes:
    """Return the rolled top of the backpack: a spiral along x, its end open."""
    rows = []
    for x in np.linspace(-0.158, 0.158, 90):
        row = []
        for k in range(90):
            t = k / 89
            r = 0.02 - 0.014 * t
            a = -0.2 + math.tau * 2.4 * t
            bend = 0.0022 * noise.noise(Vector((x / 0.05, a, 2))) + 0.004 * ridges(x, a, 0.07)
            droop = -0.006 * (x / 0.158) ** 4
            y = -0.001 - (r + bend) * math.sin(a) - 0.008
            row.append((x + 0.003 * math.sin(3 * a), y, 0.413 + (r + bend) * math.cos(a) + droop))
        rows.append(row)
    return [shapes.thicken(shapes.grid("roll", rows, wax), 0.0013)]


def _front_pocket(
    wax: bpy.types.Material, skin: bpy.types.Material, thread: bpy.types.Material
) -> Shapes:
    """Return the pocket on the front, its flap and the tab that closes it."""

    def face(x: float, z: float, out: float, wide: float, low: float, high: float) -> Vector:
        """Return a point of a patch that bulges from the front of the bag."""
        u, v = abs(2 * x / wide), abs((2 * z - low - high) / (high - low))
        bulge = max(0.0, 1 - u**5) ** 0.5 * max(0.0, 1 - v**5) ** 0.5
        fold = 0.004 * ridges(x, z, 0.06, 6.0) + 0.003 * noise.noise(Vector((x, z, 0)) / 0.05)
        return Vector((x, -0.0665 - 0.0045 - (out + fold) * bulge, z))

    def patch(wide: float, low: float, high: float, out: float, name: str) -> bpy.types.Object:
        xs, zs = np.linspace(-wide / 2, wide / 2, 80), np.linspace(low, high, 60)
        sheet = shapes.grid(name, [[face(x, z, out, wide, low, high) for x in xs] for z in zs], wax)
        return shapes.thicken(sheet, -0.0014)

    made = [patch(0.2, 0.088, 0.225, 0.017, "pocket"), patch(0.206, 0.176, 0.238, 0.0205, "flap")]
    for z in (0.1815,):
        edge = [face(x, z, 0.0222, 0.206, 0.176, 0.238) for x in np.linspace(-0.098, 0.098, 60)]
        made.append(seam(edge, thread, up=(0, -1, 0), long=0.004, radius=0.00035, rounds=0))
    tab = [(0, -0.0935, 0.212), (0, -0.0955, 0.19), (0, -0.0955, 0.165), (0, -0.0925, 0.15)]
    made.append(strap(tab, 0.022, skin, up=(0, -1, 0), thick=0.0026))
    stud = shapes.lathe(_stud(), materials.metal(BRASS, rough=0.25, wear=0.5))
    return made + shapes.place([stud], at=(0, -0.0945, 0.166), tip=90)


def _stud() -> list[tuple[float, ...]]:
    """Return the profile of a small domed stud."""
    return shapes.mm("1 0, 5.2 0, 5.4 1, 4 2.4, 1 3")


def _buckled(skin: bpy.types.Material, thread: bpy.types.Material) -> Shapes:
    """Return the strap over the roll, with its brass buckle, its keeper and its holes."""
    brass = materials.metal(BRASS, rough=0.24, wear=0.5)
    path = [(0, 0.02, 0.37), (0, 0.022, 0.41), (0, 0.012, 0.436), (0, -0.01, 0.4385),
        (0, -0.03, 0.432), (0, -0.0375, 0.41), (0, -0.043, 0.385), (0, -0.062, 0.345),
        (0, -0.0735, 0.3), (0, -0.0765, 0.262), (0, -0.076, 0.247)]  # fmt: skip
    made = [strap(path, 0.025, skin, up=(0, -1, 0), thick=0.003, name="belt")]
    lower = [(0, -0.0725, 0.318), (0, -0.073, 0.3), (0, -0.0755, 0.27), (0, -0.0745, 0.236)]
    made.append(strap(lower, 0.025, skin, up=(0, -1, 0), thick=0.0028, name="tongue"))
    frame = [(p[0], 0, p[1]) for p in shapes.rounded(0.036, 0.03, 0.006, 6)]
    rim = shapes.sweep(frame, 0.0019, brass, closed=True, rounds=1, side=(0, 1, 0), steps=14)
    prong = shapes.sweep(
        [(0, -0.002, 0.014), (0, -0.0042, 0), (0, -0.0022, -0.0155)], 0.0014, brass
    )
    made += shapes.place([rim, prong], at=(0, -0.0785, 0.3), tip=5)
    keeper = [(x, y - 0.0785, 0.278) for x, y in shapes.rounded(0.031, 0.0085, 0.003, 5)]
    made.append(strap([*keeper, keeper[0]], 0.009, skin, up=(0, 0.01, 1), thick=0.0022, rounds=1))
    for side in (-0.0098, 0.0098):
        edge = [(side, y - 0.002 + 0.0003, z) for x, y, z in path[6:]]
        made.append(seam(edge, thread, up=(0, -1, 0.25), long=0.0042, radius=0.00036))
    return made
