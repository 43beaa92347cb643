"""Paper: notebooks, pads, letter paper and bend packets, with their sheets, rules and words."""

import math
from collections.abc import Callable, Sequence

import bpy
import numpy as np
from mathutils import Vector, noise

from . import materials, shapes, weaves
from .frame import View
from .materials import Surface, Tint
from .shapes import Point, Shapes
from .shots import Look, product

CREAM = "f4eee0"
# How high print lies on a sheet: enough for a leaf's own thickness.
PRINT = 0.00032
Bend = Callable[[float, float], float]


def paper(colour: Tint = CREAM, *, laid: float = 0.0, tooth: float = 0.00006) -> bpy.types.Material:
    """Return uncoated paper, with the lines of the mould if it is `laid`."""
    s = Surface("paper", Roughness=0.9, Specular_IOR_Level=0.15)
    pulp = s.noise(0.0011, detail=4)
    cloud = s.span(s.noise(0.02, detail=3), 0.25, 0.75, 0.975, 1.02)
    fleck = s.span(s.noise(0.0016, detail=0), 0.7, 0.8, 1.0, 0.93)
    level = s.times(cloud, fleck, s.span(pulp, 0.25, 0.75, 0.97, 1.02))
    normal = s.bump(pulp, tooth)
    if laid:
        place = s.node("SeparateXYZ", Vector=s.space())
        line = s.math("SINE", s.times(place.outputs["Y"], math.tau / 0.0012))
        chain = s.math("SINE", s.times(place.outputs["X"], math.tau / 0.024))
        mould = s.math("ADD", line, s.span(chain, 0.97, 1.0, 0.0, 1.2))
        level = s.times(level, s.span(mould, -1, 1, 1 - 0.06 * laid, 1.0))
        normal = s.bump(mould, 0.00007 * laid, normal)
    return s.done(Base_Color=s.shade(colour, level), Normal=normal)


def edges(colour: Tint = CREAM) -> bpy.types.Material:
    """Return the side of a stack of sheets."""
    s = Surface("edges", Roughness=0.9, Specular_IOR_Level=0.15)
    sheets = s.noise(0.00022, detail=1, where=s.space((60, 60, 1)))
    sections = s.noise(0.0014, detail=0, where=s.space((60, 60, 1)))
    level = s.times(s.span(sheets, 0.3, 0.7, 0.78, 1.03), s.span(sections, 0.3, 0.7, 0.93, 1.02))
    return s.done(Base_Color=s.shade(colour, level), Normal=s.bump(sheets, 0.00025))


def board(colour: Tint) -> bpy.types.Material:
    """Return dyed board: fibres of other tones, edges rubbed pale."""
    s = Surface("board", Roughness=0.8, Specular_IOR_Level=0.2)
    fibre = s.noise(0.0009, detail=5, bend=1.5)
    cloud = s.span(s.noise(0.03, detail=4), 0.25, 0.75, 0.94, 1.04)
    rubbed = s.span(s.node("NewGeometry").outputs["Pointiness"], 0.52, 0.6, 0, 0.3)
    tone = s.shade(colour, s.times(cloud, s.span(fibre, 0.3, 0.7, 0.88, 1.08)))
    return s.done(Base_Color=s.mix(rubbed, tone, "e9e2d4"), Normal=s.bump(fibre, 0.00008))


def ink(colour: Tint) -> bpy.types.Material:
    """Return printing ink: flat, and a little patchy."""
    s = Surface("ink", Roughness=0.7, Specular_IOR_Level=0.2)
    return s.done(Base_Color=s.shade(colour, s.span(s.noise(0.0008), 0.2, 0.8, 0.9, 1.08)))


def flat(x: float, y: float) -> float:
    """Return the height of a sheet that does not bend."""
    return 0.0


def leaf(
    width: float,
    height: float,
    material: bpy.types.Material,
    *,
    bend: Bend = flat,
    corner: float = 0.0004,
    thick: float = 0.00025,
    deckle: float = 0.0,
    left: float | None = None,
    name: str = "leaf",
) -> bpy.types.Object:
    """Return a sheet about the origin. `left` is the corner at -x, if it differs."""
    rows = []
    for y in (height / 2 * math.sin(math.pi / 2 * k / 40) for k in range(-40, 41)):
        ends = []
        for side, r in ((-1, corner if left is None else left), (1, corner)):
            over = max(0.0, abs(y) - (height / 2 - r))
            cut = r - math.sqrt(max(0.0, r * r - over * over))
            rough = deckle * noise.noise(Vector((side * 3, y / 0.006, 0)))
            ends.append(side * (width / 2 - cut) + rough)
        rows.append([(x, y + deckle * noise.noise(Vector((x / 0.006, 5, math.copysign(1, y)))),
            bend(x, y)) for x in np.linspace(*ends, 60)])  # fmt: skip
    made = shapes.grid(name, rows, material)
    solid = shapes.thicken(made, thick).modifiers["wall"]
    solid.offset = 1
    return made


