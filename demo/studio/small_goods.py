"""Small goods: candles, soap, pencils, seeds and the clock."""

import math
from collections.abc import Sequence

import bpy
from mathutils import Vector, noise

from . import materials, paper, shapes, weaves
from .frame import View
from .lamps import flame
from .materials import Surface, Tint
from .shapes import Point, Shapes, mm
from .shots import Look, product


def wax(colour: Tint, *, gloss: float = 0.5) -> bpy.types.Material:
    """Return dyed wax: smooth with a bloom, and a little light within."""
    s = Surface("wax", IOR=1.44, Sheen_Weight=0.12, Sheen_Roughness=0.4)
    bloom = s.span(s.noise(0.012, detail=4), 0.3, 0.7, 0.95, 1.04)
    dip = s.noise(0.02, detail=1, where=s.space((1, 1, 2.5)))
    normal = s.bump(dip, 0.0009, s.bump(s.noise(0.003, detail=2), 0.00004))
    rough = s.span(s.noise(0.02, detail=3), 0.3, 0.7, 0.55 - 0.3 * gloss, 0.7 - 0.3 * gloss)
    return s.done(Base_Color=s.shade(colour, bloom), Roughness=rough, Normal=normal)


def wick(height: float, long: float, *, burnt: bool = False) -> bpy.types.Object:
    """Return a braided wick that leans a little."""
    path = [(0, 0, height), (0.0003, 0, height + long * 0.5), (0.0018, 0, height + long)]
    cotton = weaves.fibre("2b2724" if burnt else "efe8d8")
    return shapes.sweep(path, 0.0008, cotton, steps=10, name="wick")


SCENTS = {"fig": "FIG", "ced": "CEDAR", "sea": "SEA MIST", "ora": "ORANGE\nBLOSSOM"}


@product(
    "scented-candle",
    main=View(pitch=14, fill=0.66),
    second=View(turn=12, pitch=36, fill=0.68),
    detail=View(at=(0.006, -0.036, 0.048), pitch=16, width=0.062, blur=0.03),
    dyed=False,
)
def scented_candle(look: Look) -> Shapes:
    """Return the candle of 180 g, or of 400, in its heavy glass with a paper label, lit."""
    size = 1.28 if look.options.get("Size") == "400" else 1.0
    outside = mm("1 0.8, 30 0, 36.5 1, 38.5 4, 39 12, 39.5 50, 40 88, 39.8 90, 38.6 90.5")
    glass = [*outside, *mm("37.4 90, 37 87, 36.4 50, 35.8 14, 33 10.5, 20 9.4, 1 9")]
    block = mm("1 8.8, 20 9.2, 33 10.2, 36 14, 36.6 40, 36.8 62, 36.2 63.2, 33 62, 20 60.6, 1 60.2")
    tone = paler(look.colours[0].hex)
    made = [
        shapes.lathe(_sized(glass, size), materials.glass(depth=0.02), name="glass"),
        shapes.lathe(_sized(block, size), wax(tone), rounds=2, name="wax"),
        wick(0.06 * size, 0.009, burnt=True),
        *flame((0.0014, 0, 0.066 * size), 0.62),
    ]
    label = []
    for z in (0.026, 0.03, 0.052, 0.056):
        turn = [math.radians(-90 + a) for a in range(-38, 39, 2)]
        r = (0.0391 + 0.0107 * (z - 0.012)) * size + 0.0003
        label.append([(r * math.cos(a), r * math.sin(a), z * size) for a in turn])
    made.append(shapes.thicken(shapes.grid("label", label, paper.paper("f3ecdd")), 0.00015))
    text, dark = SCENTS.get(look.code, "FIG"), paper.ink("2f2b28")
    lines = (
        (text, 0.0068 if "\n" in text else 0.0085, 0.0425),
        ("rapeseed wax  180 g", 0.0034, 0.0325),
    )
    if size > 1:
        lines = (lines[0], ("rapeseed wax  400 g", 0.0034, 0.0325))
    for words, high, z in lines:
        letters = shapes.lettering(words, high * size, dark)
        made.append(shapes.wrap(letters, (0.0391 + 0.0107 * (z - 0.012)) * size + 0.0004, z * size))
    stripe = [(0.0396 * size + 0.0005, z * size) for z in (0.0495, 0.0508)]
    turn = [math.radians(-90 + a) for a in range(-38, 39, 2)]
    rows = [[(r * math.cos(a), r * math.sin(a), z) for a in turn] for r, z in stripe]
    return [*made, shapes.grid("stripe", rows, paper.ink(look.colours[0]))]


