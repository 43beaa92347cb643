"""Metal: enamelled, cast, ground and turned goods of the kitchen and the desk."""

import math

import bpy
from mathutils import Vector

from . import materials, shapes
from .ceramics import thrown
from .frame import View
from .materials import Colour, Surface
from .shapes import Shapes, mm
from .shots import Look, product

STEEL, BRASS, CREAM = "c3c7c9", "c9a24e", "ece6d8"


def ring(
    radius: float, height: float, width: float, material: bpy.types.Material
) -> bpy.types.Object:
    """Return a ring of round wire about the z axis."""
    turn = [math.tau * i / 96 for i in range(96)]
    path = [(radius * math.cos(a), radius * math.sin(a), height) for a in turn]
    return shapes.sweep(path, width, material, rounds=0, steps=16, closed=True, side=(0, 0, 1))


@product(
    "enamel-mug",
    main=View(turn=-30),
    second=View(turn=-65, pitch=44),
    detail=View(turn=-30, at=(0.012, -0.041, 0.073), width=0.05, blur=0.05),
)
def enamel_mug(look: Look) -> Shapes:
    """Return the camp mug of 330 ml: pressed steel under enamel, with a rolled rim."""
    coat = materials.lacquer(look.colours[0], CREAM, gloss=0.95, peel=0.00012, specks=0.35)
    wall = mm("32.5 0.3, 38.5 1.5, 40.2 7, 40.5 20, 40.5 60")
    shell = thrown([*wall, (0.0405, 0.0793)], 0.0009, coat, ring=0.0015, hand=0.0004)
    rim = ring(0.0402, 0.0795, 0.0014, materials.lacquer(look.colours[1], gloss=0.9))
    strap = mm("38.5 0 66, 50 0 69, 70 0 66, 73 0 47, 66 0 28, 52 0 19, 38.5 0 17")
    handle = shapes.sweep(strap, lambda t: 0.0075 + 0.003 * abs(2 * t - 1) ** 4, coat, flat=0.22)
    return [shell, *(shapes.wobble(each, 0.0004, 0.07, 3) for each in (rim, handle))]


@product(
    "stove-kettle",
    main=View(turn=12, pitch=13),
    second=View(turn=-50, pitch=30),
    detail=View(turn=12, at=(0.0, -0.03, 0.232), width=0.12, blur=0.03),
)
def stove_kettle(look: Look) -> Shapes:
    """Return the kettle of 1.8 litres: enamel, steel fittings and a beech handle."""
    coat = materials.lacquer(look.colours[0], gloss=0.92, peel=0.0001)
    steel = materials.metal(STEEL, rough=0.18)
    beech = materials.wood(look.colours[1], offset=(0, 0.05, 0.02))
    body = mm("1 2, 84 2, 94 3, 100 9, 100 30, 94 70, 78 105, 55 124, 48 126")
    lid = mm("50 126, 49.5 129.5, 40 136, 20 141, 1 142")
    knob = mm("1 139, 7 140, 6.5 147, 13.5 152, 14 160, 9 165, 1 166")
    made = [shapes.lathe(body, coat), shapes.lathe(lid, coat), shapes.lathe(knob, beech)]
    made += [ring(0.0495, 0.1265, 0.0016, steel), ring(0.0985, 0.0055, 0.0024, steel)]
    path = mm("70 0 60, 98 0 72, 118 0 100, 128 0 125, 142 0 136")
    made.append(shapes.sweep(path, lambda t: 0.021 - 0.009 * t, coat, name="spout"))
    cap = shapes.lathe(mm("1 0, 14 0, 14.5 12, 11 18, 1 19"), steel)
    made += shapes.place([cap], at=(0.137, 0, 0.132), roll=52)
    for side in (-1, 1):
        arm = [(side * 0.062, 0, 0.112), (side * 0.078, 0, 0.15), (side * 0.082, 0, 0.19)]
        arm += [(side * 0.074, 0, 0.226), (side * 0.05, 0, 0.238)]
        made.append(shapes.sweep(arm, 0.0036, steel, flat=0.75, name="arm"))
        stud = shapes.lathe(mm("1 0, 10 0, 8.5 5, 1 6.5"), steel)
        made += shapes.place([stud], at=(side * 0.063, 0, 0.112), roll=side * 48)
    grip = mm("-58 0 234, -30 0 244, 30 0 244, 58 0 234")
    made.append(shapes.sweep(grip, lambda t: 0.0085 + 0.0045 * math.sin(math.pi * t) ** 0.6, beech))
    return made


