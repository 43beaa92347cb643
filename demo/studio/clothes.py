"""Clothes: T-shirts, shirts and the hoodie, spread on a table."""

import math

import bpy
import numpy as np
from mathutils import Vector

from . import cloth, shapes, stitches, weaves
from .frame import View
from .garments import Pattern, band, button, curve, mirror, pocket, spread_out
from .knitwear import jumper_pattern, knit, rib
from .shapes import Shapes
from .shots import Look, product
from .stitches import Sheet

TABLE = View(pitch=80, fill=0.84, blur=0.008, turn=-3, light=0.8)
LOW = View(pitch=38, fill=0.86, blur=0.015, turn=24, light=0.84)


def tee_pattern(chest: float, long: float) -> Pattern:
    """Return a straight T-shirt of M: `chest` is half of its girth."""
    w, top = chest / 2, long - 0.006
    shoulder, tip = (0.09, top), (w - 0.032, top - 0.05)
    armpit, low, cuff = (w + 0.002, top - 0.245), (w + 0.108, top - 0.285), (w + 0.168, top - 0.185)
    return Pattern(
        hem=[(0, 0.0), (w * 0.5, -0.003), (w, 0.002)],
        side=[(w, 0.002), (w + 0.004, 0.12), (w - 0.001, 0.3), armpit],
        under=[armpit, (w + 0.01, top - 0.252), (w + 0.06, top - 0.268), low],
        over=[cuff, (w + 0.07, top - 0.098), (w - 0.005, top - 0.057), tip, shoulder],
        neck=curve(
            f"90 {top * 1000}, 84 {top * 1000 - 48}, 58 {top * 1000 - 82}, 0 {top * 1000 - 92}"
        ),
        back=curve(
            f"90 {top * 1000}, 74 {top * 1000 - 12}, 40 {top * 1000 - 20}, 0 {top * 1000 - 22}"
        ),
        arm=[tip, (w - 0.042, top - 0.1), (w - 0.04, top - 0.16), (w - 0.022, top - 0.21), armpit],
    )


def close_up(
    look: Look, front: bpy.types.Object, pattern: Pattern, at: tuple[float, float],
    stripes: tuple[float, float, float, float] = (0, 0, 1, 0), wale: float = 0.0011,
) -> Shapes:  # fmt: skip
    """Return the stitches around a place for the close-up: elsewhere they are too small to see."""
    if look.shot != "detail":
        return []
    yarn = weaves.fibre(look.colours[0], other=look.colours[-1], sheen=0.15)
    first, last, apart, wide = stripes
    low = at[1] - 0.1

    def tone(q: np.ndarray) -> np.ndarray:
        level = (np.arange(len(q)) + 0.5)[:, None] * wale * 0.8 + low
        on = (level > first) & (level < last) & ((level - first) % apart < wide)
        return 0.37 + 2.0 * on + np.zeros_like(q)

    box = (at[0] - 0.09, low, at[0] + 0.09, at[1] + 0.1)
    whole = [pattern.outline(pattern.neck)]
    made = knit(Sheet(front), box, wale, yarn, outlines=whole, tone=tone, lift=wale * 0.2)
    near = stitches.fuzz(
        front, 5000, 0.0025, yarn, keep=lambda p: np.hypot(*(p[:, :2] - at).T) < 0.1
    )
    return [made, near]


def tee(
    pattern: Pattern,
    body: bpy.types.Material,
    ribbing: bpy.types.Material,
    thread: bpy.types.Material,
    **more: float,
) -> tuple[bpy.types.Object, Shapes]:
    """Return a T-shirt: its front, and the rest."""
    front, made = spread_out(pattern, body, thread, **more)
    edge, behind = pattern.whole_neck()
    made.append(band(edge, 0.02, (0.0062, 0.0085), ribbing))
    made.append(band(behind, 0.02, (0.0022, 0.0032), ribbing))
    label = [
        [(x, y, 0.0028) for x in (-0.022, 0.022)]
        for y in (behind[0][1] - 0.052, behind[0][1] - 0.026)
    ]
    made.append(shapes.grid("label", label, weaves.weave("efe9da", thread=0.0003, uneven=0.1)))
    below = [(x * 1.02, y - 0.004) for x, y in edge[3:-3]]
    made += stitches.stitched(Sheet(front), below, thread)
    return front, [front, *made]


@product(
    "cotton-tee",
    main=TABLE,
    second=LOW,
    detail=View(pitch=60, at=(0.03, 0.6, 0.006), width=0.11, blur=0.006, turn=-14, light=0.8),
)
def cotton_tee(look: Look) -> Shapes:
    """Return the heavy T-shirt: 53 cm across and 71 long."""
    colour = look.colours[0]
    thread = weaves.fibre(colour)
    pattern = tee_pattern(0.53, 0.71)
    ribbing = weaves.jersey(colour, wale=0.0022, depth=0.0004)
    front, made = tee(pattern, weaves.jersey(colour), ribbing, thread, seed=3)
    return [*made, *close_up(look, front, pattern, (0.03, 0.6))]


