"""Stitches: what is laid on cloth and follows its folds: yarn, seams, fringes, loose fibres.

`Sheet` finds where a place of the flat cloth is after the simulation, by the UV map in metres.
"""

from collections.abc import Callable, Sequence

import bpy
import numpy as np
from mathutils import Vector

from . import shapes
from .cloth import dense, upward
from .shapes import Point, Shapes


class Sheet:
    """Finds where a place of the flat cloth is on the simulated one."""

    def __init__(self, made: bpy.types.Object) -> None:
        """Read the object's triangles and their places in its UV map."""
        mesh = made.data
        mesh.calc_loop_triangles()
        count = len(mesh.loop_triangles)
        loops, corners = np.empty(count * 3, int), np.empty(count * 3, int)
        mesh.loop_triangles.foreach_get("loops", loops)
        mesh.loop_triangles.foreach_get("vertices", corners)
        flat = np.empty(len(mesh.loops) * 2, np.float32)
        mesh.uv_layers[0].data.foreach_get("uv", flat)
        self.uv = flat.reshape(-1, 2)[loops].reshape(-1, 3, 2)
        co, up = (np.empty(len(mesh.vertices) * 3, np.float32) for _ in range(2))
        mesh.vertices.foreach_get("co", co)
        mesh.vertex_normals.foreach_get("vector", up)
        self.corners = corners.reshape(-1, 3)
        self.points, self.normals = co.reshape(-1, 3), up.reshape(-1, 3)
        self._index()

    def _index(self) -> None:
        """Note for each small square of the flat cloth which triangle is there."""
        a, b, c = self.uv[:, 0], self.uv[:, 1], self.uv[:, 2]
        self.cell = float(np.median(np.hypot(*(b - a).T))) / 4
        self.origin = self.uv.reshape(-1, 2).min(axis=0)
        size = ((self.uv.reshape(-1, 2).max(axis=0) - self.origin) / self.cell).astype(int) + 3
        self.which = np.full(size, -1)
        for i in range(9):
            for j in range(9 - i):
                spot = a + (b - a) * (i / 8) + (c - a) * (j / 8)
                x, y = ((spot - self.origin) / self.cell).astype(int).T + 1
                self.which[x, y] = np.arange(len(a))
        for _ in range(12):
            for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
                near = np.roll(self.which, step, axis)
                self.which = np.where(self.which < 0, near, self.which)

    def find(self, u: np.ndarray, v: np.ndarray, beyond: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the triangles at places, and the weights of their corners. -1 is off the cloth.

        `beyond` is how far outside a triangle a place may be, as a part of its size.
        """
        limit = np.array(self.which.shape) - 1
        at = np.stack((u, v), -1)
        x, y = np.clip(((at - self.origin) / self.cell).astype(int) + 1, 0, limit).T
        found = self.which[x, y]
        a, b, c = (self.uv[found, k] for k in range(3))
        e, f, g = b - a, c - a, at - a
        area = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
        area = np.where(np.abs(area) < 1e-14, 1e-14, area)
        second = (g[:, 0] * f[:, 1] - g[:, 1] * f[:, 0]) / area
        third = (e[:, 0] * g[:, 1] - e[:, 1] * g[:, 0]) / area
        weights = np.stack((1 - second - third, second, third), -1)
        lost = (weights.min(axis=1) < -beyond) | (found < 0)
        return np.where(lost, -1, found), weights

    def lay(
        self, u: np.ndarray, v: np.ndarray, lift: np.ndarray | float = 0.0, beyond: float = 0.6
    ) -> np.ndarray:
        """Return the points of places, lifted from the cloth. Those off the cloth are nan."""
        u, v = np.asarray(u, float), np.asarray(v, float)
        found, weights = self.find(u.ravel(), v.ravel(), beyond)
        picked = self.corners[found]
        spot = (self.points[picked] * weights[..., None]).sum(axis=1)
        up = (self.normals[picked] * weights[..., None]).sum(axis=1)
        up /= np.linalg.norm(up, axis=1, keepdims=True) + 1e-9
        spot = spot + up * np.broadcast_to(lift, u.shape).reshape(-1, 1)
        spot[found < 0] = np.nan
        return spot.reshape(*u.shape, 3)

    def patch(
        self,
        rows: Sequence[Sequence[Point]],
        material: bpy.types.Material,
        *,
        lift: float = 0.001,
        name: str = "patch",
    ) -> bpy.types.Object:
        """Return a piece that lies on the cloth, through rows of its (u, v) places."""
        flat = np.array([[tuple(p)[:2] for p in row] for row in rows])
        laid = self.lay(flat[..., 0], flat[..., 1], lift, beyond=30)
        while np.isnan(laid).any():  # What is off the cloth is where its neighbour is.
            laid = np.where(np.isnan(laid), np.roll(laid, 1, 0), laid)
            laid = np.where(np.isnan(laid), np.roll(laid, -1, 0), laid)
        return upward(shapes.grid(name, [[Vector(p) for p in row] for row in laid], material))


def yarns(
    lines: Sequence[np.ndarray],
    radius: float | np.ndarray,
    material: bpy.types.Material,
    *,
    tones: np.ndarray | None = None,
    name: str = "yarn",
) -> bpy.types.Object:
    """Return threads through lines of points. The attribute `tone` tells the lines apart."""
    curves = bpy.data.hair_curves.new(name)
    counts = [len(line) for line in lines]
    curves.add_curves(counts)
    points = np.concatenate(lines).astype(np.float32)
    curves.attributes["position"].data.foreach_set("vector", points.ravel())
    widths = np.broadcast_to(np.asarray(radius, np.float32), len(points))
    thick = curves.attributes.new("radius", "FLOAT", "POINT")
    thick.data.foreach_set("value", np.ascontiguousarray(widths))
    tone = curves.attributes.new("tone", "FLOAT", "POINT")
    each = tones if tones is not None else np.random.default_rng(3).random(len(counts))
    tone.data.foreach_set("value", np.repeat(each, counts).astype(np.float32)
        if len(each) == len(counts) else each.astype(np.float32))  # fmt: skip
    curves.materials.append(material)
    made = bpy.data.objects.new(name, curves)
    bpy.context.scene.collection.objects.link(made)
    return made


def runs(points: np.ndarray, *more: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the unbroken parts of rows of points, and the same parts of other rows."""
    lines, others = [], []
    for row, *rest in zip(points, *more, strict=True):
        there = ~np.isnan(row[:, 0])
        ends = np.flatnonzero(np.diff(np.r_[0, there.astype(int), 0]))
        for start, end in ends.reshape(-1, 2):
            if end - start > 3:
                lines.append(row[start:end])
                others.append(np.stack([each[start:end] for each in rest]) if rest else None)
    return lines, others


def stitched(
    sheet: Sheet,
    path: Sequence[Point],
    material: bpy.types.Material,
    *,
    long: float = 0.0028,
    radius: float = 0.00016,
    lift: float = 0.0003,
    above: float = 0.0,
    closed: bool = False,
) -> Shapes:
    """Return a seam: stitches along a path of (u, v) places, each of which dips into the cloth."""
    line = np.array(dense(path, long / 8, closed=closed))
    far = np.r_[0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
    count = int(far[-1] / long)
    if count < 1:
        return []
    part = np.array((0.04, 0.12, 0.3, 0.5, 0.7, 0.86, 0.94))
    depth = np.array((-1.6, 0.3, 1, 1, 1, 0.3, -1.6)) * lift
    at = (np.arange(count)[:, None] + part) * long
    u, v = (np.interp(at, far, line[:, k]) for k in range(2))
    lines, _ = runs(sheet.lay(u, v, np.broadcast_to(depth, at.shape) + lift * 0.4 + above))
    return [yarns(lines, radius, material, name="stitches")] if lines else []


def fuzz(
    made: bpy.types.Object,
    count: int,
    long: float,
    material: bpy.types.Material,
    *,
    radius: float = 0.000014,
    lie: float = 0.6,
    seed: int = 1,
    keep: Callable[[np.ndarray], np.ndarray] | None = None,
) -> bpy.types.Object:
    """Return loose fibres on an object's surface. `lie` is how flat they lie, from 0 to 1."""
    rng = np.random.default_rng(seed)
    sheet = Sheet(made)
    a, b, c = (sheet.points[sheet.corners[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    if keep is not None:
        area = area * keep((a + b + c) / 3)
    picked = rng.choice(len(area), count, p=area / area.sum())
    r1, r2 = np.sqrt(rng.random(count)), rng.random(count)
    w = np.stack((1 - r1, r1 * (1 - r2), r1 * r2), -1)[..., None]
    root = sum(w[:, k] * corner[picked] for k, corner in enumerate((a, b, c)))
    up = sum(w[:, k] * sheet.normals[sheet.corners[picked, k]] for k in range(3))
    heading = up * (1 - lie) + rng.normal(0, 0.75, (count, 3)) * lie
    heading /= np.linalg.norm(heading, axis=1, keepdims=True)
    heading += up * np.clip(-(heading * up).sum(axis=1), 0, None)[:, None] * 1.6
    curl = rng.normal(0, 0.35, (count, 3))
    length = long * rng.uniform(0.3, 1.3, (count, 1))
    steps = [root + (heading * t + curl * t * t - up * 0.35 * t * t * lie) * length
             for t in (0.0, 0.35, 0.7, 1.0)]  # fmt: skip
    points = np.stack(steps, 1)
    thin = np.tile(np.array((1, 0.9, 0.7, 0.3)) * radius, count)
    return yarns(list(points), thin, material, name="fuzz")


def fringe(
    roots: np.ndarray,
    heading: Sequence[float],
    long: float,
    material: bpy.types.Material,
    *,
    thick: float = 0.0012,
    floor: float | None = 0.0,
    seed: int = 1,
) -> bpy.types.Object:
    """Return a twisted fringe: a cord of two strands at each root, which falls to the floor."""
    rng = np.random.default_rng(seed)
    lines, t = [], np.linspace(0, 1, 26)[:, None]
    for root in roots:
        stray, curl = rng.normal(0, 0.16, 3), rng.normal(0, 0.12, 3)
        length = long * rng.uniform(0.88, 1.08)
        line = root + (np.array(heading) + stray * t + curl * np.sin(t * 4)) * t * length
        if floor is not None:
            line[:, 2] = np.maximum(line[:, 2], floor + thick * rng.uniform(0.9, 2.2))
        turn = t[:, 0] * length / thick * 0.9 + rng.uniform(0, 6)
        wide = np.where(t[:, 0] < 0.88, 0.62, 1.1)[:, None] * thick
        aside = np.stack((np.cos(turn), 0.4 * np.sin(turn), np.sin(turn)), 1) * wide
        lines += [line + aside, line - aside]
    widths = np.tile(np.where(t[:, 0] < 0.9, 0.8, np.where(t[:, 0] < 0.93, 1.25, 0.55)) * thick,
        len(lines))  # fmt: skip
    return yarns(lines, widths, material, name="fringe")
