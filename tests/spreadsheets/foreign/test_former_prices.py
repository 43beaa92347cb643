"""Former prices of another shop are kept as far as this shop has asked for them, and counted otherwise."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.operations.former_prices import keep_former_prices
from tests.factories import make_product

NOW = datetime.now(UTC)


def test_x533_former_prices_are_kept_as_far_as_the_law_allows() -> None:
    sold = make_product("Lamp", price="30.00", now=NOW - timedelta(days=40)).variants[0].sku
    cases = {
        # SKU, price, former price: what is kept.
        (sold.lower(), "24.00", "28.00"): "28.00",
        (sold, "24.00", "40.00"): "30.00",
        (sold, "30.00", "40.00"): "",
        (sold, "35.00", "40.00"): "",
        # 0, or the price itself, is no former price, and is not counted.
        (sold, "24.00", "0.00"): "",
        ("NEW-ONE", "24.00", "30.00"): "",
        ("not; a SKU", "24.00", "30.00"): "",
        (sold, "soon", "30.00"): "30.00",
        (sold, "24.00", "a lot"): "a lot",
        (sold, "24.00", ""): "",
    }
    lines = [
        ConvertedLine(number, {"sku": sku, "price": price, "compare_at": typed})
        for number, (sku, price, typed) in enumerate(cases, start=2)
    ]
    # Another line says nothing about a former price.
    plain = ConvertedLine(99, {"sku": sold, "price": "24.00"})
    notes: Counter[str] = Counter()
    found = list(keep_former_prices([*lines, plain], notes, NOW))
    assert [each.cells["compare_at"] for each in found[:-1]] == list(cases.values())
    assert found[-1] == plain
    assert notes["former_prices"] == 4
