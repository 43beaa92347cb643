"""Cloth: pieces cut from outlines, sewn spread or folded, and simulated.

A piece keeps the place of each point on the flat cloth in its UV map, in metres.
"""

import math
from collections.abc import Callable, Sequence
from random import Random

import bmesh
import bpy
import numpy as np
from mathutils import Vector, noise
from mathutils.geometry import delaunay_2d_cdt

from . import shapes
from .shapes import Point

# Where the back of a piece lies in its UV map, right of the front.
BACK = 10.0


def dense(outline: Sequence[Point], step: float, *, closed: bool = True) -> list[Vector]:
    """Return points along an outline, at most a step apart. The outline's own points are kept."""
    line = [Vector((p[0], p[1])) for p in outline]
    pairs = zip(line, line[1:] + line[:1] if closed else line[1:], strict=False)
    made = []
    for a, b in pairs:
        count = max(1, math.ceil((b - a).length / step))
        made += [a.lerp(b, k / count) for k in range(count)]
    return made if closed else [*made, line[-1]]


def triangles(outline: Sequence[Point], step: float) -> tuple[list[Vector], list, int]:
    """Return the corners and the triangles of a flat piece, and how many corners are its edge."""
    chance = Random(5)  # noqa: S311 (a look, not a secret)
    edge = dense(outline, step)
    ring = np.array(edge)
    (x0, y0), (x1, y1) = ring.min(axis=0), ring.max(axis=0)
    inner, row = [], 0
    y = y0 + step * 0.6
    while y < y1:
        x = x0 + step * (0.6 if row % 2 else 0.1)
        while x < x1:
            jitter = (chance.uniform(-0.12, 0.12) * step, chance.uniform(-0.12, 0.12) * step)
            inner.append((x + jitter[0], y + jitter[1]))
            x += step
        y, row = y + step * 0.87, row + 1
    points = np.array(inner)
    away = np.min(np.hypot(*(points[:, None] - ring[None]).transpose(2, 0, 1)), axis=1)
    kept = [Vector(p) for p in points[away > step * 0.55]]
    border = [(i, (i + 1) % len(edge)) for i in range(len(edge))]
    verts, _, faces, *_ = delaunay_2d_cdt([*edge, *kept], border, [], 1, 1e-6)
    return verts, faces, len(edge)


def cut(
    outline: Sequence[Point],
    step: float,
    material: bpy.types.Material | None = None,
    *,
    back: bool = False,
    name: str = "piece",
) -> bpy.types.Object:
    """Return a flat piece of cloth on z = 0. With a back, it is a bag whose edge is sewn."""
    verts, faces, count = triangles(outline, step)
    mesh = bpy.data.meshes.new(name)
    bm = bmesh.new()
    uv = bm.loops.layers.uv.new("metres")
    front = [bm.verts.new((p.x, p.y, 0)) for p in verts]
    sides = [(front, 0.0)]
    if back:
        behind = [v if i < count else bm.verts.new((v.co.x, v.co.y, -0.0005))
                  for i, v in enumerate(front)]  # fmt: skip
        sides.append((behind, BACK))
    for corners, shift in sides:
        for triangle in faces:
            if back and max(triangle) < count:
                continue  # Both sides of a corner would be one face.
            order = triangle if not shift else triangle[::-1]
            face = bm.faces.new([corners[i] for i in order])
            for loop in face.loops:
                loop[uv].uv = (loop.vert.co.x + shift, loop.vert.co.y)
    bmesh.ops.delete(bm, geom=[v for v in bm.verts if not v.link_faces], context="VERTS")
    bm.to_mesh(mesh)
    bm.free()
    return shapes.add(name, mesh, material)


def crease(made: bpy.types.Object, amount: float, wave: float, seed: int = 0) -> bpy.types.Object:
    """Lift the points of a flat piece in soft waves, so that a simulation knows where to fold."""
    for vert in made.data.vertices:
        where = Vector(vert.co) / wave + Vector((seed * 5.1, 0, 0))
        vert.co.z += noise.noise(where) * amount
    return made


