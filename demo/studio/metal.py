"""Metal: enamelled, cast, ground and turned goods of the kitchen and the desk."""

import math

import bpy
from mathutils import Vector

from . import materials, shapes
from .ceramics import thrown
from .frame import View
from .materials import Colour
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
        (r - 0.006, 0, 0.034),
        (r + 0.015, 0, 0.037),
        (r + 0.045, 0, 0.043),
        (r + 0.07, 0, 0.046),
    ]
    arm = shapes.sweep(neck, lambda t: 0.016 - 0.006 * math.sin(math.pi * min(1, t * 1.3)), iron,
        flat=0.5, side=(0, 1, 0))  # fmt: skip
    grip = [
        (r + 0.064, 0, 0.0455),
        (r + 0.1, 0, 0.05),
        (r + 0.14, 0, 0.0535),
        (r + 0.185, 0, 0.056),
    ]
    oak = materials.wood("c79a63", offset=(0, 0.03, 0.05), gloss=0.45)
    handle = shapes.sweep(grip, lambda t: 0.0105 + 0.0045 * math.sin(2.6 * t + 0.25), oak,
        flat=0.72, side=(0, 1, 0), rounds=4)  # fmt: skip
    return [pan, arm, handle]


def blade(length: float, material: bpy.types.Material) -> bpy.types.Object:
    """Return a cook's blade along x, its edge to -y, ground from the spine to nothing."""
    rows = []
    for i in range(61):
        t = i / 60
        spine = 0.021 - 0.018 * max(0, t - 0.25) ** 2.2
        edge = -0.026 + 0.033 * max(0.0, (t - 0.3) / 0.7) ** 2.6
        thick = (0.0012 - 0.0007 * t) * (1 if t < 0.995 else 0.4)
        tip = max(spine - edge, 0.0004)
        row = [(t * length, spine, thick), (t * length, spine - 0.45 * tip, thick * 0.8)]
        row += [(t * length, edge + 0.0035, thick * 0.28), (t * length, edge, 0.00004)]
        rows.append(row + [(x, y, -z) for x, y, z in reversed(row)])
    made = shapes.grid("blade", rows, material, around=True, caps=(True, True))
    made.data.set_sharp_from_angle(angle=math.radians(12))
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
    steel = materials.metal("b9bdc0", rough=0.2, brushed=0.9, stretch=(0.5, 90, 1), wear=0.15)
    sides = mm("0 20, -20 17.5, -60 16.5, -100 18.5, -126 19, -134 10, -132 -8, -122 -14")
    sides += mm("-100 -9.5, -60 -7.5, -25 -9, -4 -13.5, 0 -12")
    outline = [(p.x, p.y) for p in shapes.smooth(sides, 2, closed=True)]
    tang = shapes.extrude(outline, 0.0026, steel, bevel=0.0003)
    made = [*shapes.place([blade(0.2, steel)], at=(-0.002, 0, 0.0013)), tang]
    scale = [(x - 0.0006, y) for x, y in outline]
    for i, z in enumerate((0.0004, -0.0062)):
        wood = materials.wood(look.colours[0], offset=(0.3 * i, 0.02, 0.035), gloss=0.5)
        half = shapes.extrude(scale, 0.0084, wood, bevel=0.0022)
        made += shapes.place([half], at=(0, 0, z))
    rivet = mm("1 0, 3.2 0, 3.2 15.2, 2.8 15.4, 1 15.5")
    for x in (-0.022, -0.066, -0.11):
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
    colour = BRASS if look.code == "bra" else "b4babe"
    return materials.metal(colour, rough=0.2, brushed=0.15, wear=0.35, line=0.00008)


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
    barrel = mm("0.8 0, 1.2 0.5, 1.5 3, 1.6 3, 3 10, 4.6 20, 4.9 26")
    groove = mm("5 28, 5 29, 4.5 29.1, 4.5 29.5")
    rings = [(r, z + 0.0016 * i) for i in range(12) for r, z in groove]
    upper = mm("5 49, 5 80, 4.7 80.4, 4.7 81, 5 81.4, 5 126, 4.6 128, 3 128.5, 2.8 128.5, 2.8 137")
    pen = shapes.lathe([*barrel, *rings, *upper, (0.0022, 0.138), (0.001, 0.138)], body, rounds=1)
    pen.data.set_sharp_from_angle(angle=math.radians(35))
    path = mm("-4.5 0 123.5, -7.5 0 124, -7.8 0 120, -6.6 0 100, -5.8 0 86")
    clip = shapes.sweep(path, 0.0021, body, flat=0.28, side=(0, 1, 0))
    shapes.place([pen, clip], turn=-35)
    return shapes.place([pen, clip], at=(-0.069, 0, 0.005), roll=90)


