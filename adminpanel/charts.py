"""Charts: bars with axes, drawn by the server as SVG without scripts or style attributes (decision 106).

A page that shows one includes `adminpanel/_chart.html`, and loads `css/charts.css` in its block `assets`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from web.types import StrOrPromise

# The plot in pixels: above it is the room for a point's text, below it the labels of the axis. Widths are per cent.
PLOT_TOP, PLOT_HEIGHT = 44, 160
MAX_LABELS = 6
MAX_BAR_WIDTH = 6.0
MAX_TICKS = 5


@dataclass(frozen=True)
class Point:
    """A value of a chart. `label` stands on the axis; `text` and `detail` are the two lines shown on hover and focus."""

    label: str
    text: str
    value: float
    detail: str = ""
    compared: float | None = None  # the value of the period that the chart is compared with


@dataclass(frozen=True)
class Tick:
    """A line of the scale, and its number."""

    y: str
    label: str


@dataclass(frozen=True)
class Bar:
    """A point as it is drawn, in pixels and per cent. The label is empty where there is no room for it."""

    point: Point
    label: str
    slot_x: str
    slot_width: str
    x: str
    width: str
    middle: str
    y: str
    height: str
    compared_y: str


@dataclass(frozen=True)
class Chart:
    """A chart. `chart_id` is unique on its page. `compared` names the period of the lines, if there are any."""

    chart_id: str
    title: StrOrPromise
    description: StrOrPromise
    compared: StrOrPromise
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...]

    @property
    def bottom(self) -> int:
        return PLOT_TOP + PLOT_HEIGHT

    @property
    def height(self) -> int:
        return self.bottom + 24


def make_chart(
    chart_id: str,
    title: StrOrPromise,
    points: Sequence[Point],
    compared: StrOrPromise = "",
    description: StrOrPromise = "",
) -> Chart:
    """Return a chart of some points, the first one at the left. Values below zero are drawn as zero."""
    values = [each.value for each in points]
    values += [each.compared for each in points if each.compared is not None]
    ticks = round_ticks(max(values, default=0))
    return Chart(
        chart_id,
        title,
        description or _("The table below has the numbers"),
        compared,
        tuple(Tick(_y(tick, ticks[-1]), format_tick(tick)) for tick in ticks),
        tuple(_bars(points, ticks[-1])),
    )


def round_ticks(highest: float) -> list[float]:
    """Return the numbers of a scale: from zero to at least `highest`, in steps of 1, 2, 5, 10, 20 …"""
    if highest <= 0:
        return [0, 1]
    power = 10.0 ** max(floor(log10(highest / MAX_TICKS)), 0)
    step = next(power * each for each in (1, 2, 5, 10) if power * each * MAX_TICKS >= highest)
    return [step * number for number in range(ceil(highest / step) + 1)]


def format_tick(value: float) -> str:
    """Return the short text of a tick: 250, 12.5k, 3M."""
    for least, unit, letter in ((1_000_000, 1_000_000, "M"), (10_000, 1_000, "k")):
        if value >= least:
            return f"{number_format(f'{value / unit:g}')}{letter}"
    return str(number_format(f"{value:g}"))


def _bars(points: Sequence[Point], top: float) -> Iterator[Bar]:
    slot = 100 / len(points) if points else 100.0
    width = min(slot * 0.7, MAX_BAR_WIDTH)
    labelled = set(_labelled(len(points)))
    for place, point in enumerate(points):
        y = _y(point.value, top)
        yield Bar(
            point,
            point.label if place in labelled else "",
            f"{slot * place:.3f}%",
            f"{slot:.3f}%",
            f"{slot * (place + 0.5) - width / 2:.3f}%",
            f"{width:.3f}%",
            f"{slot * (place + 0.5):.3f}%",
            y,
            f"{PLOT_TOP + PLOT_HEIGHT - float(y):.1f}",
            "" if point.compared is None else _y(point.compared, top),
        )


def _labelled(count: int) -> Iterable[int]:
    """Return the places whose labels are drawn: at most MAX_LABELS, at equal distances."""
    return range(0, count, -(-count // MAX_LABELS) or 1)


def _y(value: float, top: float) -> str:
    return f"{PLOT_TOP + PLOT_HEIGHT * (1 - max(value, 0) / top):.1f}"
