"""What cloth is made of: woven, knitted and piled surfaces, yarn and the loose fibres on them.

Patterns follow the UV map, which is in metres on the flat cloth.
"""

import math

import bpy

from .materials import Number, Socket, Surface, Tint


def cloth_surface(name: str, sheen: float = 0.25) -> Surface:
    """Begin a material of fibres: matt, with a soft bloom at grazing light."""
    s = Surface(name, Roughness=0.92, Specular_IOR_Level=0.18, IOR=1.4)
    s.feed(s.shader, Sheen_Weight=sheen, Sheen_Roughness=0.55)
    return s


def threads(s: Surface, width: float, uneven: float) -> dict[str, Socket]:
    """Return both sets of threads: their profile (`u`, `v`) and their own chance (`ru`, `rv`)."""
    place = s.node("SeparateXYZ", Vector=s.space(uv=True))
    found = {}
    for axis, long in (("u", (1, 60, 1)), ("v", (60, 1, 1))):
        along = place.outputs["X" if axis == "u" else "Y"]
        stray = s.span(s.noise(width * 3, where=s.space(long, uv=True)), 0.2, 0.8, -uneven, uneven)
        turn = s.math("ADD", s.math("DIVIDE", along, width), stray)
        found[axis] = s.math("ABSOLUTE", s.math("SINE", s.times(turn, math.pi)))
        number = s.math("FLOOR", turn)
        found["n" + axis] = number
        white = s.node("TexWhiteNoise", noise_dimensions="1D", W=number)
        found["r" + axis] = white.outputs["Value"]
    return found


def weave(
    colour: Tint,
    *,
    other: Tint | None = None,
    thread: float = 0.0007,
    uneven: float = 0.35,
    depth: float = 0.00022,
    sheen: float = 0.2,
    lines: tuple[tuple[float, float], ...] = (),
    over: int = 1,
    blend: float = 1.0,
) -> bpy.types.Material:
    """Return a plain weave with uneven threads.

    The crossing threads have the `other` colour: in the whole cloth, or in the given `lines` (from,
    to) along v only. `over` is how many threads run side by side, and `blend` how
    strong the other colour is.
    """
    s = cloth_surface("weave", sheen)
    t = threads(s, thread, uneven)
    pair = s.math("ADD", s.math("FLOOR", s.math("DIVIDE", t["nu"], over)), t["nv"])
    top = s.math("MODULO", s.math("ABSOLUTE", pair), 2.0)
    warp = s.times(s.math("POWER", t["u"], 0.6), s.span(t["v"], 0, 1, 0.55, 1.0))
    weft = s.times(s.math("POWER", t["v"], 0.6), s.span(t["u"], 0, 1, 0.55, 1.0))
    under = s.math("SUBTRACT", 1.0, top)
    height = s.math("ADD", s.times(top, warp), s.times(under, weft))
    own = s.math("ADD", s.times(top, t["ru"]), s.times(under, t["rv"]))
    slub = s.math("MAXIMUM",
        s.span(s.noise(thread * 1.2, detail=0, where=s.space((1, 45, 1), uv=True)), 0.62, 0.75),
        s.span(s.noise(thread * 1.2, detail=0, where=s.space((45, 1, 1), uv=True)), 0.62, 0.75),
    )  # fmt: skip
    part: Number = s.times(under, blend) if other else 0.0
    if lines:
        v = s.node("SeparateXYZ", Vector=s.space(uv=True)).outputs["Y"]
        part = 0.0
        for start, end in lines:
            inside = s.times(s.math("GREATER_THAN", v, start), s.math("LESS_THAN", v, end))
            part = s.math("ADD", part, s.times(inside, s.span(under, 0, 1, 0.82, 1.0)))
    tone = s.mix(part, colour, other) if other else s.tint(colour)
    level = s.times(s.span(height, 0.1, 0.9, 0.66, 1.04), s.span(own, 0, 1, 0.9, 1.08))
    level = s.times(level, s.span(slub, 0, 1, 1.0, 1.07))
    level = s.times(level, s.span(s.noise(0.06, detail=4), 0.25, 0.75, 0.95, 1.03))
    relief = s.math("ADD", height, s.times(slub, 0.5 * uneven))
    crumple = s.bump(s.noise(0.012, detail=3), 0.0006 * uneven)
    return s.done(Base_Color=s.shade(tone, level), Normal=s.bump(relief, depth, crumple))