@product(
    "casserole",
    main=View(turn=18, pitch=17, fill=0.76),
    second=View(turn=30, pitch=38, fill=0.78),
    detail=View(turn=18, at=(0.02, -0.03, 0.152), pitch=20, width=0.1, blur=0.03),
)
def casserole(look: Look) -> Shapes:
    """Return the pot of three litres with its lid on, or beside it."""
    coat = materials.lacquer(look.colours[0], "e9e0cd", turn=0.004, gloss=0.88, peel=0.00018)
    brass = materials.metal(BRASS, rough=0.24)
    wall = mm("90 0, 100 2, 108 12, 111 50, 112 100, 113 104")
    pot = thrown(wall, 0.005, coat, ring=0.001, hand=0.0004)
    made = [pot]
    for side in (-1, 1):
        loop = [(side * 0.108, -0.048, 0.083), (side * 0.125, -0.042, 0.086)]
        loop += [(side * 0.143, -0.022, 0.088), (side * 0.143, 0.022, 0.088)]
        loop += [(side * 0.125, 0.042, 0.086), (side * 0.108, 0.048, 0.083)]
        made.append(
            shapes.sweep(loop, lambda t: 0.0095 + 0.005 * abs(2 * t - 1) ** 5, coat, flat=0.6)
        )
    lid = mm("108 103.5, 113.5 105, 113.5 109, 104 116, 70 127, 30 133, 1 134")
    under = mm("1 129, 60 124, 100 110, 100 100")
    knob = mm("1 132, 8.5 132, 8.5 142, 12 146, 19.5 149, 20 154, 12 157.5, 1 158")
    cover = [shapes.lathe([*under, *lid], coat, name="lid"), shapes.lathe(knob, brass, name="knob")]
    if look.shot == "second":
        shapes.place(cover, at=(0, 0, -0.106))
        shapes.place(cover, at=shapes.turned((0.13, 0, 0.105), -62), turn=-62, roll=66)
    return made + cover


@product(
    "iron-pan",
    main=View(turn=-38, pitch=40, fill=0.82),
    second=View(turn=140, pitch=20, fill=0.8),
    detail=View(turn=-38, at=(0.13, 0, 0.034), pitch=34, width=0.1, blur=0.012),
    dyed=False,
)
def iron_pan(look: Look) -> Shapes:
    """Return the frying pan, its oak grip along x."""
    iron = materials.cast_iron()
    r = 0.14 if look.options.get("Size") == "28" else 0.12
    wall = [
        (r - 0.028, 0.0),
        (r - 0.018, 0.002),
        (r - 0.009, 0.014),
        (r - 0.002, 0.036),
        (r, 0.044),
    ]
    pan = thrown(wall, 0.0042, iron, ring=0.0008, hand=0.0006)
    for vert in pan.data.vertices:
        x, y, z = vert.co
        pull = max(0.0, (z - 0.028) / 0.016) ** 2 * math.exp(
            -((math.atan2(abs(y), x) - 1.57) ** 2) / 0.02
        )
        vert.co += Vector((0, math.copysign(0.009, y), -0.003)) * pull
    neck = [
        (r - 0.008, 0, 0.034),
        (r + 0.015, 0, 0.037),
        (r + 0.045, 0, 0.043),
        (r + 0.07, 0, 0.046),
    ]
    arm = shapes.sweep(neck, lambda t: 0.0085 + 0.014 * (1 - t) ** 5, iron,
        flat=0.5, side=(0, 1, 0))  # fmt: skip
    grip = [(r + 0.064 + 0.15 * t, 0, 0.0455 + 0.012 * t) for t in (0, 0.33, 0.67, 1)]
    oak = materials.wood("b98a58", offset=(0, 0.03, 0.05), gloss=0.45)
    handle = shapes.sweep(grip, lambda t: 0.0092 + 0.0042 * math.sin(2.7 * t + 0.15), oak,
        flat=0.76, side=(0, 1, 0), rounds=4)  # fmt: skip
    brass = materials.metal("c3c7c9", rough=0.25)
    collar = shapes.lathe(mm("9.8 -5, 10.4 -4.5, 10.4 4.5, 9.8 5"), brass, rounds=1)
    shapes.place([collar], at=(r + 0.066, 0, 0.0457), roll=85)
    eye = shapes.sweep([(0.006 * math.cos(a), 0, 0.006 * math.sin(a)) for a in
        (math.tau * k / 24 for k in range(24))], 0.0016, brass, closed=True, rounds=1,
        side=(0, 1, 0), steps=12)  # fmt: skip
    shapes.place([eye], at=(r + 0.219, 0, 0.0585), tip=70)
    return [pan, arm, handle, collar, eye]


