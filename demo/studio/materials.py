"""Materials: a small builder over shader nodes, and what the shop's goods are made of.

Colours are hex values as on the shop's swatches. A `Colour` with a slot is a dye: the light passes
change it afterwards, so a material must use it linearly (shade it, mix it, but never ramp it).
All lengths are metres, and textures lie in the object's own space unless they follow its UV map.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import bpy

Socket = bpy.types.NodeSocket
Number = float | Socket


@dataclass(frozen=True)
class Colour:
    """A colour of a product. Those with a slot can be dyed after rendering."""

    hex: str
    slot: int | None = None


Tint = Colour | str


def linear(hexadecimal: str) -> tuple[float, float, float]:
    """Return the light that a hex value on a screen stands for."""
    parts = [int(hexadecimal[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return red, green, blue


class Surface:
    """A material under construction: `feed` sets what its shader gets, the rest makes textures."""

    def __init__(self, name: str, **inputs: Any) -> None:
        """Begin a material. The inputs go to its principled shader."""
        self.material = bpy.data.materials.new(name)
        self.material.use_nodes = True
        self.nodes = self.material.node_tree.nodes
        self.shader = self.nodes["Principled BSDF"]
        self.feed(self.shader, **inputs)

    def feed(self, node: bpy.types.Node, **inputs: Any) -> bpy.types.Node:
        """Set or link inputs of a node, named as in Blender with _ for a space."""
        for name, value in inputs.items():
            spelled = name.replace("_", " ")
            socket = next((s for s in node.inputs if s.name == spelled and s.enabled), None)
            if socket is None:
                setattr(node, name, value)
            elif isinstance(value, Socket):
                self.material.node_tree.links.new(value, socket)
            elif isinstance(value, Colour) or (isinstance(value, str) and len(value) == 6):
                self.material.node_tree.links.new(self.tint(value), socket)
            elif isinstance(value, tuple) and len(value) == 3 and socket.type == "RGBA":
                socket.default_value = (*value, 1)
            else:
                socket.default_value = value
        return node

    def node(self, kind: str, **inputs: Any) -> bpy.types.Node:
        """Return a new node of a kind, such as "TexNoise"."""
        made = self.nodes.new(f"ShaderNode{kind}")
        properties = {k: v for k, v in inputs.items() if hasattr(made, k) and k.islower()}
        for name, value in properties.items():
            setattr(made, name, value)
        return self.feed(made, **{k: v for k, v in inputs.items() if k not in properties})

    def tint(self, colour: Tint) -> Socket:
        """Return a colour, as a dye if it has a slot."""
        node = self.nodes.new("ShaderNodeRGB")
        if isinstance(colour, Colour) and colour.slot is not None:
            node.label = f"dye {colour.slot}"
        value = colour.hex if isinstance(colour, Colour) else colour
        node.outputs[0].default_value = (*linear(value), 1)
        return node.outputs[0]

    def math(self, operation: str, a: Number, b: Number = 0.0) -> Socket:
        """Return a sum, a product and so on of two numbers."""
        return self._operate("ShaderNodeMath", operation, a, b)

    def times(self, a: Number, *others: Number) -> Socket | Number:
        """Return the product of numbers."""
        for b in others:
            a = self.math("MULTIPLY", a, b)
        return a

    def vector(self, operation: str, a: Any, b: Any) -> Socket:
        """Return a sum or a product of two vectors."""
        return self._operate("ShaderNodeVectorMath", operation, a, b)

    def _operate(self, kind: str, operation: str, a: Any, b: Any) -> Socket:
        node = self.nodes.new(kind)
        node.operation = operation
        for socket, value in zip(node.inputs, (a, b), strict=False):
            if isinstance(value, Socket):
                self.material.node_tree.links.new(value, socket)
            else:
                socket.default_value = value
        return node.outputs[0]

    def mix(self, part: Number, a: Any, b: Any) -> Socket:
        """Return a colour between two: the first where the part is 0."""
        node = self.nodes.new("ShaderNodeMix")
        node.data_type = "RGBA"
        self.feed(node, Factor=part, A=a, B=b)
        return next(s for s in node.outputs if s.enabled)

    def shade(self, colour: Any, factor: Number) -> Socket:
        """Return a colour made darker, or lighter, by a factor."""
        node = self.node("VectorMath", operation="SCALE", Scale=factor)
        socket = self.tint(colour) if not isinstance(colour, Socket) else colour
        self.material.node_tree.links.new(socket, node.inputs[0])
        return node.outputs[0]

    def span(
        self, value: Socket, low: float, high: float, a: float = 0.0, b: float = 1.0
    ) -> Socket:
        """Return a number that goes from a to b while the value goes from low to high."""
        made = self.node("MapRange", interpolation_type="SMOOTHSTEP")
        self.feed(made, Value=value, From_Min=low, From_Max=high, To_Min=a, To_Max=b)
        return made.outputs[0]

    def space(self, stretch: Sequence[float] = (1, 1, 1), *, uv: bool = False) -> Socket:
        """Return the place on the object, or in its UV map. A stretch makes waves long."""
        where = self.node("TexCoord").outputs["UV" if uv else "Object"]
        scale = tuple(1 / s for s in stretch)
        return self.node("Mapping", Vector=where, Scale=scale).outputs[0]

    def noise(
        self, wave: float, *, detail: float = 2.0, where: Socket | None = None, bend: float = 0.0
    ) -> Socket:
        """Return noise between 0 and 1 whose waves are so many metres long."""
        node = self.node("TexNoise", Scale=1 / wave, Detail=detail, Distortion=bend)
        self.feed(node, Vector=where if where is not None else self.space())
        return node.outputs[0]

    def cells(self, wave: float, *, where: Socket | None = None) -> Socket:
        """Return the distance to the nearest of points that are scattered so far apart."""
        node = self.node("TexVoronoi", Scale=1 / wave)
        self.feed(node, Vector=where if where is not None else self.space())
        return node.outputs["Distance"]

    def along(self) -> Socket:
        """Return how far past the rim of a turned shape, in metres. The outside is below 0."""
        return self.node("Attribute", attribute_name="along").outputs["Fac"]

    def lined(self, outside: Tint, inside: Tint | None, turn: float) -> Socket:
        """Return the colour of a turned vessel, whose lining begins so far past the rim."""
        if inside is None:
            return self.tint(outside)
        edge = self.math(
            "ADD", self.along(), self.span(self.noise(0.02), 0.2, 0.8, -0.0012, 0.0012)
        )
        return self.mix(self.span(edge, turn - 0.0006, turn + 0.0006), outside, inside)

    def height(self) -> Socket:
        """Return the height on the object, in metres."""
        return self.node("SeparateXYZ", Vector=self.space()).outputs["Z"]

    def bump(self, height: Socket, depth: float, after: Socket | None = None) -> Socket:
        """Return normals for a relief of a depth in metres, on top of those of another."""
        node = self.node("Bump", Height=height, Distance=depth, Strength=1.0)
        if after is not None:
            self.feed(node, Normal=after)
        return node.outputs[0]

    def done(self, **inputs: Any) -> bpy.types.Material:
        """Set the last inputs of the shader and return the material."""
        self.feed(self.shader, **inputs)
        return self.material


def sweep_paper(colour: str) -> bpy.types.Material:
    """Return the background: matt paper, with the faintest of mottling."""
    s = Surface("sweep", Roughness=0.95, Specular_IOR_Level=0.1)
    return s.done(Base_Color=s.shade(colour, s.span(s.noise(0.4), 0.2, 0.8, 0.985, 1.015)))


def glaze(
    outside: Tint,
    inside: Tint | None = None,
    *,
    turn: float = 0.0,
    gloss: float = 0.8,
    foot: float = 0.0,
    speckle: float = 0.55,
    breaks: float = 0.5,
    clay: str = "a98a68",
    rim: float = 0.0,
    mottle: float = 1.0,
) -> bpy.types.Material:
    """Return glazed stoneware, pooled and speckled as out of the kiln.

    On a turned shape, `inside` begins `turn` metres past the rim. The clay is raw below the height
    `foot`, and shows through at edges as far as the glaze `breaks`, and on a `rim` of that width.
    """
    s = Surface("glaze")
    pool = s.noise(0.03, detail=4, where=s.space((1, 1, 1.8)), bend=0.6)
    fine = s.noise(0.0016)
    colour = s.lined(outside, inside, turn)
    cloud = s.span(pool, 0.3, 0.7, 1 - 0.16 * mottle, 1 + 0.1 * mottle)
    uneven = s.times(cloud, s.span(fine, 0.3, 0.7, 0.94, 1.05))
    colour = s.shade(colour, uneven)
    edges = s.node("NewGeometry").outputs["Pointiness"]
    thin = s.times(s.span(edges, 0.525, 0.6), s.span(s.noise(0.008), 0.2, 0.7, 0.4, 1))
    colour = s.mix(s.times(thin, breaks), colour, clay)
    if rim:
        run = s.span(s.noise(0.014, detail=4), 0.25, 0.75, -0.45 * rim, 0.45 * rim)
        away = s.math("ADD", s.math("ABSOLUTE", s.along()), run)
        colour = s.mix(s.span(away, rim, rim * 0.3, 0, 0.85), colour, "8a5a36")
    for apart, big in ((0.0026, 0.2), (0.011, 0.1)):
        rare = s.span(s.noise(apart * 2.5, detail=0), 0.5, 0.6)
        dots = s.times(s.span(s.cells(apart), big, big * 0.45), rare)
        colour = s.mix(s.times(dots, speckle), colour, "4a3526")
    normal = s.bump(s.noise(0.012, detail=1), 0.0005, s.bump(fine, 0.00003))
    raw: Number = 0.0
    if foot:
        drip = s.span(s.noise(0.045, detail=2), 0.2, 0.8, -0.18 * foot, 0.18 * foot)
        line = s.span(s.math("ADD", s.height(), drip), foot + 0.0004, foot - 0.0004)
        raw = s.times(line, s.span(s.along(), 0.001, 0.0))
        bare = s.shade(clay, s.span(s.noise(0.0012), 0.2, 0.8, 0.85, 1.1))
        colour = s.mix(raw, colour, bare)
    s.feed(s.shader, Base_Color=colour, Normal=normal, IOR=1.5)
    rough = s.math("ADD", s.span(pool, 0.3, 0.7, 0.0, 0.06), 0.5 - 0.42 * gloss)
    rough = s.math("MAXIMUM", rough, s.times(raw, 0.85))
    return s.done(Roughness=rough, Coat_Weight=0.4 * gloss, Coat_Roughness=0.04)


def clay(colour: Tint, *, grain: float = 0.0006) -> bpy.types.Material:
    """Return fired clay without a glaze."""
    s = Surface("clay", Roughness=0.9, Specular_IOR_Level=0.2)
    sand = s.noise(grain, detail=4)
    blot = s.times(s.span(s.noise(0.04), 0.2, 0.8, 0.9, 1.06), s.span(sand, 0.2, 0.8, 0.9, 1.1))
    return s.done(Base_Color=s.shade(colour, blot), Normal=s.bump(sand, 0.0002))


def lacquer(
    colour: Tint,
    inside: Tint | None = None,
    *,
    turn: float = 0.0,
    gloss: float = 0.5,
    peel: float = 0.00005,
    specks: float = 0.0,
) -> bpy.types.Material:
    """Return paint on metal: enamel if glossy, powder coat if not. `peel` is its orange peel."""
    s = Surface("lacquer", IOR=1.5)
    grain = s.noise(0.0045 if gloss > 0.6 else 0.0009, detail=2)
    tone = s.shade(s.lined(colour, inside, turn), s.span(s.noise(0.05), 0.2, 0.8, 0.97, 1.02))
    if specks:
        dots = s.times(s.span(s.cells(0.004), 0.14, 0.09), s.span(s.noise(0.012), 0.5, 0.6))
        tone = s.mix(s.times(dots, specks), tone, "2b2b2b")
    rough = s.span(s.noise(0.03, detail=6), 0.3, 0.7, 0.58 - 0.5 * gloss, 0.66 - 0.5 * gloss)
    return s.done(Base_Color=tone, Roughness=rough, Normal=s.bump(grain, peel))


def metal(
    colour: str,
    *,
    rough: float = 0.25,
    brushed: float = 0.6,
    stretch: Sequence[float] | None = None,
    wear: float = 0.3,
    line: float = 0.0004,
) -> bpy.types.Material:
    """Return metal with fingermarks. It is brushed along the longest axis of the stretch.

    Without a stretch it is brushed around, as on a lathe. `line` is how wide its scratches are.
    """
    s = Surface("metal", Metallic=1.0)
    grain = s.space(stretch) if stretch else s.space((60, 1, 1), uv=True)
    lines = s.noise(line, detail=4, where=grain)
    smear = s.noise(0.03, detail=6)
    tone = s.shade(colour, s.span(smear, 0.25, 0.75, 1 - 0.25 * wear, 1.05))
    marks = s.times(s.span(smear, 0.4, 0.75, 0, 0.35), wear)
    level = s.math("ADD", s.math("ADD", s.span(lines, 0.3, 0.7, -0.06, 0.08), rough), marks)
    return s.done(
        Base_Color=tone, Roughness=level, Normal=s.bump(lines, 0.00006 * brushed), IOR=2.5
    )


def cast_iron(colour: str = "2d2d2e") -> bpy.types.Material:
    """Return seasoned cast iron: pebbled, black and slightly oily."""
    s = Surface("iron", Metallic=0.25, IOR=1.6)
    sand, pits = s.noise(0.0022, detail=4), s.cells(0.0035)
    oil = s.noise(0.05, detail=5)
    rough_sand = s.span(sand, 0.3, 0.7, 0.7, 1.35)
    tone = s.shade(colour, s.times(s.span(oil, 0.3, 0.7, 0.75, 1.2), rough_sand))
    rough = s.math("ADD", s.span(oil, 0.3, 0.7, 0.3, 0.5), s.span(sand, 0.3, 0.7, -0.06, 0.1))
    cast = s.bump(s.span(pits, 0.0, 0.5), 0.0004, s.bump(sand, 0.0009))
    return s.done(Base_Color=tone, Roughness=rough, Normal=cast)


def glass(
    colour: str | None = None, *, depth: float = 0.004, rough: float = 0.0
) -> bpy.types.Material:
    """Return glass. Its colour is that of a wall of the given depth. Its shadows are light."""
    s = Surface("glass", Transmission_Weight=1.0, Roughness=rough, IOR=1.5)
    ripple = s.noise(0.02, detail=1)
    s.feed(s.shader, Normal=s.bump(ripple, 0.0002))
    tree, output = s.material.node_tree, s.nodes["Material Output"]
    tone = linear(colour) if colour else (0.97, 0.985, 0.98)
    clear = s.node("BsdfTransparent", Color=tuple(c**0.6 for c in tone))
    shadow = s.node("LightPath").outputs["Is Shadow Ray"]
    both = s.node("MixShader")
    tree.links.new(shadow, both.inputs[0])
    tree.links.new(s.shader.outputs[0], both.inputs[1])
    tree.links.new(clear.outputs[0], both.inputs[2])
    tree.links.new(both.outputs[0], output.inputs["Surface"])
    dark = [-log(c) for c in tone]
    passed = tuple(1 - each / max(dark) for each in dark)
    body = s.node("VolumeAbsorption", Color=passed, Density=max(dark) / depth)
    tree.links.new(body.outputs[0], output.inputs["Volume"])
    return s.done()


# How wood looks, by its colour: the contrast of its rings, their width, its pores and its flecks.
WOODS = {
    "c79a63": (0.13, 0.0034, 0.62, 0.16),  # oak
    "7a5338": (0.22, 0.0052, 0.5, 0.0),  # walnut
    "dfb98a": (0.07, 0.0036, 0.1, 0.3),  # beech
}


def wood(
    colour: Tint, *, grain: str = "X", offset: Sequence[float] = (0, 0.11, 0.09), gloss: float = 0.3
) -> bpy.types.Material:
    """Return oiled wood, sawn from a trunk that runs along an axis at the offset."""
    known = colour if isinstance(colour, str) else colour.hex
    contrast, ring, pores, flecks = WOODS.get(known, (0.16, 0.004, 0.4, 0.1))
    s = Surface("wood", IOR=1.45)
    long, thread, short, flat = (
        tuple(along if axis == grain else across for axis in "XYZ")
        for along, across in ((9.0, 1.0), (40.0, 1.0), (7.0, 1.0), (0.0, 1.0))
    )
    where = s.vector("ADD", s.space(long), tuple(offset))
    drift = s.node("TexNoise", Scale=5.0, Detail=3.0, Vector=where).outputs["Color"]
    moved = s.vector("ADD", where, s.vector("MULTIPLY", drift, (0.03, 0.03, 0.03)))
    radius = s.node("VectorMath", operation="LENGTH", Vector=s.vector("MULTIPLY", moved, flat))
    years = s.math("DIVIDE", radius.outputs["Value"], ring)
    uneven = s.node("TexNoise", noise_dimensions="1D", W=s.times(years, 0.35), Scale=1.0)
    year = s.math("FRACT", s.math("ADD", years, s.times(uneven.outputs[0], 3.0)))
    late = s.times(s.span(year, 0.1, 0.9), s.span(year, 1.0, 0.9))
    fibre = s.noise(0.0009, detail=4, where=s.space(thread))
    streak = s.noise(0.0006, detail=2, where=s.space(thread))
    pore = s.times(s.span(streak, 0.58, 0.68), s.span(year, 0.75, 0.05, 0.15, 1.0))
    fleck = s.span(s.noise(0.0011, detail=1, where=s.space(short)), 0.62, 0.7)
    cloud = s.span(s.noise(0.03, where=s.space(long)), 0.25, 0.75, 0.88, 1.1)
    tone = s.math("SUBTRACT", 1.06, s.times(late, contrast))
    tone = s.times(s.times(tone, cloud), s.span(fibre, 0.25, 0.75, 0.84, 1.12))
    tone = s.times(tone, s.math("SUBTRACT", 1.0, s.times(pore, pores)))
    tone = s.times(tone, s.math("SUBTRACT", 1.0, s.times(fleck, flecks)))
    brown = s.shade(s.mix(0.4, colour, "6b3d20"), 1.0)
    body = s.shade(s.mix(s.times(late, 0.3), colour, brown), tone)
    relief = s.bump(fibre, 0.00006, s.bump(s.math("SUBTRACT", 1.0, pore), 0.00012))
    rough = s.span(fibre, 0.2, 0.8, 0.62 - 0.35 * gloss, 0.72 - 0.35 * gloss)
    return s.done(Base_Color=body, Roughness=rough, Normal=relief)


def cork() -> bpy.types.Material:
    """Return pressed cork."""
    s = Surface("cork", Roughness=0.9, Specular_IOR_Level=0.2)
    crumb = s.cells(0.0025)
    tone = s.mix(s.span(crumb, 0.1, 0.6), "d3ab77", "9a6f44")
    return s.done(Base_Color=s.shade(tone, s.noise(0.004)), Normal=s.bump(crumb, 0.0004))


def liquid(colour: str, *, clear: float = 0.0) -> bpy.types.Material:
    """Return coffee, tea or water."""
    return Surface("liquid", Roughness=0.03, IOR=1.33).done(
        Base_Color=colour, Transmission_Weight=clear
    )
