"""Prices in the words of a search."""

from decimal import Decimal

from catalogue.query_prices import read_prices
from tests.rules import for_each


@for_each(
    [
        ("under 20", "", None, "20"),
        ("mug under 20", "mug", None, "20"),
        ("Mug UNDER €20", "Mug", None, "20"),
        ("mugs for under 20 euros", "mugs", None, "20"),
        ("less than 30 €", "", None, "30"),
        ("up to 19,99", "", None, "19.99"),
        ("over 50", "", "50", None),
        ("more than EUR 50.50 lamp", "lamp", "50.50", None),
        ("20-40", "", "20", "40"),
        ("20–40 €", "", "20", "40"),
        ("€20 - €40 lamp", "lamp", "20", "40"),
        ("lamp between 20 and 40", "lamp", "20", "40"),
        ("5 to 9 eur", "", "5", "9"),
        ("lamp over 20 under 50", "lamp", "20", "50"),
        ("under 1,000", "", None, "1000"),
    ],
    lambda case: case[0],
)
def test_x315_a_price_range_is_taken_out_of_the_words(
    case: tuple[str, str, str | None, str | None],
) -> None:
    query, words, low, high = case
    found = read_prices(query, "EUR")
    bounds = tuple(None if each is None else Decimal(each) for each in (low, high))
    assert (found.words, (found.low, found.high)) == (words, bounds)


@for_each(
    [
        *("", "under", "NaN", "under NaN", "under -5", "40-20", "under 20 over 50", "under 1e9"),
        *("over 99999999", "20 and 40", "20-40-60", "ab-20-40", "$20-40", "under $20", "20"),
        *("under ٢٠", "infinity-nan", "mug20-40", "under 20cm", "9" * 100 + "-1", "2-" * 50),
    ],
    lambda query: query[:20] or "nothing",
)
def test_x315_what_is_no_price_range_stays_words(query: str) -> None:
    found = read_prices(query, "EUR")
    assert (found.words, found.low, found.high, found.text) == (query, None, None, "")


def test_x315_a_price_is_in_the_shops_currency() -> None:
    assert read_prices("under $20", "USD").high == Decimal(20)
    assert read_prices("under £20", "EUR").high is None
