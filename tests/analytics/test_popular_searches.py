"""Popular searches, which the search field suggests."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from analytics.days import shop_today
from analytics.popular_searches import POPULAR_SEARCHES, choose_popular, find_popular_searches
from analytics.roll_up import SEARCHES
from cassandra_db import current_microseconds
from catalogue.search_rules import BLOCKED
from tests.catalogue.search_rules import make_search_rule, remove_search_rule

WORD = f"w{uuid4().hex[:8]}"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    POPULAR_SEARCHES.forget()
    yield
    POPULAR_SEARCHES.forget()


def row(words: str, searches: int, visitors: int | None, empty: int = 0) -> Any:
    return SimpleNamespace(words=words, searches=searches, visitors=visitors, empty=empty)


def test_x333_three_visitors_of_a_day_make_a_search_popular() -> None:
    assert choose_popular(
        [
            *(row("mug", 3, 3), row("anna weber", 2, 2), row("anna weber", 9, 2)),
            *(row("café", 2, 3), row("cafe", 5, 4), row("older", 9, None), row("!", 9, 9)),
            *(row("yoga mat", 9, 9, empty=9), row("sofa", 9, 9, empty=4), row("sofa", 3, 3, 3)),
        ]
    ) == {"cafe": "café", "mug": "mug"}


def test_x333_searches_that_begin_so_are_found_except_blocked_ones(keyspace: str) -> None:
    found = [
        (f"{WORD} mugs", 9),
        (f"{WORD} bad  moods", 8),
        (f"{WORD} café", 7),
        (f"mug {WORD}", 6),
    ]
    for rank, (words, number) in enumerate(found, 900):
        SEARCHES.run(
            day=shop_today(),
            at=current_microseconds(),
            rank=rank,
            words=words,
            searches=number,
            empty=0,
            visitors=3,
        )
    everything = [f"{WORD} mugs", f"{WORD} bad  moods", f"{WORD} café"]
    assert find_popular_searches([WORD], 9) == everything
    assert find_popular_searches([WORD[:4]], 2) == everything[:2]
    assert find_popular_searches([WORD, "ca"], 9) == everything[2:]
    assert find_popular_searches(["mo"], 9) == []
    rule = make_search_rule(BLOCKED, "other, BAD mood, cafe crème")
    try:
        assert find_popular_searches([WORD], 9) == [f"{WORD} mugs", f"{WORD} café"]
    finally:
        remove_search_rule(rule)