def ground_steel(long: float, edge: float = 0.0) -> bpy.types.Material:
    """Return steel ground across a blade that lies along x, as the lights of a studio draw it.

    The dark and bright parts of a room that a flat blade shows lie in its colour, as the sweep
    shows it nothing. Below the height `edge` (along y) it is whetted, and brighter.
    """
    s = Surface("ground steel", Metallic=1.0, IOR=2.5)
    place = s.node("SeparateXYZ", Vector=s.space())
    lines = s.noise(0.00028, detail=2, where=s.space((1, 60, 60)))
    wide = s.noise(0.004, detail=2, where=s.space((1, 60, 60)))
    slope = s.math("ADD", place.outputs["X"], s.times(place.outputs["Y"], -0.9))
    room = s.span(slope, -0.05 * long, 0.32 * long, 1.0, 0.5)
    room = s.math("MAXIMUM", room, s.span(slope, 0.5 * long, 0.95 * long, 0.5, 1.08))
    level = s.times(room, s.span(lines, 0.25, 0.75, 0.9, 1.08), s.span(wide, 0.3, 0.7, 0.95, 1.04))
    rough = s.span(lines, 0.25, 0.75, 0.24, 0.36)
    if edge:
        whet = s.span(place.outputs["Y"], edge + 0.0003, edge - 0.0003)
        level = s.math("MAXIMUM", level, s.times(whet, 1.12))
        rough = s.math("SUBTRACT", rough, s.times(whet, 0.14))
    tone = s.shade("b4b8bb", level)
    return s.done(Base_Color=tone, Roughness=rough, Normal=s.bump(lines, 0.00001))


def blade(length: float, material: bpy.types.Material) -> bpy.types.Object:
    """Return a cook's blade along x, its edge to -y, ground from the spine to nothing."""
    rows = []
    for i in range(81):
        t = i / 80
        spine = 0.021 - 0.022 * max(0, t - 0.2) ** 2.4
        edge = -0.0255 + 0.0328 * max(0.0, (t - 0.25) / 0.75) ** 2.4
        thick = (0.0012 - 0.0007 * t) * (1 if t < 0.995 else 0.4)
        tip = max(spine - edge, 0.0004)
        row = [(t * length, spine, thick), (t * length, spine - 0.3 * tip, thick * 0.86)]
        row += [(t * length, spine - 0.62 * tip, thick * 0.58)]
        row += [(t * length, edge + 0.0022, thick * 0.24), (t * length, edge, 0.00004)]
        rows.append(row + [(x, y, -z) for x, y, z in reversed(row)])
    made = shapes.grid("blade", rows, material, around=True, caps=(True, True))
    made.data.set_sharp_from_angle(angle=math.radians(20))
    return made