@product(
    "striped-tee",
    main=TABLE,
    second=LOW,
    detail=View(pitch=60, at=(0.03, 0.47, 0.006), width=0.12, blur=0.006, turn=-14, light=0.8),
)
def striped_tee(look: Look) -> Shapes:
    """Return the sailor's T-shirt with its boat neck and its stripes knitted in."""
    base, stripe = look.colours
    stripes = (0.085, 0.5, 0.022, 0.0085)
    body = weaves.jersey(base, other=stripe, lines=stripes)
    thread, plain_ = weaves.fibre(base), weaves.jersey(base)
    pattern = jumper_pattern(0.52, 0.68, neck="122 0, 100 22, 52 42, 0 45", snug=0.004)
    front, made = spread_out(pattern, body, thread, seed=21, puff=0.004, grow=0.022)
    edge, behind = pattern.whole_neck()
    made.append(band(edge, 0.012, (0.0058, 0.0075), plain_))
    made.append(band(behind, 0.012, (0.0024, 0.003), plain_))
    made += close_up(look, front, pattern, (0.03, 0.47), stripes)
    return [front, *made]


@product(
    "pocket-tee",
    main=TABLE,
    second=LOW,
    detail=View(pitch=60, at=(0.11, 0.46, 0.006), width=0.15, blur=0.006, turn=-14, light=0.8),
)
def pocket_tee(look: Look) -> Shapes:
    """Return the lighter, wider T-shirt with a pocket on its chest and darker seams."""
    colour = look.colours[0]
    thread, body = weaves.fibre(colour, shade=0.72), weaves.jersey(colour)
    pattern = tee_pattern(0.56, 0.7)
    ribbing = weaves.jersey(colour, wale=0.0022, depth=0.0004)
    front, made = tee(pattern, body, ribbing, thread, seed=14, grow=0.03)
    x, y = 0.118, 0.375
    outline = [(x - 0.055, y + 0.13), (x - 0.055, y + 0.02), (x - 0.002, y)]
    outline += [(x + 0.002, y), (x + 0.055, y + 0.02), (x + 0.055, y + 0.13)]
    made += close_up(look, front, pattern, (0.11, 0.46))
    return [*made, *pocket(front, outline, body, thread)]


def collar(top: float, cloth_: bpy.types.Material, thread: bpy.types.Material) -> Shapes:
    """Return both leaves of a shirt's collar, turned down over its stand."""
    made: Shapes = []
    fold = shapes.smooth([(0.073, top + 0.017), (0.052, top - 0.016), (0.024, top - 0.044),
        (0.004, top - 0.058)], 3)  # fmt: skip
    outer = [(0.052, top - 0.132), (0.08, top - 0.082), (0.106, top - 0.03), (0.097, top + 0.004)]
    line = np.array([tuple(p) for p in fold])
    for side in (1, -1):
        half = [(p.x, p.y) for p in fold]
        ring = [*half, *outer] if side > 0 else [(-x, y) for x, y in reversed([*half, *outer])]
        leaf = cloth.finer(cloth.cut(ring, 0.006, cloth_, name="collar"), 1)
        points = cloth.points_of(leaf)
        far = cloth.away(points[:, :2] * (side, 1), line)
        points[:, 2] = 0.0085 + 0.0085 * np.exp(-((far / 0.016) ** 2))
        points[:, 2] += 0.0022 * np.exp(-(((far - 0.05) / 0.02) ** 2)) + 0.0012 * np.sin(
            points[:, 0] * 70 + points[:, 1] * 55 + side
        )
        cloth.move_to(leaf, points)
        inset = Vector((0.055 * side, top - 0.055))
        sewn = [Vector((x * side, y)).lerp(inset, 0.11) for x, y in [half[-1], *outer]]
        made += stitches.stitched(Sheet(leaf), sewn, thread, above=0.0008)
        made.append(shapes.thicken(leaf, 0.0016))
        leaf.modifiers["wall"].offset = 0
    return made


