"""Knitwear: yarn in loops on the cloth, jumpers, the cardigan, the beanie, the scarf and socks."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Vector

from . import cloth, shapes, stitches, weaves
from .frame import View
from .garments import Line, Pattern, band, button, curve, mirror, spread_out
from .shapes import Point, Shapes
from .shots import Look, product
from .stitches import Sheet

Bend = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray | float, np.ndarray | float]]


def rib(wide: float, deep: float) -> Bend:
    """Return the relief of a rib: ridges so far apart, and so deep."""

    def bend(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = p / wide * math.tau
        return -np.sin(2 * turn) * wide * 0.05, deep * (np.tanh(2.2 * np.cos(turn)) - 1) / 2

    return bend


def knit(
    sheet: Sheet,
    box: Sequence[float],
    wale: float,
    material: bpy.types.Material,
    *,
    course: float = 0.8,
    frame: tuple[float, float, float] = (0, 0, 0),
    bend: Bend | None = None,
    outlines: Sequence[Sequence[Point]] = (),
    tone: Callable[[np.ndarray], np.ndarray] | None = None,
    steps: int = 8,
    plies: int = 1,
    lift: float = 0.0,
    seed: int = 1,
) -> bpy.types.Object:
    """Return stitches that cover the part of a sheet inside all of the outlines.

    A stitch is `wale` wide and `course` of that high. `box` (from, to along the rows and across
    them) is in the `frame` (x, y, degrees) that the stitches follow. `bend` moves them along the
    row and up, as ribs and cables do. A yarn has so many `plies`.
    """
    rng = np.random.default_rng(seed)
    p0, q0, p1, q1 = box
    high = wale * course
    rows, columns = max(1, int((q1 - q0) / high)), max(1, int((p1 - p0) / wale))
    t = np.arange(columns * steps + 1)[None] / steps * math.tau
    row = np.arange(rows)[:, None]
    size = 1 + 0.07 * rng.normal(size=(rows, columns + 1))[:, (t[0] / math.tau).astype(int)]
    p = p0 + t / math.tau * wale + 0.24 * wale * np.sin(2 * t) + row * 0.0
    q = q0 + (row + 0.5) * high - 0.77 * high * np.cos(t) * size
    z = -0.17 * wale * np.cos(2 * t) * size + wale * 0.05 * rng.normal(size=(rows, 1))
    if bend is not None:
        aside, up = bend(p, q)
        p, z = p + aside, z + up
    x, y, degrees = frame
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    u, v = x + p * c - q * s, y + p * s + q * c
    there = np.ones(u.shape, bool)
    for outline in outlines:
        there &= cloth.within(outline, u, v)
    radius = 0.175 * wale
    lines: list[np.ndarray] = []
    tones: list[np.ndarray] = []
    shades = tone(q) if tone else np.floor(q * 0) + rng.random((rows, 1)) * 0.999
    for ply in range(plies):
        twist = t / math.tau * 1.7 * math.tau + math.tau * ply / plies
        far = radius * 0.55 if plies > 1 else 0.0
        spot = sheet.lay(u + far * np.cos(twist), v, z + lift + far * np.sin(twist))
        spot[~there] = np.nan
        parts, more = stitches.runs(spot, shades * np.ones_like(u))
        lines += parts
        tones += [each[0] for each in more]
    thin = radius * (0.62 if plies > 1 else 1.0)
    return stitches.yarns(lines, thin, material, tones=np.concatenate(tones), name="knit")


def jumper_pattern(
    chest: float, long: float, *, neck: str = "", sleeve: float = 0.56, snug: float = 0.03
) -> Pattern:
    """Return a jumper with its sleeves laid down. `neck` is its front edge, below the top, in mm."""
    w, top = chest / 2, long - 0.004
    neck = neck or "88 0, 84 40, 60 76, 0 88"
    places = [tuple(float(n) for n in p.split()) for p in neck.split(",")]
    shoulder, tip = (places[0][0] / 1000, top), (w - 0.036, top - 0.048)
    armpit = (w - 0.002, top - 0.25)
    outer, inner = (w + 0.185, top - sleeve), (w + 0.098, top - sleeve - 0.034)
    front = ", ".join(f"{x} {top * 1000 - y}" for x, y in places)
    high = top * 1000
    return Pattern(
        hem=[(0, 0.0), (w * 0.5, -0.002), (w - snug, 0.001)],
        side=[(w - snug, 0.001), (w - snug * 0.8, 0.06), (w - snug * 0.13, 0.09), (w, 0.25), armpit],
        under=[armpit, (w + 0.012, top - 0.275), (w + 0.068, top - sleeve + 0.08),
               (w + 0.094, top - sleeve + 0.03), inner],
        over=[outer, (w + 0.19, top - sleeve + 0.068), (w + 0.15, top - 0.36),
              (w + 0.068, top - 0.15), (w + 0.002, top - 0.066), tip, shoulder],
        neck=curve(front),
        back=curve(f"{places[0][0]} {high}, {places[0][0] * 0.8} {high - 12}, 40 {high - 18}, 0 {high - 19}"),
        arm=[tip, (w - 0.05, top - 0.1), (w - 0.052, top - 0.16), (w - 0.034, top - 0.215), armpit],
    )  # fmt: skip


def covered(
    front: bpy.types.Object,
    pattern: Pattern,
    wale: float,
    yarn: bpy.types.Material,
    *,
    hem: float = 0.06,
    ribs: float = 0.011,
    body: Bend | None = None,
    plies: int = 1,
    steps: int = 7,
) -> Shapes:
    """Return the stitches of a jumper's front: its body, its sleeves along their own axis, ribs."""
    sheet, whole = Sheet(front), pattern.outline(pattern.neck)
    half = [*pattern.hem, *pattern.side, *reversed(pattern.arm), *pattern.over[-2:], *pattern.neck]
    trunk = [*half, *mirror(half)]
    w, top = pattern.side[-1][0] + 0.02, pattern.over[-1][1]
    ridge = rib(ribs, wale * 0.9)
    more = {"plies": plies, "steps": steps, "lift": wale * 0.2 if body is None else wale * 0.8}
    ribbed = more | {"lift": wale}
    made = [
        knit(sheet, (-w, 0, w, hem), wale, yarn, bend=ridge, outlines=[whole, trunk], **ribbed),
        knit(sheet, (-w, hem, w, top), wale, yarn, bend=body, outlines=[whole, trunk], **more),
    ]
    x, y, turn = pattern.axis()
    for side in (1, -1):
        frame = (side * x, y, side * turn)
        sleeve = [(side * p, q) for p, q in pattern.sleeve()]
        whole_sleeve = {"frame": frame, "outlines": [whole, sleeve]} | more
        made.append(
            knit(sheet, (-0.08, 0, 0.08, hem), wale, yarn, bend=ridge, **(whole_sleeve | ribbed))
        )
        made.append(knit(sheet, (-0.2, hem, 0.2, 0.7), wale, yarn, bend=body, **whole_sleeve))
    return made


