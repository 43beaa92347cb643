"""Wood and grass: boards, spoons, the stool, the organiser and the coiled basket."""

import math
from itertools import pairwise

import bpy
from mathutils import Vector

from . import materials, shapes
from .frame import View
from .materials import Surface
from .shapes import Shapes, mm
from .shots import Look, product


@product(
    "cutting-board",
    main=View(turn=58, pitch=62, fill=0.86, blur=0.01),
    second=View(turn=24, pitch=20, fill=0.82, blur=0.02),
    detail=View(turn=58, at=(0.135, 0.0, 0.02), pitch=50, width=0.13, blur=0.012),
    dyed=False,
    options={"second": {"Size": "L"}},
)
def cutting_board(look: Look) -> Shapes:
    """Return the board with its handle along x: 38 × 18 cm, or 50 × 26."""
    long, wide = (0.5, 0.26) if look.options.get("Size") == "L" else (0.38, 0.18)
    grip, w = long * 0.29, wide / 2
    x0, x1 = -long / 2, long / 2 - grip
    half = [(x0, 0), (x0, w), (x0 + 0.004, w), (x1 - 0.02, w), (x1, w), (x1 + 0.012, w * 0.62)]
    half += [(x1 + 0.03, 0.027), (x1 + grip * 0.55, 0.0235), (x1 + grip - 0.012, 0.029)]
    half += [(x1 + grip, 0.022), (x1 + grip, 0)]
    outline = shapes.mirrored(half)
    hole = shapes.circle(0.0085, at=(x1 + grip - 0.028, 0))
    wood = materials.wood(look.colours[0], offset=(0.1, 0.04, 0.055))
    return [shapes.extrude(outline, 0.02, wood, bevel=0.0028, holes=[hole], name="board")]


def spoon(kind: str, wood: bpy.types.Material) -> bpy.types.Object:
    """Return a spoon, a slotted spoon or a spatula of 30 cm, along x with its head at +x."""
    half = mm("-150 0, -150 7.5, -130 9, -30 6.2, 40 6.5")
    if kind == "spatula":
        half += mm("70 12, 90 26, 148 31, 150 29, 150 0")
    else:
        half += mm("68 13, 90 29, 125 31, 147 19, 150 0")
    outline = shapes.mirrored(half)
    slots = []
    if kind == "slotted":
        for y in (-0.012, 0, 0.012):
            slot = shapes.rounded(0.042 - abs(y) * 0.6, 0.0048, 0.0023, 5)
            slots.append([(px + 0.11, py + y) for px, py in slot])
    return shapes.extrude(outline, 0.0085, wood, bevel=0.0032, holes=slots, name=kind)


@product(
    "wooden-spoons",
    main=View(turn=-52, pitch=66, fill=0.84, blur=0.01),
    second=View(turn=-15, pitch=26, fill=0.84, blur=0.02),
    detail=View(turn=-52, at=(0.105, 0.0, 0.01), pitch=55, width=0.14, blur=0.012),
    dyed=False,
)
def wooden_spoons(look: Look) -> Shapes:
    """Return the three, side by side."""
    made = []
    for i, kind in enumerate(("spatula", "spoon", "slotted")):
        wood = materials.wood(look.colours[0], offset=(0.2 * i, 0.03 + 0.02 * i, 0.04), gloss=0.2)
        one = carved(spoon(kind, wood), deep=kind != "spatula")
        at = (0.012 * (i % 2) - 0.004, 0.074 * (i - 1), 0)
        made += shapes.place([one], at=at, turn=look.chance.uniform(-3, 3))
    return made


def carved(made: bpy.types.Object, *, deep: bool) -> bpy.types.Object:
    """Bend a flat spoon as carved: the handle round and lifted, the bowl hollow."""
    remesh = made.modifiers.new("even", "REMESH")
    remesh.mode, remesh.voxel_size, remesh.use_smooth_shade = "VOXEL", 0.0008, True
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(made.evaluated_get(graph))
    made.modifiers.clear()
    made.data = mesh
    for vert in mesh.vertices:
        x, y, z = vert.co
        head = max(0.0, 1 - ((x - 0.108) / 0.046) ** 2 - (y / 0.033) ** 2)
        hollow = 0.0105 * math.sqrt(head) if deep else 0.003 * max(0.0, (x - 0.06) / 0.09)
        fall = 0.011 * (max(0.0, 0.06 - x) / 0.21) ** 1.3 * (1 if deep else 0.4)
        keep = 1.0 if z > 0.0045 else 0.82
        vert.co = Vector((x, y, z + (0.009 if deep else 0.004) - hollow * keep - fall))
    smooth = made.modifiers.new("soft", "SMOOTH")
    smooth.factor, smooth.iterations = 0.5, 14
    mesh.shade_smooth()
    return made


