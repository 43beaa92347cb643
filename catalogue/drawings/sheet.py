"""The sheet a picture is drawn on: 600 by 600, light from the upper left, things seen from a little above."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from catalogue.drawings.tone import WHITE, Tone

Paint: TypeAlias = Tone | str
Point: TypeAlias = tuple[float, float]
Stop: TypeAlias = tuple[float, Tone] | tuple[float, Tone, float]
# A piece of an outline: one point draws a line to it, two a quadratic curve, three a cubic one.
Piece: TypeAlias = Sequence[Point]

SIDE = 600
TILT = 0.2  # how flat a circle lies: its height as a share of its width

ACROSS = (0, 0, 1, 0)
DOWN = (0, 0, 0, 1)
ASLANT = (0, 0, 1, 1)


def number(value: float) -> str:
    """Write a number as short as a tenth of a unit allows."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def path(start: Point, *pieces: Piece, closed: bool = False) -> str:
    """Return the path data of an outline."""
    words = [f"M{number(start[0])} {number(start[1])}"]
    for piece in pieces:
        points = " ".join(f"{number(x)} {number(y)}" for x, y in piece)
        words.append(f"{' LQC'[len(piece)]}{points}")
    return "".join(words) + ("Z" if closed else "")


def backwards(start: Point, pieces: Sequence[Piece]) -> tuple[Point, list[Piece]]:
    """Return the same outline drawn from its end to its start."""
    stations = [start, *(piece[-1] for piece in pieces)]
    turned = [(*reversed(piece[:-1]), stations[i]) for i, piece in enumerate(pieces)]
    return stations[-1], list(reversed(turned))


def mirrored(middle: float, start: Point, *pieces: Piece) -> str:
    """Return a closed outline from its right half.

    The x of all points is counted from the middle line. The half runs from the top to the bottom; the left
    half is its mirror image.
    """
    right = [tuple((middle + x, y) for x, y in piece) for piece in pieces]
    last, way_back = backwards(start, pieces)
    left = [tuple((middle - x, y) for x, y in piece) for piece in way_back]
    turn: list[Piece] = [((middle - last[0], last[1]),)] if last[0] else []
    return path((middle + start[0], start[1]), *right, *turn, *left, closed=True)


def vessel(middle: float, start: Point, *pieces: Piece, tilt: float = TILT) -> str:
    """Return the outline of a thing turned on a wheel, from its right profile.

    Points are (radius, y), from the rim down; the rim's far side and the foot are arcs.
    """
    right = path((middle + start[0], start[1]), *(tuple((middle + x, y) for x, y in p) for p in pieces))
    last, way_back = backwards(start, pieces)
    foot = f"A{number(last[0])} {number(last[0] * tilt)} 0 0 1 {number(middle - last[0])} {number(last[1])}"
    left = path((0, 0), *(tuple((middle - x, y) for x, y in p) for p in way_back)).removeprefix("M0 0")
    rim = f"A{number(start[0])} {number(start[0] * tilt)} 0 0 1 {number(middle + start[0])} {number(start[1])}"
    return f"{right}{foot}{left}{rim}Z"


def band(middle: float, top: Point, bottom: Point, *, tilt: float = TILT) -> str:
    """Return a ring round a turned thing; top and bottom are (radius, y)."""
    (r1, y1), (r2, y2) = top, bottom
    return (
        f"M{number(middle - r1)} {number(y1)}A{number(r1)} {number(r1 * tilt)} 0 0 0 {number(middle + r1)} {number(y1)}"
        f"L{number(middle + r2)} {number(y2)}"
        f"A{number(r2)} {number(r2 * tilt)} 0 0 1 {number(middle - r2)} {number(y2)}Z"
    )


def hoop(middle: float, radius: float, y: float, *, tilt: float = TILT) -> str:
    """Return the near half of a circle round a turned thing, as an open line."""
    return (
        f"M{number(middle - radius)} {number(y)}"
        f"A{number(radius)} {number(radius * tilt)} 0 0 0 {number(middle + radius)} {number(y)}"
    )