def blade_half(side: int, look: Look) -> Shapes:
    """Return a half of the scissors: a blade along x, and the grip that it ends in."""
    steel = materials.metal("b4b9bd", rough=0.16, stretch=(0.4, 60, 1), wear=0.25)
    line = mm("118 0, 116 2.5, 60 7.5, 8 10.5, -10 8.5, -22 4, -20 -7, -4 -8.5, 20 -6.5, 70 -3")
    outline = [(p.x, p.y * side) for p in shapes.smooth(line, 2, closed=True)]
    made = [shapes.extrude(outline[::side], 0.0026, steel, bevel=0.0005, name="blade")]
    paint = materials.lacquer(look.colours[0], gloss=0.85, peel=0.00005)
    shank = mm("-8 0 1.3, -25 -4 1.5, -42 -14 2")
    loop = []
    for k in range(25):
        a = math.radians(24 + 360 * k / 24)
        loop.append((-0.06 + 0.024 * math.cos(a), -0.0245 + 0.0165 * math.sin(a), 0.002))
    paths = [(shank, lambda t: 0.0052 * min(1.0, 0.1 + 12 * t) ** 0.5), (loop[:-1], 0.0042)]
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
    screw = mm("0.1 5.2, 4.8 5.2, 5.2 5.8, 4 7.2, 0.1 7.6")
    slot = shapes.box((0.0012, 0.012, 0.002), None, bevel=0)
    head = shapes.lathe(screw, steel, rounds=1, name="screw")
    shapes.place([slot], at=(0, 0, 0.0071), turn=35)
    made = shapes.place(blade_half(1, look), at=(0, 0, 0.0022), turn=-9)
    made += shapes.place(blade_half(-1, look), at=(0, 0, 0.0049), turn=9)
    return [*made, *shapes.place([shapes.carve(head, [slot], 0.0001)], at=(0, 0, 0.0022))]


@product(
    "watering-can",
    main=View(turn=8, pitch=12, fill=0.82),
    second=View(turn=-48, pitch=32, fill=0.78),
    detail=View(turn=8, at=(0.03, -0.056, 0.075), pitch=14, width=0.1, blur=0.03),
)
def watering_can(look: Look) -> Shapes:
    """Return the can of 1.2 litres: a drum, a slender spout to the right and a hoop to carry it."""
    coat = materials.lacquer(look.colours[0], gloss=0.25, peel=0.00011)
    drum = mm("1 2, 58 2, 62 0, 63 3, 62 6, 60.5 30, 56 100, 55 115, 55.5 117.5, 53.5 119")
    drum += mm("50 119.5, 36 124, 34 125.5, 32.5 125, 32.5 118")
    made = [shapes.lathe(drum, coat, name="drum")]
    dark = shapes.lathe([(0.033, 0.112), (0.001, 0.11)], materials.liquid("1c2322"), rounds=1)
    spout = mm("45 0 22, 75 0 26, 110 0 50, 140 0 95, 170 0 145, 205 0 178, 245 0 188, 268 0 178")
    tube = shapes.sweep(spout, lambda t: 0.0125 - 0.0068 * t**0.6, coat, ends=False, name="spout")
    made += [dark, shapes.thicken(tube, 0.0008)]
    hoop = mm("20 0 119, 8 0 155, -30 0 188, -85 0 180, -115 0 130, -108 0 75, -85 0 40, -58 0 35")
    made.append(shapes.sweep(hoop, 0.0072, coat, flat=0.55, name="hoop"))
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