@product(
    "plant-stool",
    main=View(turn=20, pitch=14, fill=0.78, blur=0.03),
    second=View(turn=60, pitch=42, fill=0.76, blur=0.03),
    detail=View(turn=20, at=(-0.02, -0.145, 0.43), pitch=24, width=0.17, blur=0.012),
    dyed=False,
)
def plant_stool(look: Look) -> Shapes:
    """Return the stool: a dished seat, three splayed legs whose tenons are wedged through it."""
    wood = materials.wood(look.colours[0], offset=(0.0, 0.05, -0.36))
    seat = mm(
        "1 406, 120 406, 148 410, 159 420, 160 430, 157 438, 148 440, 130 438.5, 80 434, 1 432"
    )
    made = [shapes.lathe(seat, wood, name="seat")]
    leg_wood = materials.wood(look.colours[0], grain="Z", offset=(0.05, 0.03, 0.0))
    end_wood = materials.wood(look.colours[0], grain="Z", offset=(0.006, 0.004, 0.0), gloss=0.1)
    for i in range(3):
        leg = mm("1 0, 12 0, 13.5 2, 16.5 160, 19 330, 16.5 412, 12.5 425, 1 426")
        turned = shapes.lathe(leg, leg_wood, name="leg")
        tenon = shapes.lathe(mm("1 400, 12.5 400, 12.5 442.5, 1 442.8"), end_wood, rounds=1)
        slit = shapes.box((0.0022, 0.023, 0.02), materials.wood("7a5338", grain="X"), bevel=0.0002)
        shapes.place([slit], at=(0, 0, 0.4231))
        angle = 120 * i + 90
        leg_parts = shapes.place([turned, tenon, slit], roll=-12)
        made += shapes.place(leg_parts, at=shapes.turned((0.185, 0, 0.0035), angle), turn=angle)
    return made


@product(
    "desk-organiser",
    main=View(turn=-22, pitch=24, fill=0.78),
    second=View(turn=28, pitch=46, fill=0.78),
    detail=View(turn=-22, at=(-0.08, -0.045, 0.07), pitch=28, width=0.09, blur=0.03),
    dyed=False,
)
def desk_organiser(look: Look) -> Shapes:
    """Return the block with its wells cut out, pencils in the deep one, on its sheet of cork."""
    wood = materials.wood(look.colours[0], offset=(0.0, 0.06, 0.11))
    cutters = []
    wells = (((-0.08, 0, 0.014), (0.064, 0.08, 0.09)), ((-0.022, 0, 0.03), (0.016, 0.2, 0.09)))
    wells += (((0.066, 0, 0.05), (0.136, 0.2, 0.09)), ((0.058, 0, 0.018), (0.11, 0.08, 0.09)))
    for at, size in wells:
        cutters += shapes.place([shapes.box(size, None, bevel=0.0)], at=at)
    block = shapes.carve(shapes.box((0.24, 0.1, 0.087), wood, bevel=0.0), cutters, 0.0018)
    base = shapes.box((0.236, 0.096, 0.003), materials.cork(), bevel=0.0004)
    made = [*shapes.place([block], at=(0, 0, 0.003)), base]
    for i, (x, y, lean) in enumerate(((-0.1, 0.02, 9), (-0.085, -0.015, -6), (-0.066, 0.012, 5))):
        shade = look.colours[1].hex if i != 1 else "e4d9c4"
        paint = materials.lacquer(shade, gloss=0.6)
        long = 0.15 + 0.012 * i
        shaft = shapes.extrude(shapes.circle(0.0038, 6), long, paint, bevel=0.0004)
        tip = [(0.0036, long), (0.001, long + 0.014), (0.0004, long + 0.018)]
        point = shapes.lathe(tip, materials.wood("dfb98a", grain="Z"), rounds=0)
        made += shapes.place([shaft, point], at=(x, y, 0.019), tip=lean * 0.7, roll=lean)
    return made


