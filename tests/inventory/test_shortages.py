"""What a process was told of too few units: it says so again for two seconds, and never for longer."""

from uuid import uuid4

import pytest

from inventory import shortages
from inventory.entities import PREORDER
from inventory.errors import OutOfStock
from inventory.operations import FirstReservation, copy_stock, reserve_stock, set_backorder
from inventory.shortages import (
    KNOWN_SECONDS,
    MAX_VARIANTS,
    forget_shortages,
    get_known_shortages,
    read_clock,
    remember_shortages,
)
from tests.factories import make_stock
from tests.inventory.test_operations import NOW, want
from tests.threads import map_at_once


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(shortages, "monotonic", clock)
    return clock


def test_it_is_believed_for_two_seconds_from_when_it_was_heard(clock: Clock) -> None:
    first, second = uuid4(), uuid4()
    remember_shortages({first: 0}, read_clock())
    clock.seconds += KNOWN_SECONDS - 0.1
    remember_shortages({second: 3}, read_clock())
    assert get_known_shortages([first, second, uuid4()]) == {first: 0, second: 3}
    clock.seconds += 0.2
    assert get_known_shortages([first, second]) == {second: 3}
    assert get_known_shortages([first]) == {}, "to be asked does not make it last longer"
    forget_shortages([second, uuid4()])
    assert get_known_shortages([second]) == {}


def test_a_number_is_as_old_as_the_question(clock: Clock) -> None:
    slow, changed = uuid4(), uuid4()
    asked_at = read_clock()
    clock.seconds += KNOWN_SECONDS / 2
    forget_shortages([changed])
    remember_shortages({slow: 0, changed: 0}, asked_at)
    assert get_known_shortages([slow, changed]) == {slow: 0}, "units came back after the question"
    clock.seconds += KNOWN_SECONDS / 2
    assert get_known_shortages([slow]) == {}
    remember_shortages({changed: 1}, read_clock())
    assert get_known_shortages([changed]) == {changed: 1}


def test_it_remembers_so_many_variants_and_no_more() -> None:
    variants = [uuid4() for _ in range(MAX_VARIANTS)]
    for each in variants:
        remember_shortages({each: 1}, read_clock())
    remember_shortages(
        {variants[0]: 2}, read_clock()
    )  # heard again: now the second one is the oldest
    remember_shortages({uuid4(): 0}, read_clock())
    assert get_known_shortages(variants[:3]) == {variants[0]: 2, variants[2]: 1}
    assert len(shortages.known_shortages) == MAX_VARIANTS


def test_many_threads_remember_and_forget_at_once() -> None:
    variants = [uuid4() for _ in range(MAX_VARIANTS + 50)]

    def work(number: int) -> None:
        for each in variants[number::8]:
            remember_shortages({each: number}, read_clock())
            get_known_shortages(variants[:20])
            forget_shortages(variants[number : number + 3])

    map_at_once(work, range(8))
    assert len(shortages.known_shortages) <= MAX_VARIANTS


def test_a_refused_reservation_tells_what_is_left_over_all_warehouses() -> None:
    product_id = uuid4()
    variant_id, plenty = make_stock(2, cork=1, product_id=product_id), make_stock(9)
    with pytest.raises(OutOfStock):
        FirstReservation(uuid4(), [want(variant_id, 4), want(plenty, 2, 2)], NOW).reserve()
    assert get_known_shortages([variant_id, plenty]) == {variant_id: 3}
    copy_stock(product_id, [(variant_id, "berlin")])
    assert get_known_shortages([variant_id]) == {}, "its stock has changed"


def test_what_may_still_be_ordered_ahead_is_no_shortage() -> None:
    product_id = uuid4()
    variant_id = make_stock(1, product_id=product_id)
    set_backorder(product_id, variant_id, PREORDER, 5, None, actor="staff", now=NOW)
    with pytest.raises(OutOfStock):
        reserve_stock(uuid4(), [want(variant_id, 2)], NOW, allow_backorder=False)
    assert get_known_shortages([variant_id]) == {}, "it did not look at what is to come"
    with pytest.raises(OutOfStock):
        FirstReservation(uuid4(), [want(variant_id, 6)], NOW).reserve()
    assert get_known_shortages([variant_id]) == {variant_id: 5}