def _sized(profile: list[tuple[float, ...]], size: float) -> list[tuple[float, float]]:
    """Return a profile at a size."""
    return [(r * size, z * size) for r, z in profile]


def paler(hexadecimal: str, part: float = 0.62) -> str:
    """Return a colour that is paler by a part, as a little dye makes wax and soap."""
    cream, own = bytes.fromhex("f4ead6"), bytes.fromhex(hexadecimal)
    return bytes(int(a * part + b * (1 - part)) for a, b in zip(cream, own, strict=True)).hex()


@product(
    "dinner-candles",
    main=View(turn=38, pitch=50, fill=0.84, blur=0.015),
    second=View(turn=-20, pitch=22, fill=0.84, blur=0.03),
    detail=View(turn=38, at=(0.02, 0.0, 0.03), pitch=40, width=0.08, blur=0.02),
)
def dinner_candles(look: Look) -> Shapes:
    """Return three dipped candles, lying, tied with cotton tape."""
    dipped, made = wax(look.colours[0], gloss=0.6), []
    taper = mm(
        "1 0, 8 0, 10.2 1.5, 11 6, 11 60, 10.8 160, 9.8 225, 8.4 240, 5 247, 1.6 249, 1 250.5"
    )
    for k, (y, z) in enumerate(((-0.0112, 0.011), (0.0112, 0.011), (0.0003, 0.0303))):
        one = [shapes.wobble(shapes.lathe(taper, dipped, name="taper"), 0.0006, 0.05, k)]
        one.append(wick(0.249, 0.018 + 0.004 * k))
        shapes.place(one, turn=90 * k)
        made += shapes.place(one, at=(-0.125 + 0.003 * k, y, z), roll=90, turn=0.4 * (k - 1))
    tape = weaves.weave("e6dcc6", thread=0.0006, uneven=0.2)
    hull, r = [], 0.0116
    for start, (y, z) in (
        (30, (0.0003, 0.0303)),
        (150, (-0.0112, 0.0112)),
        (270, (0.0112, 0.0112)),
    ):
        for a in range(start, start + 121, 20):
            t = math.radians(a)
            hull.append((y + r * math.cos(t), z + r * math.sin(t)))
    made.append(band([(0.004, y, z) for y, z in [*hull, hull[0]]], 0.009, tape))
    top = 0.0425
    loops = []
    for side in (-1, 1):
        loops.append([(0.004, side * 0.001, top), (0.004 + side * 0.006, side * 0.012, top + 0.008),
            (0.004 + side * 0.01, side * 0.026, top + 0.002), (0.005 + side * 0.014, side * 0.026,
            top - 0.004), (0.004 + side * 0.006, side * 0.012, top), (0.004, 0, top)])  # fmt: skip
        loops.append([(0.004, 0, top), (0.004 - side * 0.01, side * 0.014, top - 0.002),
            (0.004 - side * 0.026, side * 0.027, 0.016),
            (0.004 - side * 0.034, side * 0.036, 0.001)])  # fmt: skip
    made += [band(each, 0.0075, tape, up=(1, 0.2, 0.3)) for each in loops]
    knot = shapes.box((0.011, 0.009, 0.005), tape, bevel=0.0018)
    return [*made, *shapes.place([knot], at=(0.004, 0, top - 0.0015), turn=12)]


def band(
    path: Sequence[Point], width: float, material: bpy.types.Material, up: Point = (1, 0, 0)
) -> bpy.types.Object:
    """Return a soft tape along a path, its width along x or a given direction."""
    line = shapes.smooth(path, 3)
    rows = []
    for i, point in enumerate(line):
        ahead = (line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]).normalized()
        side = Vector(up)
        side = (side - ahead * side.dot(ahead)).normalized() * width / 2
        rows.append([point + side * k for k in (-1, -0.5, 0, 0.5, 1)])
    return shapes.thicken(shapes.grid("tape", rows, material), 0.0005)