@product(
    "chefs-knife",
    main=View(turn=38, pitch=64, fill=0.86, blur=0.01),
    second=View(turn=152, pitch=32, fill=0.86, blur=0.02),
    detail=View(turn=38, at=(-0.01, 0.0, 0.006), pitch=60, width=0.12, blur=0.012),
    dyed=False,
)
def chefs_knife(look: Look) -> Shapes:
    """Return the knife, lying on its side: blade of 20 cm, full tang, three rivets."""
    steel, polished = ground_steel(0.2, -0.0232), ground_steel(0.3)
    sides = mm("0 20, -20 17.5, -60 16.5, -100 18.5, -126 19, -134 10, -132 -8, -122 -14")
    sides += mm("-100 -9.5, -60 -7.5, -25 -9, -4 -13.5, 0 -12")
    outline = [(p.x, p.y) for p in shapes.smooth(sides, 2, closed=True)]
    tang = shapes.extrude(outline, 0.0026, polished, bevel=0.0003)
    bolster = mm("-4 20.5, 6 20.8, 8 16, 7 -4, 10 -16, 8 -24, 2 -25.4, -4 -14.5")
    collar = shapes.extrude(
        [(p.x, p.y) for p in shapes.smooth(bolster, 2, closed=True)][::-1], 0.0068, polished,
        bevel=0.0024)  # fmt: skip
    mark = shapes.lettering("BRINDLECOTE\n200", 0.0044, materials.lacquer("5d6164", gloss=0.3))
    shapes.place([mark], at=(0.036, 0.009, 0.0024))
    made = [*shapes.place([blade(0.2, steel)], at=(-0.002, 0, 0.0013)), tang, mark]
    made += shapes.place([collar], at=(0, 0, -0.0021))
    scale = [(x - 0.0034, y) for x, y in outline]
    for i, z in enumerate((0.0004, -0.0062)):
        wood = materials.wood(look.colours[0], offset=(0.3 * i, 0.02, 0.035), gloss=0.5)
        half = shapes.extrude(scale, 0.0084, wood, bevel=0.0022)
        made += shapes.place([half], at=(0, 0, z))
    rivet = mm("1 0, 3.2 0, 3.2 15.2, 2.8 15.4, 1 15.5")
    for x in (-0.026, -0.068, -0.11):
        pin = shapes.lathe(rivet, materials.metal(STEEL, rough=0.2), rounds=1)
        made += shapes.place([pin], at=(x, 0.0045, -0.0063))
    return shapes.place(made, at=(0, 0, 0.0063), roll=1.6)


@product(
    "insulated-bottle",
    main=View(pitch=10, fill=0.78),
    second=View(pitch=24, fill=0.74, turn=20),
    detail=View(at=(0, -0.03, 0.186), pitch=14, width=0.085, blur=0.04),
)
def insulated_bottle(look: Look) -> Shapes:
    """Return the bottle, 22 or 27 cm high, closed; or open, with its lid beside it."""
    high = 0.242 if look.options.get("Size") == "750" else 0.192
    coat = materials.lacquer(look.colours[0], gloss=0.22, peel=0.00011)
    steel = materials.metal(STEEL, rough=0.22)
    body = mm("1 3, 28 3, 32.5 1.2, 35.5 4, 36 12")
    body += [
        (0.036, high - 0.05),
        (0.036, high - 0.036),
        (0.031, high - 0.018),
        (0.026, high - 0.008),
    ]
    body += [(0.0255, high - 0.002)]
    neck = [
        (0.0254, high - 0.003),
        (0.0254, high),
        (0.0246, high + 0.001),
        (0.0235, high),
        (0.0232, 0.02),
    ]
    lid = [
        (0.001, high + 0.001),
        (0.0262, high + 0.001),
        (0.0268, high + 0.002),
        (0.0268, high + 0.02),
    ]
    lid += [(0.0264, high + 0.0205), (0.001, high + 0.0205)]
    top = [(0.001, high + 0.0206), (0.0262, high + 0.0206), (0.0268, high + 0.0215)]
    top += [(0.0268, high + 0.0265), (0.0255, high + 0.028), (0.001, high + 0.0282)]
    wood = materials.wood(look.colours[1], offset=(0, 0.05, 0.03), gloss=0.35)
    base = shapes.lathe(mm("32.5 0, 36 1, 36.2 6, 35.8 7.5"), steel, rounds=1)
    cap = [shapes.lathe(lid, steel, rounds=2), shapes.lathe(top, wood, rounds=2)]
    if look.shot == "second":
        shapes.place(cap, at=(0.06, -0.04, -high - 0.001))
    return [shapes.lathe(body, coat), shapes.lathe(neck, steel, rounds=1), base, *cap]