def box(x: float, y: float, width: float, height: float, corner: float = 0) -> str:
    """Return the outline of a rectangle with round corners."""
    if not corner:
        return f"M{number(x)} {number(y)}h{number(width)}v{number(height)}h{number(-width)}Z"
    c, w, h = number(corner), width - 2 * corner, height - 2 * corner
    return (
        f"M{number(x + corner)} {number(y)}h{number(w)}a{c} {c} 0 0 1 {c} {c}v{number(h)}"
        f"a{c} {c} 0 0 1 -{c} {c}h{number(-w)}a{c} {c} 0 0 1 -{c} -{c}v{number(-h)}a{c} {c} 0 0 1 {c} -{c}Z"
    )


class Sheet:
    """Collects the elements of one picture, and the gradients and clips they refer to."""

    def __init__(self, backdrop: Tone) -> None:
        self.backdrop = backdrop
        self._marks: list[str] = []
        self._definitions: dict[str, tuple[str, tuple[str, str, str]]] = {}
        self._has_floor = False

    def element(self, name: str, **attributes: Paint | float | None) -> None:
        """Add an element; `stroke_width` becomes `stroke-width`, None is left out."""
        self._marks.append(f"<{name}{self._written(attributes)}/>")

    def fill(self, outline: str, paint: Paint, **attributes: Paint | float | None) -> None:
        """Add a filled outline."""
        self.element("path", d=outline, fill=paint, **attributes)

    def line(self, outline: str, paint: Paint, width: float, **attributes: Paint | float | None) -> None:
        """Add a stroke; its ends are round, as the document says, unless told otherwise."""
        self.element("path", d=outline, fill="none", stroke=paint, stroke_width=width, **attributes)

    def oval(self, x: float, y: float, rx: float, ry: float, paint: Paint, **attributes: Paint | float | None) -> None:
        """Add a filled ellipse about its centre."""
        self.element("ellipse", cx=x, cy=y, rx=rx, ry=ry, fill=paint, **attributes)

    def dots(self, points: Sequence[Point], paint: Paint, size: float, **attributes: Paint | float | None) -> None:
        """Add round dots, all in one element."""
        outline = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in points)
        self.line(outline, paint, size, **attributes)

    def threads(self, along: str, width: float, tone: Tone, *, thick: float, apart: float, opacity: float) -> None:
        """Add ribs or rows of stitches: the dashes of one broad stroke, across its way."""
        dashes = f"{number(thick)} {number(apart - thick)}"
        self.line(along, tone, width, stroke_linecap="butt", stroke_dasharray=dashes, opacity=opacity)

    def linear(self, *stops: Stop, along: tuple[float, float, float, float] = DOWN) -> str:
        """Return the paint of a gradient across whatever it fills."""
        x1, y1, x2, y2 = (format(v, "g") for v in along)
        return self._define("linearGradient", f' x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"', _stops(stops))

    def radial(self, *stops: Stop, at: tuple[float, float, float] = (0.5, 0.5, 0.5)) -> str:
        """Return the paint of a gradient outwards from (x, y) as far as a radius."""
        x, y, r = (format(v, "g") for v in at)
        return self._define("radialGradient", f' cx="{x}" cy="{y}" r="{r}"', _stops(stops))

    def round(self, tone: Tone, strength: float = 1.0) -> str:
        """Return the paint of a round body standing in the light from the left."""
        return self.linear(
            (0, tone.down(0.035 * strength)),
            (0.26, tone.up(0.055 * strength)),
            (0.6, tone.down(0.02 * strength)),
            (1, tone.down(0.13 * strength)),
            along=ACROSS,
        )

    def hollow(self, tone: Tone) -> str:
        """Return the paint of an inside: dark on the side that the light comes from."""
        return self.linear((0, tone.down(0.17)), (0.55, tone.down(0.08)), (1, tone.down(0.02)), along=ASLANT)

    def flat(self, tone: Tone) -> str:
        """Return the paint of a thing lying flat, a little lighter at the upper left."""
        return self.linear((0, tone.up(0.045)), (0.5, tone), (1, tone.down(0.05)), along=ASLANT)

    def shadow(self, x: float, y: float, rx: float, ry: float | None = None, strength: float = 0.42) -> None:
        """Add the soft shadow that a standing thing throws on the ground."""
        if not self._has_floor:
            self._lay_floor()
        dark = self.backdrop.down(0.42)
        height = ry or rx * 0.2
        soft = self.radial((0, dark, strength), (0.55, dark, strength * 0.55), (1, dark, 0))
        self.oval(x, y, rx, height, soft)

    def leave_floor_out(self) -> None:
        """Keep the ground flat, for a scene in which everything lies."""
        self._has_floor = True

    def _lay_floor(self) -> None:
        """What stands needs a floor that the wall runs into; what lies flat does without."""
        dark = self.backdrop.down(0.14)
        self._has_floor = True
        self.fill(box(-SIDE, 300, 3 * SIDE, 900), self.linear((0, dark, 0), (0.16, dark, 0.2), (1, dark, 0.1)))

    def cast(self, outline: str, *, drop: float = 10, strength: float = 1.0) -> None:
        """Add the shadow of a thing lying on the ground, from its outline."""
        dark = self.backdrop.down(0.4)
        for share, opacity in ((1.0, 0.12), (0.4, 0.17)):
            width = drop * share * 1.3
            self.element(
                "path",
                d=outline,
                fill=dark,
                stroke=dark,
                stroke_width=width,
                opacity=opacity * strength,
                transform=f"translate({number(drop * share * 0.7)} {number(drop * share)})",
            )

    def gleam(self, outline: str, width: float, opacity: float = 0.35) -> None:
        """Add a reflection of the window."""
        self.line(outline, WHITE, width, opacity=opacity)

    @contextmanager
    def within(self, outline: str) -> Iterator[None]:
        """Keep what is drawn inside it within the outline."""
        clip = self._define("clipPath", "", f'<path d="{outline}"/>')
        with self.group(clip_path=clip):
            yield

    @contextmanager
    def group(self, **attributes: Paint | float | None) -> Iterator[None]:
        """Put what is drawn inside it into a group, turned or shifted by `transform`."""
        self._marks.append(f"<g{self._written(attributes)}>")
        yield
        self._marks.append("</g>")

    def document(self, title: str) -> str:
        """Return the whole SVG document. `title` must need no escaping."""
        definitions = "".join(
            f'<{name} id="{identity}"{attributes}>{content}</{name}>'
            for identity, (name, attributes, content) in self._definitions.values()
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" width="{SIDE}" height="{SIDE}"'
            f' role="img" stroke-linecap="round" stroke-linejoin="round"><title>{title}</title><defs>{definitions}</defs>{"".join(self._marks)}</svg>'
        )

    def _define(self, name: str, attributes: str, content: str) -> str:
        """Keep a gradient or a clip, once however often it is asked for, and refer to it."""
        identity, _ = self._definitions.setdefault(
            f"{name} {attributes} {content}", (f"g{len(self._definitions)}", (name, attributes, content))
        )
        return f"url(#{identity})"

    @staticmethod
    def _written(attributes: dict[str, Paint | float | None]) -> str:
        words = []
        for name, value in attributes.items():
            if value is None:
                continue
            text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
            words.append(f' {name.replace("_", "-")}="{text}"')
        return "".join(words)


def _stops(stops: Sequence[Stop]) -> str:
    written = []
    for stop in stops:
        opacity = f' stop-opacity="{rounded(stop[2])}"' if len(stop) == 3 else ""
        written.append(f'<stop offset="{rounded(stop[0])}" stop-color="{stop[1]}"{opacity}/>')
    return "".join(written)


def rounded(value: float) -> str:
    """Write a share (0 to 1) to two places."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def scattered(x: float, y: float, rx: float, ry: float, count: int) -> list[Point]:
    """Return points spread evenly over an ellipse, as seeds are in a sunflower."""
    points = []
    for i in range(count):
        radius, angle = math.sqrt((i + 0.5) / count), i * 2.39996
        points.append((x + rx * radius * math.cos(angle), y + ry * radius * math.sin(angle)))
    return points
