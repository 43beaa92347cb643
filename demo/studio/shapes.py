"""Geometry: turned, swept and cut shapes, in metres. Every shape is an object at the origin."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import bmesh
import bpy
from mathutils import Matrix, Vector, noise

Point = Sequence[float]
Shapes = list[bpy.types.Object]


def smooth(points: Sequence[Point], rounds: int = 3, *, closed: bool = False) -> list[Vector]:
    """Return the points with their corners cut off. A point given twice keeps a tighter corner."""
    line = [Vector(p) for p in points]
    for _ in range(rounds):
        pairs = list(zip(line, line[1:] + line[:1] if closed else line[1:], strict=False))
        cut = [p for a, b in pairs for p in (a.lerp(b, 0.25), a.lerp(b, 0.75))]
        line = cut if closed else [line[0], *cut[1:-1], line[-1]]
    return line


def mm(points: str) -> list[tuple[float, ...]]:
    """Return points that are given in millimetres, such as "40 0, 42.5 18"."""
    return [tuple(float(n) / 1000 for n in point.split()) for point in points.split(",")]


def add(name: str, mesh: bpy.types.Mesh, material: bpy.types.Material | None) -> bpy.types.Object:
    """Return a new object in the scene, shaded smooth."""
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    if material is not None:
        mesh.materials.append(material)
    mesh.shade_smooth()
    return made


def grid(
    name: str,
    rows: Sequence[Sequence[Point]],
    material: bpy.types.Material | None,
    *,
    around: bool = False,
    caps: tuple[bool, bool] = (False, False),
    across: bool = False,
    zero: int = 0,
) -> bpy.types.Object:
    """Return a surface through rows of points.

    `around` closes each row, `across` joins the last row to the first, and `caps` closes the first
    and the last row. Its UV map is in metres: u along a row and v across the rows. The attribute
    `along` is v too, but counted from the row `zero`.
    """
    mesh = bpy.data.meshes.new(name)
    bm = bmesh.new()
    uv, layer = bm.loops.layers.uv.new("metres"), bm.verts.layers.float.new("along")
    lines = [[Vector(p) for p in row] for row in rows]
    heights, widths = _lengths([row[0] for row in lines]), [_lengths(row) for row in lines]
    width = max(widths, key=lambda each: each[-1])
    verts = [[bm.verts.new(p) for p in row] for row in lines]
    for row, height in zip(verts, heights, strict=True):
        for vert in row:
            vert[layer] = height - heights[zero]
    count, levels = len(lines[0]), len(lines)
    turn = width[-1] + (lines[0][0] - lines[0][-1]).length
    for j in range(levels if across else levels - 1):
        for i in range(count if around else count - 1):
            corners = ((j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i))
            face = bm.faces.new([verts[b % levels][a % count] for b, a in corners])
            for loop, (b, a) in zip(face.loops, corners, strict=True):
                loop[uv].uv = (
                    width[a] if a < count else turn,
                    heights[b] if b < levels else heights[-1],
                )
    if caps[0]:
        bm.faces.new(verts[0][::-1])
    if caps[1]:
        bm.faces.new(verts[-1])
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces)
    bm.to_mesh(mesh)
    bm.free()
    return add(name, mesh, material)


def _lengths(line: Sequence[Vector]) -> list[float]:
    """Return how far along a line each of its points is."""
    far = [0.0]
    for a, b in pairwise(line):
        far.append(far[-1] + (b - a).length)
    return far


def lathe(
    profile: Sequence[Point],
    material: bpy.types.Material | None,
    *,
    rounds: int = 3,
    steps: int = 128,
    closed: bool = False,
    name: str = "turned",
) -> bpy.types.Object:
    """Return a shape turned about the z axis, from (radius, height) points, from below to above.

    A profile that ends near the axis is closed there. `closed` joins the profile's ends: a ring.
    The attribute `along` is 0 at the highest point of the profile: the rim, with the inside beyond.
    """
    line = smooth(profile, rounds, closed=closed)
    rim = max(range(len(line)), key=lambda i: line[i][1])
    rows = []
    for r, z in line:
        turn = [2 * math.pi * i / steps for i in range(steps)]
        rows.append([(max(r, 1e-5) * math.cos(a), max(r, 1e-5) * math.sin(a), z) for a in turn])
    caps = (line[0][0] < 0.003 and not closed, line[-1][0] < 0.003 and not closed)
    return grid(name, rows, material, around=True, across=closed, caps=caps, zero=rim)


def sweep(
    path: Sequence[Point],
    width: float | Callable[[float], float],
    material: bpy.types.Material | None,
    *,
    flat: float = 1.0,
    rounds: int = 3,
    steps: int = 24,
    closed: bool = False,
    side: Point | None = None,
    ends: bool = True,
    name: str = "swept",
) -> bpy.types.Object:
    """Return a round bar along a path.

    `width` is its radius, or a function of the part of the path (0 to 1). `flat` is its thickness
    as a part of its width, across the direction `side` (by default the path's own plane).
    """
    line = smooth(path, rounds, closed=closed) if rounds else [Vector(p) for p in path]
    total = len(line)
    first = Vector(side) if side else _upright(line)
    rows = []
    for i, point in enumerate(line):
        before = line[i - 1] if i or closed else point
        after = line[(i + 1) % total] if i + 1 < total or closed else point
        ahead = (after - before).normalized()
        first = (first - ahead * first.dot(ahead)).normalized()
        second = ahead.cross(first)
        radius = width(i / (total - 1)) if callable(width) else width
        turn = [2 * math.pi * k / steps for k in range(steps)]
        rows.append(
            [
                point + first * radius * math.cos(a) + second * radius * flat * math.sin(a)
                for a in turn
            ]
        )
    return grid(
        name, rows, material, around=True, across=closed, caps=(ends and not closed,) * 2, zero=-1
    )


def _upright(line: Sequence[Vector]) -> Vector:
    """Return a direction that is square to a line's plane, or to the line if it is straight."""
    normal = sum(((b - a).cross(c - b) for a, b, c in zip(line, line[1:], line[2:], strict=False)),
        start=Vector((0, 0, 0)))  # fmt: skip
    return normal.normalized() if normal.length > 1e-9 else (line[-1] - line[0]).orthogonal()


def extrude(
    outline: Sequence[Point],
    thickness: float,
    material: bpy.types.Material | None,
    *,
    bevel: float = 0.001,
    holes: Iterable[Sequence[Point]] = (),
    name: str = "cut",
) -> bpy.types.Object:
    """Return a plate that is cut along a closed (x, y) outline and lies on z = 0, edges rounded."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.fill_mode = "2D", "BOTH"
    for ring in (outline, *holes):
        spline = curve.splines.new("POLY")
        spline.points.add(len(ring) - 1)
        spline.use_cyclic_u = True
        for point, (x, y) in zip(spline.points, ring, strict=True):
            point.co = (x, y, 0, 1)
    curve.extrude = thickness / 2
    holder = bpy.data.objects.new(name, curve)
    bpy.context.scene.collection.objects.link(holder)
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(holder.evaluated_get(graph))
    bpy.data.objects.remove(holder)
    bm = bmesh.new()
    bm.from_mesh(mesh)
    bmesh.ops.remove_doubles(bm, verts=bm.verts, dist=1e-6)
    bmesh.ops.translate(bm, vec=(0, 0, thickness / 2), verts=bm.verts)
    bm.to_mesh(mesh)
    bm.free()
    made = add(name, mesh, material)
    mesh.set_sharp_from_angle(angle=math.radians(60))
    edge = made.modifiers.new("edge", "BEVEL")
    edge.width, edge.segments = min(bevel, thickness * 0.49), 4
    edge.limit_method, edge.angle_limit, edge.harden_normals = "ANGLE", math.radians(50), True
    return made


def box(
    size: Point, material: bpy.types.Material | None, *, bevel: float = 0.001, name: str = "box"
) -> bpy.types.Object:
    """Return a block of (x, y, z) that stands on z = 0, its edges rounded."""
    mesh = bpy.data.meshes.new(name)
    bm = bmesh.new()
    bmesh.ops.create_cube(bm, size=1)
    bmesh.ops.transform(bm, matrix=Matrix.Diagonal((*size, 1)), verts=bm.verts)
    bmesh.ops.translate(bm, vec=(0, 0, size[2] / 2), verts=bm.verts)
    if bevel:
        bmesh.ops.bevel(bm, geom=bm.edges, offset=bevel, segments=4, profile=0.5, affect="EDGES")
    bm.to_mesh(mesh)
    bm.free()
    made = add(name, mesh, material)
    mesh.set_sharp_from_angle(angle=math.radians(60))
    return made


def lettering(
    text: str, size: float, material: bpy.types.Material | None, depth: float = 0.00004
) -> bpy.types.Object:
    """Return words, centred about the origin in the xy plane. `size` is the height of a line."""
    curve = bpy.data.curves.new("words", "FONT")
    curve.body, curve.size, curve.extrude = text, size, depth
    curve.align_x, curve.align_y, curve.space_line = "CENTER", "CENTER", 0.95
    holder = bpy.data.objects.new("words", curve)
    bpy.context.scene.collection.objects.link(holder)
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(holder.evaluated_get(graph))
    bpy.data.objects.remove(holder)
    return add("words", mesh, material)


def wrap(made: bpy.types.Object, radius: float, height: float) -> bpy.types.Object:
    """Wrap a flat shape around the front of a cylinder."""
    for vert in made.data.vertices:
        x, y, z = vert.co
        a = x / radius - math.pi / 2
        vert.co = ((radius + z) * math.cos(a), (radius + z) * math.sin(a), height + y)
    return made


def wobble(made: bpy.types.Object, amount: float, wave: float, seed: int = 0) -> bpy.types.Object:
    """Move the shape's points a little, as a hand would have. `wave` is the length of the waves."""
    for vert in made.data.vertices:
        where = Vector(vert.co) / wave + Vector((seed * 7.3, 0, 0))
        vert.co = Vector(vert.co) + noise.noise_vector(where) * amount
    return made


def thicken(made: bpy.types.Object, wall: float) -> bpy.types.Object:
    """Give a surface a wall, to its inside."""
    solid = made.modifiers.new("wall", "SOLIDIFY")
    solid.thickness, solid.offset = wall, -1
    return made


def carve(
    block: bpy.types.Object, cutters: Sequence[bpy.types.Object], bevel: float
) -> bpy.types.Object:
    """Cut shapes out of a block, and round all edges a little."""
    for cutter in cutters:
        cut = block.modifiers.new("cut", "BOOLEAN")
        cut.object, cut.solver = cutter, "EXACT"
        cutter.hide_render = True
        cutter.parent = block
    edge = block.modifiers.new("edge", "BEVEL")
    edge.width, edge.segments, edge.limit_method = bevel, 3, "ANGLE"
    return block


def place(
    objects: Sequence[bpy.types.Object],
    at: Point = (0, 0, 0),
    *,
    turn: float = 0.0,
    tip: float = 0.0,
    roll: float = 0.0,
) -> Shapes:
    """Move objects as one: `turn` about z, `tip` about x and `roll` about y, all in degrees."""
    move = (
        Matrix.Translation(Vector(at))
        @ Matrix.Rotation(math.radians(turn), 4, "Z")
        @ Matrix.Rotation(math.radians(tip), 4, "X")
        @ Matrix.Rotation(math.radians(roll), 4, "Y")
    )
    for each in objects:
        if each.parent is None:
            each.matrix_world = move @ each.matrix_basis
    bpy.context.view_layer.update()
    return list(objects)


def turned(point: Point, degrees: float) -> Vector:
    """Return a point after a turn about z."""
    return Matrix.Rotation(math.radians(degrees), 3, "Z") @ Vector(point)


def copy(objects: Sequence[bpy.types.Object]) -> Shapes:
    """Return copies that share the shapes."""
    made = []
    for each in objects:
        twin = each.copy()
        bpy.context.scene.collection.objects.link(twin)
        made.append(twin)
    return made


def mirrored(half: Sequence[Point]) -> list[tuple[float, float]]:
    """Return a smooth outline from the half of it above the x axis."""
    ring = [*half, *[(x, -y) for x, y in reversed(half[1:-1])]]
    return [(p.x, p.y) for p in smooth(ring, 3, closed=True)]


def rounded(width: float, depth: float, corner: float, steps: int = 8) -> list[tuple[float, float]]:
    """Return the outline of a rectangle with round corners, about the origin."""
    centres = ((1, 1, 0), (-1, 1, 90), (-1, -1, 180), (1, -1, 270))
    outline = []
    for sx, sy, start in centres:
        for k in range(steps + 1):
            a = math.radians(start + 90 * k / steps)
            outline.append(
                (
                    sx * (width / 2 - corner) + corner * math.cos(a),
                    sy * (depth / 2 - corner) + corner * math.sin(a),
                )
            )
    return outline


def circle(radius: float, steps: int = 48, at: Point = (0, 0)) -> list[tuple[float, float]]:
    """Return the outline of a disc."""
    turn = [2 * math.pi * k / steps for k in range(steps)]
    return [(at[0] + radius * math.cos(a), at[1] + radius * math.sin(a)) for a in turn]
