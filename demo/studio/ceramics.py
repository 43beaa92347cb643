"""Ceramics: stoneware mugs, bowls, plates, pots and vases, thrown and glazed."""

from . import materials, shapes
from .frame import View
from .shapes import Shapes
from .shots import Look, product


@product(
    "everyday-mug",
    main=View(turn=-28),
    second=View(turn=-62, pitch=42),
    detail=View(turn=-28, at=(0.02, -0.04, 0.08), width=0.055, blur=0.06),
)
def mug(look: Look) -> Shapes:
    """Return the mug: 350 ml and 9 cm high, or 450 ml and 10.5 cm high."""
    high = 0.105 if look.options.get("Size") == "450" else 0.09
    outside = [(0.001, 0.0035), (0.026, 0.0035), (0.028, 0), (0.032, 0), (0.034, 0.0015)]
    outside += [(0.0405, 0.008), (0.0425, 0.02), (0.0425, high * 0.5), (0.042, high - 0.01)]
    rim = [(0.0418, high - 0.002), (0.0412, high), (0.0398, high), (0.0388, high - 0.003)]
    inside = [
        (0.0382, high - 0.012),
        (0.038, 0.02),
        (0.036, 0.009),
        (0.026, 0.0065),
        (0.001, 0.006),
    ]
    material = materials.glaze(*look.colours, turn=0.002, foot=0.0035)
    body = shapes.lathe([*outside, *rim, *inside], material, name="mug")
    ear = [(0.040, 0, high * 0.82), (0.05, 0, high * 0.845), (0.068, 0, high * 0.8)]
    ear += [(0.074, 0, high * 0.58), (0.068, 0, high * 0.36), (0.052, 0, high * 0.25)]
    ear += [(0.040, 0, high * 0.24)]
    handle = shapes.sweep(
        ear, lambda t: 0.0062 + 0.004 * abs(2 * t - 1) ** 6, material, flat=0.62, name="handle"
    )
    return [shapes.wobble(each, 0.0006, 0.05, 3) for each in (body, handle)]
