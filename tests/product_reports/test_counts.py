"""The nightly count of all products: the stock value, and which products need attention."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, USD, Money

from analytics.days import shop_day
from analytics.operations import roll_up_day
from cassandra_db import write
from catalogue.entities import Product
from inventory.queries import get_stock_numbers, list_ledger_entries
from jobs.leases import hold_lease
from orders.operations import decide_refund, place_order
from orders.queries import get_order
from product_reports import operations
from product_reports.entities import (
    NO_COST_PRICE,
    NO_PICTURE,
    NOT_BOUGHT,
    NOT_SOLD,
    REASONS,
    RETURNED,
    SOLD_OUT,
    AttentionList,
    ProductFigures,
    StockValueCount,
    StockValueLine,
)
from product_reports.jobs import NAME, count_reports
from product_reports.operations import MAX_LISTED, MIN_SOLD, MIN_VISITORS, count_products
from product_reports.queries import (
    attention_from_rows,
    prefetch_attention,
    prefetch_attention_totals,
    prefetch_stock_values,
    stock_value_from_rows,
)
from stock_alerts.operations import subscribe
from stock_alerts.queries import Subscription
from tests.analytics.test_popularity import buy, look
from tests.factories import make_draft, make_payment, make_product, make_stock
from tests.orders.crashes import kill_at_write, record_writes
from tests.reads import existing

# Each test has months of its own, long ago.
_nights = count()
NUMBERS = write(
    "test",
    """UPDATE inventory SET available = :available, reserved = :reserved, committed = :committed
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)


@pytest.fixture
def night() -> datetime:
    return datetime(1990, 6, 15, 3, tzinfo=UTC) + timedelta(days=400 * next(_nights))


@pytest.fixture
def cleo(staff_client: Callable[[str], Client]) -> Client:
    return staff_client("catalogue")


def with_cost(product: Product, *costs: Money | None) -> Product:
    variants = zip(product.variants, costs, strict=True)
    return replace(
        product, variants=tuple(replace(variant, cost_price=cost) for variant, cost in variants)
    )


def old(product: Product, night: datetime) -> Product:
    return replace(product, created_at=night - timedelta(days=365))


def stock_value(day: date) -> StockValueCount:
    rows = [row for pending in prefetch_stock_values(day) for row in pending.rows()]
    found = stock_value_from_rows(rows)
    assert found
    return found


def attention(reason: str) -> AttentionList:
    return attention_from_rows(reason, prefetch_attention(reason).rows())


def listed(reason: str) -> list[UUID]:
    return [each.product_id for each in attention(reason).lines]


def with_units(found: StockValueCount) -> dict[tuple[str, str], StockValueLine]:
    return {
        (each.warehouse_id, each.value.currency.code): each for each in found.lines if each.units
    }


# ---- Stock value


def test_x528_the_stock_value_is_units_on_hand_times_cost_by_warehouse_and_currency(
    night: datetime,
) -> None:
    priced = with_cost(
        make_product(options={"Size": ["S", "L"]}), Money("4.10", EUR), Money(2, EUR)
    )
    small, large = priced.variants
    make_stock(10, cork=3, product_id=priced.product_id, variant_id=small.variant_id)
    make_stock(5, product_id=priced.product_id, variant_id=large.variant_id)
    # Reserved and paid units are in the warehouse until they are sent.
    NUMBERS.run(
        available=4, reserved=2, committed=3, variant_id=small.variant_id, warehouse_id="berlin"
    )
    assert get_stock_numbers(small.variant_id, "berlin").on_hand == 9
    retired = replace(with_cost(make_product(stock=2), Money(7, EUR)), status="archived")
    unpriced = make_product("Bowl", stock=4)
    abroad = make_product(stock=6)
    dollars = replace(
        abroad,
        variants=(replace(abroad.variants[0], price=Money(9, USD), cost_price=Money(3, USD)),),
    )
    assert count_products(night, [priced, retired, unpriced, dollars]) == 4
    found = stock_value(shop_day(night))
    # At night the day before is over.
    assert (found.day, found.counted_at) == (shop_day(night) - timedelta(days=1), night)
    assert with_units(found) == {
        ("berlin", "EUR"): StockValueLine("berlin", 20, Money("60.90", EUR), 4),
        ("berlin", "USD"): StockValueLine("berlin", 6, Money(18, USD), 0),
        ("cork", "EUR"): StockValueLine("cork", 3, Money("12.30", EUR), 0),
    }
    assert set(found.totals) == {
        StockValueLine("", 23, Money("73.20", EUR), 4),
        StockValueLine("", 6, Money(18, USD), 0),
    }
    # What has no cost price is named.
    (line,) = attention(NO_COST_PRICE).lines
    assert (line.name, line.sku, line.on_hand) == ("Bowl", unpriced.variants[0].sku, 4)


