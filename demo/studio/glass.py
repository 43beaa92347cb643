"""Glass: what is blown and pressed. Colour is in the melt, so each colour is rendered for itself."""

import math

import bpy
from mathutils import Vector

from . import materials, shapes
from .frame import View
from .shapes import Shapes
from .shots import Look, product


def tumbler(material: bpy.types.Material) -> bpy.types.Object:
    """Return a thick tumbler, 9 cm high, with ribs around it and a heavy bottom."""
    outside = [(0.001, 0.0016), (0.02, 0.0012), (0.026, 0), (0.0305, 0.002), (0.0325, 0.008)]
    outside += [(0.034, 0.03), (0.0365, 0.065), (0.038, 0.0885)]
    rim = [(0.0378, 0.09), (0.0368, 0.09)]
    inside = [(0.0362, 0.085), (0.0345, 0.06), (0.032, 0.03), (0.029, 0.016), (0.02, 0.0105)]
    made = shapes.lathe(
        [*outside, *rim, *inside, (0.001, 0.01)], material, steps=288, name="tumbler"
    )
    for vert in made.data.vertices:
        x, y, z = vert.co
        r = math.hypot(x, y)
        wall = 0.0312 + 0.067 * z
        if r > wall and 0.004 < z < 0.079:
            fade = min(1.0, (z - 0.004) / 0.006, (0.079 - z) / 0.006)
            rib = 1 + fade * 0.0011 * (abs(math.cos(12 * math.atan2(y, x))) - 1) / r
            vert.co = Vector((x * rib, y * rib, z))
    return made


@product(
    "glass-tumblers",
    main=View(pitch=14, fill=0.74),
    second=View(turn=10, pitch=34, fill=0.6),
    detail=View(at=(-0.048, -0.02, 0.05), pitch=12, width=0.075, blur=0.04),
    dyed=False,
)
def glass_tumblers(look: Look) -> Shapes:
    """Return four tumblers, or one with water in it."""
    clear = look.code == "cle"
    material = materials.glass(None if clear else look.colours[0].hex, depth=0.012)
    if look.shot == "second":
        water = [(0.001, 0.0102), (0.02, 0.0107), (0.0288, 0.016), (0.0318, 0.03), (0.034, 0.056)]
        filled = shapes.lathe(
            [*water, (0.0345, 0.06), (0.001, 0.06)], materials.liquid("ffffff", clear=1)
        )
        return [tumbler(material), filled]
    made = []
    for x, y in ((-0.05, 0.0), (0.042, -0.03), (-0.012, 0.085), (0.085, 0.06)):
        made += shapes.place([tumbler(material)], at=(x, y, 0), turn=900 * x)
    return made