def soap(colour: Tint, flecks: str) -> bpy.types.Material:
    """Return soap cut from a block: waxy and cloudy, with flecks of herbs in it."""
    s = Surface("soap", IOR=1.45, Sheen_Weight=0.1)
    cloud = s.noise(0.016, detail=5, bend=1.2)
    dots = s.times(s.span(s.cells(0.0042), 0.16, 0.1), s.span(s.noise(0.009), 0.48, 0.6))
    tone = s.shade(colour, s.span(cloud, 0.3, 0.7, 0.88, 1.06))
    tone = s.mix(s.times(dots, 0.75), tone, flecks)
    drag = s.noise(0.0011, detail=3, where=s.space((14, 14, 1)))
    normal = s.bump(drag, 0.00016, s.bump(s.noise(0.014, detail=2), 0.0007))
    rough = s.span(cloud, 0.3, 0.7, 0.38, 0.55)
    return s.done(Base_Color=tone, Roughness=rough, Normal=normal)


FLECKS = {"lavender": "5b4a78", "lemon": "6d7440", "cedar": "6d4426", "plain": "cdbf9e"}


@product(
    "olive-soap",
    main=View(turn=-26, pitch=28, fill=0.74, blur=0.03),
    second=View(turn=32, pitch=50, fill=0.74, blur=0.03),
    detail=View(turn=-26, at=(0.002, -0.03, 0.026), pitch=34, width=0.06, blur=0.03),
    dyed=False,
)
def olive_soap(look: Look) -> Shapes:
    """Return a stamped bar that leans on another, which has its band of paper."""
    cut = soap(paler(look.colours[0].hex, 0.4), FLECKS.get(look.code, "6d7440"))
    bars = []
    for seed in (1, 2):
        bar = shapes.box((0.078, 0.056, 0.027), cut, bevel=0.0022, name="bar")
        fine = bar.modifiers.new("fine", "REMESH")
        fine.mode, fine.voxel_size, fine.use_smooth_shade = "VOXEL", 0.0011, True
        mesh = bpy.data.meshes.new_from_object(bar.evaluated_get(
            bpy.context.evaluated_depsgraph_get()))  # fmt: skip
        bar.modifiers.clear()
        bar.data = mesh
        bars.append(shapes.wobble(shapes.wobble(bar, 0.0011, 0.03, seed), 0.0003, 0.006, seed))
    letters = [shapes.lettering("OLIVE", 0.0155, None, 0.0012), shapes.lettering("TALLOWICK",
        0.006, None, 0.0012)]  # fmt: skip
    shapes.place([letters[0]], at=(0, 0.004, 0.0272))
    shapes.place([letters[1]], at=(0, -0.011, 0.0272))
    for each in letters:
        each.modifiers.new("weld", "WELD").merge_threshold = 0.00001
    stamped = shapes.carve(bars[0], letters, 0.00022)
    shapes.place([stamped, *letters], at=(0.012, -0.034, 0.0))
    wrap = shapes.rounded(0.0575, 0.0285, 0.003, 5)
    rows = [[(x, y, z + 0.01375) for y, z in wrap] for x in (-0.021, -0.0205, 0, 0.0205, 0.021)]
    sleeve = shapes.grid("sleeve", rows, paper.paper("efe6d3"), around=True)
    dark = paper.ink("3a3733")
    text = [shapes.lettering("OLIVE OIL SOAP", 0.0042, dark),
        shapes.lettering(look.code.upper() if look.code != "plain" else "UNSCENTED", 0.0064,
            dark), shapes.lettering("100 g", 0.0036, dark)]  # fmt: skip
    for each, y in zip(text, (0.013, 0.001, -0.012), strict=True):
        shapes.place([each], at=(0, y, 0.0281))
    shapes.thicken(sleeve, 0.0002)
    shapes.place([bars[1], sleeve, *text], at=(-0.006, 0.033, 0.0), turn=9)
    return [stamped, bars[1], sleeve, *text]