def fibre(
    colour: Tint, *, other: Tint | None = None, sheen: float = 0.3, shade: float = 1.0
) -> bpy.types.Material:
    """Return yarn: each thread has its own tone. Threads of tone 2 have the `other` colour."""
    s = cloth_surface("fibre", sheen)
    tone = s.node("Attribute", attribute_name="tone").outputs["Fac"]
    body = s.mix(s.math("GREATER_THAN", tone, 1.5), colour, other) if other else s.tint(colour)
    own = s.span(s.math("FRACT", tone), 0, 1, 0.93 * shade, 1.05 * shade)
    grain = s.span(s.noise(0.0006, detail=2), 0.25, 0.75, 0.86, 1.08)
    return s.done(Base_Color=s.shade(body, s.times(own, grain)))


def jersey(
    colour: Tint,
    *,
    other: Tint | None = None,
    lines: tuple[float, float, float, float] | None = None,
    wale: float = 0.0011,
    depth: float = 0.00012,
    sheen: float = 0.2,
) -> bpy.types.Material:
    """Return fine knitted cotton: columns of small Vs.

    `lines` are stripes of the `other` colour along v: first, last, distance and width.
    """
    s = cloth_surface("jersey", sheen)
    place = s.node("SeparateXYZ", Vector=s.space(uv=True))
    stray = s.span(s.noise(0.02, detail=3), 0.2, 0.8, -0.4, 0.4)
    column = s.math("ADD", s.math("DIVIDE", place.outputs["X"], wale), stray)
    half = s.math("ABSOLUTE", s.math("SUBTRACT", s.math("FRACT", column), 0.5))
    leg = s.math("SINE", s.times(half, math.tau))
    slope = s.math("ADD", s.math("DIVIDE", place.outputs["Y"], wale * 0.8), s.times(half, 1.6))
    loop = s.math("ABSOLUTE", s.math("SINE", s.times(slope, math.pi)))
    height = s.math("ADD", s.times(leg, 0.6), s.times(leg, loop, 0.5))
    tone = s.tint(colour)
    if other is not None and lines is not None:
        first, last, apart, wide = lines
        y = s.math("ADD", place.outputs["Y"], s.times(loop, wale * 0.3))
        turn = s.math("FRACT", s.math("DIVIDE", s.math("SUBTRACT", y, first), apart))
        part = s.times(s.math("LESS_THAN", turn, wide / apart), s.math("GREATER_THAN", y, first))
        tone = s.mix(s.times(part, s.math("LESS_THAN", y, last)), colour, other)
    level = s.times(
        s.span(height, 0.0, 1.0, 0.82, 1.05), s.span(s.noise(0.0012), 0.3, 0.7, 0.95, 1.04)
    )
    level = s.times(level, s.span(s.noise(0.05, detail=4), 0.25, 0.75, 0.97, 1.02))
    soft = s.bump(s.noise(0.009, detail=3), 0.0004)
    return s.done(Base_Color=s.shade(tone, level), Normal=s.bump(height, depth, soft))


def plain(colour: Tint, *, rough: float = 0.5) -> bpy.types.Material:
    """Return horn, shell or a printed label: smooth, faintly clouded."""
    s = Surface("plain", Roughness=rough, IOR=1.5)
    cloud = s.span(s.noise(0.006, detail=4, bend=1.5), 0.25, 0.75, 0.72, 1.12)
    return s.done(Base_Color=s.shade(colour, cloud))


