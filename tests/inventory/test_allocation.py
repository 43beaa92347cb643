"""From which warehouses an order is sent: one parcel if possible, else as few as possible."""

from itertools import combinations
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inventory import allocation
from inventory.allocation import choose_warehouses, needed_units, plan_allocations
from inventory.entities import WantedLine
from inventory.warehouses import list_first_warehouses

WAREHOUSES = tuple(list_first_warehouses())
ORDER = uuid4()
VARIANTS = [UUID(int=n) for n in range(1, 4)]
UNITS = st.integers(0, 6)
STOCK = st.fixed_dictionaries(
    {(variant, warehouse): UNITS for variant in VARIANTS for warehouse in WAREHOUSES}
)
LINES = st.lists(st.tuples(st.sampled_from(VARIANTS), st.integers(1, 6)), min_size=1, max_size=5)


def wants_of(lines: list[tuple[UUID, int]]) -> list[WantedLine]:
    return [
        WantedLine(line, variant, variant, units) for line, (variant, units) in enumerate(lines, 1)
    ]


@given(STOCK, LINES)
def test_a_plan_has_all_that_is_wanted_from_as_few_warehouses_as_can_be(
    stock: dict[tuple[UUID, str], int], lines: list[tuple[UUID, int]]
) -> None:
    wants = wants_of(lines)
    plan = plan_allocations(
        ORDER, wants, lambda variant, warehouse: stock.get((variant, warehouse), 0), 0
    )

    def enough(warehouses: tuple[str, ...]) -> bool:
        return all(
            sum(stock[variant, warehouse] for warehouse in warehouses) >= most
            for variant, most in needed_units(wants).items()
        )

    if plan is None:
        assert not enough(WAREHOUSES)
        return
    for want in wants:
        assert (
            sum(each.quantity for each in plan if each.line_number == want.line_number)
            == want.quantity
        )
    for (variant, warehouse), available in stock.items():
        taken = sum(
            each.quantity
            for each in plan
            if (each.variant_id, each.warehouse_id) == (variant, warehouse)
        )
        assert taken <= available
    warehouses = {each.warehouse_id for each in plan}
    assert not any(
        enough(fewer) for n in range(1, len(warehouses)) for fewer in combinations(WAREHOUSES, n)
    )
    assert [(each.variant_id, each.warehouse_id) for each in plan] == sorted(
        (each.variant_id, each.warehouse_id) for each in plan
    )
    assert len({each.reservation_id for each in plan}) == len(plan)


@given(STOCK, LINES)
def test_the_same_question_has_the_same_answer(
    stock: dict[tuple[UUID, str], int], lines: list[tuple[UUID, int]]
) -> None:
    def units(variant: UUID, warehouse: str) -> int:
        return stock.get((variant, warehouse), 0)

    assert plan_allocations(ORDER, wants_of(lines), units, 0) == plan_allocations(
        ORDER, wants_of(lines), units, 0
    )


def test_among_equals_the_first_warehouse_sends() -> None:
    assert choose_warehouses(wants_of([(VARIANTS[0], 2)]), lambda *_: 5) == WAREHOUSES[:1]


def test_x163_what_lies_in_a_closed_warehouse_is_taken_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    berlin, cork = list_first_warehouses().values()
    monkeypatch.setattr(allocation, "list_open_warehouses", lambda: (berlin, cork))
    monkeypatch.setattr(allocation, "list_warehouses", lambda: ("berlin", "cork", "lyon"))
    stock = {"berlin": 2, "cork": 2, "lyon": 5}
    for wanted, expected in (
        (2, ("berlin",)),
        (4, ("berlin", "cork")),  # two parcels, though the closed one has it in one
        (5, ("lyon",)),
        (9, ("berlin", "cork", "lyon")),
        (10, None),
    ):
        wants = wants_of([(VARIANTS[0], wanted)])
        assert choose_warehouses(wants, lambda _, where: stock[where]) == expected


def test_what_one_warehouse_has_whole_is_not_split() -> None:
    stock = {
        (VARIANTS[0], "berlin"): 1,
        (VARIANTS[0], "cork"): 3,
        (VARIANTS[1], "berlin"): 1,
        (VARIANTS[1], "cork"): 0,
    }
    plan = plan_allocations(
        ORDER,
        wants_of([(VARIANTS[0], 3), (VARIANTS[1], 1)]),
        lambda *stock_item: stock.get(stock_item, 0),
        0,
    )
    assert plan is not None
    assert [(each.line_number, each.warehouse_id, each.quantity) for each in plan] == [
        (1, "cork", 3),
        (2, "berlin", 1),
    ]