def settle(
    made: bpy.types.Object,
    *,
    frames: int = 22,
    pins: Callable[[Vector], bool] | None = None,
    grow: float = 0.0,
    pressure: float = 0.0,
    bending: float = 0.3,
    damping: float = 5.0,
) -> bpy.types.Object:
    """Simulate a piece of cloth without weight, and keep how it is at the end.

    `pins` says which points are held. `grow` makes the cloth larger than its place, so that it
    buckles. `pressure` fills a bag.
    """
    modifier = made.modifiers.new("cloth", "CLOTH")
    s = modifier.settings
    s.quality, s.mass, s.air_damping, s.shrink_min = 5, 0.25, damping / 5, -grow
    s.tension_stiffness = s.compression_stiffness = 20
    s.shear_stiffness, s.bending_stiffness, s.bending_damping = 7, bending, 0.5
    s.tension_damping = s.compression_damping = s.shear_damping = damping
    s.effector_weights.gravity = 0.0
    modifier.collision_settings.use_collision = False
    if pressure:
        s.use_pressure, s.uniform_pressure_force = True, pressure
    if pins:
        group = made.vertex_groups.new(name="pins")
        group.add([v.index for v in made.data.vertices if pins(v.co)], 1.0, "REPLACE")
        s.vertex_group_mass, s.pin_stiffness = "pins", 1.0
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, frames
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
    freeze(made)
    bpy.context.scene.frame_set(1)
    return made


def freeze(made: bpy.types.Object) -> bpy.types.Object:
    """Apply all modifiers of an object."""
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(made.evaluated_get(graph))
    made.modifiers.clear()
    made.data = mesh
    return made


def upward(made: bpy.types.Object) -> bpy.types.Object:
    """Turn the outside of a piece upwards."""
    if sum(face.normal.z for face in made.data.polygons) < 0:
        made.data.flip_normals()
    return made


def finer(made: bpy.types.Object, levels: int = 1) -> bpy.types.Object:
    """Divide the faces of a piece, and round it."""
    parts = made.modifiers.new("finer", "SUBSURF")
    parts.levels = parts.render_levels = levels
    parts.uv_smooth = "PRESERVE_BOUNDARIES"
    freeze(made).data.shade_smooth()
    return made


def flat_of(made: bpy.types.Object) -> np.ndarray:
    """Return the place of each point on the flat cloth."""
    mesh = made.data
    loops = np.empty(len(mesh.loops), int)
    mesh.loops.foreach_get("vertex_index", loops)
    uv = np.empty(len(mesh.loops) * 2, np.float32)
    mesh.uv_layers[0].data.foreach_get("uv", uv)
    flat = np.zeros((len(mesh.vertices), 2), np.float32)
    flat[loops] = uv.reshape(-1, 2)
    return flat


def points_of(made: bpy.types.Object) -> np.ndarray:
    """Return the points of a mesh."""
    points = np.empty(len(made.data.vertices) * 3, np.float32)
    made.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)


def move_to(made: bpy.types.Object, points: np.ndarray) -> bpy.types.Object:
    """Put the points of a mesh elsewhere."""
    made.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    made.data.update()
    return made