def corduroy(colour: Tint, *, wale: float = 0.0068) -> bpy.types.Material:
    """Return corduroy: round ridges of pile along v, which shine where they turn away."""
    s = cloth_surface("corduroy", 0.8)
    s.feed(s.shader, Sheen_Roughness=0.3)
    place = s.node("SeparateXYZ", Vector=s.space(uv=True))
    stray = s.span(s.noise(0.03), 0.2, 0.8, -0.1, 0.1)
    turn = s.math("ADD", s.math("DIVIDE", place.outputs["X"], wale), stray)
    ridge = s.math("POWER", s.math("ABSOLUTE", s.math("SINE", s.times(turn, math.pi))), 0.5)
    pile = s.noise(0.0007, detail=2, where=s.space((1, 2.2, 1), uv=True))
    brush = s.span(s.noise(0.035, detail=4), 0.3, 0.7, 0.86, 1.1)
    level = s.times(
        s.span(ridge, 0.1, 0.95, 0.32, 1.05), s.span(pile, 0.25, 0.75, 0.8, 1.15), brush
    )
    relief = s.math("ADD", ridge, s.times(pile, 0.22))
    return s.done(Base_Color=s.shade(colour, level), Normal=s.bump(relief, 0.0016))


def waffle(colour: Tint, *, cell: float, depth: float = 0.0022) -> bpy.types.Material:
    """Return a waffle weave: square hollows between raised threads, in both directions."""
    s = cloth_surface("waffle", 0.25)
    place = s.node("SeparateXYZ", Vector=s.space(uv=True))
    walls = []
    for axis in ("X", "Y"):
        stray = s.span(s.noise(0.05, detail=3), 0.2, 0.8, -0.22, 0.22)
        turn = s.math("ADD", s.math("DIVIDE", place.outputs[axis], cell), stray)
        walls.append(s.math("ABSOLUTE", s.math("COSINE", s.times(turn, math.pi))))
    high = s.math("POWER", s.math("MAXIMUM", *walls), 1.6)
    high = s.math("ADD", high, s.times(walls[0], walls[1], 0.35))
    fine_u = s.noise(0.0011, detail=2, where=s.space((1, 6, 1), uv=True))
    fine_v = s.noise(0.0011, detail=2, where=s.space((6, 1, 1), uv=True))
    grain = s.times(s.math("ADD", fine_u, fine_v), 0.5)
    level = s.times(s.span(high, 0.15, 1.1, 0.62, 1.04), s.span(grain, 0.3, 0.7, 0.86, 1.08))
    relief = s.math("ADD", high, s.times(grain, 0.24))
    return s.done(Base_Color=s.shade(colour, level), Normal=s.bump(relief, depth))


def terry(colour: Tint, *, border: tuple[float, float]) -> bpy.types.Material:
    """Return towelling: dense loops, but for a flat woven border between two places of v."""
    s = cloth_surface("terry", 0.35)
    v = s.node("SeparateXYZ", Vector=s.space(uv=True)).outputs["Y"]
    flat = s.times(s.math("GREATER_THAN", v, border[0]), s.math("LESS_THAN", v, border[1]))
    rows = s.math("ABSOLUTE", s.math("SINE", s.times(v, math.pi / 0.0016)))
    loops = s.cells(0.0019, where=s.space(uv=True))
    lump = s.math("SUBTRACT", 1.0, s.math("ADD", s.times(loops, 0.9), s.times(s.noise(0.004), 0.4)))
    rough = s.math("SUBTRACT", 1.0, flat)
    relief = s.math("ADD", s.times(rough, lump), s.times(flat, rows, 0.12))
    level = s.math("ADD", s.times(rough, s.span(lump, 0.1, 0.8, 0.6, 1.06)), s.times(flat, 0.93))
    level = s.times(level, s.span(s.noise(0.03, detail=4), 0.25, 0.75, 0.93, 1.04))
    return s.done(Base_Color=s.shade(colour, level), Normal=s.bump(relief, 0.0015))
