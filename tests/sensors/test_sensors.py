"""Readings of the warehouses' sensors: who may send them, what is taken, and what staff see."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from adminpanel.reports.climate import get_climate_day
from analytics.days import shop_today
from cassandra_db import current_time, read
from sensors import readings as sensors
from sensors.readings import (
    HUMIDITY,
    TEMPERATURE,
    QuarterRange,
    Reading,
    ReadingWriter,
    add_sensor,
    list_sensors,
    merge_quarters,
    prefetch_quarters,
    remove_sensor,
)
from storefront.views import sensors as view
from tests.factories import make_user, sign_in_staff

READINGS = read(
    "A2",
    "SELECT ts, type, value FROM sensordata WHERE date = :date AND serial_number = :serial_number",
)


@pytest.fixture
def serial_number() -> str:
    return f"T-{uuid4().hex[:12]}"


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> ReadingWriter:
    """The process's writer, of this test alone."""
    made = ReadingWriter()
    monkeypatch.setattr(view, "WRITER", made)
    return made


def send(serial_number: str, token: str, readings: Any) -> Any:
    return Client(enforce_csrf_checks=True).post(
        reverse("readings", args=[serial_number]),
        readings if isinstance(readings, str) else json.dumps({"readings": readings}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )


def reading(at: datetime, value: object, kind: object = TEMPERATURE) -> dict[str, object]:
    return {"at": at.isoformat(), "type": kind, "value": value}


def stored(serial_number: str, at: datetime) -> list[tuple[datetime, str, float]]:
    rows = READINGS.all(date=at.date(), serial_number=serial_number)
    return [(row.ts, row.type, row.value) for row in rows]


def ranges(serial_number: str, at: datetime) -> dict[tuple[datetime, str], QuarterRange]:
    pending = prefetch_quarters(serial_number, at, at)
    return merge_quarters(row for each in pending for row in each.rows())


def test_x208_what_is_sent_stands_once_under_its_second(
    serial_number: str, writer: ReadingWriter
) -> None:
    token = add_sensor(serial_number, "berlin")
    at = current_time().replace(hour=12, minute=3, second=7) - timedelta(days=2)
    sent = [reading(at, 17.25), reading(at, 55, HUMIDITY), reading(at + timedelta(seconds=9), -3)]
    for _ in range(2):
        answer = send(serial_number, token, sent)
        assert (answer.status_code, answer.json()) == (202, {"accepted": 3})
        assert not answer.cookies
        writer.close()
    second = at.replace(microsecond=0)
    assert stored(serial_number, at) == [
        (second + timedelta(seconds=9), TEMPERATURE, -3.0),
        (second, HUMIDITY, 55.0),
        (second, TEMPERATURE, 17.25),
    ]
    quarter = second.replace(minute=0, second=0)
    assert ranges(serial_number, at) == {
        (quarter, TEMPERATURE): QuarterRange(-3.0, 17.25),
        (quarter, HUMIDITY): QuarterRange(55.0, 55.0),
    }


def test_s99_a_device_is_known_by_its_own_token_alone(
    serial_number: str, writer: ReadingWriter
) -> None:
    other = f"{serial_number}-2"
    token, others = add_sensor(serial_number, "berlin"), add_sensor(other, "cork")
    now = current_time()
    good = [reading(now, 17)]
    for number, sent in ((serial_number, others), (serial_number, ""), (f"{other}-3", token)):
        refused = send(number, sent, good)
        assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
    assert send(serial_number, token, good).status_code == 202
    # Another token ends the one before, and who is taken away is not known any more.
    assert add_sensor(serial_number, "berlin") != token
    assert send(serial_number, token, good).status_code == 401
    remove_sensor(other)
    assert send(other, others, good).status_code == 401
    assert token not in str([vars(each) for each in list_sensors()])
    writer.close()


NOW = datetime(2026, 11, 24, 8, 30, tzinfo=UTC)


def test_x209_bad_readings_are_named_by_their_place_and_none_is_taken(
    serial_number: str, writer: ReadingWriter
) -> None:
    token, now = add_sensor(serial_number, "berlin"), current_time()
    for body in ("", "{", "[]", '{"readings": {}}', '{"readings": []}', "[" * 100_000):
        assert list(send(serial_number, token, body).json()["errors"]) == ["readings"]
    values: list[object] = [101, -60.1, "17", None, True, [], float("nan"), 1e400]
    bad: list[object] = [
        *(reading(now, value) for value in values),
        reading(now, 101, HUMIDITY),
        *(reading(now, 17, kind) for kind in ("pressure", None, ["temperature"], "")),
        *({"type": TEMPERATURE, "value": 17, "at": at} for at in ("now", None, 5, "2026-11-24")),
        reading(now + timedelta(minutes=6), 17),
        reading(now - timedelta(days=8), 17),
        {"at": "0001-01-01T00:00:00+14:00", "type": TEMPERATURE, "value": 1},
        *("17", None, 17),
    ]
    answer = send(serial_number, token, [reading(now, 17), *bad])
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [str(place) for place in range(1, len(bad) + 1)]
    assert send(serial_number, token, [reading(now, 17)] * 1001).status_code == 422
    assert writer._waiting.empty()


def test_x209_a_device_comes_again_when_too_much_waits(
    serial_number: str, writer: ReadingWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, now = add_sensor(serial_number, "berlin"), current_time()
    monkeypatch.setattr(writer, "_start", lambda: None)
    monkeypatch.setattr("cassandra_db.batch_writer.MAX_WAITING", 3)
    sent = [reading(now, 17), reading(now, 55, HUMIDITY)]
    assert send(serial_number, token, sent).status_code == 202
    busy = send(serial_number, token, sent)
    assert (busy.status_code, busy["Retry-After"]) == (503, "30")
    assert writer._waiting.qsize() == 2


def test_x215_a_quarters_range_is_of_all_processes_and_of_what_one_has_forgotten(
    serial_number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(writer: ReadingWriter, value: float) -> None:
        at = NOW + timedelta(seconds=len(ranges(serial_number, NOW)))
        batches = writer.make_batches([Reading(serial_number, at, TEMPERATURE, value)])
        assert writer.write(batches) == []

    one, other = ReadingWriter(), ReadingWriter()
    now = current_time()
    monkeypatch.setattr(sensors, "current_time", lambda: now)
    write(one, 17)
    write(other, 12)
    write(one, 19)
    # Hours later it has forgotten what it had, and the coldest stays the coldest.
    now += timedelta(hours=3)
    write(other, 14)
    now += timedelta(hours=3)
    write(other, 15)
    assert ranges(serial_number, NOW) == {(NOW, TEMPERATURE): QuarterRange(12, 19)}


def test_x216_the_warehouse_sees_a_day_of_each_sensor_and_takes_it_along(
    serial_number: str, writer: ReadingWriter
) -> None:
    add_sensor(serial_number, "cork")
    # Long enough after midnight for the shop's day, and before now.
    now = current_time()
    day = shop_today() - timedelta(days=1)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    found = [
        Reading(serial_number, noon + timedelta(minutes=20 * n), TEMPERATURE, 14.0 + n)
        for n in range(3)
    ]
    writer.write(writer.make_batches([*found, Reading(serial_number, noon, HUMIDITY, 61)]))
    (seen,) = [
        each
        for each in get_climate_day(day, now).sensors
        if each.sensor.serial_number == serial_number
    ]
    assert [chart.kind for chart in seen.charts] == [TEMPERATURE, HUMIDITY]
    assert seen.charts[0].range == QuarterRange(14, 16)
    assert [(line.temperature, line.humidity) for line in seen.lines] == [
        (QuarterRange(14, 16), QuarterRange(61, 61))
    ]
    assert all(0 <= bar.y <= 80 - bar.height for chart in seen.charts for bar in chart.bars)
    client = sign_in_staff(Client(), make_user("Wim", role="warehouse"))
    page = client.get(reverse("adminpanel:climate"), {"day": str(day)})
    assert f"{serial_number}</span>" in page.content.decode()
    file = client.get(reverse("adminpanel:climate"), {"day": str(day), "format": "csv"})
    lines = [line for line in file.content.decode().splitlines() if serial_number in line]
    assert lines[0] == f"Cork,{serial_number},{noon.isoformat()},Humidity,61.0,61.0,%"
    assert len(lines) == 4
    for typed in ("yesterday", "9999-12-31", "0001-01-01"):
        assert client.get(reverse("adminpanel:climate"), {"day": typed}).status_code == 200
    remove_sensor(serial_number)


def test_x216_devices_are_added_and_taken_away_by_a_command(serial_number: str) -> None:
    def run(*words: str) -> str:
        said = StringIO()
        call_command("sensors", *words, stdout=said)
        return said.getvalue().strip()

    token = run("--add", serial_number, "--warehouse", "Berlin")
    assert sensors.find_sensor(serial_number, token)
    assert f"{serial_number} " in run()
    for words in (
        ("--add", serial_number, "--warehouse", "Atlantis"),
        ("--add", "a/b", "--warehouse", "berlin"),
        ("--remove", f"{serial_number}-9"),
    ):
        with pytest.raises(CommandError):
            run(*words)
    run("--remove", serial_number)
    assert sensors.find_sensor(serial_number, token) is None