def pen_metal(look: Look) -> bpy.types.Material:
    """Return the pen's metal, or lacquer over it."""
    if look.code == "blk":
        return materials.lacquer(Colour("2c2e31"), gloss=0.35, peel=0.00002)
    s = Surface("pen", Metallic=1.0, IOR=2.5)
    hands = s.noise(0.012, detail=5)
    tone = s.shade(
        "d8b878" if look.code == "bra" else "bcc1c4", s.span(hands, 0.3, 0.7, 0.92, 1.04)
    )
    return s.done(Base_Color=tone, Roughness=s.span(hands, 0.35, 0.75, 0.16, 0.3))


@product(
    "brass-pen",
    main=View(turn=40, pitch=58, fill=0.82, blur=0.015),
    second=View(turn=-20, pitch=20, fill=0.84, blur=0.03),
    detail=View(turn=40, at=(0.05, 0.0, 0.005), pitch=50, width=0.045, blur=0.015),
    dyed=False,
)
def brass_pen(look: Look) -> Shapes:
    """Return the pen, lying along x: a turned barrel with a grip of rings, a clip and a button."""
    body = pen_metal(look)
    barrel = mm("0.8 0, 1.2 0.5, 1.5 3, 1.6 3, 2.9 10, 4.3 19, 4.4 19.4, 4.1 19.6, 4.1 20.2")
    barrel += mm("4.6 20.4, 5 21, 5 25.5")
    groove = mm("5 26, 5 27, 4.35 27.3, 4.35 27.9")
    rings = [(r, z + 0.0023 * i) for i in range(11) for r, z in groove]
    upper = mm("5 52, 5 80, 4.6 80.3, 4.6 81.1, 5 81.4, 5 124, 4.9 127, 4 129.6, 2.8 130.4")
    upper += mm("2.8 130.6, 2.8 136.6, 2.5 137.6, 1 138")
    pen = shapes.lathe([*barrel, *rings, *upper], body, rounds=1)
    pen.data.set_sharp_from_angle(angle=math.radians(35))
    point = shapes.lathe(
        mm("0.1 -2.2, 0.45 -2, 0.7 0.6, 0.1 0.6"), materials.metal(STEEL, rough=0.2)
    )
    path = mm("-4.5 0 125, -7.2 0 125.6, -7.9 0 122, -7 0 104, -6.3 0 90, -5.6 0 86, -6.4 0 84")
    clip = shapes.sweep(path, lambda t: 0.0026 - 0.0007 * t, body, flat=0.22, side=(0, 1, 0))
    shapes.place([pen, clip, point], turn=-40)
    return shapes.place([pen, clip, point], at=(-0.069, 0, 0.005), roll=90)


def blade_half(side: int, look: Look) -> Shapes:
    """Return a half of the scissors: a blade along x, and the grip that it ends in."""
    steel = ground_steel(0.12)
    line = mm("118 0, 116 2.2, 60 7, 16 10, 6 11.5, -8 10.5, -17 5, -30 -1, -34 -8.5, -24 -12")
    line += mm("-12 -11, -2 -10, 12 -7, 70 -2.6")
    outline = [(p.x, p.y * side) for p in shapes.smooth(line, 2, closed=True)]
    made = [shapes.extrude(outline[::side], 0.0026, steel, bevel=0.0006, name="blade")]
    paint = materials.lacquer(look.colours[0], gloss=0.85, peel=0.00005)
    shank = mm("-21 -4 1.3, -32 -8 1.6, -44 -15 2")
    loop = []
    for k in range(25):
        a = math.radians(24 + 360 * k / 24)
        loop.append((-0.06 + 0.024 * math.cos(a), -0.0245 + 0.0165 * math.sin(a), 0.002))
    paths = [(shank, lambda t: 0.0062 - 0.0014 * t), (loop[:-1], 0.0042)]
    for path, width in paths:
        bent = [(x, y * side, z) for x, y, z in path]
        closed = path is not shank
        made.append(
            shapes.sweep(bent, width, paint, flat=0.8, closed=closed, side=(0, 0, 1), steps=16)
        )
    return made


