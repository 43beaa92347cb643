"""Prices that change by themselves, their history, and what may be crossed out beside them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from moneyed import EUR, Money

from cassandra_db import CassandraUnavailable, PendingResult, count_statements
from catalogue import operations, queries
from catalogue.entities import Product, Variant
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.operations import products as product_saves
from catalogue.prices import PricePoint, compute_reference_price, follow_base_prices, price_in_force
from catalogue.variants import generate_variants
from inventory.products_with_stock import get_products_with_stock
from tests.catalogue.reads import changed, stored
from tests.clock import now
from tests.factories import make_category, make_product
from tests.orders.crashes import record_writes

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
START = datetime(2026, 5, 4, 12, tzinfo=UTC)
NEVER = datetime(2099, 1, 1, tzinfo=UTC)


def euro(amount: str) -> Money:
    return Money(amount, EUR)


def at(day: float, price: str, was: str = "") -> PricePoint:
    return PricePoint(START + day * DAY, euro(price), euro(was) if was else None)


def history(product: Product) -> list[tuple[str, bool]]:
    """The prices in a product's history, and whether something was crossed out."""
    read = stored(product)
    points = queries.list_price_history(read, read.variants[0])
    return [(f"{point.price.amount:.0f}", point.compare_at is not None) for point in points]


def test_x93_the_price_of_before_comes_back_after_a_sale_as_it_is_then() -> None:
    sale, back = at(2, "15", "20"), replace(at(4, "20"), back_to=START + 2 * DAY)
    for points, expected in (
        ([at(0, "22", "24"), sale, back], ("22", "")),
        ([at(0, "22"), at(1, "25"), sale, back], ("25", "")),
        ([at(0, "22"), sale, at(3, "12"), back], ("22", "")),
        # The sale has begun: what was before it is known no more.
        ([at(2, "14"), back], ("20", "")),
        ([at(0, "22"), sale, at(4, "20")], ("20", "")),
    ):
        last = follow_base_prices(points)[-1]
        assert (last.starts_at, last) == (points[-1].starts_at, at(4, *expected)), points
    # So what is reduced today, as the law allows, can be saved before a sale that is planned.
    begins = now().replace(microsecond=123_456) + DAY
    planned = (
        PricePoint(begins, euro("60")),
        PricePoint(begins + 4 * DAY, euro("100"), back_to=begins),
    )
    product = make_product("Lamp", price="100.00", now=now() - 90 * DAY)
    product = operations.save_product(changed(product, planned=planned), now())
    operations.save_product(changed(product, price=euro("80"), compare_at=euro("100")), now())
    (variant,) = stored(product).variants
    assert [(each.price, each.compare_at) for each in variant.planned] == [
        (euro("60"), None),
        (euro("80"), None),
    ]


def test_x93_one_function_says_which_price_is_asked() -> None:
    points = [at(0, "10"), at(1, "8", "10"), at(2, "10")]
    for day, price in ((-1, "10"), (0, "10"), (0.99, "10"), (1, "8"), (1.99, "8"), (2, "10")):
        assert price_in_force(points, START + day * DAY).price == euro(price)


def test_x93_a_sale_begins_and_ends_by_itself_wherever_its_price_is_asked() -> None:
    category = make_category()
    product = make_product("Lamp", price="20.00", category=category, now=now() - 10 * DAY)
    begins = now() + timedelta(hours=1)
    sale = (PricePoint(begins, euro("15"), euro("20")), PricePoint(begins + DAY, euro("20")))
    operations.save_product(changed(product, planned=sale), now())

    def asked() -> tuple[str, bool, int]:
        """In the page, in a cart, and on the card, once the job has come by."""
        operations.follow_schedule(operations.schedule_minute(begins), product.product_id)
        page = queries.get_product(product.product_id)
        cart = get_products_with_stock([product.product_id])[product.product_id].product
        assert page
        assert cart
        (card,) = queries.get_category_page(category.category_id, "price").cards
        line, shown = cart.quote_line(cart.variants[0], 1), page.variants[0]
        assert shown.price == cart.variants[0].price == card.price == line.unit_price
        assert shown.compare_at == card.compare_at
        return f"{card.price.amount:.0f}", card.compare_at is not None, len(shown.planned)

    assert asked() == ("20", False, 2)
    with time_machine.travel(begins, tick=True):
        assert asked() == ("15", True, 1)
    with time_machine.travel(begins + DAY, tick=True):
        assert asked() == ("20", False, 0)
        assert history(product) == [("20", False), ("15", True), ("20", False)]