def pencil(paint: bpy.types.Material, foil: bpy.types.Material) -> Shapes:
    """Return a sharpened hexagonal pencil of 17.5 cm along x, a flat side down."""
    cedar = materials.wood("c48a5c", grain="Z", offset=(0.002, 0.03, 0), gloss=0.15)
    lead = materials.metal("4a4a4c", rough=0.35, wear=0.2)
    rows, levels = [], [0.0, 0.0004, *[0.0004 + 0.0148 * k for k in range(1, 11)]]
    levels += [0.1484 + 0.00045 * k for k in range(59)]
    for z in levels:
        row = []
        for k in range(96):
            a = math.tau * k / 96
            flat = abs((a + math.pi / 6) % (math.pi / 3) - math.pi / 6)
            hexagon = min(0.0036 / math.cos(flat), 0.0039)
            cone = 0.00035 + (0.1748 - z) * 0.195
            trim = 0.0003 if z == 0.0 else 0.0
            r = min(hexagon - trim, cone)
            row.append((r * math.cos(a), r * math.sin(a), z))
        rows.append(row)
    made = shapes.grid("pencil", rows, paint, around=True, caps=(True, True))
    mesh = made.data
    mesh.materials.append(cedar)
    mesh.materials.append(lead)
    for face in mesh.polygons:
        x, y, z = face.center
        r = math.hypot(x, y)
        if z > 0.1698 or (z < 0.0001 and r < 0.002):
            face.material_index = 2
        elif z < 0.0001 or r > 0.0002 + (0.1748 - z) * 0.195 - 0.00005:
            face.material_index = 1 if z > 0.14 or z < 0.0001 else 0
    mesh.set_sharp_from_angle(angle=math.radians(28))
    core = shapes.lathe(mm("0.1 -0.06, 1 -0.06"), lead, rounds=0, steps=24)
    shapes.place([made, core], turn=30)
    shapes.place([made, core], at=(-0.0875, 0, 0.0036), roll=90)
    text = shapes.lettering("MARROWBY   HB", 0.0031, foil, 0.00001)
    shapes.place([text], at=(-0.045, 0, 0.00724))
    return [made, core, text]


@product(
    "pencil-set",
    main=View(turn=48, pitch=62, fill=0.84, blur=0.01),
    second=View(turn=-24, pitch=24, fill=0.84, blur=0.03),
    detail=View(turn=48, at=(0.07, 0.0, 0.004), pitch=48, width=0.05, blur=0.015),
)
def pencil_set(look: Look) -> Shapes:
    """Return six pencils side by side, two of each colour, held by a band of paper."""
    foil = materials.metal("d8c9a0", rough=0.3, wear=0.2)
    paints = [materials.lacquer(each, gloss=0.75, peel=0.00003) for each in look.colours]
    made = []
    for k in range(6):
        one = pencil(paints[k % 3], foil)
        at = (look.chance.uniform(-0.0025, 0.0025), (k - 2.5) * 0.0078, 0)
        made += shapes.place(one, at=at, turn=look.chance.uniform(-0.6, 0.6))
    loop = shapes.rounded(0.0485, 0.0077, 0.0022, 5)
    rows = [[(x - 0.012, y, z + 0.0039) for y, z in loop] for x in (-0.014, 0, 0.014)]
    sleeve = shapes.grid("band", rows, paper.paper("eadfc8"), around=True)
    word = shapes.lettering("SIX PENCILS\nHB", 0.0056, paper.ink("3a3733"))
    shapes.place([word], at=(-0.012, 0, 0.0079), turn=-90)
    return [*made, shapes.thicken(sleeve, 0.0002), word]


def pane() -> bpy.types.Material:
    """Return a flat pane: clear, with a reflection. It lets light through as it is."""
    s = Surface("pane")
    clear, mirror = s.node("BsdfTransparent"), s.node("BsdfGlossy", Roughness=0.02)
    both = s.node("MixShader")
    tree, facing = s.material.node_tree, s.node("LayerWeight", Blend=0.12)
    for at, socket in enumerate((facing.outputs["Fresnel"], clear.outputs[0], mirror.outputs[0])):
        tree.links.new(socket, both.inputs[at])
    tree.links.new(both.outputs[0], s.nodes["Material Output"].inputs["Surface"])
    return s.material


