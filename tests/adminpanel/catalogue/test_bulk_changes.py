"""Many products at once: chosen, looked at beforehand, changed exactly once, and changed back."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time
from django.test import Client, override_settings
from django.urls import reverse
from moneyed import EUR, Money

from catalogue import bulk_changes, jobs, operations
from catalogue.bulk_acts import BulkAct, unpack_act
from catalogue.bulk_changes import BulkChange, Selected
from catalogue.entities import Product
from catalogue.search_index import build_index
from catalogue.variants import fingerprint_variant
from consistency.findings import Scope
from inventory.queries import get_stock_numbers
from jobs.bulk_changes import PAGE_LENGTH
from jobs.months import list_months
from jobs.rows import MAX_FAILURES, collect_failed_rows
from tests.catalogue.reads import stored
from tests.consistency.test_check_consistency import found
from tests.factories import make_category, make_product, make_stock
from tests.reads import existing

LIST, NEW = reverse("adminpanel:products"), reverse("adminpanel:bulk_change_new")
CHEAPER = {"act": "price", "direction": "down", "by": "10", "unit": "percent", "ending": "cent"}


def price(product: Product) -> Decimal:
    amount: Decimal = stored(product).variants[0].price.amount
    return amount


def make_products(count: int, **more: Any) -> list[Product]:
    return [make_product(f"Bulk {n:02}", price="20.00", **more) for n in range(count)]


def start(act: BulkAct, products: list[Product]) -> BulkChange:
    now = datetime.now(UTC)
    selected = [Selected(each.product_id) for each in products]
    return bulk_changes.start_change(uuid_from_time(now), act, selected, uuid4(), now)


def finish(change: BulkChange) -> BulkChange:
    while not change.finished_at:
        bulk_changes.run_change(change, 100)
        found = existing(bulk_changes.get_change(change.change_id))
        change = found
    return change


def unfinished() -> list[UUID]:
    return bulk_changes.list_unfinished(list_months(datetime.now(UTC)))


def results(change: BulkChange) -> list[str]:
    return [each.result for each in bulk_changes.iterate_results(change)]


def preview(cleo: Client, products: list[Product], **act: str) -> Any:
    selected: dict[str, Any] = {"product": [str(each.product_id) for each in products]}
    return cleo.get(NEW, selected | act)


def submit(cleo: Client, answer: Any, **changes: Any) -> Any:
    """Send the form of a preview."""
    context = answer.context
    fields = dict(context["fields"]) | {
        "change_id": str(context["change_id"]),
        "seen": context["seen"],
    }
    return cleo.post(NEW, fields | changes)


# ---- The pages


def test_x99_ticked_products_are_looked_at_and_then_changed(cleo: Client) -> None:
    products = make_products(2)
    choice = preview(cleo, products).content.decode()
    assert "Change 2 products" in choice
    looked_at = preview(cleo, products, **CHEAPER)
    text = looked_at.content.decode()
    assert "Prices lowered by 10%" in text
    assert "€18.00" in text
    assert [price(each) for each in products] == [Decimal(20)] * 2
    answer = submit(cleo, looked_at)
    assert answer.status_code == 303
    assert [price(each) for each in products] == [Decimal(18)] * 2
    page = cleo.get(answer["Location"]).content.decode()
    assert page.count("badge--good") == 2
    assert "Bulk 00" in page
    assert "Undo" in page
    listed = cleo.get(reverse("adminpanel:bulk_changes")).content.decode()
    assert "Prices lowered by 10%" in listed
    assert "Cleo" in listed


def test_x99_sent_twice_it_is_done_once(cleo: Client) -> None:
    (product,) = make_products(1)
    looked_at = preview(cleo, [product], **CHEAPER)
    answers = [submit(cleo, looked_at) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert price(product) == Decimal(18)
    assert stored(product).version == product.version + 2 - (product.version > 0)


def test_x99_an_undo_puts_back_what_nobody_has_changed_since(cleo: Client) -> None:
    products = make_products(2)
    location = submit(cleo, preview(cleo, products, **CHEAPER))["Location"]
    operations.save_product(replace(stored(products[1]), name="Renamed"), datetime.now(UTC))
    for _ in range(2):
        answer = cleo.post(f"{location}undo/")
        assert answer.status_code == 303
    assert [price(each) for each in products] == [Decimal(20), Decimal(18)]
    page = cleo.get(answer["Location"]).content.decode()
    assert "Changed by someone else" in page
    assert "This change was undone" in cleo.get(location).content.decode()


def test_x99_all_that_match_are_changed_and_not_what_matches_later(
    cleo: Client, tmp_path: Any
) -> None:
    brand = f"Brand{uuid4().hex[:8]}"
    products = [
        operations.save_product(replace(each, brand=brand), datetime.now(UTC))
        for each in make_products(3)
    ]
    with override_settings(SEARCH_INDEX_DIR=tmp_path / "one"):
        build_index(products[:1])
        alone = cleo.get(LIST, {"brand": brand}).content.decode()
        assert "Select all" in alone
        assert "Select all 1" not in alone
    with override_settings(SEARCH_INDEX_DIR=tmp_path / "before"):
        build_index(products[:2])
        listed = cleo.get(LIST, {"brand": brand}).content.decode()
        assert "Select all 2" in listed
        assert listed.count('name="product"') == 2
        looked_at = cleo.get(
            NEW, {"all": "1", "brand": brand, "act": "featured", "featured": "yes"}
        )
    with override_settings(SEARCH_INDEX_DIR=tmp_path / "after"):
        build_index(products)
        late = submit(cleo, looked_at)
        assert late.status_code == 409
        assert "The selection has changed since this preview" in late.content.decode()
        assert not any(stored(each).featured for each in products)
        answer = submit(cleo, late)
        assert answer.status_code == 303
    assert all(stored(each).featured for each in products)


def test_x99_many_are_left_to_the_worker_and_shown_with_their_progress(cleo: Client) -> None:
    products = make_products(3)
    change = start(BulkAct("status", status="draft"), products)
    address = reverse("adminpanel:bulk_change", args=(change.change_id,))
    page = cleo.get(address).content.decode()
    assert "0 of 3" in page
    assert "You can leave this page" in page
    assert "Undo" not in page
    assert change.change_id in unfinished()
    jobs.go_on_with_bulk_changes(datetime.now(UTC))
    assert [stored(each).status for each in products] == ["draft"] * 3
    assert change.change_id not in unfinished()
    polled = {"HX-Request": "true", "X-Refreshes-Itself": "1"}
    part = cleo.get(address, headers=polled).content.decode()
    assert "3 of 3" in part
    assert "every 2s" not in part
    assert "<table" not in part


def test_x99_what_is_refused_says_why_and_can_be_filtered(cleo: Client) -> None:
    cheap = make_product("Cheap", price="1.00")
    dear = make_product("Dear", price="20.00")
    less = {"act": "price", "direction": "down", "by": "5", "unit": "amount", "ending": "cent"}
    looked_at = preview(cleo, [cheap, dear], **less)
    assert "Enter a price above 0" in looked_at.content.decode()
    location = submit(cleo, looked_at)["Location"]
    assert (price(cheap), price(dear)) == (Decimal(1), Decimal(15))
    page = cleo.get(location, {"only": "refused"}).content.decode()
    assert "Enter a price above 0" in page
    assert "Dear" not in page


def test_x99_what_cannot_be_done_is_said_beside_its_field(cleo: Client) -> None:
    products, violations = make_products(1), []
    for fields, sentence in (
        (CHEAPER | {"by": ""}, "Enter an amount"),
        (CHEAPER | {"by": "-3"}, "Enter a number above 0"),
        (CHEAPER | {"by": "100"}, "less than 100 per cent"),
        (CHEAPER | {"by": "much"}, "Enter a number, such as 10"),
        (CHEAPER | {"by": "1e9"}, "Enter a number of 1000000 at most"),
        ({"act": "category", "place": "category"}, "Choose a category"),
        (
            {"act": "category", "place": "category", "category_id": str(uuid4())},
            "Choose a category",
        ),
    ):
        answer = preview(cleo, products, **fields)
        if answer.status_code != 422 or sentence not in answer.content.decode():
            violations.append((fields, answer.status_code))
    assert not violations
    for query in ({}, {"product": "x"}, {"all": "1", "q": "zzzz"}):
        assert cleo.get(NEW, query)["Location"] == LIST
    assert cleo.get(reverse("adminpanel:bulk_change", args=(uuid4(),))).status_code == 404


# ---- In the row of the list


@pytest.fixture
def listed(cleo: Client, tmp_path: Any) -> Iterator[Product]:
    """A product of one variant that the list finds alone."""
    (product,) = make_products(1)
    variant = product.variants[0]
    make_stock(7, product_id=product.product_id, variant_id=variant.variant_id)
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([stored(product)])
        yield product


def type_price(cleo: Client, product: Product, text: str, **more: Any) -> Any:
    variant = product.variants[0]
    ids = (product.product_id, variant.variant_id)
    seen = fingerprint_variant(stored(product).get_variant(variant.variant_id) or variant)
    sent = {"price": text, "seen": more.pop("seen", seen)}
    return cleo.post(f"{reverse('adminpanel:product_price', args=ids)}?sort=name", sent, **more)


def test_x99_a_price_is_changed_in_its_row(cleo: Client, listed: Product) -> None:
    row = cleo.get(LIST).content.decode()
    assert 'value="20.00"' in row
    assert (
        f'<a class="link num" href="{reverse("adminpanel:product_stock", args=(listed.product_id,))}">7<'
        in row
    )
    plain = type_price(cleo, listed, "21.50")
    assert (plain.status_code, plain["Location"]) == (303, f"{LIST}?sort=name")
    part = type_price(cleo, listed, "22.50", headers={"HX-Request": "true"})
    text = part.content.decode()
    assert part.status_code == 200
    assert text.count("<tr") == 1
    assert 'value="22.50"' in text
    assert "<h1" not in text
    assert price(listed) == Decimal("22.50")


def test_x99_a_price_that_cannot_be_stays_typed_in_its_row(cleo: Client, listed: Product) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        refused = type_price(cleo, listed, "-1", headers=headers)
        assert refused.status_code == 422
        text = refused.content.decode()
        assert "Enter a price above 0" in text
        assert 'value="-1"' in text
        stale = type_price(cleo, listed, "19.00", seen="an old page", headers=headers)
        assert stale.status_code == 409
        text = stale.content.decode()
        assert "Saved now: 20.00" in text
        assert 'value="19.00"' in text
    assert price(listed) == Decimal(20)


def type_count(cleo: Client, product: Product, **fields: Any) -> Any:
    variant_id = product.variants[0].variant_id
    headers = fields.pop("headers", {})
    sent = {"warehouse": "berlin", "seen": "7", "count": "1", "reason": "stocktaking"}
    url = reverse("adminpanel:product_count", args=(product.product_id, variant_id))
    return cleo.post(f"{url}?sort=name", sent | {"key": str(uuid4())} | fields, headers=headers)


def test_x147_what_was_counted_is_typed_in_its_row(cleo: Client, listed: Product) -> None:
    variant_id = listed.variants[0].variant_id
    row = cleo.get(LIST).content.decode()
    assert re.search(r'name="units" value="7"', row)
    assert 'name="warehouse" value="berlin"' in row
    assert "Units on hand in <bdi>Berlin</bdi>" in row
    plain = type_count(cleo, listed, units="9", key=(key := str(uuid4())))
    again = type_count(cleo, listed, units="9", key=key)
    assert [(each.status_code, each["Location"]) for each in (plain, again)] == [
        (303, f"{LIST}?sort=name")
    ] * 2
    assert get_stock_numbers(variant_id, "berlin").on_hand == 9
    for headers in ({}, {"HX-Request": "true"}):
        # A page that shows what is no longer so is told both numbers, and keeps the one that was typed.
        stale = type_count(cleo, listed, units="12", seen="7", headers=headers)
        text = stale.content.decode()
        assert (stale.status_code, "It’s 9 now." in text) == (409, True)
        assert all(each in text for each in ('value="12"', 'name="seen" value="9"'))
        for fields, sentence in (
            ({"units": "-1"}, "Enter a whole number"),
            ({"units": "3", "reason": ""}, "Enter a reason, such as"),
        ):
            refused = type_count(cleo, listed, **fields, headers=headers)
            text = refused.content.decode()
            assert (refused.status_code, sentence in text) == (422, True)
            assert f'value="{fields["units"]}"' in text
            assert 'name="seen" value="7"' in text, "whether it is stale, too, is said next"
        assert text.count("<tr") == (1 if headers else 2)
    assert type_count(cleo, listed, units="1", warehouse="ahead").status_code == 404
    part = type_count(cleo, listed, units="0", seen="9", headers={"HX-Request": "true"})
    text = part.content.decode()
    assert (part.status_code, "Out of stock" in text) == (200, True)
    assert get_stock_numbers(variant_id, "berlin").on_hand == 0
    scope = Scope(products=frozenset((listed.product_id,)), variants=frozenset((variant_id,)))
    assert found(scope, "I1", "I13") == []
    # With units in two warehouses, or none anywhere, the row leads to the page of its stock.
    make_stock(0, cork=2, product_id=listed.product_id, variant_id=variant_id)
    assert 'name="units"' not in cleo.get(LIST).content.decode()


# ---- What is done to a product


def test_x99_prices_are_rounded_in_the_direction_of_the_change() -> None:
    violations = []
    for kind, by, ending, before, after in (
        ("percent", "-10", "", "9.99", "8.99"),
        ("percent", "10", "", "0.05", "0.06"),
        ("percent", "-1", "99", "9.60", "8.99"),
        ("percent", "-1", "99", "9.99", "8.99"),
        ("percent", "1", "90", "10.00", "10.90"),
        ("amount", "-5", "", "20.00", "15.00"),
        ("amount", "0.50", "99", "20.00", "20.99"),
        ("amount", "-1", "90", "1.50", "-0.10"),
    ):
        found = BulkAct(kind, by=by, ending=ending).compute_price(Decimal(before))
        if found != Decimal(after):
            violations.append((kind, by, ending, before, found))
    assert not violations


def test_x99_the_former_price_is_crossed_out_as_high_as_the_law_allows() -> None:
    (product,) = make_products(1)
    finish(start(BulkAct("percent", by="-10", cross_out=True), [product]))
    variant = stored(product).variants[0]
    assert (variant.price, variant.compare_at) == (Money(18, EUR), Money(20, EUR))
    finish(start(BulkAct("percent", by="50", cross_out=True), [product]))
    variant = stored(product).variants[0]
    assert (variant.price, variant.compare_at) == (Money(27, EUR), None)


def test_x99_a_category_is_added_or_made_the_main_one() -> None:
    (product,), shelf = make_products(1), make_category("Bulk shelf")
    former = product.category_id
    finish(start(BulkAct("category", category_id=str(shelf.category_id)), [product]))
    assert stored(product).all_category_ids == (former, shelf.category_id)
    finish(start(BulkAct("main_category", category_id=str(shelf.category_id)), [product]))
    assert stored(product).all_category_ids == (shelf.category_id,)
    again = finish(start(BulkAct("main_category", category_id=str(shelf.category_id)), [product]))
    assert results(again) == ["unchanged"]


# ---- Exactly once


def test_x100_a_second_process_changes_nothing_twice() -> None:
    products = make_products(2)
    change = start(BulkAct("percent", by="-10"), products)
    bulk_changes.run_change(change, 100)
    # As one does that read the change before anything was done, and has its rows still before it.
    rows = bulk_changes.STORE.read_rows(change, 0)
    for row in rows:
        bulk_changes._change_product(change, row._replace(result=None, version=None, former=None))
    assert [price(each) for each in products] == [Decimal(18)] * 2
    assert results(change) == ["done"] * 2


def test_x100_a_product_that_is_saved_in_between_is_changed_as_it_is_then() -> None:
    (product,) = make_products(1)
    change = start(BulkAct("percent", by="-10"), [product])
    save = operations.save_product
    calls: list[int] = []

    def save_late(wanted: Product, now: datetime, bulk_change_id: UUID | None = None) -> Product:
        if not calls:
            calls.append(1)
            save(replace(stored(product), name="Renamed meanwhile"), now)
        return save(wanted, now, bulk_change_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "save_product", save_late)
        finish(change)
    assert (stored(product).name, price(product)) == ("Renamed meanwhile", Decimal(18))
    assert results(change) == ["done"]


def test_s110_a_row_that_always_fails_is_refused_and_holds_up_no_younger_change(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    act, gone = BulkAct("percent", by="-10"), [uuid4() for _ in range(PAGE_LENGTH)]
    failing, younger_product = make_products(2)
    now = datetime.now(UTC)
    older = bulk_changes.start_change(
        uuid_from_time(now),
        act,
        [Selected(each) for each in (failing.product_id, *gone)],
        uuid4(),
        now,
    )
    unreadable = start(BulkAct("percent", by="-11"), [failing])
    younger = start(act, [younger_product])

    def unpack(text: str) -> BulkAct:
        return unpack_act(text.replace('"-11"', ""))

    monkeypatch.setattr(bulk_changes.STORE, "unpack", unpack)
    waiting = [unreadable.change_id, older.change_id]
    monkeypatch.setattr(type(bulk_changes.STORE), "list_unfinished", lambda *_: waiting)
    save = operations.save_product

    def fail(wanted: Product, now: datetime, bulk_change_id: UUID | None = None) -> Product:
        if wanted.product_id == failing.product_id:
            raise ArithmeticError("this row always fails")
        return save(wanted, now, bulk_change_id)

    monkeypatch.setattr(operations, "save_product", fail)

    def stored_older() -> BulkChange:
        return existing(bulk_changes.get_change(older.change_id))

    def go_on() -> int:
        with collect_failed_rows() as failed:
            count = bulk_changes.STORE.go_on(now, PAGE_LENGTH, bulk_changes.run_change)
        assert str(unreadable.change_id) in str(failed.failures[0][0])
        return count

    # A page and the row after it; from now on the row that fails alone is tried.
    assert [go_on(), go_on()] == [PAGE_LENGTH, 1]
    waiting.append(younger.change_id)
    assert go_on() == 2
    assert results(younger) == ["done"]
    for _try in range(MAX_FAILURES - 2):
        assert not stored_older().finished_at
        go_on()
    assert stored_older().counts == {"refused": 1, "changed": PAGE_LENGTH}
    page = cleo.get(reverse("adminpanel:bulk_change", args=[older.change_id])).content.decode()
    assert f"The change failed {MAX_FAILURES} times." in page
    assert failing.name in page
    # In the request that starts it a row that fails is left to the worker.
    looked_at = preview(cleo, [failing, younger_product], **CHEAPER)
    assert submit(cleo, looked_at).status_code == 303
    small = existing(bulk_changes.get_change(looked_at.context["change_id"]))
    assert results(small) == ["", "done"]
    monkeypatch.undo()
    for change in (unreadable, small):
        finish(change)
