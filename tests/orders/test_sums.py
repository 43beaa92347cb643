"""What an order comes to, to the cent."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moneyed import EUR, Money

from orders import delivery, numbers, quotes, tax
from orders.quotes import QuotedLine


def line(price: str, quantity: int = 1, tax_class: str = "standard") -> QuotedLine:
    return QuotedLine(uuid4(), uuid4(), "T", "Mug", "mug", {}, "mug/aaaaaa", Money(price, EUR), quantity, tax_class)


def test_the_included_tax_is_split_by_rate() -> None:
    parts = tax.included([("standard", Money("119.00", EUR)), ("reduced", Money("10.70", EUR))], "DE")
    assert [(part.rate, part.net.amount, part.tax.amount) for part in parts] == [
        (Decimal(19), Decimal("100.00"), Decimal("19.00")),
        (Decimal(7), Decimal("10.00"), Decimal("0.70")),
    ]


@pytest.mark.parametrize(("country", "rates"), [("DE", (19, 7)), ("FR", (20, "5.5")), ("IE", (23, "13.5"))])
def test_each_country_has_its_rates(country: str, rates: tuple[int | str, ...]) -> None:
    parts = tax.included([("reduced", Money(1, EUR)), ("standard", Money(1, EUR))], country)
    assert [part.rate for part in parts] == [Decimal(rate) for rate in rates]


def test_tax_is_rounded_half_up_once_for_each_rate() -> None:
    # 0.23 of 1.23 is tax. A gross of 0.1230 euros has exactly 2.3 cents, so three lines of 0.05 differ from their sum.
    (part,) = tax.included([("standard", Money("0.05", EUR))] * 3, "IE")
    assert (part.net.amount, part.tax.amount) == (Decimal("0.12"), Decimal("0.03"))
    # 20 % of 1.23 gross is 0.205, which is half a cent: up.
    (part,) = tax.included([("standard", Money("1.23", EUR))], "FR")
    assert part.tax.amount == Decimal("0.21")


def test_delivery_is_taxed_at_the_standard_rate() -> None:
    sums = quotes.sums([line("10.70", tax_class="reduced")], "DE", delivery.method("DE", "standard"))
    assert [(part.rate, part.net + part.tax) for part in sums.taxes] == [
        (Decimal(19), Money("4.90", EUR)),
        (Decimal(7), Money("10.70", EUR)),
    ]


def test_standard_delivery_is_free_from_a_sum_on_and_express_never() -> None:
    standard, express = delivery.methods("DE")
    assert standard.price_for(Money("59.99", EUR)) == Money("4.90", EUR)
    assert standard.price_for(Money("60.00", EUR)) == Money(0, EUR)
    assert express.price_for(Money("999.00", EUR)) == Money("9.90", EUR)


def test_free_delivery_leaves_no_row_of_tax_for_itself() -> None:
    sums = quotes.sums([line("70.00", tax_class="reduced")], "DE", delivery.method("DE", "standard"))
    assert [part.rate for part in sums.taxes] == [Decimal(7)]


@given(
    st.lists(
        st.tuples(st.integers(1, 99_999), st.integers(1, 99), st.sampled_from(["standard", "reduced"])),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["DE", "FR", "IE"]),
    st.sampled_from(["standard", "express"]),
)
def test_lines_delivery_and_tax_add_up_to_the_total(
    bought: list[tuple[int, int, str]], country: str, method: str
) -> None:
    """I9."""
    lines = [line(str(Decimal(cents) / 100), units, kind) for cents, units, kind in bought]
    sums = quotes.sums(lines, country, delivery.method(country, method))
    assert sum((each.total for each in lines), sums.delivery) == sums.total + sums.discount
    assert sum((part.net + part.tax for part in sums.taxes), sums.total * 0) == sums.total
    assert all(part.tax.amount == part.tax.amount.quantize(Decimal("0.01")) for part in sums.taxes)


def test_a_parcel_rests_on_weekends() -> None:
    friday = datetime(2026, 5, 8, 10, tzinfo=UTC)
    first, last = delivery.method("DE", "standard").arrives(friday)
    assert (first.strftime("%a %d"), last.strftime("%a %d")) == ("Tue 12", "Wed 13")


def test_we_deliver_to_three_countries_only() -> None:
    assert not delivery.methods("US")
    with pytest.raises(KeyError):
        delivery.method("DE", "drone")


def test_x57_a_number_is_found_however_it_is_typed() -> None:
    number = "7K0F-1M9X"
    for typed in ("7K0F-1M9X", "7k0f1m9x", " 7kof im9x ", "7K-0F-1M-9X", "7kOFlm9x", "7k0f–1m9x"):
        assert numbers.tidied(typed) == number


def test_numbers_are_readable_and_do_not_count() -> None:
    made = {numbers.number_for(uuid4()) for _ in range(500)}
    assert len(made) == 500
    for number in made:
        assert len(number) == 9
        assert not set(number) & set("ILOU")
        assert numbers.tidied(number) == number


def test_a_taken_number_gives_way_to_another() -> None:
    order_id = uuid4()
    assert numbers.number_for(order_id) == numbers.number_for(order_id) != numbers.number_for(order_id, 1)
