"""The shots: which pictures there are, and who builds what stands in them.

A family's module registers its products with `@product`. A picture is one shot of one product: the
`main` of each colour, the `second` view and the `detail`. A scene is registered with `@scene`.
"""

import importlib
import random
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import bpy

from . import frame, light_passes
from .frame import View
from .materials import Colour

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
CORE = {"__init__", "__main__", "frame", "light_passes", "materials", "shapes", "shots"}


@dataclass
class Look:
    """What a builder is told: the shot, the colours of the parts, and the options by their name.

    `options` has the codes of the chosen values, such as {"Size": "450"}. `chance` is the same for
    each picture of a product.
    """

    shot: str
    colours: tuple[Colour, ...]
    code: str = ""
    options: dict[str, str] = field(default_factory=dict)
    chance: random.Random = field(default_factory=random.Random)


Objects = Sequence[bpy.types.Object]
Builder = Callable[[Look], Objects]


@dataclass(frozen=True)
class Product:
    """A product of the shop in the studio.

    `dyed` products get all their colours from one set of light passes. The others are rendered in
    each colour, as their colours differ in texture. `codes` chooses the colour of the second shot
    and the detail, such as {"detail": "rus"}: by default the product's first. `options` chooses
    the codes of other options for a shot, such as {"second": {"Size": "450"}}.
    """

    key: str
    build: Builder
    views: dict[str, View]
    dyed: bool = True
    codes: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """A picture that combines products. Its builder returns what the light is set for.

    `ratio` is the picture's width by its height.
    """

    name: str
    build: Callable[[], Objects]
    view: View
    paper: str
    ratio: float = 1.0


MAIN, SECOND, DETAIL = View(), View(turn=40, pitch=38), View(fill=2.2, blur=0.08)
PRODUCTS: dict[str, Product] = {}
SCENES: dict[str, Scene] = {}


def product(
    key: str, main: View = MAIN, second: View = SECOND, detail: View = DETAIL, **more: Any
) -> Callable[[Builder], Builder]:
    """Register the builder of a product, how the camera sees it, and what else `Product` says."""

    def register(build: Builder) -> Builder:
        views = {"main": main, "second": second, "detail": detail}
        PRODUCTS[key] = Product(key, build, views, **more)
        return build

    return register


def scene(
    name: str, view: View, paper: str = "dedbd3", ratio: float = 1.0
) -> Callable[[Callable[[], Objects]], Callable[[], Objects]]:
    """Register the builder of a scene."""

    def register(build: Callable[[], Objects]) -> Callable[[], Objects]:
        SCENES[name] = Scene(name, build, view, paper, ratio)
        return build

    return register


def load() -> None:
    """Import all families, which register their products."""
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in CORE:
            importlib.import_module(f"{__package__}.{path.stem}")


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """Return what the shop's files say of each product, and the root of its category as `root`."""
    categories = tomllib.loads((DATA / "categories.toml").read_text(encoding="utf-8"))["category"]
    parents = {each["slug"]: each.get("parent") for each in categories}
    found = {}
    for path in sorted((DATA / "products").glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["product"]:
            root = entry["category"]
            while parents[root]:
                root = parents[root]
            found[entry["key"]] = entry | {"root": root}
    return found


@cache
def palette() -> dict[str, dict[str, str]]:
    """Return the colours by name, each with its `code` and its `hex`."""
    return tomllib.loads((DATA / "colours.toml").read_text(encoding="utf-8"))


def colours_of(key: str) -> dict[str, tuple[str, ...]]:
    """Return a product's colours by code: the hex of each part. One without colours has "main"."""
    variants = catalogue()[key]["variants"]
    for choices in variants.get("options", {}).values():
        if any("colour" in each or "hexes" in each for each in choices):
            return dict(_read_colour(each) for each in choices)
    return {"main": tuple(variants.get("hexes", ("999999",)))}


def _read_colour(choice: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    if "colour" in choice:
        known = palette()[choice["colour"]]
        return known["code"].lower(), (known["hex"], *choice.get("accents", ()))
    return choice["code"].lower(), tuple(choice["hexes"])


def shapes_of(key: str) -> dict[str, dict[str, str]]:
    """Return the options that change a product's shape, by what their pictures' names end in."""
    found: dict[str, dict[str, str]] = {"": {}}
    for name, choices in catalogue()[key]["variants"].get("options", {}).items():
        for each in choices:
            if "shape" in each and "colour" not in each and "hexes" not in each:
                found["-" + each["code"].lower()] = {name: each["code"]}
    return found


@dataclass(frozen=True)
class Picture:
    """A picture to render: a shot of a product in a colour and an option, or a scene."""

    subject: str
    shot: str
    code: str = ""
    ending: str = ""

    @property
    def name(self) -> str:
        """Return the name of its file."""
        if self.shot == "scene":
            return f"scene-{self.subject}"
        return f"{self.subject}-{self.code if self.shot == 'main' else self.shot}{self.ending}"


def pictures(key: str) -> Iterator[Picture]:
    """Return all pictures of a product, or a scene's one, in a fixed order."""
    if key in SCENES:
        yield Picture(key, "scene")
        return
    codes = colours_of(key)
    for ending in shapes_of(key):
        for code in codes:
            yield Picture(key, "main", code, ending)
    chosen = PRODUCTS[key].codes
    for shot in ("second", "detail"):
        yield Picture(key, shot, chosen.get(shot, next(iter(codes))))


def build(
    key: str, code: str = "", shot: str = "scene", options: dict[str, str] | None = None,
    slots: bool = False,
) -> list[bpy.types.Object]:  # fmt: skip
    """Build a product at the origin and return its objects. Scenes use it, too."""
    colours = colours_of(key)
    code = code or next(iter(colours))
    parts = tuple(Colour(each, slot if slots else None) for slot, each in enumerate(colours[code]))
    entry = PRODUCTS[key]
    chosen = {n: c[0]["code"] for n, c in catalogue()[key]["variants"].get("options", {}).items()
              if "code" in c[0]}  # fmt: skip
    chosen |= entry.options.get(shot, {}) | (options or {})
    seed = random.Random(zlib.crc32(key.encode()))  # noqa: S311 (a look, not a secret)
    return list(entry.build(Look(shot, parts, code, chosen, seed)))


def set_scene(picture: Picture, *, slots: bool = False) -> None:
    """Build what a picture shows, with lights and camera."""
    frame.clear()
    if picture.shot == "scene":
        setting = SCENES[picture.subject]
        frame.set_up(setting.build(), setting.view, setting.paper)
        return
    entry = PRODUCTS[picture.subject]
    options = shapes_of(picture.subject)[picture.ending]
    objects = build(picture.subject, picture.code, picture.shot, options, slots)
    paper = frame.PAPERS[catalogue()[picture.subject]["root"]]
    frame.set_up(objects, entry.views[picture.shot], paper)


def render(group: Sequence[Picture], size: int, samples: int) -> Iterator[light_passes.Light]:
    """Render pictures that differ in their colour alone, and return the light of each."""
    first = group[0]
    dyed = len(group) > 1 and PRODUCTS[first.subject].dyed
    if dyed:
        set_scene(first, slots=True)
        light_passes.set_quality(size, samples)
        colours = colours_of(first.subject)
        yield from light_passes.render_all([colours[each.code] for each in group])
        return
    for each in group:
        set_scene(each)
        ratio = SCENES[each.subject].ratio if each.shot == "scene" else 1.0
        light_passes.set_quality(size, samples, ratio)
        yield light_passes.render()