def collar(
    seam: Line, wide: float, lift: tuple[float, float], wale: float, yarn: bpy.types.Material
) -> Shapes:
    """Return the ribbed band on the edge of a neck."""
    made = band(seam, wide, lift, weaves.jersey("777777"), thick=0.0)
    made.data.materials.clear()
    made.data.materials.append(yarn)
    long = sum(math.dist(a, b) for a, b in pairwise(seam)) * 1.15
    ridge = rib(wale * 5, wale * 0.8)
    over = knit(Sheet(made), (0, 0, long, wide * 1.3), wale, yarn, bend=ridge, lift=wale)
    return [made, over]


def jumper(
    pattern: Pattern, wale: float, yarn: bpy.types.Material, *, puff: float = 0.01, seed: int = 1,
    hem: float = 0.06, rows: int = 4, body: Bend | None = None, plies: int = 1,
    grow: float = 0.025, neck: float = 0.026,
) -> tuple[bpy.types.Object, Shapes]:  # fmt: skip
    """Return a jumper: the cloth of its front, and the rest with its stitches."""
    front, made = spread_out(
        pattern,
        yarn,
        yarn,
        puff=puff,
        seed=seed,
        rows=(),
        grow=grow,
        lie=(0.007, 0.13),
        bending=1.2,
    )
    top = pattern.over[-1][1]
    made = made[:1]  # The back is seen in the neck alone.
    made.append(knit(Sheet(made[0]), (-0.13, top - 0.4, 0.13, top), wale, yarn, lift=0.0034))
    made += covered(front, pattern, wale, yarn, hem=hem, ribs=wale * 5, body=body, plies=plies)
    edge, behind = pattern.whole_neck()
    made += collar(edge, neck, (puff * 1.15, puff * 1.3), wale, yarn)
    made += collar(behind, neck, (puff * 0.4, puff * 0.5), wale, yarn)
    return front, [front, *made]


