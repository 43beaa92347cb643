"""Parses the readings that a sensor sends."""

import json
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from sensors.readings import MAX_AGE, MAX_AHEAD, MAX_READINGS, RANGES, Reading


class ReadingsRefused(ValueError):
    """All readings of a request are refused. `errors` has texts keyed by the reading's index, from 0, or by "readings"."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(errors)
        self.errors = errors


def parse_readings(body: bytes, serial_number: str, now: datetime) -> list[Reading]:
    """Return the readings in `{"readings": [{"at": "2026-11-24T08:30:00Z", "type": "temperature", "value": 4.5}, …]}`.

    If one reading is invalid, all are refused, so that the device can send all of them again. Raises ReadingsRefused.
    """
    try:
        sent = json.loads(body)["readings"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReadingsRefused(
            {"readings": _("This is not a JSON object with a list of readings.")}
        ) from None
    if not isinstance(sent, list) or not 0 < len(sent) <= MAX_READINGS:
        raise ReadingsRefused(
            {"readings": _("Send a list of 1 to %(most)d readings.") % {"most": MAX_READINGS}}
        )
    readings, errors = [], {}
    for place, each in enumerate(sent):
        try:
            readings.append(_parse_reading(each, serial_number, now))
        except ValueError as wrong:
            errors[str(place)] = str(wrong)
    if errors:
        raise ReadingsRefused(errors)
    return readings


def _parse_reading(sent: Any, serial_number: str, now: datetime) -> Reading:
    """Return one reading. Raises ValueError with a text about the fault."""
    if not isinstance(sent, dict):
        raise ValueError(_("A reading is an object with “at”, “type” and “value”."))
    kind, value = sent.get("type"), sent.get("value")
    if not isinstance(kind, str) or kind not in RANGES:
        raise ValueError(_("“type” is one of %(kinds)s.") % {"kinds": ", ".join(RANGES)})
    low, high = RANGES[kind]
    # True is a number in Python. json.loads accepts NaN, which is in no range.
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(
            _("“value” is a number from %(low)g to %(high)g.") % {"low": low, "high": high}
        )
    return Reading(serial_number, _parse_moment(sent.get("at"), now), kind, float(value))


def _parse_moment(sent: Any, now: datetime) -> datetime:
    try:
        at = datetime.fromisoformat(sent)
        moment = at.astimezone(UTC).replace(microsecond=0)
    except (TypeError, ValueError, OverflowError):
        at = None
    if at is None or at.tzinfo is None:
        raise ValueError(_("“at” is a time with its zone, as 2026-11-24T08:30:00Z."))
    if moment > now + MAX_AHEAD:
        raise ValueError(_("“at” is in the future. Is the device’s clock right?"))
    if moment < now - MAX_AGE:
        raise ValueError(_("“at” is more than %(days)d days ago.") % {"days": MAX_AGE.days})
    return moment
