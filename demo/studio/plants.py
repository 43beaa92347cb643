"""Plants: what grows in the pots and stands in the vases."""

import math
from random import Random

import bpy
import numpy as np

from . import shapes, stitches, weaves
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


def long_leaf(
    long: float, wide: float, chance: Random, material: bpy.types.Material, *, droop: float = 0.25
) -> bpy.types.Object:
    """Return a pointed leaf from the origin along +x, folded at its rib and hanging at its tip."""
    fold, wave = chance.uniform(0.12, 0.3), chance.uniform(-0.05, 0.05)
    rows = []
    for k in range(15):
        t = 0.02 + 0.975 * k / 14
        half = wide / 2 * math.sin(math.pi * t**0.85) ** 0.75
        sag = -droop * long * t * t
        rows.append([(long * t, half * i / 5 + wave * long * t * t,
            sag + fold * half * abs(i / 5) ** 1.4 + 0.02 * wide * math.sin(9 * t) * (i / 5) ** 2)
            for i in range(-5, 6)])  # fmt: skip
    return shapes.thicken(shapes.grid("leaf", rows, material), 0.0006)


def waxy(colour: Tint, *, gloss: float = 0.6) -> bpy.types.Material:
    """Return the surface of a long leaf, its rib and veins paler."""
    s = Surface("leaf", IOR=1.45, Subsurface_Weight=0.1, Subsurface_Scale=0.003)
    place = s.node("SeparateXYZ", Vector=s.space())
    side = s.math("ABSOLUTE", place.outputs["Y"])
    slant = s.math("SUBTRACT", place.outputs["X"], s.times(side, 0.7))
    vein = s.math("ABSOLUTE", s.math("SINE", s.times(slant, math.pi / 0.011)))
    rib = s.math("MAXIMUM", s.span(side, 0.0016, 0.0006), s.times(s.span(vein, 0.1, 0.0), 0.3))
    blot = s.span(s.noise(0.03, detail=4), 0.25, 0.75, 0.75, 1.15)
    tone = s.mix(s.times(rib, 0.5), s.shade(colour, blot), "b4c48e")
    relief = s.bump(vein, 0.0006, s.bump(s.noise(0.01), 0.0005))
    return s.done(Base_Color=tone, Roughness=0.7 - 0.5 * gloss, Normal=relief)


def rubber_plant(high: float, colour: Tint, chance: Random) -> Shapes:
    """Return a rubber plant in earth: three stems with large leaves. It is `high` m high."""
    leaf, bark = waxy(colour, gloss=0.85), green("6b5a40", gloss=0.2)
    made = []
    for k, (lean, part) in enumerate(((4, 1.0), (-11, 0.78), (13, 0.6))):
        tall = high * part * 0.86
        path = [(0, 0, -0.02), (0.008, 0.004, tall * 0.4), (-0.006, 0, tall * 0.75), (0, 0, tall)]
        stem = [shapes.sweep(path, lambda t: 0.0065 - 0.0035 * t, bark, name="stem")]
        count = int(11 * part) + 2
        for i in range(count):
            t = 0.2 + 0.8 * i / (count - 1)
            size = high * chance.uniform(0.22, 0.29) * (1.05 - 0.35 * t)
            one = long_leaf(size, size * 0.46, chance, leaf, droop=0.3 * (1.1 - t))
            stalk = shapes.sweep([(-0.03, 0, -0.012), (0, 0, 0)], 0.0022, bark, rounds=0, steps=8)
            shapes.place([one, stalk], at=(0.03, 0, 0.012), roll=-(12 + 58 * t**2))
            stem += shapes.place([one, stalk], at=(0, 0, tall * t), turn=137.5 * i + 40 * k)
        made += shapes.place(stem, at=(0.018 * math.cos(2.1 * k), 0.018 * math.sin(2.1 * k), 0),
            turn=75 * k, roll=lean)  # fmt: skip
    return made


