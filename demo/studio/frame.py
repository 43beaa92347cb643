"""The frame of every picture: an empty scene, the lights, the camera and the paper sweep behind.

Lights and sweep scale with the subject, so a cup and a stool are lit alike. The light never turns:
another view turns the subject.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from . import materials, shapes

# The colour of the paper, by the root of the category.
PAPERS = {"house": "ebe3d6", "kitchen": "dedbd3", "clothing": "e3dedb", "desk": "d9dcda"}
LENS = 85.0
SENSOR = 36.0


@dataclass(frozen=True)
class View:
    """How the camera sees a subject.

    `turn` turns the subject and `pitch` lowers the view, both in degrees. The whole subject fills
    the part `fill` of the picture, unless `at` (a point) and `width` (metres across the picture)
    say what is seen. `blur` is the width of the lens's opening, as a part of the subject's size.
    `rise` lifts the subject in the picture, as a part of its height. A subject that hangs has the
    paper `hang` times its size below it. `light` is how strong all light is: what faces the key
    needs less of it.
    """

    turn: float = 0.0
    pitch: float = 16.0
    fill: float = 0.7
    at: tuple[float, float, float] | None = None
    width: float = 0.0
    blur: float = 0.05
    rise: float = 0.0
    focus: tuple[float, float, float] | None = None
    hang: float = 0.0
    light: float = 1.0


def clear() -> None:
    """Begin with an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.unit_settings.system = "METRIC"


def points_of(objects: Sequence[bpy.types.Object]) -> np.ndarray:
    """Return where all vertices of the objects stand in the world, modifiers applied."""
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for each in objects:
        if each.type not in {"MESH", "CURVE"} or each.hide_render:
            continue
        seen = each.evaluated_get(graph)
        mesh = seen.to_mesh()
        flat = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        place = np.array(seen.matrix_world)
        found.append(flat.reshape(-1, 3) @ place[:3, :3].T + place[:3, 3])
        seen.to_mesh_clear()
    return np.concatenate(found)


def set_up(
    objects: Sequence[bpy.types.Object], view: View, paper: str, scale: float | None = None
) -> None:
    """Turn the subject, and put the paper, the lights and the camera around it."""
    shapes.place(objects, turn=view.turn)
    seen = points_of(objects)
    size = scale or float(np.ptp(seen, axis=0).max())
    centre = Vector((seen.max(axis=0) + seen.min(axis=0)) / 2)
    floor = Vector((centre.x, centre.y, float(seen[:, 2].min())))
    add_sweep(floor - Vector((0, 0, view.hang * size)), size, paper)
    add_lights(floor, size, view.light)
    add_camera(seen, view, size)


def add_sweep(floor: Vector, size: float, paper: str) -> None:
    """Add a sheet of paper that lies under the subject and rises behind it without an edge."""
    bend = 2.5 * size
    curve = [(2.5 * size + bend * math.sin(a), bend - bend * math.cos(a)) for a in steps(0, 90, 24)]
    profile = [(-14 * size, 0.0), *curve, (2.5 * size + bend, 16 * size)]
    rows = [[(x, y, z) for x in (-16 * size, 16 * size)] for y, z in profile]
    sheet = shapes.grid("sweep", rows, materials.sweep_paper(paper))
    sheet.location = floor


def steps(start: float, end: float, count: int) -> list[float]:
    """Return evenly spaced angles in radians, from and to degrees."""
    return [math.radians(start + (end - start) * i / (count - 1)) for i in range(count)]


def add_lights(floor: Vector, size: float, strength: float = 1.0) -> None:
    """Add the soft key from the left, a weak cool fill from the right, and a strip from behind."""
    aim = floor + Vector((0, 0, 0.35 * size))
    power = size * size * strength
    add_area(
        aim, Vector((-2.1, -0.75, 1.9)) * size, (1.5, 1.9), size, 104 * power, (1, 0.985, 0.965)
    )
    add_area(
        aim, Vector((-3.4, -1.2, 3.1)) * size, (2.0, 2.6), size, 141 * power, (1, 0.985, 0.965)
    )
    add_area(aim, Vector((3.6, -2.4, 1.8)) * size, (3.4, 3.4), size, 18 * power, (0.93, 0.96, 1))
    add_area(aim, Vector((0.4, 2.6, 3.6)) * size, (4.0, 1.2), size, 32 * power, (1, 1, 1))
    add_room(strength)