def bound(made: bpy.types.Object, bevel: float) -> bpy.types.Object:
    """Round the edges of a board."""
    edge = made.modifiers.new("edge", "BEVEL")
    edge.width, edge.segments, edge.limit_method = bevel, 3, "ANGLE"
    edge.angle_limit, edge.harden_normals = math.radians(50), True
    return made


def rule(
    start: Point, end: Point, width: float, material: bpy.types.Material, bend: Bend = flat
) -> bpy.types.Object:
    """Return a bend line from one (x, y) to another, on a sheet that bends."""
    a, b = Vector(start), Vector(end)
    side = Vector((-(b - a).y, (b - a).x)).normalized() * width / 2
    line = [a.lerp(b, k / 24) for k in range(25)]
    rows = [[(*(p + side * s), bend(p.x, p.y) + PRINT) for s in (-1, 1)] for p in line]
    return shapes.grid("rule", rows, material)


def words(
    text: str, size: float, material: bpy.types.Material, at: Point, bend: Bend = flat
) -> bpy.types.Object:
    """Return bend words, centred on an (x, y) of a sheet that bends."""
    made = shapes.lettering(text, size, material, 0.00003)
    for vert in made.data.vertices:
        x, y = vert.co.x + at[0], vert.co.y + at[1]
        vert.co = (x, y, bend(x, y) + PRINT + vert.co.z)
    return made


def ruled(colour: Tint, kind: str) -> bpy.types.Material:
    """Return a page: plain, or with lines or dots bend on it."""
    s = Surface("page", Roughness=0.9, Specular_IOR_Level=0.15)
    place = s.node("SeparateXYZ", Vector=s.space())
    step = 0.007 if kind == "LINE" else 0.005
    x, y = (s.math("ABSOLUTE", s.math("SUBTRACT", s.math("FRACT", s.math("DIVIDE",
        place.outputs[axis], step)), 0.5)) for axis in "XY")  # fmt: skip
    far = y if kind == "LINE" else s.math("SQRT", s.math("ADD", s.times(x, x), s.times(y, y)))
    part = s.span(far, 0.035, 0.02) if kind == "LINE" else s.span(far, 0.07, 0.04)
    pulp = s.noise(0.0011, detail=4)
    tone = s.mix(s.times(part, 0.0 if kind == "PLAIN" else 0.5), colour, "8b8f93")
    level = s.span(pulp, 0.25, 0.75, 0.97, 1.02)
    return s.done(Base_Color=s.shade(tone, level), Normal=s.bump(pulp, 0.00005))


def bookcloth(colour: Tint) -> bpy.types.Material:
    """Return cloth on boards: a fine, even weave with slubs."""
    return weaves.weave(colour, thread=0.00052, uneven=0.3, depth=0.00016, sheen=0.05)


def ribbon(path: Sequence[Point], colour: Tint, width: float = 0.006) -> bpy.types.Object:
    """Return a satin ribbon along a path."""
    s = Surface("ribbon", Roughness=0.45, Sheen_Weight=0.3)
    thread = s.noise(0.0003, detail=1, where=s.space((20, 1, 1), uv=True))
    silk = s.done(Base_Color=s.shade(colour, s.span(thread, 0.2, 0.8, 0.85, 1.08)),
        Normal=s.bump(thread, 0.0001))  # fmt: skip
    line = shapes.smooth(path, 3)
    rows = []
    for i, point in enumerate(line):
        ahead = (line[min(i + 1, len(line) - 1)] - line[max(i - 1, 0)]).normalized()
        side = Vector((-ahead.y, ahead.x, 0)).normalized() * width / 2
        rows.append(
            [point + side * k + Vector((0, 0, 0.0004 * k * k)) for k in (-1, -0.5, 0, 0.5, 1)]
        )
    return shapes.thicken(shapes.grid("ribbon", rows, silk), 0.0003)


