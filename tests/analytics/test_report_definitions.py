"""X513: each number of docs/report-definitions.md, computed again from the orders by another way than the reports.

There is one test for each number. The orders below are placed on one day, and their reports are rolled up once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from django.conf import settings
from moneyed import EUR, Money

from adminpanel.reports.comparisons import Sales, percent_change
from adminpanel.reports.sales import SalesSelection, get_sales_report
from adminpanel.reports.sales_file import list_sales_cells
from analytics import queries
from analytics.figures import Figures
from analytics.operations import roll_up_day
from catalogue.entities import Product
from catalogue.queries import get_category, get_products
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.operations.payments import record_manual_payment
from orders.operations.returning_customers import count_customers_of_day
from orders.queries import get_order, list_items, list_order_ids_by_email
from payments.methods import TRANSFER
from pricing.money import to_minor_units
from promotions.rules import FREE_DELIVERY, PERCENTAGE, Promotion
from tests.environment import ROOT
from tests.factories import make_category, make_draft, make_payment, make_product
from tests.reads import existing

# The clock goes back on this day: 01:30 comes twice. No other test sells anything in this year.
DAY = date(1983, 10, 23)
MIDNIGHT = datetime(1983, 10, 22, 23, tzinfo=UTC)
AT_NIGHT = MIDNIGHT + timedelta(hours=24.5)

# A paid order as it is stored, with its lines after all changes.
Sold = tuple[Order, tuple[Item, ...]]


def buy(
    hours: float,
    *lines: tuple[Product, int],
    country: str = "DE",
    email: str = "",
    promotions: tuple[Promotion, ...] = (),
) -> Order:
    at = MIDNIGHT + timedelta(hours=hours)
    draft = replace(make_draft(*lines, country=country, email=email), promotions=promotions)
    return make_payment(operations.place_order(draft, at), now=at)


@cache
def list_sold() -> tuple[Sold, ...]:
    """Place and pay the day's orders, roll up the day, and return the paid orders as they are stored."""
    lamps = make_category("Lamps", parent=make_category("House"))
    lamp = make_product("Lamp", price="20.00", category=lamps, stock=50)
    mug = make_product("Mug", price="11.90", stock=50)
    covered: dict[str, Any] = {
        "category_id": lamps.category_id,
        "categories": frozenset({lamps.category_id}),
    }
    spring = Promotion("spring", "", "Spring", PERCENTAGE, Decimal(10), **covered)
    free = Promotion("free", "", "Free delivery", FREE_DELIVERY)
    known = f"{uuid4().hex}@example.com"
    buy(-999, (mug, 1), email=known)
    returned = buy(1.5, (lamp, 2), (mug, 3), email=known.upper(), promotions=(spring, free))
    changed = buy(13.25, (mug, 4), country="FR", promotions=(free,))
    draft = replace(make_draft((mug, 1)), payment_method=TRANSFER)
    transferred = operations.place_order(draft, AT_NIGHT)
    by_staff: dict[str, Any] = {"actor": "staff", "now": AT_NIGHT}
    record_manual_payment(transferred, transferred.total, key="k", **by_staff)
    operations.decide_refund(returned, Money("23.80", EUR), {2: 2}, "", **by_staff)
    operations.change_order(changed, {1: 3}, **by_staff)
    unpaid = operations.place_order(make_draft((mug, 5)), AT_NIGHT)
    placed = [returned, buy(2.5, (lamp, 1), country="IE"), changed, transferred, unpaid]
    count_customers_of_day(DAY)
    roll_up_day(DAY)
    orders = [existing(get_order(each.order_id)) for each in placed]
    return tuple(
        (order, order.current_lines(list_items(order)))
        for order in orders
        if to_minor_units(order.captured)
    )


def get_whole_day() -> Figures:
    """Return the day's figures as the reports read them."""
    return sum(figures_by_key("customer").values(), Figures())


def figures_by_key(dimension: str) -> dict[str, Figures]:
    """Return the day's figures by the keys of a dimension as the reports read them."""
    return queries.sum_by_key(queries.prefetch_sales_by(dimension, DAY, DAY), "EUR")


def sum_sold(keys: Callable[[Order, Item], Iterable[str]]) -> Counter[str]:
    """Add up what was paid for the lines, by their keys."""
    found: Counter[str] = Counter()
    for order, items in list_sold():
        for item in items:
            for key in keys(order, item):
                found[key] += to_minor_units(item.final_total)
    return found


