"""What each kind of promotion takes off, and when it applies."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st
from moneyed import EUR, Money

from pricing.money import to_minor_units
from pricing.quotes import QuotedLine
from promotions.rules import (
    AMOUNT,
    BUY_GET,
    FREE_DELIVERY,
    PERCENTAGE,
    Promotion,
    applicable_promotions,
    code_key,
    sort_promotions,
)

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)
MUGS, BOWLS = uuid4(), uuid4()


def line(price: str, quantity: int = 1, category_id: UUID = MUGS) -> QuotedLine:
    return QuotedLine(
        uuid4(),
        uuid4(),
        "T",
        "Mug",
        "mug",
        {},
        "mug/a",
        Money(price, EUR),
        quantity,
        "standard",
        0,
        category_id,
    )


def off(kind: str, code: str = "", **terms: Any) -> Promotion:
    return Promotion(code_key(code) or "key", code, "Spring", kind, **terms)


def taken(promotion: Promotion, *lines: QuotedLine) -> list[int]:
    return list(
        promotion.compute_line_discounts(
            lines, [to_minor_units(each.total) for each in lines]
        ).line_amounts
    )


def test_a_percentage_is_rounded_once_and_spread() -> None:
    # 10 % of 1.15 is 11.5 cents: up. Of the 12, 3.44 fall on the line of 0.33, and so on.
    assert taken(
        off(PERCENTAGE, percent=Decimal(10)), line("0.33"), line("0.41"), line("0.41")
    ) == [4, 4, 4]


def test_an_amount_is_never_more_than_the_subtotal() -> None:
    assert taken(off(AMOUNT, amount=500), line("3.00"), line("1.00")) == [300, 100]
    assert taken(off(AMOUNT, amount=100), line("3.00"), line("1.00")) == [75, 25]


def test_of_three_the_cheapest_is_free() -> None:
    two_and_one = off(BUY_GET, buy=2, free=1)
    assert taken(two_and_one, line("9.00"), line("5.00"), line("7.00")) == [0, 500, 0]
    assert taken(two_and_one, line("9.00", 5)) == [900]
    assert taken(two_and_one, line("9.00", 4), line("2.00", 2)) == [0, 400]
    assert taken(two_and_one, line("9.00", 2)) == [0]


def test_only_its_category_gets_cheaper() -> None:
    bowls = off(PERCENTAGE, percent=Decimal(50), category_id=BOWLS, categories=frozenset({BOWLS}))
    assert taken(bowls, line("8.00"), line("6.00", category_id=BOWLS)) == [0, 300]


def test_free_delivery_takes_nothing_off_the_subtotal() -> None:
    reduction = off(FREE_DELIVERY).compute_line_discounts([line("8.00")], [800])
    assert (reduction.line_amounts, reduction.has_free_delivery) == ((0,), True)


def test_x51_why_it_does_not_count_is_said() -> None:
    code = off(AMOUNT, "SPRING", amount=500, minimum=3000)
    assert (
        code.shortfall_reason([line("12.00")])
        == "Code SPRING applies from €30.00. Add €18.00 more to use it."
    )
    assert code.shortfall_reason([line("30.00")]) == ""
    bowls = off(
        PERCENTAGE, "BOWLS", percent=Decimal(5), category_id=BOWLS, categories=frozenset({BOWLS})
    )
    assert (
        bowls.shortfall_reason([line("99.00")])
        == "Code BOWLS doesn’t apply to any of the items in your cart."
    )
    assert off(BUY_GET, "THREE", buy=2, free=1).shortfall_reason([line("1.00", 2)]) == (
        "Code THREE applies from 3 items. Add 1 more item to use it."
    )


def test_the_minimum_spend_counts_its_own_products() -> None:
    bowls = off(
        AMOUNT, "B", amount=1, minimum=1000, category_id=BOWLS, categories=frozenset({BOWLS})
    )
    assert "€4.00 more" in bowls.shortfall_reason([line("99.00"), line("6.00", category_id=BOWLS)])


def test_the_window_is_half_open() -> None:
    code = off(AMOUNT, "MAY", amount=1, starts_at=NOW, ends_at=NOW + timedelta(days=1))
    assert (
        code.unavailable_reason(NOW - timedelta(seconds=1)) == "Code MAY is valid from 8 May 2026."
    )
    assert (
        code.unavailable_reason(NOW)
        == code.unavailable_reason(NOW + timedelta(hours=23, minutes=59))
        == ""
    )
    assert code.unavailable_reason(NOW + timedelta(days=1)) == "Code MAY expired on 9 May 2026."


def test_they_apply_in_the_stated_order() -> None:
    kinds = [
        off(FREE_DELIVERY),
        off(AMOUNT, "A", amount=1),
        off(AMOUNT, amount=1),
        off(PERCENTAGE, percent=Decimal(1)),
        off(BUY_GET, buy=1, free=1),
    ]
    assert [(each.kind, each.code) for each in sort_promotions(kinds)] == [
        (BUY_GET, ""),
        (PERCENTAGE, ""),
        (AMOUNT, ""),
        (AMOUNT, "A"),
        (FREE_DELIVERY, ""),
    ]
    assert applicable_promotions([off(AMOUNT, amount=1, ends_at=NOW)], [line("5.00")], NOW) == ()


@given(
    st.lists(st.tuples(st.integers(1, 5_000), st.integers(1, 30)), min_size=1, max_size=8),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_what_is_free_is_the_cheapest_units(
    sold: list[tuple[int, int]], buy: int, free: int
) -> None:
    lines = [line(str(Decimal(cents) / 100), units) for cents, units in sold]
    units = sorted(cents for cents, count in sold for _ in range(count))
    given_away = len(units) // (buy + free) * free
    assert sum(taken(off(BUY_GET, buy=buy, free=free), *lines)) == sum(units[:given_away])


def test_x57_codes_are_the_same_however_they_are_typed() -> None:
    typed = ["WELCOME-10", "welcome10", " Welcome 10 ", "wel-come—10", "ＷＥＬＣＯＭＥ10"]
    assert {each: code_key(each) for each in typed} == dict.fromkeys(typed, "welcome10")
