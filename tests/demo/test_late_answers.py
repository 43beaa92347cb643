"""Filling the demo shop on a machine that leaves a statement without an answer now and then."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cassandra_db import CassandraUnavailable
from demo import loader

NOW = datetime(2026, 11, 22, tzinfo=UTC)


class Late:
    """Stands for an operation whose first call has no answer in time."""

    def __init__(self, most: int = 1) -> None:
        self.calls, self.most = 0, most

    def __call__(self, *_: Any, **__: Any) -> list[Any]:
        self.calls += 1
        if self.calls <= self.most:
            raise CassandraUnavailable("no answer in 3 s")
        return []


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "PAUSES", (0, 0))


@pytest.mark.parametrize(
    ("name", "load"),
    [
        ("operations.save_category", loader.load_categories),
        (
            "queries.get_product_at_quorum",
            lambda step: loader.load_products(NOW, step, renew=False),
        ),
        ("receive_stock", lambda step: loader.load_stock(NOW, step)),
        ("register_user", lambda step: loader.load_logins(NOW, step)),
        ("create_promotion", lambda step: loader.load_promotions(NOW, step)),
        ("queries.iterate_products", lambda step: loader.rebuild_derived(NOW, step)),
        ("operations.rebuild_featured", lambda step: loader.rebuild_derived(NOW, step)),
    ],
)
def test_one_late_answer_does_not_end_the_load(
    name: str, load: Callable[[Callable[[], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is written: what each step calls is called once more, no more and no less is looked at.
    for called in (
        *("operations.save_category", "operations.save_product", "operations.refresh_cards"),
        *("queries.get_product_at_quorum", "receive_stock", "copy_stock", "register_user"),
        *("enrol_demo_second_factor", "create_promotion"),
        *("queries.iterate_products", "operations.rebuild_featured", "operations.rebuild_related"),
        *("operations.rebuild_prefixes", "build_index", "write_sitemap"),
        "list_bought_together",
    ):
        monkeypatch.setattr(f"demo.loader.{called}", Late(0))
    late = Late()
    monkeypatch.setattr(f"demo.loader.{name}", late)
    steps: list[int] = []
    load(lambda: steps.append(1))
    assert late.calls > 1
    assert steps


def test_answers_that_never_come_end_it() -> None:
    late = Late(most=99)
    with pytest.raises(CassandraUnavailable):
        loader.do_again_if_late(late)
    assert late.calls == len(loader.PAUSES) + 1
