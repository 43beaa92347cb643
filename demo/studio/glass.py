"""Glass: what is blown and pressed. Its colour is in the melt, so each is rendered for itself."""

import math

import bpy
from mathutils import Vector

from . import materials, shapes
from .frame import View
from .shapes import Shapes, mm
from .shots import Look, product


def tumbler(material: bpy.types.Material) -> bpy.types.Object:
    """Return a thick tumbler, 9 cm high, with ribs around it and a heavy bottom."""
    outside = mm("1 1.8, 18 1.6, 24 0.6, 27.5 0, 31 1, 32.6 4, 33 12, 34 30, 36.5 65, 38 88.5")
    rim = mm("37.9 89.6, 37.4 90, 36.9 89.6")
    inside = mm("36.4 85, 34.9 60, 32.9 34, 31.6 22, 28 15.5, 18 13.4")
    made = shapes.lathe(
        [*outside, *rim, *inside, (0.001, 0.013)], material, steps=288, name="tumbler"
    )
    for vert in made.data.vertices:
        x, y, z = vert.co
        r = math.hypot(x, y)
        wall = 0.0312 + 0.067 * z
        if r > wall and 0.018 < z < 0.076:
            fade = min(1.0, (z - 0.018) / 0.009, (0.076 - z) / 0.009) ** 0.8
            rib = 1 + fade * 0.0008 * (abs(math.cos(12 * math.atan2(y, x))) - 1) / r
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
        water = mm("1 13.2, 18 13.6, 28 15.7, 31.7 22, 33 34, 34.6 56")
        filled = shapes.lathe(
            [*water, (0.035, 0.06), (0.001, 0.06)], materials.liquid("ffffff", clear=1)
        )
        return [tumbler(material), filled]
    made = []
    for x, y in ((-0.05, 0.0), (0.042, -0.03), (-0.012, 0.085), (0.085, 0.06)):
        made += shapes.place([tumbler(material)], at=(x, y, 0), turn=900 * x)
    return made