def cover(thick: float, cloth: bpy.types.Material) -> bpy.types.Object:
    """Return a bound cover, closed, its spine at -x: two boards with a groove beside the spine."""
    high, wall = thick, 0.0021
    half = [(0.074, 0.0), (-0.055, 0.0), (-0.058, 0.0), (-0.0605, 0.0011), (-0.063, 0.0011),
        (-0.066, 0.0001), (-0.0715, 0.0002), (-0.0752, 0.0016), (-0.0765, high / 2)]  # fmt: skip
    section = [*half, *[(x, high - z) for x, z in reversed(half[:-1])]]
    line = shapes.smooth(section, 2)
    rows = [[(p.x, y, p.y) for p in line] for y in np.linspace(-0.105, 0.105, 30)]
    made = shapes.thicken(shapes.grid("cover", rows, cloth), wall)
    return bound(made, 0.0009)


@product(
    "a5-notebook",
    main=View(turn=-24, pitch=52, fill=0.76, blur=0.02),
    second=View(turn=-16, pitch=40, fill=0.84, blur=0.03),
    detail=View(turn=-24, at=(-0.045, -0.085, 0.016), pitch=40, width=0.085, blur=0.02),
)
def a5_notebook(look: Look) -> Shapes:
    """Return the cloth-bound notebook with its ribbon, closed or open in its middle."""
    cloth, sides = bookcloth(look.colours[0]), edges()
    if look.shot == "second":
        return _open_book(look, cloth, sides)
    thick = 0.0165
    block = shapes.box((0.1395, 0.2045, thick - 0.0046), sides, bevel=0.0006, name="block")
    made = [cover(thick, cloth), *shapes.place([block], at=(0.0005, 0, 0.0023))]
    tail = [(-0.03, -0.09, 0.008), (-0.03, -0.104, 0.008), (-0.029, -0.113, 0.006),
        (-0.022, -0.122, 0.0008), (-0.008, -0.137, 0.0006), (0.0, -0.156, 0.0006)]  # fmt: skip
    made.append(ribbon(tail, look.colours[1]))
    foil = shapes.lettering("MARROWBY", 0.0062, ink(look.colours[1]), 0.00002)
    shapes.place([foil], at=(0.045, -0.088, thick + 0.00018))
    return [*shapes.place([*made, foil], at=(0, 0, 0.0002))]


def _open_book(look: Look, cloth: bpy.types.Material, sides: bpy.types.Material) -> Shapes:
    """Return the notebook, open flat, with its pages ruled."""
    page = ruled(CREAM, look.options.get("Ruling", "LINE"))
    made = [bound(leaf(0.303, 0.21, cloth, thick=0.0022, name="cover"), 0.0008)]
    for side, full in ((-1, 0.0062), (1, 0.0072)):

        def top(x: float, full: float = full) -> float:
            """Return the height of the stack at a distance from the fold."""
            t = min(1.0, x / 0.022)
            return 0.0024 + full * (1 - (1 - t) ** 2.2) - 0.0016 * (x / 0.14) ** 2

        xs = [0.141 * (k / 60) ** 1.4 for k in range(61)]
        for z, name, surface in ((0.0, "stack", sides), (0.00022, "page", page)):
            rows = []
            for y in np.linspace(-0.1025, 0.1025, 12):
                row = [(side * (x + (0.0008 if z else 0)), y, top(x) + z) for x in xs]
                if not z:
                    row += [(side * xs[-1], y, 0.0023), (0, y, 0.0023)]
                rows.append(row)
            caps = (not z, not z)
            made.append(shapes.grid(name, rows, surface, around=not z, caps=caps))
            if not z:
                made[-1].data.set_sharp_from_angle(angle=math.radians(40))
        number = words("96" if side < 0 else "97", 0.0038, ink("7c7f83"), (side * 0.128, -0.094))
        made += shapes.place([number], at=(0, 0, top(0.128) + 0.0003))
    tail = [(0.004, 0.1, 0.005), (0.006, 0.03, 0.0066), (0.0075, -0.06, 0.0072),
        (0.008, -0.1, 0.0068), (0.014, -0.113, 0.0012), (0.03, -0.135, 0.0007)]  # fmt: skip
    return [*made, ribbon(tail, look.colours[1])]