def test_x93_who_has_read_the_price_before_does_not_write_it_again() -> None:
    product = make_product("Lamp", price="20.00")
    begins = now() + timedelta(hours=1)
    planned = (PricePoint(begins, euro("25")),)
    saved = operations.save_product(changed(product, planned=planned), now())
    with time_machine.travel(begins, tick=True):
        with pytest.raises(ProductChanged) as refused:
            operations.save_product(replace(saved, name="Desk lamp"), now())
        assert refused.value.product
        assert refused.value.product.variants[0].price == euro("25")
        again = operations.save_product(replace(refused.value.product, name="Desk lamp"), now())
        assert (stored(product), again.variants[0].planned) == (again, ())
        assert (again.variants[0].price, again.version) == (euro("25"), saved.version + 2)


def test_x93_what_was_asked_is_in_the_history_wherever_a_save_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_product("Lamp", price="20.00", listed=True)

    def cut(*_: Any) -> None:
        raise CassandraUnavailable("pulled out")

    for step, asked in (
        ("_apply_save", [("20", False)]),
        ("refresh_cards", [("20", False), ("12", False)]),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(product_saves, step, cut)
            with pytest.raises(CassandraUnavailable):
                operations.save_product(changed(product, price=euro("12")), now())
        assert history(product) == asked
    operations.save_product(changed(stored(product), price=euro("16")), now())
    assert history(product) == [("20", False), ("12", False), ("16", False)]


def former_prices(product: Product) -> list[Money]:
    """What the history has of a product's first variant."""
    rows = queries.prefetch_price_history(product.variants[0].variant_id).rows()
    return [point.price for point in queries.price_history_from_rows(rows)]


def test_x574_a_single_price_is_in_no_history_and_planned_ones_are_once_they_are_overwritten() -> (
    None
):
    draft = operations.duplicate_product(make_product(price="20.00"), now())
    shown = operations.save_product(replace(draft, status="active"), now())
    assert (former_prices(shown), history(shown)) == ([], [("20", False)])
    soon = (PricePoint(now() + DAY, euro("25")), PricePoint(now() + 2 * DAY, euro("30")))
    saved = operations.save_product(changed(shown, planned=soon), now())
    with time_machine.travel(now() + 3 * DAY, tick=True):
        assert former_prices(saved) == [euro("20")], "it is noted with the plan"
        assert history(saved) == [("20", False), ("25", False), ("30", False)]
        read = stored(saved)
        reduced = PricePoint(now(), euro("15"))
        asked = queries.list_price_history(read, read.variants[0])
        reference = queries.find_reference_price(read, read.variants[0], asked, reduced)
        assert reference == euro("20")
        lower = operations.save_product(changed(read, price=euro("15")), now())
        assert former_prices(lower) == [euro("20"), euro("25"), euro("30")]
        assert [price for price, _ in history(lower)] == ["20", "25", "30", "15"]


def test_x574_a_price_that_begins_after_the_clock_of_the_next_save_is_in_the_history() -> None:
    product = make_product("Lamp", price="20.00", now=now() - DAY)
    ahead = operations.save_product(
        changed(product, price=euro("25")), now() + timedelta(seconds=3)
    )
    lower = operations.save_product(changed(ahead, price=euro("15")), now())
    assert former_prices(lower) == [euro("20"), euro("25")]


def test_x574_workers_of_the_former_version_find_the_price_before_a_planned_one() -> None:
    product = make_product("Lamp", price="20.00", now=now() - DAY)
    planned = (PricePoint(now() + DAY, euro("15")),)
    saved = operations.save_product(changed(product, planned=planned), now())
    with time_machine.travel(now() + 2 * DAY, tick=True):
        operations.follow_schedule(operations.schedule_minute(now()), saved.product_id)
        assert former_prices(saved) == [euro("20"), euro("15")]


def test_x93_a_product_that_comes_at_another_time_keeps_its_history_whole() -> None:
    product = make_product("Theodolite", price="30.00", now=now() - 90 * DAY)
    for active_from in (now() - DAY, now() - 30 * DAY, None):
        product = operations.save_product(replace(product, active_from=active_from), now())
    assert history(product) == [("30", False)] * 4


def test_x93_a_draft_asks_nothing() -> None:
    draft = operations.duplicate_product(make_product(price="20.00"), now())
    draft = operations.save_product(changed(draft, price=euro("5")), now())
    assert history(draft) == []
    shown = replace(changed(draft, price=euro("20")), status="active")
    assert history(operations.save_product(shown, now())) == [("20", False)]


def test_x93_the_history_has_what_was_asked_of_somebody_alone() -> None:
    product = make_product(
        "Lamp", price="20.00", options={"Size": ["S", "L"]}, now=now() - 90 * DAY
    )
    small, large = product.variants
    withdrawn = replace(small, sold=False, price=euro("5"))
    planned = (PricePoint(now() + 2 * DAY, euro("6")),)
    gone = operations.save_product(
        replace(
            product, active_until=now() + DAY, variants=(withdrawn, replace(large, planned=planned))
        ),
        now(),
    )
    with time_machine.travel(now() + 3 * DAY, tick=True):
        operations.follow_schedule(operations.schedule_minute(now()), product.product_id)
        read = stored(gone)
        assert [each.price for each in read.variants] == [euro("5"), euro("6")]
        for variant in read.variants:
            asked = queries.list_price_history(read, variant)
            assert [point.price for point in asked] == [euro("20")]
            reduced = PricePoint(now(), euro("4"))
            assert queries.find_reference_price(read, variant, asked, reduced) == euro("20")


def test_x93_a_price_is_asked_anew_when_its_product_comes_at_another_time() -> None:
    draft = operations.duplicate_product(make_product(price="20.00"), now() - 9 * DAY)
    coming = replace(draft, status="active", active_from=now() + 9 * DAY)
    coming = operations.save_product(coming, now() - 8 * DAY)
    shown = operations.save_product(replace(coming, active_from=None), now())
    (point,) = queries.list_price_history(shown, shown.variants[0])
    assert point.starts_at == shown.updated_at
    # And what is gone, and comes again.
    gone = operations.save_product(replace(shown, active_until=now() + DAY), now())
    assert gone.variants[0].price_from == shown.updated_at
    with time_machine.travel(now() + 2 * DAY, tick=True):
        back = operations.save_product(replace(gone, active_until=None), now())
        assert history(back) == [("20", False), ("20", False)]


def test_x93_what_is_there_already_is_neither_read_nor_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_product("Lamp", price="20.00", options={"Size": ["S", "M", "L"]})
    soon = PricePoint(now() + DAY, euro("25"))
    saved = operations.save_product(
        replace(
            product,
            active_until=now() + 2 * DAY,
            variants=tuple(replace(each, planned=(soon,)) for each in product.variants),
        ),
        now(),
    )
    looked_up = list[str]()
    real = queries.prefetch_variant_by_sku

    def look_up(sku: str) -> PendingResult:
        looked_up.append(sku)
        return real(sku)

    monkeypatch.setattr(queries, "prefetch_variant_by_sku", look_up)
    writes = record_writes(lambda: operations.save_product(replace(saved, name="Desk lamp"), now()))
    assert "product_schedule_by_minute" not in {each.tables for each in writes}
    assert looked_up == []
    rows = queries.prefetch_product_at_quorum(product.product_id).rows()
    with count_statements() as meter:
        operations.record_prices(rows, now())
    assert (meter.write_count, meter.round_count) == (3, 1)


PLANS: dict[str, list[PricePoint]] = {
    "in the year 9999": [PricePoint(datetime(9999, 12, 31, 23, 59, 30, tzinfo=UTC), euro("5"))],
    "begun": [PricePoint(START, euro("5"))],
    "in the wrong order": [PricePoint(NEVER - n * DAY, euro("5")) for n in (1, 2)],
    "too many": [PricePoint(NEVER + n * DAY, euro("5")) for n in range(20)],
    "below 0": [PricePoint(NEVER, euro("-5"))],
    "in another currency": [PricePoint(NEVER, Money(5, "USD"))],
    "cheaper before": [PricePoint(NEVER, euro("5"), euro("4"))],
}


def test_x93_a_plan_that_cannot_be_is_refused() -> None:
    product = make_product()
    fields = {}
    for name, plan in PLANS.items():
        with pytest.raises(ProductRefused) as refused:
            operations.save_product(changed(product, planned=tuple(plan)), now())
        fields[name] = refused.value.field
    assert fields == dict.fromkeys(PLANS, "planned") | {"in another currency": "price"}


def test_x94_the_reference_is_the_lowest_of_the_30_days_before_the_reduction_began() -> None:
    for earlier, reduced, reference in (
        ([], at(0, "8"), None),
        ([at(-100, "10")], at(0, "8"), "10"),
        # Raised for the sake of the sale.
        ([at(-100, "10"), at(-5, "14")], at(0, "8"), "10"),
        # The lower price ended 31 days before, and 29 days before.
        ([at(-100, "7"), at(-31, "10")], at(0, "8"), "10"),
        ([at(-100, "7"), at(-29, "10")], at(0, "8"), "7"),
        # Reduced further without a rise in between: as at its first step.
        ([at(-100, "10"), at(-20, "9", "10")], at(0, "8"), "10"),
        ([at(-100, "10"), at(-50, "9", "10"), at(-40, "8", "10")], at(0, "7"), "10"),
        # With a rise in between it is another reduction.
        ([at(-100, "10"), at(-20, "7", "10"), at(-10, "10")], at(0, "8"), "7"),
        ([at(-100, "10"), at(-20, "7", "10")], at(0, "8"), "7"),
        # A lower price that was not called reduced counts.
        ([at(-100, "10"), at(-10, "9")], at(0, "8"), "9"),
    ):
        found = compute_reference_price(earlier, reduced)
        assert found == (euro(reference) if reference else None), (earlier, reduced)


def test_x94_what_is_crossed_out_too_high_is_refused_with_the_reason() -> None:
    product = make_product("Lamp", price="20.00", now=now() - 90 * DAY)
    raised = operations.save_product(changed(product, price=euro("30")), now() - 3 * DAY)
    with pytest.raises(ProductRefused, match="20") as refused:
        operations.save_product(changed(raised, price=euro("18"), compare_at=euro("30")), now())
    variant_id = product.variants[0].variant_id
    assert (refused.value.field, refused.value.variant_id) == ("compare_at", variant_id)
    reduced = operations.save_product(
        changed(raised, price=euro("18"), compare_at=euro("20")), now()
    )
    # What is there may stay whatever else is changed, and be reduced further.
    renamed = operations.save_product(replace(reduced, name="Desk lamp"), now())
    further = operations.save_product(changed(renamed, price=euro("15")), now() + DAY)
    assert further.variants[0].compare_at == euro("20")


def test_x94_a_plan_is_held_against_what_will_have_been_asked_by_then() -> None:
    product = make_product("Lamp", price="20.00", now=now() - 90 * DAY)
    sale = PricePoint(now() + 10 * DAY, euro("15"), euro("20"))
    planned = operations.save_product(changed(product, planned=(sale,)), now())
    # A lower price before it spoils it.
    with pytest.raises(ProductRefused, match="18") as refused:
        operations.save_product(changed(planned, price=euro("18")), now())
    assert refused.value.field == "planned"
    second = PricePoint(now() + 20 * DAY, euro("20"))
    third = PricePoint(now() + 21 * DAY, euro("14"), euro("20"))
    with pytest.raises(ProductRefused, match="15"):
        operations.save_product(changed(planned, planned=(sale, second, third)), now())


def test_x94_the_highest_price_that_may_be_crossed_out_can_be_shown_beside_the_field() -> None:
    product = make_product("Lamp", price="20.00", now=now() - 90 * DAY)
    sale = (
        PricePoint(now() + DAY, euro("15"), euro("20")),
        PricePoint(now() + 2 * DAY, euro("20")),
    )
    planned = operations.save_product(changed(product, planned=sale), now())
    variant = planned.variants[0]
    history = queries.list_price_history(planned, variant)
    for day, price, reference in ((0, "12", "20"), (1.5, "12", "20"), (3, "12", "15")):
        reduced = PricePoint(now() + day * DAY, euro(price))
        assert queries.find_reference_price(planned, variant, history, reduced) == euro(reference)


def test_x94_what_is_sold_again_is_held_against_what_was_asked_before() -> None:
    def make() -> tuple[Product, Variant]:
        product = make_product(
            "Lamp", price="20.00", options={"Size": ["S", "L"]}, now=now() - 90 * DAY
        )
        return product, product.variants[0]

    sale: dict[str, dict[str, Any]] = {
        "compare_at": {"price": euro("10"), "compare_at": euro("99")},
        "planned": {"planned": (PricePoint(now() + DAY, euro("10"), euro("99")),)},
    }
    for field, prices in sale.items():
        product, small = make()
        withdrawn = replace(small, sold=False, **prices)
        read = operations.save_product(
            replace(product, variants=(withdrawn, product.variants[1])), now()
        )
        again = (replace(read.variants[0], sold=True), read.variants[1])
        generated = generate_variants(read, {"Size": ["S", "L"]}).apply_to(read)
        for sold_again in (replace(read, variants=again), generated):
            with pytest.raises(ProductRefused) as refused:
                operations.save_product(sold_again, now())
            assert (refused.value.field, refused.value.variant_id) == (field, small.variant_id)


def test_x94_a_price_from_before_a_product_comes_was_asked_of_nobody() -> None:
    draft = operations.duplicate_product(make_product(price="20.00"), now())
    begins = now() + 10 * DAY

    def coming(day: int, plan: PricePoint) -> Product:
        return replace(
            changed(draft, planned=(plan,)), status="active", active_from=begins + day * DAY
        )

    reduced = PricePoint(begins, euro("10"), euro("20"))
    with pytest.raises(ProductRefused, match="never sold") as refused:
        operations.save_product(coming(1, reduced), now())
    assert refused.value.field == "planned"
    saved = operations.save_product(coming(-1, reduced), now())
    # Nor when it comes later than was said at first.
    with pytest.raises(ProductRefused, match="never sold"):
        operations.save_product(replace(saved, active_from=begins + DAY), now())
    plain = PricePoint(begins, euro("10"))
    saved = operations.save_product(replace(coming(1, plain), version=saved.version), now())
    with time_machine.travel(begins + 2 * DAY, tick=True):
        rows = queries.prefetch_product_at_quorum(saved.product_id).rows()
        (points,) = queries.begun_prices(rows, now()).values()
        assert points == [PricePoint(saved.active_from or now(), euro("10"))]


def test_x94_what_was_never_sold_has_nothing_to_cross_out() -> None:
    product = operations.duplicate_product(make_product(price="20.00"), now())
    with pytest.raises(ProductRefused, match="never sold") as refused:
        operations.save_product(changed(product, compare_at=euro("30")), now())
    assert refused.value.field == "compare_at"