@product(
    "desk-clock",
    main=View(turn=-14, pitch=8, fill=0.76, blur=0.02),
    second=View(turn=-52, pitch=18, fill=0.74, blur=0.03),
    detail=View(turn=-14, at=(0.04, -0.03, 0.14), pitch=8, width=0.09, blur=0.015),
)
def desk_clock(look: Look) -> Shapes:
    """Return the clock, 20 cm across, on its two feet: ten past ten."""
    coat = materials.lacquer(look.colours[0], gloss=0.3, peel=0.00011)
    dark = paper.ink("2c2d2f")
    case = mm("1 -22, 92 -22, 98 -18, 100 -10, 100 20, 98.5 24, 95.5 25, 93.5 24, 93 20, 93 12")
    made = [shapes.lathe(case, coat, steps=192, name="case")]
    face = shapes.lathe(mm("93.5 12, 1 12"), paper.paper("f4efe2", tooth=0.00002), rounds=0)
    made.append(face)
    for k in range(60):
        long, wide = (
            (0.012, 0.0028) if k % 15 == 0 else (0.009, 0.0018) if k % 5 == 0 else (0.004, 0.0007)
        )
        tick = shapes.box((wide, long, 0.0002), dark, bevel=0.0)
        shapes.place([tick], at=(0, 0.086 - long / 2, 0.012))
        made += shapes.place([tick], turn=-6 * k)
    for k in range(1, 13):
        a = math.radians(90 - 30 * k)
        number = shapes.lettering(str(k), 0.0165, dark)
        made += shapes.place([number], at=(0.0665 * math.cos(a), 0.0665 * math.sin(a), 0.0122))
    hands = ((-56, 0.05, 0.0052, 0.0135, dark), (54, 0.074, 0.0036, 0.0148, dark),
        (200, 0.08, 0.0011, 0.016, materials.lacquer(look.colours[1], gloss=0.4)))  # fmt: skip
    for turn, long, wide, z, surface in hands:
        tail = 0.02 if wide < 0.002 else 0.012
        line = [(-wide / 2, -tail), (wide / 2, -tail), (wide * 0.36, long), (-wide * 0.36, long)]
        hand = shapes.extrude(line, 0.0007, surface, bevel=0.0002)
        made += shapes.place([hand], at=(0, 0, z), turn=-turn)
    boss = shapes.lathe(mm("1 12, 5 12, 5 17, 4 18, 1 18"), hands[2][4], rounds=1, steps=48)
    cover = shapes.lathe(mm("93 21, 60 22.6, 1 23.4, 1 22.4, 60 21.6, 93 20"), pane(), rounds=1)
    made += [boss, cover]
    shapes.place(made, at=(0, 0, 0.112), tip=90)
    shapes.place(made, tip=0)
    for side in (-1, 1):
        foot = shapes.lathe(
            mm("1 0, 5 0, 6.5 2, 7 6, 9 30, 9.5 40, 1 40"), coat, rounds=2, steps=48
        )
        at = (side * 0.052, 0.0, 0.0)
        made += shapes.place([foot], at=at, roll=-side * 26)
    return made