def shirt(
    pattern: Pattern, cloth_: bpy.types.Material, thread: bpy.types.Material,
    shell: bpy.types.Material, *, seed: int, grow: float, buttoned: bool,
) -> Shapes:  # fmt: skip
    """Return a shirt, buttoned: its collar, placket, cuffs, pocket, yoke and hem."""
    front, made = spread_out(
        pattern, cloth_, thread, seed=seed, puff=0.004, grow=grow, hem=0.008, rows=(0.0,),
        lie=(0.006, 0.09), bending=0.5,
    )  # fmt: skip
    top = pattern.over[-1][1]
    edge, behind = pattern.whole_neck()
    made.append(band(behind, 0.036, (0.002, 0.006), cloth_))
    made.append(band(edge, 0.026, (0.0062, 0.0085), cloth_))
    leaves = collar(top, cloth_, thread)
    if buttoned:
        for leaf in leaves[1::2]:
            side = 1 if leaf.data.vertices[0].co.x > 0 else -1
            made += button(Sheet(leaf), (side * 0.054, top - 0.119), 0.0092, shell)
    made += leaves
    low, high = pattern.hem[0][1] + 0.002, pattern.neck[-1][1] + 0.004
    sheet = Sheet(front)
    rows = [[(x, y) for x in np.linspace(-0.017, 0.017, 9)] for y in np.linspace(low, high, 120)]
    placket = sheet.patch(rows, cloth_, lift=0.0018)
    made.append(shapes.thicken(placket, 0.0015))
    for x in (-0.0125, 0.0125):
        made += stitches.stitched(sheet, [(x, low), (x, high)], thread, above=0.0018)
    for k in range(7):
        made += button(sheet, (0, high - 0.02 - 0.093 * k), 0.0112, shell, lift=0.002)
    x, y = 0.125, high - 0.235
    outline = [(x - 0.06, y + 0.14), (x - 0.06, y + 0.02), (x - 0.002, y)]
    outline += [(x + 0.002, y), (x + 0.06, y + 0.02), (x + 0.06, y + 0.14)]
    made += pocket(front, outline, cloth_, thread, lift=0.0014, hem=0.025)
    yoke = [(0.104, top - 0.038), (pattern.arm[0][0] - 0.01, top - 0.072)]
    for side in (1, -1):
        made += stitches.stitched(sheet, [(side * p, q) for p, q in yoke], thread)
        made += cuff(sheet, pattern, side, cloth_, thread, shell)
    return [front, *made]


def cuff(
    sheet: Sheet, pattern: Pattern, side: int, cloth_: bpy.types.Material,
    thread: bpy.types.Material, shell: bpy.types.Material,
) -> Shapes:  # fmt: skip
    """Return the cuff of a sleeve, which lies on it, with its button."""
    x, y, degrees = pattern.axis()
    wide = math.dist(pattern.under[-1], pattern.over[0]) / 2 - 0.001
    turn = math.radians(side * degrees)

    def place(p: float, q: float) -> tuple[float, float]:
        return (side * x + p * math.cos(turn) - q * math.sin(turn),
                y + p * math.sin(turn) + q * math.cos(turn))  # fmt: skip

    rows = [
        [place(p, q) for p in np.linspace(-wide, wide, 24)] for q in np.linspace(0.001, 0.062, 16)
    ]
    made = [shapes.thicken(sheet.patch(rows, cloth_, lift=0.0024, name="cuff"), 0.002)]
    for q in (0.005, 0.057):
        made += stitches.stitched(sheet, [place(-wide, q), place(wide, q)], thread, above=0.0024)
    return made + button(sheet, place(side * wide * 0.55, 0.031), 0.0105, shell, lift=0.0026)


def shirt_pattern(chest: float, long: float) -> Pattern:
    """Return a shirt with straight sleeves and a curved hem."""
    made = jumper_pattern(chest, long, neck="80 0, 76 32, 50 60, 0 70", sleeve=0.585, snug=-0.002)
    w = chest / 2
    made.hem[:] = [(0, 0.0), (w * 0.4, 0.002), (w * 0.7, 0.018), (w * 0.9, 0.05), (w, 0.066)]
    made.side[:] = [(w, 0.066), (w - 0.004, 0.2), (w - 0.003, 0.35), made.side[-1]]
    return made


@product(
    "linen-shirt",
    main=TABLE,
    second=LOW,
    detail=View(pitch=60, at=(0.05, 0.62, 0.012), width=0.19, blur=0.006, turn=-14, light=0.8),
)
def linen_shirt(look: Look) -> Shapes:
    """Return the washed linen shirt: 57 cm across and 76 long."""
    colour = look.colours[0]
    linen = weaves.weave(colour, thread=0.0007, uneven=0.5)
    return shirt(
        shirt_pattern(0.57, 0.76), linen, weaves.fibre(colour, shade=0.9),
        weaves.plain("ece4d4", rough=0.25), seed=31, grow=0.045, buttoned=False,
    )  # fmt: skip


