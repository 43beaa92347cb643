"""How long ago, in words."""

from datetime import timedelta

from adminpanel.templatetags.ages import ago
from cassandra_db import current_time


def test_it_names_the_largest_unit() -> None:
    words = {
        timedelta(0): "just now",
        timedelta(seconds=-5): "just now",
        timedelta(seconds=1.5): "1 second ago",
        timedelta(seconds=59): "59 seconds ago",
        timedelta(minutes=1, seconds=1): "1 minute ago",
        timedelta(hours=47): "1 day ago",
        timedelta(days=3, hours=2): "3 days ago",
    }
    assert {passed: ago(current_time() - passed) for passed in words} == words


def test_nothing_is_no_time() -> None:
    assert ago(None) == ""