@product(
    "wildflower-seeds",
    main=View(turn=-10, pitch=60, fill=0.74, blur=0.015),
    second=View(turn=28, pitch=30, fill=0.76, blur=0.03),
    detail=View(turn=-10, at=(0.004, 0.02, 0.006), pitch=50, width=0.06, blur=0.015),
    dyed=False,
)
def wildflower_seeds(look: Look) -> Shapes:
    """Return the printed packet, its top folded over, with some seeds beside it."""

    def bend(x: float, y: float) -> float:
        """Return how far the packet stands off: it is full below and flat at its edges."""
        part = max(0.0, 1 - (x / 0.0445) ** 2) * max(0.0, 1 - ((y + 0.008) / 0.057) ** 2)
        crease = 0.0009 * (1 - abs(noise.noise(Vector((x, y * 0.6, 1)) / 0.03))) ** 4
        return 0.0008 + 0.0055 * part**0.7 + crease * (0.3 + part)

    kraft = paper.paper(look.colours[0], tooth=0.0001)
    made = [paper.leaf(0.09, 0.13, kraft, bend=bend, name="front"), paper.leaf(0.09, 0.13, kraft)]
    xs = [0.045 * (k / 10 - 1) for k in range(21)]
    flap = [[(x * (1 - 0.03 * t), 0.065 - 0.017 * t, bend(x, 0.065 - 0.017 * t) + 0.0007
        + 0.0012 * t) for x in xs] for t in (0, 0.3, 0.6, 1)]  # fmt: skip
    made.append(shapes.thicken(shapes.grid("flap", flap, kraft), -0.0003))
    dark, leafy, bloom = paper.ink("3b4a37"), paper.ink("6d8058"), paper.ink(look.colours[1])
    title = {"meadow": "Meadow", "bees": "Bees & butterflies", "sun": "Dry & sunny"}
    name = title.get(look.code, "Meadow")
    lines = (("WILDFLOWER SEEDS", 0.0056, 0.036), (name, 0.0082, 0.026))
    for text, size, y in (*lines, ("12 g for 4 m²", 0.004, -0.059)):
        made.append(paper.words(text, size, dark, (0, y), bend))
    made += _meadow(look, bend, leafy, (bloom, paper.ink("d9a441"), paper.ink("8a6f9c")))
    grain = shapes.lathe(
        mm("0.1 0, 0.7 0.4, 0.9 1.2, 0.5 2.2, 0.1 2.6"), materials.wood("7a5338"), steps=12
    )
    for _ in range(46):
        a, r = look.chance.gauss(-0.7, 0.5), abs(look.chance.gauss(0.022, 0.012))
        at = (0.045 + r * math.cos(a), -0.05 + r * math.sin(a), 0.0008)
        made += shapes.place(shapes.copy([grain]), at=at, turn=look.chance.uniform(0, 360), tip=90)
    grain.hide_render = True
    return made


def _meadow(
    look: Look, bend: paper.Bend, leafy: bpy.types.Material, blooms: Sequence[bpy.types.Material]
) -> Shapes:
    """Return the printed flowers: stems, leaves and petals on the front of the packet."""
    made = []
    stems = ((-0.03, -0.006, 5), (-0.02, 0.006, 8), (-0.008, -0.002, 6), (0.003, 0.011, 9),
        (0.014, -0.004, 5), (0.023, 0.008, 7), (0.033, -0.008, 6))  # fmt: skip
    for k, (x, top, petals) in enumerate(stems):
        foot = x * 0.8 + 0.002 * math.sin(3 * k)
        made.append(paper.rule((foot, -0.05), (x, top), 0.0007, leafy, bend))
        for j in range(3):
            y = -0.044 + (top + 0.036) * j / 3
            at = foot + (x - foot) * (y + 0.05) / (top + 0.05)
            tip = (at + 0.0038 * (-1) ** (j + k), y + 0.0056)
            made.append(paper.rule((at, y), tip, 0.002, leafy, bend))
        size = 0.0046 + 0.0007 * (k % 3)
        for j in range(petals):
            a = math.tau * j / petals + k
            ends = (x + 0.0012 * math.cos(a), top + 0.0012 * math.sin(a)), (x + size * math.cos(a),
                top + size * math.sin(a))  # fmt: skip
            wide = 6.0 * size / petals * 0.62
            made.append(paper.rule(*ends, wide, blooms[(k * 2) % 3 if k % 2 else 0], bend))
        heart = [(x + 0.0014 * math.cos(t), top + 0.0014 * math.sin(t)) for t in
                 (math.tau * i / 16 for i in range(16))]  # fmt: skip
        rows = [[(px, py, bend(px, py) + paper.PRINT + 0.00005) for px, py in heart]]
        rows.append([(x, top, bend(x, top) + paper.PRINT + 0.00005)] * 16)
        made.append(shapes.grid("heart", rows, blooms[1], around=True))
    return made
