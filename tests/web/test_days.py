"""X256: what lasts until a day lasts to the end of it, and is shown as that day."""

import re
from datetime import UTC, date, datetime, timedelta

import time_machine

from tests.architecture.apps import ROOT
from web.days import end_after_days, end_of_day, last_day, start_of_day
from web.durations import format_deadline

# Summer time begins, is there, ends; a leap day; the last day of a year.
DAYS = (
    date(2027, 3, 28),
    date(2027, 7, 1),
    date(2027, 10, 31),
    date(2028, 2, 29),
    date(2026, 12, 31),
)
# The end of a day is no day: `last_day` or `deadline` make one of it. As an attribute for machines, or with its hour, it is a moment.
_END_AS_DAY = re.compile(
    r"""\.(?:ends_at|expires_at|until|pay_until)\|(?:date|time):(?!'c'|"j M Y, H:i")"""
)
_END = re.compile(r"\.(?:ends_at|expires_at|until|pay_until|last_day)\|")


def test_x256_an_end_that_is_entered_as_a_day_is_shown_as_that_day() -> None:
    for day in DAYS:
        end = end_of_day(day)
        assert last_day(end) == day
        assert last_day(end + timedelta(milliseconds=1)) == day + timedelta(days=1)
        assert end == start_of_day(day + timedelta(days=1))
        noon = start_of_day(day) + timedelta(hours=12)
        assert last_day(end_after_days(noon, 7)) == day + timedelta(days=7)
    with time_machine.travel(datetime(2026, 12, 2, 9, tzinfo=UTC), tick=False):
        assert format_deadline(end_of_day(date(2026, 12, 9))) == "Wednesday 9 December"


def test_x256_no_page_and_no_mail_writes_an_end_as_the_day_after() -> None:
    violations, seen = [], 0
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in (".html", ".txt"):
            text = path.read_text()
            seen += len(_END.findall(text))
            violations += [
                f"{path.relative_to(ROOT)}: {found}" for found in _END_AS_DAY.findall(text)
            ]
    assert seen >= 15
    assert not violations, "\n".join(violations)