def gross_by_key(dimension: str) -> dict[str, int]:
    """Return what was sold by the keys of a dimension as the reports read it."""
    return {key: figures.gross for key, figures in figures_by_key(dimension).items()}


def test_orders() -> None:
    assert len(list_sold()) == 4
    assert get_whole_day().orders == 4


def test_units() -> None:
    units = sum(sum(order.quantities.values()) for order, _ in list_sold())
    assert get_whole_day().units == units == 10


def sold() -> int:
    return sum(to_minor_units(order.total - order.delivery) for order, _ in list_sold())


def test_sold() -> None:
    assert get_whole_day().gross == sold() > 0


def test_refunded() -> None:
    # The shop keeps the total, less what went back for units that were sold.
    kept = sum(to_minor_units(order.captured - order.refunded) for order, _ in list_sold())
    totals = sum(to_minor_units(order.total) for order, _ in list_sold())
    assert get_whole_day().refunded_gross == totals - kept == 2380


def net_of(order: Order, item: Item) -> int:
    rate = order.tax_rates[item.tax_class]
    net = item.final_total.amount * 10_000 / (100 + rate)
    return int(net.quantize(Decimal(1), ROUND_HALF_UP))


def test_after_refunds_without_tax() -> None:
    net = sum(net_of(order, item) for order, items in list_sold() for item in items)
    returned, items = list_sold()[0]
    back = net_of(returned, items[1]) * 2 // 3  # two of its three units
    assert get_whole_day().net_after_refunds == net - back


def test_after_refunds() -> None:
    kept = sum(to_minor_units(order.captured - order.refunded) for order, _ in list_sold())
    delivery = sum(to_minor_units(order.delivery) for order, _ in list_sold())
    report = get_sales_report(SalesSelection(DAY, DAY, "day", "EUR"))
    assert to_minor_units(report.total.now.gross_after_refunds) == kept - delivery


def test_share() -> None:
    report = get_sales_report(SalesSelection(DAY, DAY, "country", "EUR"))
    by_country = sum_sold(lambda order, _: [order.delivery_address.country])
    assert sorted(line.share or 0 for line in report.lines) == sorted(
        100 * gross / sold() for gross in by_country.values()
    )


def test_change() -> None:
    after = DAY + timedelta(1)
    report = get_sales_report(SalesSelection(after, after, "day", "EUR"))
    changes = {str(line.label): vars(line.previous) for line in report.summary}
    before = f"€{Decimal(sold()) / 100:.2f}"
    assert changes["Sold"] == {"text": before, "change": "down 100.0 %"}
    assert percent_change(Money(30, EUR), Money(20, EUR)) == 50
    assert percent_change(Money(30, EUR), Money(0, EUR)) is None


def sell_before(days: int) -> Money:
    """Sell something some days before the day. Return what was paid for it."""
    order = buy(12 - 24 * days, (make_product("Mug", price=f"{days}.00", stock=5), 1))
    roll_up_day(DAY - timedelta(days))
    return order.total - order.delivery


def test_previous_period() -> None:
    _after, last, first, _before = map(sell_before, (7, 8, 15, 16))
    report = get_sales_report(SalesSelection(DAY - timedelta(7), DAY, "day", "EUR"))
    assert report.total.sales[1].gross == first + last


def test_year_before() -> None:
    _after, sold_then, _before = map(sell_before, (364, 365, 366))
    report = get_sales_report(SalesSelection(DAY, DAY, "day", "EUR"))
    assert report.total.sales[2].gross == sold_then


def test_average_order() -> None:
    average = Decimal(sold()) / len(list_sold())
    assert get_whole_day().average_order == average.quantize(Decimal(1), ROUND_HALF_UP)


def test_units_per_order() -> None:
    assert get_whole_day().units_per_order == 10 / len(list_sold())


def test_return_rate() -> None:
    units: Counter[str] = Counter()
    back: Counter[str] = Counter()
    for order, items in list_sold():
        for item in items:
            units[str(item.product_id)] += item.quantity
            back[str(item.product_id)] += sum(
                refund.lines.get(item.line_number, 0)
                for refund in order.refunds
                # units that staff have removed before packing were not sold
                if order.item_count == sum(each.quantity for each in list_items(order))
            )
    found = figures_by_key("product")
    assert {key: Sales(each, "EUR").return_rate for key, each in found.items()} == {
        key: 100 * back[key] / units[key] for key in units
    }
    assert sorted(back.values()) == [0, 2] == sorted(each.refunded_units for each in found.values())