def test_x528_units_and_returns_are_those_of_the_ledger_and_the_orders(night: datetime) -> None:
    product = old(make_product(stock=20), night)
    at, variant = night - timedelta(days=50), product.variants[0]
    kept, returned = (
        make_payment(place_order(make_draft((product, quantity)), at), now=at)
        for quantity in (3, 4)
    )
    decide_refund(returned, variant.price * 2, {1: 2}, "", actor="staff", now=night)
    roll_up_day(shop_day(at))
    count_products(night, [product])
    (line,) = attention(RETURNED).lines
    orders = [existing(get_order(each.order_id)) for each in (kept, returned)]
    assert line.sold == sum(sum(order.quantities.values()) for order in orders) == 7
    refunds = [refund for order in orders for refund in order.refunds]
    assert line.refunded == sum(sum(refund.lines.values()) for refund in refunds) == 2
    entries = list_ledger_entries(variant.variant_id, "berlin", whole=True)
    units = {
        kind: sum(row.units for row in entries if row.kind == kind)
        for kind in ("received", "shipped")
    }
    assert line.on_hand == units["received"] - units["shipped"] == 20


def test_x528_a_count_replaces_that_of_its_day_whenever_it_is_killed(night: datetime) -> None:
    priced = make_product(stock=3)
    before = replace(priced, variants=(replace(priced.variants[0], price=Money(9, USD)),))
    count_products(night, [before])
    after = make_product(stock=8)
    writes = record_writes(lambda: count_products(night, [after]))
    whole = stock_value(shop_day(night)), [attention(each) for each in REASONS]
    assert whole[0].totals[0].unpriced_units == 8
    for each in writes:
        count_products(night, [before])
        assert kill_at_write(each, lambda: count_products(night, [after]))
        # Each partition is the one count's or the other's, never a mixture.
        units = {line.units for line in stock_value(shop_day(night)).totals}
        assert units in ({0, 3}, {8})
        count_products(night, [after])
        assert whole == (stock_value(shop_day(night)), [attention(each) for each in REASONS])


def test_x528_the_page_and_its_file_have_the_same_sums(cleo: Client, night: datetime) -> None:
    product = with_cost(make_product(stock=12), Money("3.35", EUR))
    nameless = make_product("=SUM(A1)", stock=2)
    count_products(night, [product, nameless])
    address, later = reverse("adminpanel:stock_value"), shop_day(night) + timedelta(days=200)
    page = html.fromstring(cleo.get(address, {"day": str(later)}).content)
    ((name, *total),) = [
        [" ".join(cell.text_content().split()) for cell in row] for row in page.xpath("//tfoot/tr")
    ]
    assert (name, total) == ("All warehouses", ["EUR", "14", "€40.20", "2"])
    (unpriced,) = page.xpath("//a[contains(@href, 'no_cost_price')]/@href")
    assert "=SUM(A1)" in cleo.get(unpriced).content.decode()
    answer = cleo.get(address, {"day": str(later), "format": "csv"})
    day_before = shop_day(night) - timedelta(days=1)
    assert f"stock-value-{day_before}.csv" in answer["Content-Disposition"]
    assert answer.content.decode().splitlines()[-1] == "All warehouses,EUR,14,40.20,2"
    # Before the first count there is none; no day is in the future.
    never = cleo.get(address, {"day": "1970-05-01"})
    assert (never.status_code, "Not counted yet" in never.content.decode()) == (200, True)
    for typed in ("2999-01-01", "yesterday", "9999-12-31"):
        refused = cleo.get(address, {"day": typed, "format": "csv"})
        assert refused.status_code == 422
        assert html.fromstring(refused.content).xpath("//*[@class='field field--bad']"), typed
    assert cleo.get(address, {"day": "0001-01-01"}).status_code == 200


# ---- Products that need attention


