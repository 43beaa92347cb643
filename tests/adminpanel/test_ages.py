"""How long ago, in words."""

from datetime import UTC, datetime, timedelta

import pytest

from adminpanel.templatetags.ages import ago


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=1.5), "1 second ago"),
        (timedelta(seconds=59), "59 seconds ago"),
        (timedelta(minutes=1, seconds=1), "1 minute ago"),
        (timedelta(hours=47), "1 day ago"),
        (timedelta(days=3, hours=2), "3 days ago"),
    ],
)
def test_it_names_the_largest_unit(passed: timedelta, words: str) -> None:
    assert ago(datetime.now(UTC) - passed) == words


def test_nothing_is_no_time() -> None:
    assert ago(None) == ""
