"""Simulates the demo shop's sensors. A reading depends only on its sensor and moment, so that repeats are equal."""

from datetime import datetime, timedelta
from math import pi, sin
from random import Random

from sensors.readings import HUMIDITY, TEMPERATURE, Reading, ReadingWriter, add_sensor, list_sensors

SENSORS = {"BER-01": "berlin", "ORK-01": "cork"}
# A new demo shop gets the readings of the last HOURS hours, at intervals of _APART.
HOURS = 36
_APART = timedelta(minutes=5)
_DAY = 24 * 3600


def measure(serial_number: str, at: datetime) -> list[Reading]:
    """Return a sensor's temperature and humidity at a moment (UTC): cooler by night, with some noise."""
    second = at.replace(microsecond=0)
    chance = Random(f"{serial_number} {second:%Y%m%d%H%M}")  # noqa: S311 nothing secret
    daylight = sin(2 * pi * (second.timestamp() % _DAY - 8 * 3600) / _DAY)
    base = 17.0 if serial_number.startswith("BER") else 14.5
    temperature = base + 2.5 * daylight + chance.gauss(0, 0.25)
    humidity = 55 - 6 * daylight + chance.gauss(0, 1.2)
    return [
        Reading(serial_number, second, TEMPERATURE, round(temperature, 1)),
        Reading(serial_number, second, HUMIDITY, round(humidity)),
    ]


def load_readings(now: datetime) -> None:
    """Add the demo sensors and their readings up to `now` (UTC), unless the shop has sensors already."""
    if list_sensors():
        return
    writer = ReadingWriter()
    for serial_number, warehouse in SENSORS.items():
        add_sensor(serial_number, warehouse)
        moments = [now - _APART * n for n in range(HOURS * 12)]
        readings = [each for moment in moments for each in measure(serial_number, moment)]
        for batch in writer.make_batches(readings):
            if writer.write([batch]):
                writer.write([batch])