@product(
    "pocket-notebooks",
    main=View(turn=-12, pitch=58, fill=0.78, blur=0.015),
    second=View(turn=-30, pitch=26, fill=0.8, blur=0.03),
    detail=View(turn=-12, at=(-0.048, -0.048, 0.012), pitch=36, width=0.07, blur=0.02),
)
def pocket_notebooks(look: Look) -> Shapes:
    """Return three stapled notebooks, fanned."""
    made = []
    laid = ((0.03, 0.006, 0.0, -24), (0.0, 0.0, 0.0046, -3), (-0.036, -0.006, 0.0092, 15))
    for i, (x, y, z, turn) in enumerate(laid):
        made += shapes.place(stapled(look.colours[i], i), at=(x, y, z), turn=turn)
    return made


def stapled(colour: Tint, seed: int) -> Shapes:
    """Return a stapled notebook of 9 by 14 cm, whose cover springs open a little."""

    def bend(x: float, y: float) -> float:
        """Return how far the cover stands off."""
        t = max(0.0, (x + 0.045) / 0.09)
        return 0.0012 * t**2 + 0.0005 * t * noise.noise(Vector((x, y, seed)) / 0.05)

    card, inner = board(colour), paper()
    made = [leaf(0.09, 0.14, card, corner=0.008, left=0.0003, thick=0.0004, name="back")]
    for k in range(6):
        sheet = leaf(0.0893 - 0.0001 * k, 0.1393, inner, corner=0.008, left=0.0003, thick=0.00052,
            bend=lambda x, y, k=k: bend(x, y) * k / 7)  # fmt: skip
        made += shapes.place([sheet], at=(-0.0002, 0, 0.0004 + 0.00055 * k))
    front = leaf(0.09, 0.14, card, corner=0.008, left=0.0003, thick=0.0004, bend=bend, name="front")
    made += shapes.place([front], at=(0, 0, 0.0039))
    fold = [(-0.0449, y, 0.00215) for y in np.linspace(-0.0699, 0.0699, 20)]
    made.append(shapes.sweep(fold, 0.00215, card, rounds=0, steps=20, flat=0.5, side=(0, 0, 1)))
    steel = materials.metal("c3c7c9", rough=0.25)
    for y in (-0.035, 0.035):
        wire = [(-0.0452, y - 0.006, 0.0021), (-0.0461, y - 0.0055, 0.0021),
            (-0.0461, y + 0.0055, 0.0021), (-0.0452, y + 0.006, 0.0021)]  # fmt: skip
        made.append(shapes.sweep(wire, 0.0003, steel, rounds=2, steps=10))
    dark = ink("f1eadb" if seed == 0 else "3a3733")
    for text, size, y in (("MARROWBY", 0.0052, 0.004), ("48 dotted pages", 0.0034, -0.0035)):
        line = words(text, size, dark, (0.004, y + 0.036), bend)
        made += shapes.place([line], at=(0, 0, 0.0044))
    return made


@product(
    "sketchbook",
    main=View(turn=-18, pitch=54, fill=0.78, blur=0.015),
    second=View(turn=-10, pitch=42, fill=0.84, blur=0.02),
    detail=View(turn=-18, at=(-0.066, -0.06, 0.016), pitch=36, width=0.08, blur=0.02),
)
def sketchbook(look: Look) -> Shapes:
    """Return the A5 book on its steel spiral, closed, or open at a drawing."""
    card, sheets = board(look.colours[0]), paper(tooth=0.00012)
    opened = look.shot == "second"
    pitch, count, x0, radius = 0.0066, 31, -0.068, 0.0098
    ys = [pitch * (k - (count - 1) / 2) for k in range(count)]
    holes = [shapes.circle(0.0019, 14, at=(x0, y)) for y in ys]
    outline = shapes.rounded(0.148, 0.21, 0.004)
    made, z = [], 0.0
    layers = [(0.0022, board("8d7f6c"), 0), *[(0.0018, sheets, k) for k in range(6)]]
    layers += [] if opened else [(0.0009, card, 0)]
    for thick, surface, seed in layers:
        drift = 0.0005 * math.sin(2.4 * seed)
        plate = shapes.extrude(outline, thick - 0.0001, surface, bevel=0.0003, holes=holes)
        made += shapes.place([plate], at=(drift, -drift, z))
        z += thick
    if opened:
        turned = shapes.extrude([(-x - 0.15, y) for x, y in outline][::-1], 0.0009, card,
            bevel=0.0003, holes=[[(-x - 0.15, y) for x, y in each] for each in holes])  # fmt: skip
        made += shapes.place([turned], at=(0.0, 0, 0.0005)) + _drawing(z)
    wire, turns = [], count
    for k in range(turns * 28 + 1):
        a = math.tau * k / 28
        wire.append((x0 - 0.0062 + radius * math.cos(a), ys[0] + pitch * k / 28 - 0.003,
            0.0088 + radius * math.sin(a)))  # fmt: skip
    steel = materials.metal("b9bdc0", rough=0.2, wear=0.2)
    made.append(shapes.sweep(wire, 0.00062, steel, rounds=0, steps=10, side=(0, 1, 0)))
    if not opened:
        for text, size, y in (("SKETCHBOOK", 0.0072, -0.07), ("60 sheets  170 g", 0.0042, -0.08)):
            made += shapes.place([words(text, size, ink("e9e1d0"), (0.012, y))], at=(0, 0, z))
    return shapes.place(made, at=(0, 0, 0.0012))


