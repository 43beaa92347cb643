"""Durations and deadlines in words, and counts with their plural."""

import re
from datetime import UTC, datetime, timedelta

import time_machine
from django.utils.translation import ngettext

from tests.architecture.apps import ROOT
from web.durations import format_deadline, format_duration
from web.errors import TooManyAttempts

# A number, and right behind it what is counted.
_COUNTED = re.compile(
    r"\{\{ \w+ \}\}(?:<[^>]*>|\s)*"
    r"(?:item|day|order|unit|cart|price|product|result|person|people|email|session|hour|minute|second)s?\b"
)
_BLOCK = re.compile(r"\{% blocktranslate(?P<head>[^%]*)%\}(?P<text>.*?)\{% endblocktranslate", re.S)
# Never one: the list of carts is shortened from seven on, a cart's page from more than it shows; and a limit.
_ALWAYS_MANY = (
    "All {{ count }} carts",
    "Showing the first {{ shown }} of {{ total }} items",
    "A cart can have up to {{ most }} people",
    "{{ count }} prices have gone up since you added these items:",
)


def test_x82_a_duration_is_told_in_units_that_people_count_in() -> None:
    for seconds, words in (
        (0, "0 seconds"),
        (1, "1 second"),
        (65, "1 minute 5 seconds"),
        (545, "9 minutes 5 seconds"),
        (3600, "1 hour"),
        (3605, "1 hour"),
        (20106 * 60 + 25, "13 days 23 hours"),
        (86400, "1 day"),
    ):
        assert format_duration(seconds) == words, seconds
    for seconds, words in (
        (1, "30 seconds"),
        (31, "1 minute"),
        (61, "2 minutes"),
        (86000, "23 hours 54 minutes"),
    ):
        assert f"Wait {words}, then" in str(TooManyAttempts(seconds)), seconds


def test_x82_a_deadline_of_another_day_has_its_date() -> None:
    with time_machine.travel(datetime(2026, 11, 22, 20, 0, tzinfo=UTC), tick=False):
        now = datetime.now(UTC)
        assert format_deadline(now + timedelta(minutes=9)) == "20:09"
        assert format_deadline(now + timedelta(hours=5)) == "Monday 23 November, 01:00"


def test_x82_what_is_counted_has_its_plural() -> None:
    assert ngettext("%(count)s item", "%(count)s items", 0) == "%(count)s items"
    violations, seen = [], 0
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix not in (".html", ".txt"):
            continue
        for block in _BLOCK.finditer(path.read_text()):
            text = block["text"].strip()
            if not _COUNTED.search(text):
                continue
            seen += 1
            if "{% plural %}" not in text and not text.startswith(_ALWAYS_MANY):
                violations.append(f"{path.relative_to(ROOT)}: {text[:80]}")
    assert seen >= 20
    assert not violations, "\n".join(violations)
