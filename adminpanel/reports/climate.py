"""The climate report (A2): the temperature and humidity that each sensor measured during one day."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from inventory.warehouses import find_warehouse_name
from sensors.readings import (
    HUMIDITY,
    QUARTER,
    TEMPERATURE,
    QuarterRange,
    Reading,
    Sensor,
    list_sensors,
    merge_quarters,
    parse_latest,
    prefetch_latest,
    prefetch_quarters,
)
from web.types import StrOrPromise

KEPT_DAYS = 90
CHART_HEIGHT, CHART_STEP, BAR_WIDTH = 80, 10, 8
# The scale of a chart spans at least this much (in UNITS), so small changes look small.
LEAST_SPANS = {TEMPERATURE: 10.0, HUMIDITY: 20.0}
LABELS: dict[str, StrOrPromise] = {TEMPERATURE: _("Temperature"), HUMIDITY: _("Humidity")}
UNITS = {TEMPERATURE: "°C", HUMIDITY: "%"}
# A sensor counts as silent if it has sent no reading for this long.
SILENT_AFTER = timedelta(minutes=30)


@dataclass(frozen=True)
class Bar:
    """A bar of the chart: the values of a quarter of an hour, in units of the drawing."""

    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Chart:
    """A chart of a sensor's temperature or humidity (`kind`) during one day. `latest` is the newest reading."""

    kind: str
    bars: tuple[Bar, ...]
    width: int
    range: QuarterRange
    latest: Reading | None

    @property
    def label(self) -> StrOrPromise:
        return LABELS[self.kind]

    @property
    def unit(self) -> str:
        return UNITS[self.kind]


@dataclass(frozen=True)
class HourLine:
    """The ranges of temperature and of humidity in one hour. A range without readings is None."""

    at: datetime
    temperature: QuarterRange | None
    humidity: QuarterRange | None


@dataclass(frozen=True)
class SensorDay:
    """The readings of one sensor during a day in the shop's time zone."""

    sensor: Sensor
    warehouse: str
    charts: tuple[Chart, ...]
    lines: tuple[HourLine, ...]
    quarters: tuple[tuple[datetime, str, QuarterRange], ...]
    last_seen: datetime | None
    is_silent: bool


@dataclass(frozen=True)
class ClimateDay:
    """The readings of all sensors during a day."""

    day: date
    earlier: date | None
    later: date | None
    sensors: tuple[SensorDay, ...]


def get_climate_day(day: date, now: datetime) -> ClimateDay:
    """Return the readings of all sensors during a day in the shop's time zone. Raises CassandraUnavailable."""
    zone = timezone.get_default_timezone()
    begins = datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    ends = datetime.combine(day + timedelta(1), time(), tzinfo=zone).astimezone(UTC)
    today = now.astimezone(zone).date()
    reading = [
        (
            sensor,
            prefetch_quarters(sensor.serial_number, begins, ends - QUARTER),
            prefetch_latest(sensor.serial_number, now),
        )
        for sensor in list_sensors()
    ]
    found = []
    for sensor, pending, pending_latest in reading:
        merged = merge_quarters(row for each in pending for row in each.rows())
        quarters = {key: seen for key, seen in merged.items() if begins <= key[0] < ends}
        latest = parse_latest(sensor.serial_number, pending_latest)
        found.append(_sensor_day(sensor, quarters, latest, begins, ends, now))
    oldest = today - timedelta(KEPT_DAYS)
    return ClimateDay(
        day,
        day - timedelta(1) if day > oldest else None,
        day + timedelta(1) if day < today else None,
        tuple(found),
    )


def _sensor_day(
    sensor: Sensor,
    quarters: dict[tuple[datetime, str], QuarterRange],
    latest: dict[str, Reading],
    begins: datetime,
    ends: datetime,
    now: datetime,
) -> SensorDay:
    last_seen = max((each.at for each in latest.values()), default=None)
    return SensorDay(
        sensor,
        find_warehouse_name(sensor.warehouse),
        tuple(
            _chart(kind, of_kind, begins, ends, latest.get(kind))
            for kind in LABELS
            if (of_kind := {at: seen for (at, each), seen in quarters.items() if each == kind})
        ),
        _hours(quarters),
        tuple((at, kind, seen) for (at, kind), seen in sorted(quarters.items())),
        last_seen,
        last_seen is None or now - last_seen > SILENT_AFTER,
    )


def _chart(
    kind: str,
    quarters: dict[datetime, QuarterRange],
    begins: datetime,
    ends: datetime,
    latest: Reading | None,
) -> Chart:
    lowest = min(each.lowest for each in quarters.values())
    highest = max(each.highest for each in quarters.values())
    span = max(highest - lowest, LEAST_SPANS[kind])
    top = (highest + lowest + span) / 2
    scale = (CHART_HEIGHT - 4) / span

    def bar(at: datetime, seen: QuarterRange) -> Bar:
        return Bar(
            (at - begins) // QUARTER * CHART_STEP,
            round(2 + (top - seen.highest) * scale, 1),
            round(max((seen.highest - seen.lowest) * scale, 2), 1),
        )

    return Chart(
        kind,
        tuple(bar(at, seen) for at, seen in sorted(quarters.items())),
        (ends - begins) // QUARTER * CHART_STEP,
        QuarterRange(lowest, highest),
        latest,
    )


def _hours(quarters: dict[tuple[datetime, str], QuarterRange]) -> tuple[HourLine, ...]:
    """Return the ranges of each hour that has readings, the latest hour first."""
    ranges: dict[tuple[datetime, str], QuarterRange] = {}
    for (at, kind), seen in quarters.items():
        hour = at.replace(minute=0)
        ranges.setdefault((hour, kind), QuarterRange(seen.lowest, seen.highest)).add(seen)
    return tuple(
        HourLine(hour, ranges.get((hour, TEMPERATURE)), ranges.get((hour, HUMIDITY)))
        for hour in sorted({at for at, _ in ranges}, reverse=True)
    )