TABLE = View(pitch=80, fill=0.88, blur=0.008, turn=-3, light=0.8)
LOW = View(pitch=38, fill=0.9, blur=0.015, turn=24, light=0.84)


@product(
    "merino-jumper",
    main=TABLE,
    second=LOW,
    detail=View(pitch=62, at=(0.02, 0.6, 0.01), width=0.12, blur=0.006, turn=-14, light=0.8),
)
def merino_jumper(look: Look) -> Shapes:
    """Return the fine jumper: 53 cm across and 67 long."""
    yarn = weaves.fibre(look.colours[0])
    front, made = jumper(jumper_pattern(0.53, 0.67), 0.0026, yarn, puff=0.008, seed=5)
    return [*made, stitches.fuzz(front, 30000, 0.004, yarn)]


def cables(wide: float, turn: float, gap: float, deep: float) -> Bend:
    """Return the relief of cables: ropes of two strands so wide, on a ground that lies deeper."""

    def bend(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = (p + gap / 2) % gap - gap / 2
        part = np.clip(place / (wide / 2), -1, 1)
        phase = q / turn * math.tau + np.floor((p + gap / 2) / gap) % 2 * math.pi
        rope = np.abs(place) < wide / 2
        first = part < 0
        angle = phase + np.where(first, 0, math.pi)
        centre = np.where(first, -wide / 4, wide / 4)
        across = (place - centre) * (0.8 + 0.25 * np.cos(angle) ** 2)
        target = wide / 4 * np.cos(angle) * -1 + across
        round_ = np.sqrt(np.clip(1 - (np.abs(place - centre) / (wide / 4)) ** 2 * 0.8, 0, 1))
        up = deep * (0.25 + 0.5 * round_ + 0.5 * np.sin(angle))
        ditch = -0.5 * deep * np.exp(-(((np.abs(place) - wide * 0.6) / (wide * 0.12)) ** 2))
        moss = 0.12 * deep * np.sin(p / 0.0105 * math.tau) * np.sin(q / 0.0084 * math.tau)
        return np.where(rope, target - place, 0), np.where(rope, up, ditch + moss)

    return bend


@product(
    "cable-jumper",
    main=TABLE,
    second=LOW,
    detail=View(pitch=62, at=(0.03, 0.5, 0.012), width=0.2, blur=0.006, turn=-14, light=0.8),
)
def cable_jumper(look: Look) -> Shapes:
    """Return the heavy jumper: 58 cm across and 68 long, with cables of lambswool."""
    yarn = weaves.fibre(look.colours[0], sheen=0.4)
    relief = cables(0.034, 0.062, 0.074, 0.0062)
    front, made = jumper(
        jumper_pattern(0.58, 0.68, sleeve=0.54), 0.0046, yarn, puff=0.014, seed=8, hem=0.07,
        body=relief, plies=2, grow=0.018, neck=0.036,
    )  # fmt: skip
    return [*made, stitches.fuzz(front, 40000, 0.007, yarn)]


@product(
    "ribbed-beanie",
    main=View(turn=-20, pitch=12, fill=0.74),
    second=View(turn=30, pitch=34, fill=0.74),
    detail=View(turn=-20, at=(-0.01, -0.105, 0.05), pitch=14, width=0.09, blur=0.03),
)
def ribbed_beanie(look: Look) -> Shapes:
    """Return the hat, standing as on a head, its cuff turned once."""
    yarn = weaves.fibre(look.colours[0])
    line = shapes.smooth(shapes.mm(
        "99 68, 101 40, 103 8, 104 1, 108 1, 110 10, 109 40, 107 66, 104 71, 100 69,"
        "99.5 74, 98 110, 90 150, 70 185, 40 204, 16 209, 3 206"), 3)  # fmt: skip
    line = cloth.dense([(p.x, p.y) for p in line], 0.003, closed=False)
    rows = []
    for r, z in line:
        row = []
        for i in range(241):
            a = math.tau * i / 240 + math.pi / 2
            slump = 1 + 0.05 * math.sin(a * 2 + 0.6) * (z / 0.2) + 0.02 * math.sin(3 * a + z * 30)
            lean = 0.012 * (z / 0.2) ** 2
            fold = 0.004 * math.sin(5 * a + 2.0 + 25 * z) * max(0.0, z - 0.1) / 0.1
            row.append(((r * slump + fold) * math.cos(a) + lean, (r * slump + fold) * 0.9 * math.sin(a),
                        z * (1 - 0.03 * math.cos(a + 0.5) * z / 0.2)))  # fmt: skip
        rows.append(row)
    made = shapes.grid("hat", rows, yarn)
    flat = cloth.flat_of(made)
    box = (0, 0, float(flat[:, 0].max()), float(flat[:, 1].max()))
    wale = float(flat[:, 0].max()) / 264
    over = knit(Sheet(made), box, wale, yarn, bend=rib(wale * 6, 0.0042), lift=0.0046)
    return [made, over, stitches.fuzz(made, 12000, 0.005, yarn)]


@product(
    "lambswool-cardigan",
    main=TABLE,
    second=LOW,
    detail=View(pitch=62, at=(0.03, 0.27, 0.01), width=0.14, blur=0.006, turn=-14, light=0.8),
)
def lambswool_cardigan(look: Look) -> Shapes:
    """Return the cardigan, buttoned: 55 cm across and 66 long."""
    wool, horn = look.colours
    yarn, wale = weaves.fibre(wool, sheen=0.5), 0.0036
    pattern = jumper_pattern(0.55, 0.66, neck="86 0, 62 110, 32 215, 4 318")
    front, made = jumper(pattern, wale, yarn, puff=0.011, seed=11, neck=0.034)
    sheet, top = Sheet(front), pattern.neck[-1][1] + 0.02
    strip = [[(x, y) for x in np.linspace(-0.018, 0.018, 9)] for y in np.linspace(0.002, top, 60)]
    placket = sheet.patch(strip, yarn, lift=0.0035)
    over = knit(
        Sheet(placket), (0, 0, 0.036, 1.2), wale, yarn, bend=rib(wale * 5, 0.002), lift=0.0026
    )
    made += [placket, over]
    for x in (-0.15, 0.15):
        rows = [[(p, q) for p in np.linspace(x - 0.065, x + 0.065, 20)]
                for q in np.linspace(0.075, 0.21, 24)]  # fmt: skip
        bag = sheet.patch(rows, yarn, lift=0.002)
        loops = knit(Sheet(bag), (0, 0, 0.2, 0.115), wale, yarn, lift=0.001)
        edge = knit(
            Sheet(bag), (0, 0.112, 0.2, 0.2), wale, yarn, bend=rib(wale * 5, 0.003), lift=0.0036
        )
        made += [bag, loops, edge]
    sewn = Sheet(placket)
    for k in range(5):
        made += button(
            sewn,
            (0.018, 0.03 + k * (top - 0.06) / 4),
            0.02,
            weaves.plain(horn, rough=0.3),
            lift=0.0055,
        )
    return [*made, stitches.fuzz(front, 60000, 0.006, yarn)]


@product(
    "wool-scarf",
    main=View(pitch=72, fill=0.84, blur=0.01, turn=-8, light=0.84),
    second=View(pitch=34, fill=0.84, blur=0.02, turn=20, light=0.86),
    detail=View(pitch=60, at=(-0.15, -0.36, 0.02), width=0.16, blur=0.01, turn=-8, light=0.84),
)
def wool_scarf(look: Look) -> Shapes:
    """Return the scarf, gathered and laid in a loop, its knotted fringe to the front."""
    wool, accent = look.colours
    cloth_ = weaves.weave(wool, other=accent, thread=0.0016, uneven=0.3, depth=0.0003, sheen=0.6,
        lines=((0.05, 0.06), (0.07, 0.09), (0.1, 0.11)))  # fmt: skip
    centre = [
        (-0.17, -0.4, 0),
        (-0.13, -0.2, 0),
        (-0.06, 0.0, 0.0),
        (0.06, 0.16, 0),
        (0.16, 0.34, 0),
    ]
    centre += [
        (0.08, 0.5, 0),
        (-0.1, 0.5, 0),
        (-0.17, 0.34, 0),
        (-0.07, 0.14, 0.05),
        (0.03, 0.0, 0.06),
    ]
    centre += [(0.1, -0.18, 0.02), (0.12, -0.42, 0)]
    line = shapes.smooth(centre, 4)
    rows = []
    for i, point in enumerate(line):
        ahead = line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]
        side = Vector((-ahead.y, ahead.x, 0)).normalized()
        t, row = i / len(line), []
        for k in range(61):
            s = k / 60 - 0.5
            shift = 0.9 * math.sin(5 * t + 1) + 2.2 * t
            ridge = 0.5 + 0.5 * math.sin(s * 15 + shift) * math.cos(s * 5 + 3 * t)
            wide = 0.145 * (1 + 0.16 * math.sin(9 * t + 2))
            over = 0.35 * 0.06 * math.cos(s * 15 + shift)
            z = (
                point.z
                + 0.004
                + 0.026 * ridge * (1 - abs(2 * s) ** 4)
                + 0.003 * math.sin(40 * t + 9 * s)
            )
            row.append(point + side * (wide * s + over) + Vector((0, 0, z - point.z)))
        rows.append(row)
    made = cloth.upward(shapes.grid("scarf", rows, cloth_))
    yarn = weaves.fibre(wool, sheen=0.6)
    shapes.thicken(made, 0.002)
    cords: Shapes = []
    for row, nearby in ((rows[0], rows[3]), (rows[-1], rows[-4])):
        roots = np.array([tuple(p) for p in row[1:-1:2]])
        way = (row[30] - nearby[30]).normalized()
        cords.append(stitches.fringe(roots, (way.x, way.y, -0.12), 0.085, yarn, thick=0.0013))
    return [made, *cords, stitches.fuzz(made, 140000, 0.007, yarn, lie=0.8)]