@product(
    "oxford-shirt",
    main=TABLE,
    second=LOW,
    detail=View(pitch=60, at=(0.05, 0.63, 0.012), width=0.19, blur=0.006, turn=-14, light=0.8),
)
def oxford_shirt(look: Look) -> Shapes:
    """Return the button-down shirt: 55 cm across and 77 long."""
    colour = look.colours[0]
    oxford = weaves.weave(colour, other="f2efe9", thread=0.00055, uneven=0.12, over=2, blend=0.22)
    return shirt(
        shirt_pattern(0.55, 0.77), oxford, weaves.fibre(colour),
        weaves.plain("f1ece2", rough=0.25), seed=44, grow=0.028, buttoned=True,
    )  # fmt: skip


@product(
    "loopback-hoodie",
    main=TABLE,
    second=LOW,
    detail=View(pitch=60, at=(0.03, 0.55, 0.014), width=0.2, blur=0.006, turn=-14, light=0.8),
)
def loopback_hoodie(look: Look) -> Shapes:
    """Return the hoodie: 57 cm across and 69 long, its hood spread above."""
    colour = look.colours[0]
    body, thread = weaves.jersey(colour, wale=0.0015), weaves.fibre(colour)
    pattern = jumper_pattern(0.57, 0.69, neck="100 0, 88 40, 60 78, 0 92", sleeve=0.58)
    front, made = spread_out(pattern, body, thread, seed=52, puff=0.012, rows=(), grow=0.022,
        lie=(0.007, 0.14), bending=2.0)  # fmt: skip
    sheet, top = Sheet(front), pattern.over[-1][1]
    yarn, ridge, w = weaves.fibre(colour), rib(0.0078, 0.0026), 0.3
    x, y, turn = pattern.axis()
    whole = [pattern.outline(pattern.neck)]
    ends = [((-w, 0, w, 0.066), (0, 0, 0))]
    ends += [((-0.08, 0, 0.08, 0.07), (s * x, y, s * turn)) for s in (1, -1)]
    for box, place in ends:
        made.append(
            knit(sheet, box, 0.0026, yarn, frame=place, bend=ridge, outlines=whole, lift=0.0032)
        )
    left = [(-0.1, 0.3), (-0.176, 0.2), (-0.178, 0.07)]
    made += pocket(front, [*left, *mirror(left)], body, thread, lift=0.003, hem=0.006)
    return [front, *made, *hood(top, body, thread)]


def hood(top: float, body: bpy.types.Material, thread: bpy.types.Material) -> Shapes:
    """Return a hood spread above the neck: its inside behind, and its edge around the opening."""
    half = [(0.0, top + 0.235), (0.07, top + 0.228), (0.128, top + 0.185), (0.15, top + 0.1)]
    half += [(0.135, top + 0.02), (0.104, top - 0.012)]
    outer = [(p.x, p.y) for p in shapes.smooth(half, 3)]
    inner = curve(f"12 {top * 1000 - 104}, 70 {top * 1000 - 60}, 98 {top * 1000 + 30},"
        f"92 {top * 1000 + 110}, 50 {top * 1000 + 168}, 0 {top * 1000 + 178}", 3)  # fmt: skip
    low = [(-0.085, top - 0.07), (0.085, top - 0.07)]
    inside = cloth.cut([*reversed(outer), *[(-x, y) for x, y in outer[1:]], *low], 0.02, body)
    shapes.place([cloth.crease(inside, 0.004, 0.1, 4)], at=(0, 0, 0.005))
    lower = [(0.102, top - 0.03), (0.075, top - 0.075), (0.035, top - 0.1)]
    rim = [*outer, *lower, *inner]
    ring = [*reversed(rim), *[(-x, y) for x, y in rim[1:-1]]]
    front = cloth.spread(
        ring, body, loose=lambda p: cloth.away(np.array([tuple(p)[:2]]), np.abs(np.array(inner))
            * (math.copysign(1, p.x), 1))[0] < 0.012, step=0.011, puff=0.022, grow=0.03,
        lie=(0.008, 0.09), seed=6,
    )  # fmt: skip
    made = [inside, shapes.thicken(front, 0.002)]
    sheet = Sheet(front)
    for side in (1, -1):
        seam = [
            (side * (x + 0.022 * (0.4 + x * 6)), y + 0.022 * (y > top + 0.1))
            for x, y in inner[4:-2]
        ]
        made += stitches.stitched(sheet, seam, thread)
        cord = [(side * 0.034, top - 0.086, 0.034), (side * 0.042, top - 0.12, 0.03)]
        cord += [(side * 0.047, top - 0.19, 0.021), (side * 0.04, top - 0.28, 0.02)]
        made.append(shapes.sweep([*cord, (side * 0.05, top - 0.335, 0.02)], 0.0032, thread))
    return made
