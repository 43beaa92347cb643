"""An order's sums, to the cent."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st
from moneyed import EUR, Money

from orders import numbers
from pricing import delivery, quotes, tax
from pricing.delivery_words import describe_delivery_price
from pricing.money import to_minor_units
from pricing.proration import prorate_amount, prorate_units
from pricing.quotes import QuotedLine
from pricing.sum_rows import list_sum_rows
from promotions.rules import AMOUNT, BUY_GET, FREE_DELIVERY, PERCENTAGE, Promotion
from tests.factories import find_delivery_method


def line(price: str, quantity: int = 1, tax_class: str = "standard", grams: int = 0) -> QuotedLine:
    return QuotedLine(
        uuid4(),
        uuid4(),
        "T",
        "Mug",
        "mug",
        {},
        "mug/aaaaaa",
        Money(price, EUR),
        quantity,
        tax_class,
        grams,
    )


def make_promotion(kind: str, **terms: Any) -> Promotion:
    return Promotion("key", "", kind, kind, **terms)


def test_the_included_tax_is_split_by_rate() -> None:
    parts = tax.split_included_tax(
        [("standard", Money("119.00", EUR)), ("reduced", Money("10.70", EUR))],
        tax.get_tax_rates("DE").by_class,
    )
    assert [(part.rate, part.net.amount, part.tax.amount) for part in parts] == [
        (Decimal(19), Decimal("100.00"), Decimal("19.00")),
        (Decimal(7), Decimal("10.00"), Decimal("0.70")),
    ]


def test_each_country_has_its_rates(subtests: pytest.Subtests) -> None:
    for country, rates in (("DE", ("19", "7")), ("FR", ("20", "5.5")), ("IE", ("23", "13.5"))):
        with subtests.test(country):
            parts = tax.split_included_tax(
                [("reduced", Money(1, EUR)), ("standard", Money(1, EUR))],
                tax.get_tax_rates(country).by_class,
            )
            assert [part.rate for part in parts] == [Decimal(rate) for rate in rates]


def test_tax_is_rounded_half_up_once_for_each_rate() -> None:
    # 0.23 of 1.23 is tax. A gross of 0.1230 euros has exactly 2.3 cents, so three lines of 0.05 differ from their sum.
    (part,) = tax.split_included_tax(
        [("standard", Money("0.05", EUR))] * 3, tax.get_tax_rates("IE").by_class
    )
    assert (part.net.amount, part.tax.amount) == (Decimal("0.12"), Decimal("0.03"))
    # 20 % of 1.23 gross is 0.205, which is half a cent: up.
    (part,) = tax.split_included_tax(
        [("standard", Money("1.23", EUR))], tax.get_tax_rates("FR").by_class
    )
    assert part.tax.amount == Decimal("0.21")


def test_delivery_is_taxed_at_the_standard_rate() -> None:
    sums = quotes.compute_quote(
        [line("10.70", tax_class="reduced")],
        tax.get_tax_rates("DE"),
        find_delivery_method("DE", "standard"),
    )
    assert [(part.rate, part.net + part.tax) for part in sums.taxes] == [
        (Decimal(19), Money("4.90", EUR)),
        (Decimal(7), Money("10.70", EUR)),
    ]


def test_standard_delivery_is_free_from_a_sum_on_and_express_never() -> None:
    standard, express = delivery.list_delivery_methods("DE")
    assert standard.price_for(Money("59.99", EUR)) == Money("4.90", EUR)
    assert standard.price_for(Money("60.00", EUR)) == Money(0, EUR)
    assert express.price_for(Money("999.00", EUR)) == Money("9.90", EUR)


def test_free_delivery_leaves_no_row_of_tax_for_itself() -> None:
    sums = quotes.compute_quote(
        [line("70.00", tax_class="reduced")],
        tax.get_tax_rates("DE"),
        find_delivery_method("DE", "standard"),
    )
    assert [part.rate for part in sums.taxes] == [Decimal(7)]


def test_delivery_costs_more_by_weight() -> None:
    standard, express = delivery.list_delivery_methods("DE")
    little = Money("10.00", EUR)
    for grams, price in (
        (0, "4.90"),
        (5_000, "4.90"),
        (5_001, "7.40"),
        (20_000, "10.90"),
        (31_500, "16.90"),
    ):
        assert standard.price_for(little, grams) == Money(price, EUR)
    assert express.price_for(little, 5_001) == Money("12.40", EUR)
    assert quotes.compute_quote(
        [line("1.00", 3, grams=2_000)], tax.get_tax_rates("DE"), standard
    ).delivery == Money("7.40", EUR)


def test_what_is_too_heavy_for_one_parcel_goes_in_several() -> None:
    standard, _ = delivery.list_delivery_methods("DE")
    assert standard.price_for(Money(10, EUR), 31_501) == Money("16.90", EUR) + Money("4.90", EUR)
    assert standard.price_for(Money(10, EUR), 63_000) == Money("33.80", EUR)
    # Free delivery is that of the first of them.
    assert standard.price_for(Money(500, EUR), 31_500) == Money(0, EUR)
    assert standard.price_for(Money(500, EUR), 31_501) == Money("4.90", EUR)


def test_x125_why_delivery_is_not_free_is_said() -> None:
    standard, express = delivery.list_delivery_methods("DE")
    code = make_promotion(AMOUNT, amount=1000)

    def say(price: str, grams: int = 0, *codes: Promotion, way: Any = standard) -> str:
        lines = [line(price, grams=grams)]
        quote = quotes.compute_quote(lines, tax.get_tax_rates("DE"), way, codes)
        return describe_delivery_price(quote, way, quotes.lines_weight(lines))

    assert say("47.70") == "Free from €60.00. Add €12.30 more."
    # The subtotal counts before a code takes anything off.
    assert say("47.70", 0, code) == "Free from €60.00 before discounts. Add €12.30 more."
    assert say("60.00", 31_500, code) == ""
    assert say("60.00", 40_250) == (
        "Your items weigh 40.2 kg and go in 2 parcels, as one holds 31.5 kg. The first one is free."
    )
    assert say("20.00", 0, make_promotion(FREE_DELIVERY)) == ""
    assert say("60.00", 40_000, way=express) == ""


def test_x124_the_rows_of_a_sum_have_one_order() -> None:
    codes = (make_promotion(AMOUNT, amount=1000), make_promotion(FREE_DELIVERY))
    with override_settings(TAX_ADDED_IN=["IE"]):
        standard = find_delivery_method("IE", "standard")
        sums = quotes.compute_quote([line("20.00")], tax.get_tax_rates("IE"), standard, codes)
    rows = [(row.kind, row.label, row.amount) for row in list_sum_rows(sums, "Standard")]
    assert rows == [
        ("subtotal", "Subtotal", "€20.00"),
        ("discount", "amount", "−€10.00"),
        ("discount", "free_delivery", "Free delivery"),
        ("delivery", "Delivery, Standard", "Free"),
        ("tax", "Tax", "€2.30"),
        ("total", "Total", "€12.30"),
    ]
    unnamed = list_sum_rows(replace(sums, discounts=()), "Standard")
    assert (unnamed[1].label, unnamed[1].amount) == ("Discount", "−€10.00")


def test_tax_is_added_where_prices_are_net() -> None:
    lines = [line("10.00", 2), line("1.15", tax_class="reduced")]
    with override_settings(TAX_ADDED_IN=["IE"]):
        sums = quotes.compute_quote(
            lines, tax.get_tax_rates("IE"), find_delivery_method("IE", "standard")
        )
        elsewhere = quotes.compute_quote(
            lines, tax.get_tax_rates("DE"), find_delivery_method("DE", "standard")
        )
    # 23 % of 25.90 and 13.5 % of 1.15, which is 0.15525.
    assert [(part.net, part.tax) for part in sums.taxes] == [
        (Money("25.90", EUR), Money("5.96", EUR)),
        (Money("1.15", EUR), Money("0.16", EUR)),
    ]
    assert sums.total == Money("33.17", EUR)
    assert sums.tax_added == sums.tax == Money("6.12", EUR)
    assert sums.line_taxes == (Money("4.60", EUR), Money("0.16", EUR))
    assert elsewhere.tax_added == Money(0, EUR)
    assert elsewhere.total == Money("26.05", EUR)


def test_what_is_taken_off_is_not_taxed() -> None:
    sums = quotes.compute_quote(
        [line("119.00")],
        tax.get_tax_rates("DE"),
        find_delivery_method("DE", "standard"),
        [make_promotion(PERCENTAGE, percent=Decimal(50))],
    )
    assert (sums.discount, sums.total) == (Money("59.50", EUR), Money("59.50", EUR))
    assert [part.tax for part in sums.taxes] == [Money("9.50", EUR)]


def test_a_code_does_not_make_delivery_dearer() -> None:
    sums = quotes.compute_quote(
        [line("65.00")],
        tax.get_tax_rates("DE"),
        find_delivery_method("DE", "standard"),
        [make_promotion(AMOUNT, amount=1000)],
    )
    assert (sums.delivery, sums.total) == (Money(0, EUR), Money("55.00", EUR))


def test_free_delivery_takes_nothing_off_the_subtotal() -> None:
    sums = quotes.compute_quote(
        [line("10.00")],
        tax.get_tax_rates("DE"),
        find_delivery_method("DE", "express"),
        [make_promotion(FREE_DELIVERY)],
    )
    assert (sums.delivery, sums.discount, sums.total) == (
        Money(0, EUR),
        Money(0, EUR),
        Money("10.00", EUR),
    )
    assert [(each.name, each.amount) for each in sums.discounts] == [(FREE_DELIVERY, Money(0, EUR))]


def test_no_more_is_taken_off_than_the_subtotal() -> None:
    promotions = [make_promotion(AMOUNT, amount=700), make_promotion(AMOUNT, amount=700)]
    sums = quotes.compute_quote(
        [line("5.00"), line("5.00")],
        tax.get_tax_rates("DE"),
        find_delivery_method("DE", "standard"),
        promotions,
    )
    assert [each.amount for each in sums.discounts] == [Money("7.00", EUR), Money("3.00", EUR)]
    assert sums.total == sums.delivery == Money("4.90", EUR)


SOLD = st.lists(
    st.tuples(
        st.integers(1, 99_999),
        st.integers(1, 99),
        st.sampled_from(["standard", "reduced"]),
        st.integers(0, 9_000),
    ),
    min_size=1,
    max_size=12,
)
PROMOTIONS = st.lists(
    st.one_of(
        st.builds(
            lambda hundredths: make_promotion(PERCENTAGE, percent=Decimal(hundredths) / 100),
            hundredths=st.integers(1, 10_000),
        ),
        st.builds(
            lambda cents: make_promotion(AMOUNT, amount=cents), cents=st.integers(1, 2_000_000)
        ),
        st.builds(
            lambda buy, free: make_promotion(BUY_GET, buy=buy, free=free),
            buy=st.integers(1, 4),
            free=st.integers(1, 3),
        ),
        st.just(make_promotion(FREE_DELIVERY)),
    ),
    max_size=4,
)


@given(
    SOLD,
    PROMOTIONS,
    st.sampled_from(["DE", "FR", "IE", "DK"]),
    st.sampled_from(["standard", "express"]),
    st.booleans(),
)
def test_s36_everything_adds_up_to_the_cent(
    sold: list[tuple[int, int, str, int]],
    promotions: list[Promotion],
    country: str,
    method: str,
    added: bool,
) -> None:
    """Check S36 and I9."""
    lines = [
        line(str(Decimal(cents) / 100), units, kind, grams) for cents, units, kind, grams in sold
    ]
    with override_settings(TAX_ADDED_IN=[country] if added else []):
        sums = quotes.compute_quote(
            lines, tax.get_tax_rates(country), find_delivery_method(country, method), promotions
        )
    zero = sums.total * 0
    assert sums.is_tax_added is added
    assert (
        sum((each.total for each in lines), sums.delivery) + sums.tax_added - sums.discount
        == sums.total
    )
    assert sum((part.net + part.tax for part in sums.taxes), zero) == sums.total
    assert sum((each.amount for each in sums.discounts), zero) == sums.discount
    assert sum(sums.line_discounts, zero) == sums.discount
    assert all(
        zero <= less <= each.total for less, each in zip(sums.line_discounts, lines, strict=True)
    )
    assert zero <= sum(sums.line_taxes, zero) <= sums.tax_added
    assert zero <= sums.delivery <= sums.total
    for amount in (
        sums.total,
        sums.discount,
        *sums.line_discounts,
        *sums.line_taxes,
        *(part.tax for part in sums.taxes),
    ):
        to_minor_units(amount)  # no fractions of a cent
    # The tax of a rate is within half a cent of the exact one.
    for part in sums.taxes:
        exact = (
            part.net.amount * part.rate / 100
            if added
            else (part.net + part.tax).amount * part.rate / (100 + part.rate)
        )
        assert abs(part.tax.amount - exact) <= Decimal("0.005")


@given(st.integers(0, 10_000_000), st.lists(st.integers(0, 1_000_000), min_size=1, max_size=30))
def test_s36_an_amount_is_spread_without_a_cent_lost(amount: int, over: list[int]) -> None:
    amount = min(amount, sum(over))
    parts = prorate_amount(amount, over)
    assert sum(parts) == amount
    for part, each in zip(parts, over, strict=True):
        assert 0 <= part <= each
        assert sum(over) == 0 or abs(part - amount * each / sum(over)) < 1


@given(st.integers(0, 1_000_000), st.lists(st.integers(0, 99), min_size=1, max_size=10))
def test_s36_refunds_of_parts_of_a_line_add_up_to_the_line(amount: int, cuts: list[int]) -> None:
    given_back, before = 0, 0
    for units in cuts:
        given_back += prorate_units(amount, max(sum(cuts), 1), units, before)
        before += units
    assert given_back == (amount if sum(cuts) else 0)


def test_a_parcel_rests_on_weekends() -> None:
    friday = datetime(2026, 5, 8, 10, tzinfo=UTC)
    first, last = find_delivery_method("DE", "standard").delivery_estimate(friday)
    assert (first.strftime("%a %d"), last.strftime("%a %d")) == ("Tue 12", "Wed 13")


def test_we_deliver_to_three_countries_only() -> None:
    assert not delivery.list_delivery_methods("US")
    assert "drone" not in {each.code for each in delivery.list_delivery_methods("DE")}


def test_x57_a_number_is_found_however_it_is_typed() -> None:
    number = "7K0F-1M9X"
    for typed in ("7K0F-1M9X", "7k0f1m9x", " 7kof im9x ", "7K-0F-1M-9X", "7kOFlm9x", "7k0f–1m9x"):
        assert numbers.normalize_order_number(typed) == number


def test_numbers_are_readable_and_do_not_count() -> None:
    found = {numbers.derive_order_number(uuid4()) for _ in range(500)}
    assert len(found) == 500
    for number in found:
        assert len(number) == 9
        assert not set(number) & set("ILOU")
        assert numbers.normalize_order_number(number) == number


def test_a_taken_number_gives_way_to_another() -> None:
    order_id = uuid4()
    assert (
        numbers.derive_order_number(order_id)
        == numbers.derive_order_number(order_id)
        != numbers.derive_order_number(order_id, 1)
    )