@product(
    "paper-scissors",
    main=View(turn=52, pitch=66, fill=0.84, blur=0.01),
    second=View(turn=-30, pitch=26, fill=0.84, blur=0.02),
    detail=View(turn=52, at=(0.005, 0.0, 0.005), pitch=55, width=0.06, blur=0.012),
)
def paper_scissors(look: Look) -> Shapes:
    """Return the scissors, a little open on the table."""
    steel = materials.metal("b4b9bd", rough=0.2)
    screw = mm("0.1 5.2, 5.4 5.2, 5.9 5.5, 5.9 6.6, 5.2 7.6, 3 8.2, 0.1 8.3")
    slot = shapes.box((0.0014, 0.014, 0.002), None, bevel=0)
    head = shapes.lathe(screw, steel, rounds=1, name="screw")
    washer = shapes.lathe(mm("0.1 5, 7.2 5, 7.4 5.2, 7.2 5.6, 0.1 5.6"), materials.metal("8e8f90"))
    shapes.place([slot], at=(0, 0, 0.0074), turn=35)
    made = shapes.place(blade_half(1, look), at=(0, 0, 0.0022), turn=-9)
    made += shapes.place(blade_half(-1, look), at=(0, 0, 0.0049), turn=9)
    return [
        *made,
        *shapes.place([shapes.carve(head, [slot], 0.0001), slot, washer], at=(0, 0, 0.0022)),
    ]


@product(
    "watering-can",
    main=View(turn=8, pitch=12, fill=0.82),
    second=View(turn=-48, pitch=32, fill=0.78),
    detail=View(turn=8, at=(0.03, -0.056, 0.075), pitch=14, width=0.1, blur=0.03),
)
def watering_can(look: Look) -> Shapes:
    """Return the can of 1.2 litres: a drum, a slender spout to the right and a hoop to carry it."""
    coat = materials.lacquer(look.colours[0], gloss=0.25, peel=0.00011)
    drum = mm("1 2, 60 2, 64 0, 65.5 2, 65.5 4, 63.5 5.5, 63 8, 63 12, 64 13.5, 64 15.5, 63 17")
    drum += mm("62.6 20, 59.4 100, 59.3 104, 60.3 105.5, 60.3 107.5, 59.2 109, 59 114, 59.5 117")
    drum += mm("58.5 119.5, 55 120.5, 40 124, 36 125, 36 133, 37 134.5, 36 136, 34.6 135, 34.6 120")
    made = [shapes.lathe(drum, coat, rounds=2, name="drum")]
    dark = shapes.lathe([(0.035, 0.115), (0.001, 0.114)], materials.liquid("1c2322"), rounds=1)
    spout = mm("48 0 20, 72 0 23, 98 0 38, 126 0 75, 160 0 132, 190 0 172, 216 0 194, 246 0 204")
    tube = shapes.sweep(spout, lambda t: 0.0135 - 0.0082 * t**0.55, coat, ends=False, name="spout")
    made += [dark, shapes.thicken(tube, 0.0009)]
    plate = shapes.lathe(mm("22 0, 21 1.8, 15.5 2.6, 14 5"), coat, rounds=2)
    made += shapes.place([plate], at=(0.0595, 0, 0.0215), roll=86)
    brass = materials.metal(BRASS, rough=0.25, wear=0.4)
    tip = shapes.lathe(mm("5.6 0, 6.4 0.6, 6.4 7, 5.4 8, 4.2 7.4, 4 0"), brass, rounds=1)
    made += shapes.place([tip], at=(0.243, 0, 0.2032), roll=74)
    hoop = mm("30 0 127, 22 0 150, -2 0 176, -48 0 184, -92 0 166, -118 0 122, -112 0 76, -88 0 52")
    hoop += mm("-63 0 46")
    made.append(shapes.sweep(hoop, 0.0085, coat, flat=0.3, side=(0, 1, 0), name="hoop"))
    for at, roll in (((0.028, 0, 0.13), 100), ((-0.066, 0, 0.0465), 95)):
        stud = shapes.lathe(mm("1 0, 4 0, 4.2 1, 3 2.4, 1 3"), coat, rounds=1, steps=32)
        made += shapes.place([stud], at=at, roll=-roll)
    return [shapes.wobble(each, 0.0004, 0.08, 2) for each in made]


