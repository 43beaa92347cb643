"""Plants: what grows in the pots and stands in the vases."""

import math
from random import Random

import bpy

from . import shapes
from .materials import Surface, Tint
from .shapes import Shapes


def green(colour: Tint, *, gloss: float = 0.45) -> bpy.types.Material:
    """Return a leaf's surface: waxy, a little translucent, paler along its veins."""
    s = Surface("leaf", IOR=1.45, Subsurface_Weight=0.15, Subsurface_Scale=0.002)
    blot = s.span(s.noise(0.018, detail=4), 0.25, 0.75, 0.8, 1.12)
    where = s.node("SeparateXYZ", Vector=s.space())
    angle = s.math("ARCTAN2", where.outputs["Y"], where.outputs["X"])
    ray = s.math("ABSOLUTE", s.math("SINE", s.times(angle, 4.5)))
    vein = s.times(s.span(ray, 0.12, 0.0), 0.35)
    tone = s.mix(vein, s.shade(colour, blot), "b9c98f")
    relief = s.bump(ray, 0.0008, s.bump(s.noise(0.006), 0.0003))
    return s.done(Base_Color=tone, Roughness=0.75 - 0.6 * gloss, Normal=relief)


def round_leaf(radius: float, chance: Random, material: bpy.types.Material) -> bpy.types.Object:
    """Return a round, slightly cupped leaf about the origin, thick enough to throw a shadow."""
    cup, wave, phase = chance.uniform(1.5, 5), chance.uniform(0.0008, 0.0025), chance.uniform(0, 6)
    rows = []
    for k in range(1, 9):
        r, row = radius * k / 8, []
        for i in range(48):
            a = math.tau * i / 48
            long = 1 + 0.06 * math.cos(a)
            z = wave * (k / 8) ** 2 * math.sin(2 * a + phase) - cup * r * r
            row.append((r * long * math.cos(a), r * math.sin(a), z))
        rows.append(row)
    made = shapes.grid("leaf", rows, material, around=True, caps=(True, False))
    return shapes.thicken(made, 0.0009)


def pilea(size: float, colour: Tint, chance: Random) -> Shapes:
    """Return a pilea in earth: round leaves on long stalks from one stem. It is `size` m wide."""
    leaf, stalk = green(colour), green("8f9a62", gloss=0.3)
    made = [
        shapes.sweep([(0, 0, -0.02), (0.002, 0, size * 0.2), (0, 0, size * 0.42)], 0.0035, stalk)
    ]
    count = 30
    for i in range(count):
        part = i / (count - 1)
        turn = math.degrees(2.39996 * i) + chance.uniform(-14, 14)
        out = size * (0.5 - 0.4 * part) * chance.uniform(0.82, 1.08)
        start, end = (
            size * (0.06 + 0.34 * part),
            size * (0.2 + 0.52 * part) * chance.uniform(0.9, 1.1),
        )
        path = [(0, 0, start), (out * 0.4, 0, start + (end - start) * 0.75)]
        path += [(out * 0.8, 0, end), (out, 0, end - size * 0.012)]
        shoot = shapes.sweep(path, 0.0011, stalk, steps=8)
        radius = size * chance.uniform(0.085, 0.125) * (1 - 0.45 * part)
        disc = round_leaf(radius, chance, leaf)
        tilt = 58 - 50 * part + chance.uniform(-14, 14)
        shapes.place(
            [disc], at=(out, 0, end - size * 0.012), tip=chance.uniform(-12, 12), roll=tilt
        )
        made += shapes.place([shoot, disc], turn=turn)
    return made


def earth(radius: float, height: float) -> Shapes:
    """Return a disc of potting earth with crumbs on it."""
    s = Surface("earth", Roughness=0.95, Specular_IOR_Level=0.15)
    crumb = s.noise(0.004, detail=6)
    soil = s.done(
        Base_Color=s.shade("4a382b", s.span(crumb, 0.3, 0.7, 0.5, 1.3)), Normal=s.bump(crumb, 0.003)
    )
    rings = [(radius * k / 40, height + 0.0) for k in range(1, 41)]
    made = shapes.lathe(rings, soil, rounds=0, name="earth")
    return [shapes.wobble(made, 0.0035, 0.012)]
