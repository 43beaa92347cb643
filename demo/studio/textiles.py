"""Textiles: cushions, blankets, towels, mats and the apron."""

import bpy
import numpy as np

from . import cloth, shapes, stitches, weaves
from .frame import View
from .garments import pocket, ribbon
from .shapes import Shapes
from .shots import Look, product
from .stitches import Sheet


def cushion(
    width: float, height: float, material: bpy.types.Material, seed: int, slack: float = 0.015
) -> Shapes:
    """Return a cushion with a feather inner, standing and leaning back a little."""
    outline = shapes.rounded(width, height, 0.016, 3)
    made = cloth.cut(outline, 0.013, material, back=True)
    cloth.crease(made, slack * 0.6, 0.07, seed)
    cloth.settle(made, frames=36, pressure=6.5, bending=0.1, damping=8, grow=slack)
    cloth.finer(made, 2)
    points, bins = cloth.points_of(made), np.linspace(-width / 2, width / 2, 25)
    bin_of = np.digitize(points[:, 0], bins)
    lowest = [points[bin_of == k, 1].min(initial=0.0) for k in range(1, 25)]
    low = np.minimum(np.interp(points[:, 0], (bins[1:] + bins[:-1]) / 2, lowest), -0.01)
    sunk = np.clip(points[:, 1] / low, 0, 1) ** 2  # The weight pushes the lower edge to the ground.
    points[:, 1] += sunk * (points[:, 1].min() * 0.97 - low)
    cloth.move_to(made, points)
    return shapes.place([made], at=(0, 0, height / 2 - 0.012), tip=90 - 14)


@product(
    "linen-cushion",
    main=View(turn=-18, pitch=10, light=0.82),
    second=View(turn=-30, pitch=40, light=0.84),
    detail=View(turn=-18, at=(0.14, -0.02, 0.36), width=0.15, blur=0.02, light=0.84),
    options={"second": {"Size": "60"}},
)
def linen_cushion(look: Look) -> Shapes:
    """Return the cushion: 45 cm square, or 60 × 40."""
    width, height = (0.6, 0.4) if look.options.get("Size") == "60" else (0.45, 0.45)
    return cushion(width, height, weaves.weave(look.colours[0], thread=0.0009, uneven=0.5), 2)


@product(
    "corduroy-cushion",
    main=View(turn=-18, pitch=10, light=0.82),
    second=View(turn=24, pitch=36, light=0.84),
    detail=View(turn=-18, at=(0.15, -0.02, 0.4), width=0.15, blur=0.02, light=0.84),
)
def corduroy_cushion(look: Look) -> Shapes:
    """Return the cushion of 50 cm, its wales upright."""
    return cushion(0.5, 0.5, weaves.corduroy(look.colours[0]), 6, 0.006)


@product(
    "wool-throw",
    main=View(turn=-26, pitch=22, fill=0.8, light=0.86),
    second=View(turn=30, pitch=40, fill=0.8, light=0.84),
    detail=View(turn=-26, at=(0.05, -0.17, 0.08), pitch=30, width=0.16, blur=0.02, light=0.84),
)
def wool_throw(look: Look) -> Shapes:
    """Return the throw, folded to and fro, the fringe of its end over the front."""
    colour, accent = look.colours
    wool = weaves.weave(
        colour, other=accent, thread=0.0019, uneven=0.3, depth=0.0005, sheen=0.5, over=2,
        lines=((1.585, 1.597), (1.607, 1.631), (1.641, 1.653)),
    )  # fmt: skip
    made = cloth.folded([0, 1, 2, 3, 4], (0.42, 0.32), 0.019, wool, seed=4, soft=1.1)
    yarn = weaves.fibre(colour, sheen=0.5)
    return [made, *end_fringe(made, 0.42, 0.11, yarn), stitches.fuzz(made, 26000, 0.005, yarn)]