def test_x529_products_are_listed_for_what_is_wrong_with_them_and_no_others(
    night: datetime,
) -> None:
    day = shop_day(night) - timedelta(days=1)
    names = ("fine", "gone", "wanted", "looked at", "sent back", "bare", "slow", "new")
    shop = {name: old(make_product(name, stock=5), night) for name in names}
    shop["new"] = replace(shop["new"], created_at=night - timedelta(days=89))
    shop["gone"] = replace(shop["gone"], availability="out")
    shop["draft"] = replace(shop["gone"], product_id=uuid4(), status="draft")
    shop["bare"] = replace(
        shop["bare"], variants=tuple(replace(each, picture="") for each in shop["bare"].variants)
    )
    wanted = shop["wanted"]
    variant_id, email = wanted.variants[0].variant_id, f"{uuid4().hex}@example.org"
    subscribe(Subscription(wanted.product_id, variant_id, email), datetime.now(UTC))
    look(shop["gone"], day, 1)
    look(shop["looked at"], day, MIN_VISITORS)
    look(shop["fine"], day, MIN_VISITORS)
    look(shop["new"], day, MIN_VISITORS - 1)
    for name in ("fine", "gone", "wanted", "looked at", "bare"):
        # What was bought more than 30 days ago counts as sold in 90 days.
        buy(shop[name], night - timedelta(days=2 if name == "fine" else 40), MIN_SOLD)
    buy(shop["sent back"], night - timedelta(days=60), MIN_SOLD, back=1)
    buy(shop["slow"], night - timedelta(days=95))
    for age in (2, 40, 60, 95):
        roll_up_day(shop_day(night - timedelta(days=age)))
    count_products(night, shop.values())
    ids = {each.product_id: name for name, each in shop.items()}
    assert {reason: [ids[each] for each in listed(reason)] for reason in REASONS[:-1]} == {
        SOLD_OUT: ["wanted", "gone"],
        NOT_BOUGHT: ["looked at"],
        RETURNED: ["sent back"],
        NO_PICTURE: ["bare"],
        NOT_SOLD: ["slow"],
    }
    (line,) = attention(RETURNED).lines
    assert (line.sold, line.refunded, line.return_rate, line.on_hand) == (MIN_SOLD, 1, 20.0, 5)
    assert attention(SOLD_OUT).lines[0].subscribers == 1


def test_x529_a_list_has_a_hundred_rows_and_says_how_many_there_are(
    cleo: Client, night: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_product("First")

    def many() -> Iterator[tuple[Product, int, int]]:
        for number in range(MAX_LISTED * 3):
            bare = replace(first.variants[0], picture="")
            yield replace(first, name=f"<b>{number:03}", variants=(bare,)), 0, number

    monkeypatch.setattr(operations, "_read_figures", lambda *_: many())
    count_products(night, [first])
    found = attention(NO_PICTURE)
    assert (found.total, len(found.lines)) == (MAX_LISTED * 3, MAX_LISTED)
    assert [each.visitors for each in found.lines] == list(range(299, 199, -1))
    assert existing(prefetch_attention_totals()[NO_PICTURE].one()).total == MAX_LISTED * 3
    page = cleo.get(reverse("adminpanel:attention"), {"reason": NO_PICTURE}).content.decode()
    assert "The first 100 of 300 are shown." in page
    assert "&lt;b&gt;299" in page
    assert reverse("adminpanel:product", args=[first.product_id]) in page
    for typed in ("", "nothing", "sold_out"):
        answer = cleo.get(reverse("adminpanel:attention"), {"reason": typed})
        assert "customers waiting for a variant" in answer.content.decode()


def test_x529_the_job_counts_once_a_night(monkeypatch: pytest.MonkeyPatch) -> None:
    product = make_product(stock=1)
    monkeypatch.setattr("catalogue.queries.iterate_products", lambda: iter([product]))
    tonight = datetime.now(UTC).replace(hour=3) - timedelta(days=3)
    with hold_lease(NAME):
        assert count_reports(tonight) == "1 product counted"
        assert count_reports(tonight + timedelta(hours=5)) == ""
        assert count_reports(tonight + timedelta(days=1)) == "1 product counted"


def test_x529_return_rates_have_no_division_by_nothing() -> None:
    assert ProductFigures(uuid4(), "Mug").return_rate == 0
