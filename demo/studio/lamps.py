"""Lamps: linen, enamel and powder-coated shades, their cords and joints, and the lantern."""

import math
from collections.abc import Sequence

import bpy

from . import materials, shapes, weaves
from .frame import View
from .materials import Surface, Tint
from .metal import BRASS, ring
from .shapes import Point, Shapes, mm
from .shots import Look, product

WARM = (1.0, 0.7, 0.4)


def bulb_light(at: Point, power: float, radius: float = 0.02) -> bpy.types.Object:
    """Return the warm light of a bulb. A lamp returns it, so that it moves with it."""
    light = bpy.data.lights.new("bulb", "POINT")
    light.energy, light.color, light.shadow_soft_size = power, WARM, radius
    lamp = bpy.data.objects.new("bulb", light)
    lamp.location = at
    bpy.context.scene.collection.objects.link(lamp)
    return lamp


def bulb(at: Point, glow: float = 3.0, size: float = 1.0) -> Shapes:
    """Return a frosted bulb that is lit, its neck up."""
    frosted = Surface("bulb", Roughness=0.4).done(
        Base_Color="fff4e2", Emission_Color="ffd9a0", Emission_Strength=glow
    )
    globe = mm("1 0, 16 2, 28 16, 30 32, 24 50, 14 66, 13 78, 1 79")
    made = shapes.lathe([(r * size, z * size) for r, z in globe], frosted, name="globe")
    return shapes.place([made], at=at)


def cord(path: Sequence[Point], colour: Tint, radius: float = 0.003) -> bpy.types.Object:
    """Return a cord covered with braided cotton."""
    s = weaves.cloth_surface("cord", 0.2)
    place = s.node("SeparateXYZ", Vector=s.space(uv=True))
    around, far = (s.times(place.outputs[axis], math.tau / 0.0016) for axis in "XY")
    strands = [s.math("SINE", s.math(way, around, far)) for way in ("ADD", "SUBTRACT")]
    braid = s.math("MAXIMUM", *strands)
    tone = s.shade(colour, s.span(braid, -0.4, 1.0, 0.7, 1.08))
    braided = s.done(Base_Color=tone, Normal=s.bump(braid, 0.0003))
    return shapes.sweep(path, radius, braided, steps=20, side=(0, 0, 1), name="cord")


def lit_linen(colour: Tint, middle: float, reach: float, glow: float) -> bpy.types.Material:
    """Return linen with a bulb behind it, brightest at a height and fading over a reach."""
    s = weaves.cloth_surface("shade", 0.1)
    t = weaves.threads(s, 0.0008, 0.5)
    weave = s.math("ADD", s.times(t["u"], 0.5), s.times(t["v"], 0.5))
    slub = s.span(s.noise(0.001, detail=0, where=s.space((45, 1, 1), uv=True)), 0.6, 0.75, 1, 0.86)
    slub = s.times(slub, s.span(s.noise(0.001, detail=0, where=s.space((1, 45, 1), uv=True)),
        0.62, 0.78, 1, 0.88))  # fmt: skip
    level = s.times(slub, s.span(weave, 0.1, 0.9, 0.82, 1.04), s.span(t["rv"], 0, 1, 0.95, 1.04))
    away = s.math("ABSOLUTE", s.math("SUBTRACT", s.height(), middle))
    near = s.math("ADD", s.span(away, 0, reach, 1.0, 0.34), 0.0)
    tone = s.shade(colour, level)
    warm = s.node("Mix", data_type="RGBA", blend_type="MULTIPLY", Factor=1.0, A=tone)
    next(n for n in warm.inputs if n.name == "B" and n.type == "RGBA").default_value = (
        1.0, 0.78, 0.52, 1)  # fmt: skip
    glowing = next(o for o in warm.outputs if o.type == "RGBA")
    s.feed(s.shader, Emission_Color=glowing, Emission_Strength=s.times(near, level, glow))
    return s.done(Base_Color=tone, Normal=s.bump(weave, 0.0002))