def end_fringe(
    made: bpy.types.Object, width: float, long: float, yarn: bpy.types.Material
) -> Shapes:
    """Return the fringe of the end of folded cloth, which hangs over its front."""
    flat = cloth.flat_of(made)
    end = float(flat[:, 1].max())
    u = np.arange(0.006, width - 0.004, 0.0078)
    roots = Sheet(made).lay(u, np.full(len(u), end - 0.003), -0.004)
    roots = roots[~np.isnan(roots[:, 0])]
    return [stitches.fringe(roots, (0, -0.5, -0.95), long, yarn, thick=0.0014)]


@product(
    "waffle-blanket",
    main=View(turn=-28, pitch=24, fill=0.8, light=0.84),
    second=View(turn=32, pitch=44, fill=0.8, light=0.84),
    detail=View(turn=-28, at=(-0.05, -0.15, 0.1), pitch=34, width=0.14, blur=0.02, light=0.84),
)
def waffle_blanket(look: Look) -> Shapes:
    """Return the blanket, folded in half and in half again, on its other half."""
    cotton = weaves.waffle(look.colours[0], cell=0.0085)
    return [cloth.folded([0, 3, 2, 1], (0.44, 0.34), 0.026, cotton, seed=9, soft=1.0)]


@product(
    "bath-towel",
    main=View(turn=-26, pitch=24, fill=0.78, light=0.84),
    second=View(turn=30, pitch=30, fill=0.8, light=0.84),
    detail=View(turn=-26, at=(-0.02, -0.13, 0.07), pitch=34, width=0.12, blur=0.02, light=0.84),
)
def bath_towel(look: Look) -> Shapes:
    """Return a folded towel, or a pile of three."""
    terry = weaves.terry(look.colours[0], border=(0.05, 0.085))
    loops = weaves.fibre(look.colours[0])
    made: Shapes = []
    for i in range(3 if look.shot == "second" else 1):
        towel = cloth.folded([3, 0, 1, 2], (0.36 - 0.012 * i, 0.27), 0.019, terry, seed=3 + i)
        pile = stitches.fuzz(towel, 90000, 0.0028, loops, radius=0.00014, lie=0.55)
        made += shapes.place([towel, pile], at=(0.004 * i, 0, 0.077 * i), turn=2.5 * i)
    return made


def laid_flat(
    width: float, length: float, thick: float, material: bpy.types.Material, seed: int
) -> bpy.types.Object:
    """Return cloth that was laid down by its upper edge, and is not quite smooth."""
    w = width / 2
    made = cloth.spread(
        [(-w, 0), (w, 0), (w, length), (-w, length)], material, loose=lambda p: p.y < length - 0.001,
        puff=thick, grow=0.02 - thick * 2.2, lie=(0.006, 0.22), bending=2.0, seed=seed,
    )  # fmt: skip
    return shapes.thicken(made, thick)


@product(
    "bath-mat",
    main=View(turn=-24, pitch=26, fill=0.8, light=0.84),
    second=View(turn=20, pitch=60, fill=0.84, blur=0.01, light=0.8),
    detail=View(turn=-24, at=(0.0, -0.2, 0.02), pitch=40, width=0.14, blur=0.02, light=0.84),
)
def bath_mat(look: Look) -> Shapes:
    """Return the mat, folded once, or spread."""
    cotton = weaves.waffle(look.colours[0], cell=0.014, depth=0.0034)
    if look.shot == "second":
        return [laid_flat(0.6, 0.9, 0.005, cotton, 5)]
    return [cloth.folded([0, 1], (0.6, 0.44), 0.02, cotton, seed=5, soft=1.5)]