def _drawing(z: float) -> Shapes:
    """Return a pencil drawing of a jug with a branch on the open page."""
    lead = ink("4c4b4a")
    jug = shapes.mm("-22 30, -25 6, -27 -30, -24 -62, -15 -70, 15 -70, 24 -62, 28 -30, 25 6, 20 30")
    lip = [(0.021 * math.cos(a), 0.03 + 0.005 * math.sin(a)) for a in
           (math.tau * k / 24 for k in range(25))]  # fmt: skip
    ear = shapes.mm("24 14, 42 14, 46 -10, 38 -32, 27 -36")
    stem = shapes.mm("0 30, 4 50, 0 72, 8 92")
    strokes = [jug, lip, ear, stem, shapes.mm("-60 -66, -20 -72"), shapes.mm("22 -72, 62 -69")]
    for k in range(5):
        y, side = 0.045 + 0.011 * k, (-1) ** k
        strokes.append([(0.002, y), (side * 0.012, y + 0.011), (side * 0.026, y + 0.012),
            (side * 0.018, y + 0.002), (0.002, y)])  # fmt: skip
    strokes += [[(-0.022 + 0.0035 * k, -0.02 - 0.002 * k), (-0.016 + 0.003 * k, -0.062)]
                for k in range(5)]  # fmt: skip
    made = []
    for k, stroke in enumerate(strokes):
        path = [(x + 0.008, y, z + 0.0001) for x, y in stroke]
        line = shapes.sweep(path, lambda t, k=k: 0.00022 + 0.00016 * abs(math.sin(5 * t + k)), lead,
            flat=0.1, steps=6)  # fmt: skip
        made.append(shapes.wobble(line, 0.0005, 0.012, k))
    return made


@product(
    "letter-set",
    main=View(turn=-10, pitch=62, fill=0.82, blur=0.012),
    second=View(turn=24, pitch=30, fill=0.84, blur=0.03),
    detail=View(turn=-10, at=(0.03, -0.03, 0.012), pitch=50, width=0.09, blur=0.015),
)
def letter_set(look: Look) -> Shapes:
    """Return sheets of laid paper with a deckle edge, and envelopes with a coloured lining."""
    laid, inner = paper(look.colours[0], laid=1.0), paper(look.colours[1])
    made = []
    for k in range(8):
        sheet = leaf(0.148, 0.21, laid, deckle=0.0011, thick=0.00036,
            bend=lambda x, y, k=k: 0.0012 * (k / 8) ** 2 * ((x / 0.07) ** 2 + y / 0.1))  # fmt: skip
        at = (look.chance.uniform(-0.001, 0.001), look.chance.uniform(-0.001, 0.001), 0.0005 * k)
        made += shapes.place([sheet], at=at, turn=look.chance.uniform(-0.8, 0.8))
    shapes.place(made, at=(-0.03, 0.03, 0), turn=6)
    for k, (x, y, turn) in enumerate(((0.055, -0.045, -10), (0.036, -0.06, 5))):
        made += shapes.place(envelope(laid, inner, opened=k == 1), at=(x, y, 0.0062 + 0.0032 * k),
            turn=turn)  # fmt: skip
    return made