@product(
    "table-lamp",
    main=View(turn=0, pitch=9, fill=0.8, blur=0.02),
    second=View(turn=50, pitch=26, fill=0.78, blur=0.02),
    detail=View(turn=0, at=(0.03, -0.12, 0.275), pitch=8, width=0.2, blur=0.012),
)
def table_lamp(look: Look) -> Shapes:
    """Return the lamp, lit: a turned stoneware base under a linen shade, 46 cm high."""
    coat = materials.glaze(look.colours[0], foot=0.006, gloss=0.6, speckle=0.35)
    brass = materials.metal(BRASS, rough=0.25, wear=0.4)
    foot = mm("1 0, 58 0, 63 3, 64 12, 58 20, 40 28, 33 40, 42 70, 64 105, 76 135, 74 165")
    foot += mm("58 192, 34 208, 24 216, 22 228, 25 236, 24 240, 1 241")
    base = shapes.wobble(shapes.lathe(foot, coat, name="base"), 0.0008, 0.06)
    neck = shapes.lathe(mm("1 238, 15 239, 15 243, 9 246, 8 262, 17 264, 18 300, 1 301"), brass,
        rounds=2, name="neck")  # fmt: skip
    linen = lit_linen(look.colours[1], 0.335, 0.13, 1.0)
    low, high, wide, narrow = 0.25, 0.455, 0.15, 0.118
    shade = [(wide + (narrow - wide) * k / 30, low + (high - low) * k / 30) for k in range(31)]
    drum = shapes.thicken(shapes.lathe(shade, linen, rounds=0, steps=160, name="shade"), 0.0009)
    made = [base, neck, shapes.wobble(drum, 0.0007, 0.09)]
    tape = weaves.weave(look.colours[1], thread=0.0006)
    for r, z in ((wide, low), (narrow, high)):
        step = (narrow - wide) / (high - low)
        band = [(r + 0.0011 + step * d, z + d) for d in (-0.0012, 0.005, 0.0105)]
        if z == high:
            band = [(r + 0.0011 - step * d, z - d) for d in (0.0105, 0.005, -0.0012)]
        made.append(shapes.thicken(shapes.lathe(band, tape, rounds=0, steps=160), 0.0018))
    spoke = [shapes.sweep([(0.006, 0, 0), (0.06, 0, 0.006), (0.116, 0, 0.0)], 0.0016, brass)]
    for k in range(3):
        made += shapes.place(shapes.copy(spoke), at=(0, 0, 0.447), turn=120 * k + 30)
    spoke[0].hide_render = True
    made += bulb((0, 0, 0.31), 2.0)
    made.append(bulb_light((0, 0, 0.345), 5.0 if look.shot == "scene" else 1.5))
    flex = [(0.05, 0.03, 0.006), (0.1, 0.06, 0.003), (0.15, 0.02, 0.003), (0.21, 0.03, 0.003),
        (0.27, 0.11, 0.003), (0.34, 0.16, 0.003)]  # fmt: skip
    if look.shot == "scene":
        flex = [(0.0, 0.05, 0.008), (0.0, 0.1, 0.003), (0.03, 0.3, 0.003)]
    return [*made, cord(flex, "b9a98c")]


@product(
    "pendant-lamp",
    main=View(at=(0, 0, 0.16), pitch=-9, width=0.5, blur=0.01, hang=1.2),
    second=View(at=(0, 0, 0.17), pitch=18, width=0.52, blur=0.01, hang=1.2),
    detail=View(at=(0.01, -0.03, 0.225), pitch=6, width=0.17, blur=0.012, hang=1.2),
)
def pendant_lamp(look: Look) -> Shapes:
    """Return the lamp, lit and hanging: an enamelled shade, white inside, on its cord."""
    coat = materials.lacquer(look.colours[0], "f2eee4", turn=0.22, gloss=0.9, peel=0.00014)
    brass = materials.metal(BRASS, rough=0.26, wear=0.5)
    dome = mm("159 2, 158 6, 150 40, 132 80, 100 118, 64 140, 42 150, 32 162, 30 180, 26 184")
    outer = shapes.lathe(dome, coat, steps=160, name="shade")
    inside = materials.lacquer("f2eee4", gloss=0.85, peel=0.00014)
    line = [(r - 0.0015, z - 0.0012) for r, z in dome[:-3]]
    inner = shapes.lathe(line, inside, steps=160, name="inside")
    rim = ring(0.1588, 0.0022, 0.0026, materials.lacquer(look.colours[0], gloss=0.9))
    cap = shapes.lathe(mm("28 182, 29 184, 28 196, 20 202, 12 206, 11 216, 7 221, 1 222"), brass,
        rounds=2, name="cap")  # fmt: skip
    grip = shapes.lathe(mm("8 219, 8 226, 5 229, 5 236, 3.4 238, 1 238"), brass, rounds=2)
    made = [outer, inner, rim, cap, grip, *bulb((0, 0, 0.03), 3.0, 1.1)]
    made.append(bulb_light((0, 0, 0.06), 1.6, 0.03))
    hung = cord([(0, 0, 0.232), (0.001, 0, 0.4), (-0.001, 0, 0.7), (0, 0, 1.2)], "ddd3be")
    return [*(shapes.wobble(each, 0.0005, 0.08, 2) for each in made[:3]), *made[3:], hung]