@product(
    "linen-hand-towel",
    main=View(turn=-30, pitch=46, fill=0.8, blur=0.02, light=0.82),
    second=View(turn=10, pitch=70, fill=0.84, blur=0.01, light=0.8),
    detail=View(turn=-30, at=(0.0, -0.08, 0.012), pitch=50, width=0.1, blur=0.01, light=0.82),
)
def linen_hand_towel(look: Look) -> Shapes:
    """Return the towel of 45 × 70 cm, folded so that its stripes show, or spread."""
    base, stripe = look.colours
    lines = [(a, a + w) for at in (0.05, 0.62) for a, w in
             ((at, 0.004), (at + 0.009, 0.014), (at + 0.028, 0.004))]  # fmt: skip
    linen = weaves.weave(base, other=stripe, thread=0.00075, uneven=0.4, lines=tuple(lines))
    if look.shot == "second":
        return [laid_flat(0.45, 0.7, 0.001, linen, 8)]
    made = cloth.folded([0, 1, 2], (0.2, 0.225), 0.0058, linen, seed=8, soft=1.6, wall=0.5)
    loop = [
        (0.07, -0.1, 0.017),
        (0.068, -0.125, 0.018),
        (0.066, -0.15, 0.01),
        (0.074, -0.165, 0.006),
    ]
    loop += [(0.086, -0.15, 0.01), (0.088, -0.125, 0.018), (0.088, -0.1, 0.017)]
    return [made, ribbon(loop, 0.007, weaves.weave(base, thread=0.0006), thick=0.0007)]


@product(
    "linen-apron",
    main=View(pitch=80, fill=0.9, blur=0.008, turn=-4, light=0.8),
    second=View(pitch=36, fill=0.9, blur=0.015, turn=22, light=0.86),
    detail=View(pitch=60, at=(0.1, 0.36, 0.006), width=0.16, blur=0.006, turn=-14, light=0.8),
)
def linen_apron(look: Look) -> Shapes:
    """Return the apron, spread: 70 × 88 cm, with one wide pocket."""
    colour = look.colours[0]
    linen, thread = weaves.weave(colour, thread=0.0009, uneven=0.5), weaves.fibre(colour, shade=0.9)
    curve = [(0.35, 0.56), (0.3, 0.57), (0.235, 0.62), (0.185, 0.71), (0.155, 0.8), (0.145, 0.88)]
    half = [(0, 0), (0.35, 0.002), (0.353, 0.3), *curve]
    outline = [*half, *[(-x, y) for x, y in reversed(half[1:])]]
    front = cloth.spread(
        outline, linen, loose=lambda p: p.y < 0.55, step=0.0145, puff=0.0015, grow=0.03,
        lie=(0.006, 0.2), bending=1.5, seed=12,
    )  # fmt: skip
    sheet = Sheet(front)
    hem = [(-0.335, 0.545), (-0.337, 0.02), (0.337, 0.02), (0.335, 0.545)]
    made = stitches.stitched(sheet, hem, thread)
    made += stitches.stitched(sheet, [(-0.14, 0.845), (0.14, 0.845)], thread)
    left = [(-0.2, 0.46), (-0.203, 0.34), (-0.2, 0.235)]
    right = [(-x, y) for x, y in reversed(left)]
    made += pocket(front, [*left, *right], linen, thread, hem=0.025)
    made += stitches.stitched(sheet, [(0.03, 0.24), (0.03, 0.455)], thread, above=0.0016)
    strap = [
        (-0.128, 0.86, 0.004),
        (-0.135, 0.93, 0.003),
        (-0.14, 1.03, 0.003),
        (-0.05, 1.12, 0.004),
    ]
    strap += [(0.06, 1.11, 0.003), (0.135, 1.03, 0.003), (0.133, 0.93, 0.003), (0.128, 0.86, 0.004)]
    made.append(ribbon(strap, 0.028, linen))
    for side in (1, -1):
        tie = [(0.335, 0.545, 0.003), (0.4, 0.52, 0.003), (0.43, 0.42, 0.003), (0.4, 0.3, 0.003)]
        tie += [(0.43, 0.17, 0.003), (0.4 + 0.02 * side, 0.06, 0.003)]
        made.append(ribbon([(side * x, y, z) for x, y, z in tie], 0.024, linen))
    return [shapes.thicken(front, 0.0012), *made]