def away(places: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Return how far places are from the nearest of a path's points."""
    best = np.full(len(places), 9.0)
    for point in path:
        best = np.minimum(best, np.hypot(*(places - point).T))
    return best


def groove(
    made: bpy.types.Object, path: Sequence[Point], depth: float, width: float
) -> bpy.types.Object:
    """Press a seam into a flat piece, along a path on the flat cloth. Its edge beyond stands up."""
    far = away(flat_of(made), np.array(dense(path, width / 2, closed=False)))
    points = points_of(made)
    points[:, 2] -= depth * np.exp(-((far / width) ** 2))
    points[:, 2] += depth * 0.5 * np.exp(-(((far - 2 * width) / width) ** 2))
    return move_to(made, points)


def within(outline: Sequence[Point], u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return which places are inside an outline."""
    inside = np.zeros(np.shape(u), bool)
    ring = [tuple(p)[:2] for p in outline]
    for (x1, y1), (x2, y2) in zip(ring, ring[1:] + ring[:1], strict=True):
        if y1 != y2:
            crossed = (y1 > v) != (y2 > v)
            inside ^= crossed & (u < (x2 - x1) * (v - y1) / (y2 - y1) + x1)
    return inside


def spread(
    outline: Sequence[Point],
    material: bpy.types.Material,
    *,
    loose: Callable[[Vector], bool],
    step: float = 0.013,
    puff: float = 0.004,
    grow: float = 0.026,
    lie: tuple[float, float] = (0.004, 0.1),
    bending: float = 0.8,
    seed: int = 1,
    levels: int = 2,
) -> bpy.types.Object:
    """Return the front of a garment that was spread on a table: pinned at its seams, slack between.

    It is `puff` thick at its seams, where it turns to the back. `loose` says which points of its
    edge are not sewn. `lie` is the height and the length of the waves it begins with.
    """
    made = cut(outline, step, material)
    edge = [p for p in dense(outline, step) if not loose(p)]
    ring = {(round(p.x, 5), round(p.y, 5)) for p in edge}
    crease(made, *lie, seed)
    settle(
        made, grow=grow, bending=bending,
        pins=lambda p: (round(p.x, 5), round(p.y, 5)) in ring,
    )  # fmt: skip
    finer(made, levels)
    points, sewn = points_of(made), np.array(dense(edge, step / 3, closed=False))
    far = np.minimum(away(flat_of(made), sewn[::2]), 1.0)
    high = points[:, 2]
    high = (np.sqrt(high**2 + (puff * 0.35) ** 2) + high) / 2
    points[:, 2] = 0.0012 + puff * (1 - np.exp(-far / (puff * 1.2))) + high * np.tanh(far / 0.02)
    return move_to(made, points)


def folded(
    order: Sequence[int],
    size: tuple[float, float],
    thick: float,
    material: bpy.types.Material,
    *,
    step: float = 0.012,
    soft: float = 1.0,
    seed: int = 1,
    wall: float = 0.7,
) -> bpy.types.Object:
    """Return cloth folded to a (width, depth) in as many layers as the order has numbers.

    The cloth runs to and fro, first to the front, and `order` says at which height each part of it
    lies. `thick` is how thick a layer is, and `soft` how unevenly it lies.
    """
    width, depth = size
    path: list[tuple[float, float, int]] = []
    for number, layer in enumerate(order):
        ends = (depth / 2, -depth / 2) if number % 2 == 0 else (-depth / 2, depth / 2)
        count = round(depth / step)
        if path:
            y, z, _ = path[-1]
            rise = (layer + 0.5) * thick - z
            for k in range(1, 8):
                a = math.pi * k / 8
                out = abs(rise) * 0.55 * math.sin(a) * (1 if y > 0 else -1)
                path.append((y + out, z + rise * (1 - math.cos(a)) / 2, number))
        path += [(ends[0] + (ends[1] - ends[0]) * k / count, (layer + 0.5) * thick, number)
                 for k in range(count + 1)]  # fmt: skip
    rows, across, top = [], round(width / step), len(order) * thick
    for y, z, number in path:
        row = []
        for i in range(across + 1):
            x = width * (i / across - 0.5)
            shift = noise.noise_vector(Vector((x * 3, y * 3 + number * 7, seed)))
            wave = noise.noise_vector(Vector((x * 9, y * 9, seed + number * 0.35)))
            near = 1 - 0.16 * soft * (abs(2 * x / width) ** 6)
            lift = 1 + soft * (0.14 * noise.noise(Vector((x * 4, y * 4, seed * 3.3))))
            up = z * lift * near + soft * thick * 0.16 * wave.z * (z / top)
            more = soft * 0.006 * (number % 3 - 1 + shift.x * 1.5) * (x / width)
            row.append((x + more, y + soft * thick * (0.35 * shift.y + 0.15 * wave.y), up))
        rows.append(row)
    made = shapes.grid("folded", rows, material)
    solid = made.modifiers.new("wall", "SOLIDIFY")
    solid.thickness, solid.offset = thick * wall, 0
    freeze(made)
    return finer(made, 1)