def branch(long: float, colour: Tint, chance: Random, *, bend: float = 0.25) -> Shapes:
    """Return a twig of eucalyptus from the origin upwards: round leaves in pairs."""
    leaf, bark = green(colour, gloss=0.15), green("77654a", gloss=0.2)
    path = [(bend * long * t * t, 0.02 * long * math.sin(4 * t), long * t) for t in
            (0, 0.25, 0.5, 0.75, 1)]  # fmt: skip
    made = [shapes.sweep(path, lambda t: 0.0021 - 0.0013 * t, bark, steps=10, name="twig")]
    count = int(long / 0.021)
    for i in range(count):
        t = 0.32 + 0.68 * i / count
        radius = 0.019 * (1.15 - 0.75 * t) * chance.uniform(0.85, 1.15)
        for side in (0, 180):
            disc = round_leaf(radius, chance, leaf)
            shapes.place([disc], at=(radius * 1.05, 0, 0.002), roll=chance.uniform(-45, 5))
            at = (bend * long * t * t, 0.02 * long * math.sin(4 * t), long * t)
            made += shapes.place([disc], at=at, turn=90 * i + side + chance.uniform(-18, 18),
                roll=30 * bend)  # fmt: skip
    return made


def grasses(count: int, high: float, chance: Random, colour: Tint = "cbb083") -> Shapes:
    """Return dried stems of hare's tail, from the origin upwards: soft ears of many hairs."""
    straw, hairs = green(colour, gloss=0.1), weaves.fibre("e2d0a8")
    rng = np.random.default_rng(chance.randrange(1000))
    made = []
    for _ in range(count):
        long, lean = high * chance.uniform(0.75, 1.05), chance.uniform(0.04, 0.24)
        path = [(0, 0, 0), (lean * long * 0.3, 0, long * 0.55), (lean * long, 0, long)]
        ear = 0.028 * chance.uniform(0.8, 1.15)
        t = rng.random(420)
        around = rng.uniform(0, math.tau, 420)
        out = np.stack((np.cos(around), np.sin(around), np.full(420, 0.9)), -1)
        root = np.stack((lean * t * ear, 0 * t, (t - 0.85) * ear), -1)
        root += np.array((lean * long, 0, long))
        hair = (0.0035 + 0.0062 * np.sin(math.pi * (0.12 + 0.8 * t)))[:, None]
        bent = [root + out * hair * k + (0, 0, 0.004 * k * k) for k in (0, 0.35, 0.7, 1)]
        tail = stitches.yarns(list(np.stack(bent, 1)), 0.00014, hairs, name="ear")
        stem = shapes.sweep(path, 0.0007, straw, steps=8)
        made += shapes.place([stem, tail], turn=chance.uniform(0, 360))
    return made


def basil(wide: float, chance: Random, colour: Tint = "5d8a46") -> Shapes:
    """Return a pot's worth of basil: many stems with soft, domed leaves."""
    leaf, stalk = waxy(colour, gloss=0.45), green("8fa364", gloss=0.3)
    made = []
    for k in range(15):
        high, lean = wide * chance.uniform(0.5, 1.0), chance.uniform(0, 30)
        stem = [
            shapes.sweep(
                [(0, 0, -0.01), (0.004, 0, high * 0.6), (0, 0, high)], 0.0012, stalk, steps=8
            )
        ]
        for i in range(9):
            t = 0.35 + 0.65 * i / 8
            size = wide * chance.uniform(0.17, 0.26) * (1.2 - 0.6 * t)
            one = long_leaf(size, size * 0.66, chance, leaf, droop=chance.uniform(0.2, 0.5))
            shapes.place([one], at=(0.004, 0, 0), roll=-chance.uniform(5, 50) * t)
            stem += shapes.place([one], at=(0, 0, high * t), turn=100 * i + 25 * k)
        r = wide * 0.2 * math.sqrt(k / 15)
        at = (r * math.cos(2.4 * k), r * math.sin(2.4 * k), 0)
        shapes.place(stem, turn=chance.uniform(-25, 25), roll=lean)
        made += shapes.place(stem, at=at, turn=math.degrees(2.4 * k))
    return made