def joint(brass: bpy.types.Material, wide: float = 0.026) -> Shapes:
    """Return a brass joint about the origin, its axis along y, with a knurled knob in front."""
    hub = mm("1 0, 11 0, 12 1, 12 10, 11 11, 1 11")
    knob = mm("1 0, 8.5 0, 9.5 1, 9.5 9, 8.5 10.5, 1 11.5")
    body = shapes.lathe([(r, z * 2 - 0.011) for r, z in hub], brass, rounds=2)
    grip = shapes.lathe(knob, brass, rounds=1, steps=120)
    for k, vert in enumerate(grip.data.vertices):
        if math.hypot(vert.co.x, vert.co.y) > 0.009 and k % 2:
            vert.co.x, vert.co.y = vert.co.x * 0.95, vert.co.y * 0.95
    shapes.place([grip], at=(0, 0, wide / 2 - 0.001))
    return shapes.place([body, grip], tip=90)


@product(
    "desk-lamp",
    main=View(turn=8, pitch=10, fill=0.8, blur=0.015),
    second=View(turn=-42, pitch=22, fill=0.78, blur=0.02),
    detail=View(turn=8, at=(-0.105, -0.01, 0.3), pitch=10, width=0.16, blur=0.012),
)
def desk_lamp(look: Look) -> Shapes:
    """Return the lamp with two arms and two brass joints, its shade to the right, lit."""
    coat = materials.lacquer(look.colours[0], gloss=0.24, peel=0.00011)
    brass = materials.metal(BRASS, rough=0.24, wear=0.4)
    foot = shapes.lathe(mm("1 0, 78 0, 80 1.5, 80 16, 77 20, 70 21.5, 1 22.5"), coat, name="foot")
    low, elbow, wrist = (0.0, 0.0, 0.022), (-0.105, 0, 0.3), (0.15, 0, 0.45)
    socket = shapes.lathe(mm("1 0, 14 0, 14 8, 9 14, 8 26, 1 27"), brass, rounds=2)
    made = [foot, *shapes.place([socket], at=(0, 0, 0.021), roll=-18)]
    for start, end in ((low, elbow), (elbow, wrist)):
        made.append(shapes.sweep([start, end], 0.0058, coat, rounds=0, steps=28, side=(0, 1, 0)))
    for at in (elbow, wrist):
        made += shapes.place(joint(brass), at=at)
    bell = mm("70 0, 69 4, 60 40, 50 66, 40 84, 26 96, 22 104, 22 128, 19 134, 1 135")
    inner = [(r - 0.0014, z - 0.001) for r, z in mm("69.5 1, 60 39, 49 65, 38 82, 24 94, 1 95")]
    white = materials.lacquer("f2eee4", gloss=0.5)
    head = [shapes.lathe(bell, coat, steps=144, name="shade"), shapes.lathe(inner, white)]
    head += [ring(0.0698, 0.0008, 0.0013, coat), *bulb((0, 0, 0.012), 2.5, 0.8)]
    head += [shapes.sweep([(0, 0, 0.125), (0, 0, 0.15)], 0.005, brass, rounds=0)]
    for k in range(6):
        a = math.tau * k / 6
        slot = shapes.lathe(mm("0.1 0, 2 0, 2 0.6, 0.1 0.8"), materials.liquid("17181a"), rounds=0)
        head += shapes.place([slot], at=(0.022 * math.cos(a), 0.022 * math.sin(a), 0.117),
            turn=math.degrees(a), roll=90)  # fmt: skip
    made += shapes.place(head, at=(0.198, 0, 0.302), roll=-18)
    made.append(bulb_light((0.2, -0.005, 0.31), 0.9))
    drop = [(elbow[0] + 0.004, 0.008, elbow[2]), (-0.05, 0.012, 0.35), (0.05, 0.012, 0.405),
        (0.14, 0.008, 0.452), (0.158, 0.004, 0.462)]  # fmt: skip
    flex = [(0.0, 0.07, 0.008), (-0.02, 0.11, 0.003), (-0.09, 0.14, 0.003), (-0.17, 0.1, 0.003),
        (-0.24, 0.12, 0.003), (-0.32, 0.2, 0.003)]  # fmt: skip
    return [*made, cord(drop, "33312e", 0.0022), cord(flex, "33312e", 0.0027)]