def is_returning(order: Order) -> bool:
    others = [existing(get_order(each)) for each in list_order_ids_by_email(order.email)]
    return any(
        each.placed_at < order.placed_at and to_minor_units(each.captured) for each in others
    )


def test_returning_customers() -> None:
    (row,) = (row for each in queries.prefetch_daily_customers(DAY, DAY) for row in each.rows())
    returning = sum(is_returning(order) for order, _ in list_sold())
    first = len(list_sold()) - returning
    assert (row.returning_orders, row.first_orders) == (returning, first) == (1, 3)
    shown = get_sales_report(SalesSelection(DAY, DAY, "day", "EUR")).total.now
    assert (shown.returning_orders, shown.first_orders) == (returning, first)


def test_sales_by_customer() -> None:
    assert gross_by_key("customer") == sum_sold(
        lambda order, _: ["returning" if is_returning(order) else "first"]
    )


def test_sales_by_category() -> None:
    products = get_products({item.product_id for _, items in list_sold() for item in items})

    def categories(_: Order, item: Item) -> list[str]:
        node = get_category(products[item.product_id].category_id)
        return [str(each.category_id) for each in existing(node).path]

    assert gross_by_key("category") == sum_sold(categories)


def test_sales_by_hour() -> None:
    zone = ZoneInfo(settings.TIME_ZONE)
    expected = sum_sold(lambda order, _: [f"{order.placed_at.astimezone(zone):%H}"])
    assert gross_by_key("hour") == expected
    assert expected.keys() == {"01", "12", "23"}


def test_sales_by_product() -> None:
    assert gross_by_key("product") == sum_sold(lambda _, item: [str(item.product_id)])


def test_sales_by_variant() -> None:
    assert gross_by_key("variant") == sum_sold(
        lambda _, item: [f"{item.product_id} {item.variant_id}"]
    )


def test_sales_by_country() -> None:
    expected = sum_sold(lambda order, _: [order.delivery_address.country])
    assert gross_by_key("country") == expected
    assert expected.keys() == {"DE", "FR", "IE"}


def test_sales_by_promotion() -> None:
    def promotions(order: Order, item: Item) -> list[str]:
        names = {each.name for each in order.discounts}
        found = ["free"] * ("Free delivery" in names)
        found += ["spring"] * (item.discount > order.total * 0)
        return found or ["-"]

    expected = sum_sold(promotions)
    assert gross_by_key("promotion") == expected
    assert expected.keys() == {"free", "spring", "-"}


def test_sales_by_payment_method() -> None:
    expected = sum_sold(
        lambda order, _: [TRANSFER if order.payment_attempts[-1].gateway == TRANSFER else "card"]
    )
    assert gross_by_key("payment") == expected
    assert expected.keys() == {"card", TRANSFER}


def list_shown() -> set[str]:
    """Return the names of the figures on the page and in the file, without those of the compared periods."""
    report = get_sales_report(SalesSelection(DAY, DAY, "day", "EUR"))
    _rows, _currency, *head = next(list_sales_cells(report))[:-4]
    return {str(line.label) for line in report.summary} | {
        str(cell).removesuffix(", %") for cell in head
    }


def test_x513_each_number_has_one_definition_and_its_test() -> None:
    lines = (ROOT / "docs/report-definitions.md").read_text().splitlines()
    rows = [line.strip("|").split(" | ") for line in lines if re.match(r"\| (?!Number)", line)]
    broken = []
    for name, *_, test in rows:
        path, _, function = test.strip(" `|").partition("::")
        if not (ROOT / path).is_file() or f"def {function}(" not in (ROOT / path).read_text():
            broken.append(f"{name.strip()}: no test {test}")
    broken += [
        f"{name}: {count} definitions"
        for name, count in Counter(name.strip() for name, *_ in rows).items()
        if count > 1
    ]
    defined = {each for name, *_ in rows for each in (name.strip(), *name.strip().split(", "))}
    broken += [f"{name}: no definition" for name in sorted(list_shown() - defined)]
    assert not broken, "\n".join(broken)
    assert len(list_shown()) >= 13