def add_room(strength: float = 1.0) -> None:
    """Add the room that metal and glass show: light above and to the left, dim in front."""
    world = bpy.data.worlds.new("room")
    bpy.context.scene.world = world
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    where, along = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeVectorMath")
    along.operation = "DOT_PRODUCT"
    along.inputs[1].default_value = (-0.45, 0.5, 0.74)
    links.new(where.outputs["Generated"], along.inputs[0])
    level = nodes.new("ShaderNodeMapRange")
    for name, value in (
        ("From Min", -0.75),
        ("From Max", 0.9),
        ("To Min", 0.015 * strength),
        ("To Max", 0.38 * strength),
    ):
        level.inputs[name].default_value = value
    links.new(along.outputs["Value"], level.inputs["Value"])
    nodes["Background"].inputs["Color"].default_value = (1.0, 0.985, 0.965, 1)
    links.new(level.outputs[0], nodes["Background"].inputs["Strength"])


def add_area(
    aim: Vector,
    offset: Vector,
    extent: tuple[float, float],
    size: float,
    power: float,
    colour: tuple[float, float, float],
) -> None:
    """Add an area light that looks at a point. Its extent is in sizes of the subject."""
    light = bpy.data.lights.new("light", "AREA")
    light.shape, light.energy, light.color = "RECTANGLE", power, colour
    light.size, light.size_y = extent[0] * size, extent[1] * size
    lamp = bpy.data.objects.new("light", light)
    lamp.location = aim + offset
    lamp.rotation_euler = (-offset).to_track_quat("-Z", "Y").to_euler()
    bpy.context.scene.collection.objects.link(lamp)


def add_camera(seen: np.ndarray, view: View, size: float) -> None:
    """Add the camera where the view wants it, focused on the nearest part of what it shows."""
    pitch = math.radians(view.pitch)
    right = np.array((1.0, 0, 0))
    up = np.array((0, math.sin(pitch), math.cos(pitch)))
    ahead = np.array((0, math.cos(pitch), -math.sin(pitch)))
    if view.at is None:
        place, focus = fit(seen, right, up, ahead, view)
    else:
        aim = np.array(shapes.turned(view.at, view.turn))
        focus = view.width * LENS / SENSOR
        place = aim - ahead * focus
    if view.focus is not None:
        focus = float((np.array(shapes.turned(view.focus, view.turn)) - place) @ ahead)
    camera = bpy.data.cameras.new("camera")
    camera.lens, camera.sensor_width = LENS, SENSOR
    camera.clip_start, camera.clip_end = 0.005, 500
    camera.dof.use_dof = view.blur > 0
    camera.dof.focus_distance = focus
    camera.dof.aperture_fstop = LENS / 1000 / max(view.blur * size, 1e-6)
    holder = bpy.data.objects.new("camera", camera)
    holder.location = place
    holder.rotation_euler = (math.pi / 2 - pitch, 0, 0)
    bpy.context.scene.collection.objects.link(holder)
    bpy.context.scene.camera = holder


def fit(
    seen: np.ndarray, right: np.ndarray, up: np.ndarray, ahead: np.ndarray, view: View
) -> tuple[np.ndarray, float]:
    """Return the camera's place and focus, so that the subject fills its part of the picture."""
    aim = (seen.max(axis=0) + seen.min(axis=0)) / 2
    distance = 4 * float(np.ptp(seen, axis=0).max())
    for _ in range(12):
        offsets = seen - (aim - ahead * distance)
        depth = offsets @ ahead
        across, along = offsets @ right / depth, offsets @ up / depth
        spans = np.array((np.ptp(across), np.ptp(along)))
        aim = aim + distance * (
            right * (across.max() + across.min()) / 2 + up * (along.max() + along.min()) / 2
        )
        distance *= float(spans.max()) * LENS / SENSOR / view.fill
    aim = aim - up * view.rise * float(np.ptp(seen @ up))
    place = aim - ahead * distance
    depth = (seen - place) @ ahead
    return place, float(depth.min() * 0.7 + np.median(depth) * 0.3)