def flame(at: Point, size: float = 1.0) -> Shapes:
    """Return a flame above its wick, and the light that it gives."""
    s = Surface("flame")
    blaze = s.node("Emission", Strength=1.0)
    part = s.span(s.height(), 0.002 * size, 0.026 * size)
    s.feed(blaze, Color=s.mix(part, "fff1c4", "ff9a35"), Strength=s.span(part, 0, 1, 9.0, 3.0))
    tree, output = s.material.node_tree, s.nodes["Material Output"]
    tree.links.new(blaze.outputs[0], output.inputs["Surface"])
    line = mm("0.5 0, 3 3, 4.6 8, 4 14, 2.2 22, 0.9 29, 0.3 34")
    made = shapes.lathe([(r * size, z * size) for r, z in line], s.material, name="flame")
    glow = bulb_light((0, 0, 0.016 * size), 0.4 * size * size, 0.006)
    return shapes.place([made, glow], at=at)


@product(
    "storm-lantern",
    main=View(turn=-14, pitch=10, fill=0.8, blur=0.02),
    second=View(turn=-62, pitch=26, fill=0.78, blur=0.03),
    detail=View(turn=-14, at=(0.0, -0.05, 0.085), pitch=12, width=0.13, blur=0.015),
)
def storm_lantern(look: Look) -> Shapes:
    """Return the lantern, lit: a tank, two tubes beside the chimney, a hood and a wire handle."""
    coat = materials.lacquer(look.colours[0], gloss=0.42, peel=0.00011)
    steel, brass = materials.metal("b9bdc0", rough=0.25), materials.metal(BRASS, rough=0.25)
    tank = mm("1 1, 66 1, 71 0, 74 3, 75 8, 73 12, 70 14, 70 34, 66 44, 52 50, 34 53, 33 58, 1 59")
    burner = mm("30 57, 31 62, 26 66, 26 72, 34 76, 35 80, 20 84, 12 90, 6 92, 5 96, 1 96")
    globe = mm("31 79, 33 84, 46 108, 50 128, 46 150, 35 172, 31 182, 30 184")
    hood = mm("31 181, 36 183, 37 188, 34 192, 34 206, 46 208, 48 212, 40 222, 30 230, 29 244")
    hood += mm("33 246, 33 250, 24 257, 10 260, 1 260")
    made = [shapes.lathe(tank, coat, name="tank"), shapes.lathe(burner, brass, name="burner")]
    made.append(shapes.lathe(hood, coat, name="hood"))
    clear = shapes.lathe(globe, materials.glass(depth=0.02), name="globe")
    made.append(shapes.thicken(clear, 0.0016))
    for side in (-1, 1):
        tube = [(side * 0.062, 0, 0.042), (side * 0.069, 0, 0.06), (side * 0.07, 0, 0.1),
            (side * 0.068, 0, 0.16), (side * 0.062, 0, 0.21), (side * 0.045, 0, 0.234),
            (side * 0.026, 0, 0.238)]  # fmt: skip
        made.append(shapes.sweep(tube, 0.0062, coat, flat=0.8, name="tube"))
        ear = shapes.lathe(mm("1 0, 6 0, 6 3, 3 4, 3 7, 1 8"), steel, rounds=1)
        made += shapes.place([ear], at=(side * 0.0685, 0, 0.19), roll=side * 90)
    for z in (0.104, 0.152):
        r = 0.0488 if z < 0.12 else 0.0486
        made.append(ring(r, z, 0.0011, steel))
        for side in (-1, 1):
            arm = [(side * r, 0, z), (side * 0.064, 0, z)]
            made.append(shapes.sweep(arm, 0.0011, steel, rounds=0, side=(0, 1, 0)))
    bail = [(-0.074, 0, 0.19), (-0.082, 0.006, 0.2), (-0.084, 0.02, 0.26), (-0.06, 0.034, 0.315),
        (0, 0.042, 0.338), (0.06, 0.034, 0.315), (0.084, 0.02, 0.26), (0.082, 0.006, 0.2),
        (0.074, 0, 0.19)]  # fmt: skip
    made.append(shapes.sweep(bail, 0.0015, steel, side=(0, 1, 0)))
    cap = shapes.lathe(mm("1 0, 10 0, 11 2, 11 9, 9 11, 1 11.5"), brass, rounds=2)
    made += shapes.place([cap], at=(0.05, -0.03, 0.044), tip=14, roll=16)
    wheel = shapes.sweep([(0.024, -0.012, 0.067), (0.062, -0.03, 0.066)], 0.0014, brass, rounds=0)
    disc = shapes.lathe(mm("1 0, 8 0, 8.5 1, 8 2, 1 2"), brass, rounds=1, steps=40)
    made += [wheel, *shapes.place([disc], at=(0.06, -0.029, 0.066), turn=-26, roll=90)]
    return [*made, *flame((0, 0, 0.094), 0.9)]