TEAS = {"black": "BREAKFAST\nBLACK", "green": "GREEN\nSENCHA", "mint": "GARDEN\nMINT"}


@product(
    "loose-leaf-tea",
    main=View(turn=0, pitch=14, fill=0.72),
    second=View(turn=14, pitch=38, fill=0.74),
    detail=View(turn=0, at=(0.004, -0.039, 0.062), pitch=10, width=0.06, blur=0.03),
    dyed=False,
)
def tea_tin(look: Look) -> Shapes:
    """Return the tin of 100 g with its paper label, in the second shot open."""
    coat = materials.lacquer(look.colours[0], gloss=0.35, peel=0.00004)
    tin = materials.metal("c9ccca", rough=0.25, wear=0.5)
    body = mm("1 1, 36 1, 38.5 0, 39 1.5, 39 90")
    neck = mm("38.3 88, 38.3 101, 37.6 101.5, 37.4 100, 37.4 20")
    lid = mm("38.9 90.5, 39.4 90.5, 39.4 106, 38.5 108.5, 34 109, 33 108.2, 1 108.2")
    made = [shapes.lathe(body, coat, rounds=2), shapes.lathe(neck, tin, rounds=1)]
    cover = [shapes.lathe(lid, coat, rounds=2, name="lid")]
    label = []
    for z in (0.03, 0.036, 0.07, 0.076):
        row = [math.radians(-90 + a) for a in range(-42, 43, 2)]
        label.append([(0.03915 * math.cos(a), 0.03915 * math.sin(a), z) for a in row])
    made.append(shapes.grid("label", label, materials.clay(look.colours[1], grain=0.0003)))
    words = TEAS.get(look.code, "ROOIBOS\n& ORANGE")
    for text, size, z in ((words, 0.0085, 0.0605), ("loose leaf tea\n100 g", 0.0042, 0.0415)):
        ink = materials.lacquer("2f2b28", gloss=0.1)
        made.append(shapes.wrap(shapes.lettering(text, size, ink), 0.03922, z))
    if look.shot == "second":
        shapes.place(cover, at=(0.085, -0.03, -0.0905))
        made += leaves(look, 0.0365, 0.082)
    return made + cover


def leaves(look: Look, radius: float, height: float) -> Shapes:
    """Return a heap of rolled tea leaves in a tin."""
    tones = {"black": "3a2a20", "green": "5f6b3c", "mint": "6f8050"}
    leaf = materials.clay(tones.get(look.code, "8a4526"), grain=0.001)
    twist = mm("-5 0 0, -2 0.8 0.4, 2 -0.6 0.3, 5 0.4 0")
    first = shapes.sweep(
        twist, lambda t: 0.0009 * math.sin(0.3 + 2.5 * t), leaf, flat=0.6, steps=6, rounds=1
    )
    made = []
    for _ in range(420):
        r, a = radius * look.chance.random() ** 0.5 - 0.004, look.chance.uniform(0, math.tau)
        at = (r * math.cos(a), r * math.sin(a), height + look.chance.uniform(-0.004, 0.004))
        made += shapes.place(shapes.copy([first]), at=at, turn=look.chance.uniform(0, 360),
            tip=look.chance.uniform(-40, 40), roll=look.chance.uniform(-35, 35))  # fmt: skip
    shapes.place([first], at=(0, 0, height))
    return [first, *made]
