"""The promotions that a process caches: a read that another page has begun is used, if it is fresh and succeeds."""

from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from cassandra_db import CassandraUnavailable
from cassandra_db.process_copies import Dated
from cassandra_db.session import keyspace_name
from promotions import queries
from promotions.queries import AUTOMATIC_PROMOTIONS


class Begun:
    """A read that another page has begun."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.read_count = error, 0

    def rows(self) -> list[Any]:
        self.read_count += 1
        if self.error:
            raise self.error
        return []


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    queries.clear_promotion_cache()
    yield
    queries.clear_promotion_cache()


def left_behind(begun: Begun, seconds: float) -> None:
    AUTOMATIC_PROMOTIONS.reading = Dated(begun, keyspace_name(), monotonic() - seconds)


def test_what_was_begun_a_moment_ago_is_used() -> None:
    begun = Begun()
    left_behind(begun, 1)
    queries.prefetch_automatic_promotions()
    assert queries.list_automatic_promotions() == ()
    assert begun.read_count == 1


def test_what_a_page_has_left_behind_long_ago_is_not_used() -> None:
    begun = Begun()
    left_behind(begun, AUTOMATIC_PROMOTIONS.max_seconds + 1)
    queries.list_automatic_promotions()
    assert begun.read_count == 0


def test_a_read_that_came_to_nothing_is_made_once_anew() -> None:
    begun = Begun(CassandraUnavailable("away"))
    left_behind(begun, 1)
    queries.list_automatic_promotions()
    assert begun.read_count == 1


def test_the_copy_is_as_old_as_its_read() -> None:
    left_behind(Begun(), AUTOMATIC_PROMOTIONS.max_seconds - 1)
    queries.list_automatic_promotions()
    assert AUTOMATIC_PROMOTIONS.cached
    assert monotonic() - AUTOMATIC_PROMOTIONS.cached.read_at >= AUTOMATIC_PROMOTIONS.max_seconds - 1