def envelope(laid: bpy.types.Material, lining: bpy.types.Material, *, opened: bool) -> Shapes:
    """Return an envelope of 16.2 by 11.4 cm, its back up and its flap open or closed."""
    wide, high = 0.162, 0.114

    def puff(x: float, y: float) -> float:
        """Return how far the envelope stands off."""
        return 0.0014 * (1 - (2 * x / wide) ** 2) * (1 - (2 * y / high) ** 2)

    made = [leaf(wide, high, laid, thick=0.0002, corner=0.001, name="front")]
    for side in (-1, 1):
        rows = [[(side * (wide / 2 - t * 0.083), y * (1 - 0.9 * t) - 0.006 * t,
            0.0006 + puff(side * (wide / 2 - t * 0.083), y * (1 - t)) + 0.0002 * t)
            for y in np.linspace(-high / 2, high / 2, 24)]
            for t in np.linspace(0, 1, 24)]  # fmt: skip
        made.append(shapes.thicken(shapes.grid("side", rows, laid), 0.0002))
    for name, sign, reach in (("bottom", -1, 0.08), ("flap", 1, 0.062)):
        rows = []
        for t in np.linspace(0, 1, 30):
            half = wide / 2 * (1 - t) ** 0.92 + 0.006 * t * (1 - t) + 0.004 * math.sqrt(1 - t)
            half = min(half, wide / 2)
            y = sign * (high / 2 - reach * t)
            z = 0.0011 + 0.0003 * sign
            if name == "flap" and opened:
                y = high / 2 + reach * t * 0.94
            rows.append([(x, y, (0.002 + 0.016 * t**1.5) if name == "flap" and opened else
                z + puff(x, y)) for x in np.linspace(-half, half, 30)])  # fmt: skip
        made.append(shapes.thicken(shapes.grid(name, rows, laid), 0.00022))
        if name == "flap" and opened:
            inset = [[(x * 0.93, y - 0.0008, z + 0.0004) for x, y, z in row] for row in rows[:-2]]
            made.append(shapes.grid("lining", inset, lining))
            pocket = [[(x, high / 2 - 0.001 - t * 0.03, 0.0009) for x in
                np.linspace(-wide / 2 + 0.004, wide / 2 - 0.004, 8)] for t in (0, 1)]  # fmt: skip
            made.append(shapes.grid("lining", pocket, lining))
    return made


@product(
    "desk-planner",
    main=View(turn=-14, pitch=56, fill=0.84, blur=0.012),
    second=View(turn=26, pitch=28, fill=0.84, blur=0.03),
    detail=View(turn=-14, at=(0.085, 0.05, 0.007), pitch=46, width=0.12, blur=0.015),
)
def desk_planner(look: Look) -> Shapes:
    """Return the pad of 54 sheets for the week, a corner of its first sheet curled."""
    wide, high, z = 0.297, 0.21, 0.0072
    tone, grey = ink(look.colours[0]), ink("a6a59f")

    def bend(x: float, y: float) -> float:
        """Return how the first sheet lifts at the corner to the right."""
        far = max(0.0, (x - 0.04) / 0.11 + (-y - 0.02) / 0.09 - 0.62)
        return z + 0.0002 + 0.016 * far**2.2 + 0.0004 * max(0.0, -y / 0.1)

    made = [shapes.box((wide, high, 0.0014), board("a08e74"), bevel=0.0003, name="back")]
    block = shapes.box((wide - 0.0004, high - 0.0004, z - 0.0014), edges("f1ece0"), bevel=0.0002)
    made += shapes.place([block], at=(0, 0, 0.0014))
    made.append(leaf(wide, high, paper("f1ece0"), bend=bend, thick=0.0001))
    head = [[(x, y, bend(x, y) + PRINT) for x in np.linspace(-wide / 2, wide / 2, 40)]
            for y in (0.083, 0.0945, high / 2)]  # fmt: skip
    made.append(shapes.grid("head", head, tone))
    made.append(words("THE WEEK", 0.0078, ink("f6f1e6"), (-0.115, 0.094), bend))
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    column = 0.0345
    for k, day in enumerate(days):
        x = -wide / 2 + 0.008 + column * (k + 0.5)
        made.append(words(day, 0.0056, tone, (x, 0.073), bend))
        made.append(rule((x + column / 2, 0.078), (x + column / 2, -0.096), 0.00035, grey, bend))
        for row in range(13):
            y = 0.062 - 0.0125 * row
            ends = (x - column / 2 + 0.003, y), (x + column / 2 - 0.003, y)
            made.append(rule(*ends, 0.00022, grey, bend))
    made.append(words("Not to\nforget", 0.0056, tone, (0.1215, 0.07), bend))
    for row in range(11):
        y = 0.05 - 0.0135 * row
        made.append(rule((0.1045, y), (0.138, y), 0.00022, grey, bend))
    return made