def seagrass() -> bpy.types.Material:
    """Return twisted, dried grass: strands along the coil, each of its own tone."""
    s = Surface("seagrass", Roughness=0.75, Specular_IOR_Level=0.3)
    place = s.node("SeparateXYZ", Vector=s.space(uv=True))
    along = s.math("ADD", place.outputs["Y"], s.times(place.outputs["X"], 0.18))
    along = s.math("ADD", along, s.span(s.noise(0.01), 0.2, 0.8, -0.002, 0.002))
    strand = s.math("DIVIDE", along, 0.0052)
    bulge = s.math("SINE", s.times(s.math("FRACT", strand), math.pi))
    bulge = s.math("POWER", bulge, 0.5)
    each = s.node("TexWhiteNoise", noise_dimensions="1D", W=s.math("FLOOR", strand)).outputs[
        "Value"
    ]
    fibre = s.noise(0.0008, detail=3, where=s.space((18, 1, 1), uv=True))
    tone = s.mix(s.span(each, 0.0, 1.0), "cdb47c", "a98d55")
    tone = s.mix(s.times(s.span(each, 0.85, 0.95), 0.4), tone, "868a58")
    tone = s.shade(
        tone, s.times(s.span(fibre, 0.3, 0.7, 0.75, 1.12), s.span(bulge, 0, 1, 0.4, 1.1))
    )
    relief = s.math("ADD", bulge, s.times(fibre, 0.25))
    return s.done(Base_Color=tone, Normal=s.bump(relief, 0.0011))


def coil(
    radii: list[tuple[float, float]], rope: float, material: bpy.types.Material
) -> bpy.types.Object:
    """Return a rope laid in a helix through (radius, height) points, one turn each."""
    path = []
    for (r1, z1), (r2, z2) in pairwise(radii):
        for k in range(96):
            t, a = k / 96, math.tau * k / 96
            path.append(((r1 + (r2 - r1) * t) * math.cos(a), (r1 + (r2 - r1) * t) * math.sin(a),
                z1 + (z2 - z1) * t))  # fmt: skip
    made = shapes.sweep(path, rope, material, rounds=0, steps=14, flat=0.92, side=(0, 0, 1))
    return shapes.wobble(made, rope * 0.28, 0.035)


@product(
    "seagrass-basket",
    main=View(turn=14, pitch=18, fill=0.76, blur=0.03),
    second=View(turn=50, pitch=42, fill=0.76, blur=0.03),
    detail=View(turn=0, at=(0.02, -0.145, 0.245), pitch=18, width=0.16, blur=0.012),
    dyed=False,
    options={"second": {"Size": "L"}},
)
def seagrass_basket(look: Look) -> Shapes:
    """Return the coiled basket: 30 cm across and 28 high, or 42 and 45, with two handles."""
    across, high = (0.42, 0.45) if look.options.get("Size") == "L" else (0.3, 0.28)
    rope, r = 0.0062, across / 2 - 0.006
    grass = seagrass()
    step = rope * 1.72
    base = [(0.008 + step * k, rope + 0.002) for k in range(int((r * 0.86) / step))]
    count = int((high - 0.02) / step)
    wall = []
    for k in range(1, count + 1):
        t = k / count
        wall.append(
            (r * (0.88 + 0.12 * math.sin(math.pi * min(1.0, t * 1.15)) ** 0.7), rope + step * k)
        )
    made = [coil([*base, *wall], rope, grass)]
    made.append(coil([wall[-1], wall[-1]], rope * 1.25, grass))
    top, edge = wall[-1][1], wall[-1][0]
    for side in (0, math.pi):
        for lift, more in ((0.0, 0.0), (rope * 1.7, rope * 0.2)):
            arc = []
            for k in range(-8, 9):
                a = side + 0.034 * k
                up = (0.03 + lift) * (1 - (k / 8) ** 4) + more
                arc.append((edge * math.cos(a), edge * math.sin(a), top + up + rope * 0.4))
            made.append(
                shapes.wobble(shapes.sweep(arc, rope * 1.12, grass, side=(0, 0, 1)), 0.001, 0.03)
            )
    return made
