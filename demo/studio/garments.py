"""Garments: patterns of clothes that are spread on a table, their fronts, bands and buttons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Vector

from . import cloth, materials, shapes, stitches, weaves
from .shapes import Point, Shapes, mm
from .stitches import Sheet

Line = list[tuple[float, float]]


def mirror(line: Sequence[Point]) -> Line:
    """Return a line on the other side of the y axis, in the other direction."""
    return [(-p[0], p[1]) for p in reversed(line)]


def curve(points: str, rounds: int = 2) -> Line:
    """Return a smooth line through points in millimetres."""
    return [(p.x, p.y) for p in shapes.smooth(mm(points), rounds)]


@dataclass
class Pattern:
    """The right half of a garment on the table, in metres, its hem on the x axis.

    `side` goes from the hem to the armpit, `under` from there to the cuff, `over` from the cuff to
    the shoulder, `neck` from the shoulder's inner end to the middle of the front, and `back` to the
    middle of the back. `arm` is the seam of the sleeve, from the shoulder to the armpit.
    """

    side: Line
    under: Line
    over: Line
    neck: Line
    back: Line
    arm: Line
    hem: Line

    def outline(self, neck: Line) -> Line:
        """Return the outline of the front, or of the back."""
        half = [*self.hem, *self.side, *self.under, *self.over, *neck]
        kept = [p for i, p in enumerate(half) if not i or math.dist(p, half[i - 1]) > 1e-5]
        return [*kept, *mirror(kept)[1:-1]]

    def whole_neck(self) -> tuple[Line, Line]:
        """Return the edges of the neck, in front and behind, from shoulder to shoulder."""
        front, back = ([*half, *mirror(half)[1:]] for half in (self.neck, self.back))
        return front, back

    def sleeve(self) -> Line:
        """Return the outline of the right sleeve, a little larger than it is."""
        far = [(x + 0.03, y) for x, y in [*self.under[-2:], *self.over[:2]]]
        return [*self.arm, *self.under, *far, *self.over]

    def axis(self) -> tuple[float, float, float]:
        """Return where the cuff of the right sleeve is, and how far the sleeve is turned."""
        (x1, y1), (x2, y2) = self.under[-1], self.over[0]
        return (x1 + x2) / 2, (y1 + y2) / 2, math.degrees(math.atan2(y2 - y1, x2 - x1))


def band(
    seam: Line,
    wide: float,
    lift: Sequence[float],
    material: bpy.types.Material,
    *,
    thick: float = 0.0008,
) -> bpy.types.Object:
    """Return a band that stands on the whole edge of a neck: the seam is its lower edge.

    At the shoulders it is upright. `lift` is its height over the table, below and above.
    """
    line = [Vector((x, y)) for x, y in cloth.dense(seam, 0.004, closed=False)]
    rows = []
    for part in (0.0, 0.06, 0.3, 0.6, 0.9, 1.0, 0.96):
        row = []
        for i, point in enumerate(line):
            ahead = (line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]).normalized()
            square = Vector((-ahead.y, ahead.x))
            square = square if square.y > 0 else -square
            upright = Vector((-math.copysign(0.3, point.x), 1)).normalized()
            near = min(1.0, min(i, len(line) - 1 - i) / 5)
            way = upright.lerp(square, near).normalized()
            spot = point + way * wide * part
            z = lift[0] + (lift[1] - lift[0]) * part + 0.0012 * math.sin(math.pi * part)
            row.append((spot.x, spot.y, z - (0.003 if part == 0.96 else 0.0) - 0.002 * (part == 0)))
        rows.append(row)
    made = cloth.upward(shapes.grid("band", rows, material))
    return shapes.thicken(made, thick) if thick else made


def button(
    sheet: Sheet, at: Point, size: float, material: bpy.types.Material, *, lift: float = 0.0012
) -> Shapes:
    """Return a button with four holes, sewn on at a place of the cloth."""
    r = size / 2
    profile = [(0.0001, 0.0008), (r * 0.55, 0.0008), (r * 0.62, 0.0015), (r * 0.88, 0.0019)]
    profile += [(r, 0.0012), (r * 0.95, 0.0), (0.0001, 0.0)]
    disc = shapes.lathe(profile, material, rounds=2, steps=48)
    spot = sheet.lay(np.array([at[0]]), np.array([at[1]]), lift, beyond=30)[0]
    made = [disc]
    dark = materials.lacquer("2a2420", gloss=0.1)
    for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        hole = shapes.lathe([(0.0001, 0.0), (size * 0.055, 0.0), (size * 0.055, 0.0011)], dark)
        made += shapes.place([hole], at=(x * size * 0.1, y * size * 0.1, 0.0001))
    thread = weaves.fibre("e9e2d2")
    for k in (-1, 1):
        line = np.array([(-1, -1 * k, 0), (-0.6, -0.6 * k, 1), (0.6, 0.6 * k, 1), (1, k, 0)])
        made.append(stitches.yarns([line * (size * 0.1, size * 0.1, 0.0016)], 0.0003, thread))
    return shapes.place(made, at=spot, turn=17 * (at[1] * 100 % 5), tip=3)


def turn_sleeves(front: bpy.types.Object, pattern: Pattern) -> None:
    """Lay the weave of both sleeves along their own axes, in a second UV map for the material."""
    mesh = front.data
    second = mesh.uv_layers.new(name="grain")
    second.active_render = True
    flat = np.empty(len(mesh.loops) * 2, np.float32)
    mesh.uv_layers[0].data.foreach_get("uv", flat)
    uv = flat.reshape(-1, 2)
    x, y, degrees = pattern.axis()
    for side in (1, -1):
        c, s = math.cos(math.radians(side * degrees)), math.sin(math.radians(side * degrees))
        u, v = uv[:, 0] - side * x, uv[:, 1] - y
        inside = cloth.within([(side * p, q) for p, q in pattern.sleeve()], uv[:, 0], uv[:, 1])
        turned = np.stack((u * c + v * s, v * c - u * s), 1)
        flat = np.where(inside[:, None], turned, flat.reshape(-1, 2)).astype(np.float32)
    second.data.foreach_set("uv", flat.ravel())


def pocket(
    front: bpy.types.Object, outline: Line, material: bpy.types.Material,
    thread: bpy.types.Material, *, lift: float = 0.0016, hem: float = 0.022,
) -> Shapes:  # fmt: skip
    """Return a pocket that is sewn on a garment: its left edge downwards, its right edge upwards.

    The outline has as many points on the left as on the right. The opening is between its ends.
    """
    half = len(outline) // 2
    rows = []
    for (x1, y1), (x2, y2) in zip(outline[:half], reversed(outline[half:]), strict=True):
        rows.append([(x1 + (x2 - x1) * k / 24, y1 + (y2 - y1) * k / 24) for k in range(25)])
    fine = []
    for a, b in pairwise(rows):
        fine += [[tuple(Vector(p).lerp(Vector(q), k / 12)) for p, q in zip(a, b, strict=True)]
                 for k in range(12)]  # fmt: skip
    sheet = Sheet(front)
    made = sheet.patch([*fine, rows[-1]], material, lift=lift)
    shapes.thicken(made, lift * 0.9)
    middle = Vector((sum(p[0] for p in outline), sum(p[1] for p in outline))) / len(outline)
    seam = [Vector(p).lerp(middle, 0.03) for p in outline]
    high = Vector((0, hem))
    top = [seam[0] - high, seam[-1] - high]
    sewn = stitches.stitched(sheet, seam, thread, lift=0.0004, above=lift)
    return [made, *sewn, *stitches.stitched(sheet, top, thread, above=lift)]


def ribbon(
    path: Sequence[Point], wide: float, material: bpy.types.Material, *, thick: float = 0.0012
) -> bpy.types.Object:
    """Return a tape that lies flat along a path on the table, over itself where the path says."""
    line = shapes.smooth(path, 3)
    rows = []
    for i, point in enumerate(line):
        ahead = line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]
        side = Vector((-ahead.y, ahead.x, 0)).normalized()
        rows.append([point + side * wide * (k / 6 - 0.5) + Vector((0, 0, 0.0004 * (k % 6 > 0)))
                     for k in range(7)])  # fmt: skip
    return shapes.thicken(cloth.upward(shapes.grid("ribbon", rows, material)), thick)


def spread_out(
    pattern: Pattern,
    material: bpy.types.Material,
    thread: bpy.types.Material,
    *,
    seed: int = 1,
    puff: float = 0.004,
    hem: float = 0.022,
    rows: Sequence[float] = (0.0, 0.005),
    **more: float,
) -> tuple[bpy.types.Object, Shapes]:
    """Return the front of a garment and the rest of it: its back, its seams, the hems' stitches."""
    cuffs = [pattern.under[-1], pattern.over[0]]
    neck = [*pattern.neck, *mirror(pattern.neck)]
    low = cloth.dense(pattern.hem, 0.004, closed=False)
    front_outline = pattern.outline(pattern.neck)

    def loose(p: Vector) -> bool:
        on_cuff = math.dist((abs(p.x), p.y), cuffs[0]) + math.dist((abs(p.x), p.y), cuffs[1])
        return (
            any(math.dist((abs(p.x), p.y), q) < 0.004 for q in low)
            or on_cuff < math.dist(*cuffs) + 0.0005
            or any(math.dist(p, q) < 0.006 for q in neck)
        )

    front = cloth.spread(front_outline, material, loose=loose, puff=puff, seed=seed, **more)
    back = cloth.cut(pattern.outline(pattern.back), 0.03, material, name="back")
    turn_sleeves(back, pattern)
    shapes.place([cloth.crease(back, 0.001, 0.2, seed + 5)], at=(0, 0.002, 0.0016))
    for arm in (pattern.arm, [(-x, y) for x, y in pattern.arm]):
        cloth.groove(front, arm, 0.0013, 0.0028)
    turn_sleeves(front, pattern)
    for shift in rows:
        lifted = [(x, y + hem + shift) for x, y in pattern.hem]
        cloth.groove(front, [*mirror(lifted), *lifted], 0.0007, 0.0022)
    sheet, made = Sheet(front), []
    for shift in rows:
        line = [(x, y + hem + shift) for x, y in pattern.hem]
        made += stitches.stitched(sheet, [*mirror(line), *line[1:]], thread)
        for side in (1, -1):
            (x1, y1), (x2, y2) = cuffs
            way = Vector((y2 - y1, x1 - x2)).normalized() * -(hem * 0.9 + shift)
            path = [(side * (x1 + way.x), y1 + way.y), (side * (x2 + way.x), y2 + way.y)]
            made += stitches.stitched(sheet, path, thread)
    shapes.thicken(front, 0.0009)
    return front, [back, *made]