def sock(colours: tuple, long: float) -> Shapes:
    """Return a sock on its side, its toe to the right, its heel and toe of another colour."""
    yarn, accent = (weaves.fibre(each) for each in colours)
    f = long
    outline = shapes.smooth([
        (-0.043, 0.26), (-0.043, 0.26), (0.043, 0.26), (0.043, 0.26), (0.04, 0.19), (0.044, 0.115), (0.07, 0.075), (f - 0.1, 0.052),
        (f - 0.05, 0.04), (f - 0.045, 0.0), (f - 0.07, -0.018), (0.08, -0.016), (0.0, -0.02),
        (-0.045, -0.012), (-0.062, 0.03), (-0.05, 0.09), (-0.042, 0.2)], 3, closed=True)  # fmt: skip
    ring = [(p.x, p.y) for p in outline]
    made = cloth.spread(
        ring, yarn, loose=lambda p: p.y > 0.25, step=0.008, puff=0.009, grow=0.03,
        lie=(0.004, 0.06), levels=1,
    )  # fmt: skip
    sheet, wale = Sheet(made), 0.0026
    corner, heel = (0.016, 0.048), (-0.08, 0.02)
    leg = [(-0.1, 0.4), (0.1, 0.4), (0.1, 0.12), corner, (-0.1, 0.07)]
    cap = [corner, (-0.1, 0.07), (-0.1, -0.05), (0.035, -0.05)]
    toe = [(f - 0.115, 0.1), (f, 0.1), (f, -0.1), (f - 0.1, -0.1)]
    foot = [corner, (0.1, 0.12), (f - 0.115, 0.1), (f - 0.1, -0.1), (0.035, -0.05)]
    ridge, more = rib(wale * 5, 0.0022), {"lift": 0.0006, "steps": 8}
    box = (-0.1, 0.05, 0.1, 0.3)
    parts = [
        knit(sheet, box, wale, yarn, bend=ridge, outlines=[ring, leg], **(more | {"lift": 0.0026}))
    ]
    turned = {"frame": (0, 0, -90)} | more
    for material, region in ((yarn, foot), (accent, toe)):
        parts.append(knit(sheet, (-0.13, -0.05, 0.06, 0.3), wale, material,
            outlines=[ring, region], **turned))  # fmt: skip
    parts.append(knit(sheet, (-0.1, -0.1, 0.1, 0.1), wale, accent, outlines=[ring, cap],
        frame=(heel[0], heel[1], -50), **more))  # fmt: skip
    fluff = [stitches.fuzz(made, 9000, 0.004, yarn)]
    return [made, *parts, *fluff]


@product(
    "wool-socks",
    main=View(pitch=74, fill=0.8, blur=0.01, turn=-12, light=0.84),
    second=View(pitch=36, fill=0.8, blur=0.02, turn=26, light=0.88),
    detail=View(pitch=60, at=(0.02, 0.22, 0.01), width=0.1, blur=0.01, turn=-12, light=0.84),
)
def wool_socks(look: Look) -> Shapes:
    """Return a pair, one half on the other."""
    lower, upper = sock(look.colours, 0.24), sock(look.colours, 0.24)
    shapes.place(upper, at=(0.052, -0.06, 0.0125), turn=-7, roll=-1.5)
    return [*lower, *upper]
