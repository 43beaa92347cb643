"""The sales report: its rows, comparisons, periods and file, and what it reads at most."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from adminpanel.reports.comparisons import compare
from adminpanel.reports.periods import PERIODS, list_spans
from adminpanel.reports.sales import (
    BY_KEY,
    BY_TIME,
    MAX_ROWS,
    SalesReport,
    SalesSelection,
    get_sales_report,
)
from adminpanel.reports.sales_names import name_keys
from analytics.days import shop_today
from analytics.figures import SoldLine
from analytics.operations import Sale, mark_returning, record_sale, roll_up_day
from cassandra_db import current_time
from promotions.operations import PromotionTerms, create_promotion
from promotions.rules import FREE_DELIVERY
from tests.adminpanel.test_page_costs import read_cost
from tests.factories import make_category, make_product, make_user, sign_in_staff

# A week in which no other test sells anything. It is compared with the week before, and with that of 1976.
FIRST, LAST = date(1977, 3, 4), date(1977, 3, 10)
PREVIOUS, YEAR_BEFORE = date(1977, 3, 3), date(1976, 3, 10)
DAY = timedelta(1)


def sell(
    day: date, *lines: SoldLine, hour: int = 13, currency: str = "EUR", country: str = "DE"
) -> UUID:
    placed_at, order_id = datetime(day.year, day.month, day.day, hour, 15, tzinfo=UTC), uuid4()
    record_sale(Sale(order_id, placed_at, 2, currency, lines, country, "card"))
    roll_up_day(day)
    return order_id


def line(number: int = 1, product_id: UUID | None = None, **more: int) -> SoldLine:
    given = {"units": 2, "gross": 2380, "net": 2000} | more
    return SoldLine(number, product_id or uuid4(), uuid4(), **given, promotions=())


@pytest.fixture(scope="module")
def lamp() -> str:
    """Sell lamps in the three periods, and other things in two more currencies. Return the name of the lamps' category."""
    above = make_category("House")
    product = make_product("Lamp", category=make_category("Lamps", parent=above), listed=True)
    key, variant = product.product_id, product.variants[0].variant_id
    back = SoldLine(2, key, variant, 2, 2380, 2000, 1, 1190, 1000, promotions=())
    sell(LAST, line(1, key), back)
    sell(LAST - 2 * DAY, line(1, key, gross=1190, net=1000, units=1), hour=9, country="FR")
    sell(PREVIOUS, line(1, key))
    sell(YEAR_BEFORE, line(1, key, gross=11900, net=10000, units=10))
    sell(LAST, line(gross=999), currency="SEK")
    sell(LAST, line(gross=777), currency="JPY")
    return above.name


def report(by: str, currency: str = "EUR", first: date = FIRST, last: date = LAST) -> SalesReport:
    return get_sales_report(SalesSelection(first, last, by, currency))


@pytest.mark.usefixtures("lamp")
def test_x514_a_period_is_compared_in_words_with_the_previous_one_and_the_year_before() -> None:
    shown = {
        str(each.label): [
            each.text,
            *vars(each.previous).values(),
            *vars(each.year_before).values(),
        ]
        for each in report("day").summary
    }
    assert shown == {
        "Orders": ["2", "1", "up 100.0 %", "1", "up 100.0 %"],
        "Units": ["5", "2", "up 150.0 %", "10", "down 50.0 %"],
        "Units per order": ["2.50", "2.00", "up 25.0 %", "10.00", "down 75.0 %"],
        "Sold": ["€59.50", "€23.80", "up 150.0 %", "€119.00", "down 50.0 %"],
        "Average order": ["€29.75", "€23.80", "up 25.0 %", "€119.00", "down 75.0 %"],
        "Refunded": ["€11.90", "€0.00", "", "€0.00", ""],
        "After refunds": ["€47.60", "€23.80", "up 100.0 %", "€119.00", "down 60.0 %"],
        "After refunds, without tax": ["€40.00", "€20.00", "up 100.0 %", "€100.00", "down 60.0 %"],
        "Return rate": ["20.0 %", "0.0 %", "up 20.0 points", "0.0 %", "up 20.0 points"],
        "Returning customers": ["–", "–", "", "–", ""],
    }
    assert compare(100.0, 100.02).change == "no change"


def test_x514_sales_are_shown_by_time_and_by_key(lamp: str) -> None:
    found = {by: report(by) for by in (*BY_TIME, *BY_KEY)}
    sold = {
        by: [(line.name, line.now.figures.gross) for line in each.lines if line.now.figures.gross]
        for by, each in found.items()
    }
    variants, both = sold.pop("variant"), 5950
    assert sorted(gross for _, gross in variants) == [1190, 2380, 2380]
    assert len([name for name, _ in variants if "(" in name]) == 1  # the one that exists
    assert sold == {
        "hour": [("09:00 – 09:59", 1190), ("13:00 – 13:59", 4760)],
        "day": [("Thu, 10 Mar 1977", 4760), ("Tue, 8 Mar 1977", 1190)],
        "week": [("7 Mar – 10 Mar 1977", both)],
        "month": [("4 Mar – 10 Mar 1977", both)],
        "category": [(lamp, both), (f"{lamp} › Lamps", both)],
        "product": [("Lamp", both)],
        "country": [("Germany", 4760), ("France", 1190)],
        "promotion": [("No promotion", both)],
        "payment": [("Card", both)],
        "customer": [("Not known", both)],
    }
    for by, each in found.items():
        assert each.total.now.figures == found["day"].total.now.figures
        assert (each.chart is not None) == (by in BY_TIME), by
    # The day is compared with the same day of the previous period, and of the year before.
    (first, second, *_) = found["day"].lines
    assert [each.text for each in first.compared] == ["€23.80", "€119.00"]
    assert [each.text for each in second.compared] == ["€0.00", "€0.00"]
    assert [round(line.share or 0, 1) for line in found["country"].lines] == [80.0, 20.0]


@pytest.mark.usefixtures("lamp")
def test_x514_currencies_are_shown_one_at_a_time(client: Client) -> None:
    grosses = {code: report("day", code).total.now.gross.amount for code in ("EUR", "SEK", "JPY")}
    assert {code: str(amount) for code, amount in grosses.items()} == {
        "EUR": "59.5",
        "SEK": "9.99",
        "JPY": "777",
    }
    analyst = sign_in_staff(client, make_user(role="analyst"))
    page = analyst.get(reverse("adminpanel:sales"), {"first": str(FIRST), "last": str(LAST)})
    text = page.content.decode()
    assert [link.label for link in page.context["sales"].other_currencies] == ["JPY", "SEK"]
    assert "There are also sales in SEK." in text
    assert "currency=SEK" in text


@pytest.mark.usefixtures("lamp")
def test_x514_the_file_has_the_pages_rows_and_its_total(client: Client) -> None:
    analyst = sign_in_staff(client, make_user(role="analyst"))
    url, asked = reverse("adminpanel:sales"), {"first": str(FIRST), "last": str(LAST)}
    for by in (*BY_TIME, *BY_KEY):
        page = analyst.get(url, asked | {"by": by}).context["sales"]
        answer = analyst.get(url, asked | {"by": by, "format": "csv"})
        assert answer["Content-Type"].startswith("text/csv")
        assert f"sales-by-{by}-EUR-{FIRST}-{LAST}.csv" in answer["Content-Disposition"]
        head, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
        assert {len(row) for row in rows} == {len(head)} == {len(set(head))}
        assert head[0] == page.row_label
        named = [str(line.day or line.name) for line in page.lines]
        assert [row[0] for row in rows] == [*named, "All sales"], by
        total = dict(zip(head, rows[-1], strict=True))
        assert (total["Currency"], total["Orders"], total["Sold"]) == ("EUR", "2", "59.5")
        assert (total["After refunds"], total["Return rate, %"]) == ("47.6", "20.00")
        assert (total["First orders"], total["Orders by returning customers"]) == ("", "")
        before = "Sold in the previous period", "Change from the previous period, %"
        assert [total[each] for each in before] == ["23.8", "150.00"]


def test_x514_more_keys_than_rows_are_one_row_and_sums_stay_exact() -> None:
    day = date(1978, 3, 10)
    sell(day, *(line(n, gross=100 + n, units=1) for n in range(MAX_ROWS + 20)))
    found = report("product", first=day, last=day)
    assert [line.name for line in found.lines[-2:]] == ["Deleted product", "All others"]
    assert len(found.lines) == MAX_ROWS + 1
    grosses = [line.now.figures.gross for line in found.lines]
    assert sum(grosses) == found.total.now.figures.gross
    assert grosses[:-1] == sorted(grosses[:-1], reverse=True)
    # The one order has twenty lines in the last row: it is not twenty orders there.
    assert [line.now.orders for line in found.lines] == [1] * MAX_ROWS + [None]
    assert found.lines[-1].now.average_order is None
    assert found.lines[-1].now.figures.units_per_order is None


def test_x514_all_categories_are_listed(lamp: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adminpanel.reports.sales.MAX_ROWS", 1)
    assert [line.name for line in report("category").lines] == [lamp, f"{lamp} › Lamps"]


def test_x514_customers_are_counted_in_the_reports_currency() -> None:
    day = date(1979, 3, 10)
    for currency in ("EUR", "SEK"):
        order_id = sell(day, line(), currency=currency)
        mark_returning(day, order_id, is_returning=currency == "SEK")
    roll_up_day(day)
    totals = [report("day", currency, day, day).total.now for currency in ("EUR", "SEK")]
    assert [(each.first_orders, each.returning_orders) for each in totals] == [(1, 0), (0, 1)]


def test_x514_rows_of_the_year_before_add_up_to_its_total_around_29_february() -> None:
    leap = date(1972, 2, 29)
    for day, gross in ((date(1971, 2, 28), 100), (leap - DAY, 200), (leap, 400)):
        sell(day, line(gross=gross))
    for year, sold in ((1972, 100), (1973, 600)):
        for by in ("day", "week", "month"):
            found = report(by, first=date(year, 2, 27), last=date(year, 3, 2))
            rows = [each.sales[2].figures.gross for each in found.lines]
            assert sum(rows) == found.total.sales[2].figures.gross == sold, (year, by)
    assert report("day", first=leap, last=leap).total.sales[2].figures.gross == 100


def test_x514_a_promotions_older_orders_have_their_own_row() -> None:
    title, code = f"Spring {uuid4().hex}", f"SPRING-{uuid4().hex.upper()}"
    key = create_promotion(PromotionTerms(title, FREE_DELIVERY, code), current_time())
    assert name_keys("promotion", [key, title, "Summer"]) == {
        key: f"{title} ({code})",
        title: f"{title} (older orders)",
        "Summer": "Summer",
    }


def test_x514_today_is_shown_by_hour_and_is_not_over_yet(client: Client) -> None:
    sell(shop_today(), line(), currency="ISK")
    analyst = sign_in_staff(client, make_user(role="analyst"))
    asked = {"period": "today", "currency": "ISK"}
    page = analyst.get(reverse("adminpanel:sales"), asked)
    assert "Today is not over yet" in page.content.decode()
    found = page.context["sales"]
    assert found.selection.by == "hour"
    # A longer period is by day again, unless hours were chosen.
    assert {"by=&" in link.query for link in found.period_links} == {True}
    assert not report("day").has_today


@pytest.mark.usefixtures("lamp")
def test_x514_the_page_has_its_rows_links_and_chart(client: Client) -> None:
    analyst = sign_in_staff(client, make_user(role="analyst"))
    url = reverse("adminpanel:sales")
    text = analyst.get(url, {"first": str(FIRST), "last": str(LAST)}).content.decode()
    assert '<title id="sold-title">Sold by day, EUR</title>' in text
    assert "css/charts.css" in text
    assert "(up 150.0 %)" in text
    assert '<a class="bar__entry" href="/staff/sales/" aria-current="page">' in text
    empty = analyst.get(url, {"first": "1971-01-01", "last": "1971-02-01"})
    assert "No sales" in empty.content.decode()
    # A chart of many days is by week.
    weeks = report("day", first=LAST - 364 * DAY, last=LAST).chart
    assert weeks
    assert (str(weeks.title), len(weeks.bars)) == ("Sold by week, EUR", 53)


def test_x515_a_period_that_cannot_be_is_refused_beside_its_field(client: Client) -> None:
    admin = sign_in_staff(client, make_user(role="admin"))
    today = shop_today()
    refused = {
        ("2026-02-20", "2026-02-10"): "Enter a day on or after the first day",
        ("2026-02-20", "9999-12-31"): "Enter a day that is not in the future",
        (str(today + DAY), ""): "Enter a day that is not in the future",
        ("0001-01-01", "0001-01-01"): "Enter a year from 1900 on",
    }
    wrong = []
    for page, days in (("sales", 366), ("visits", 90), ("searches", 90)):
        url = reverse(f"adminpanel:{page}")
        too_long = {(str(today - days * DAY), ""): f"Select at most {days} days"}
        for (first, last), text in (refused | too_long).items():
            answer = admin.get(url, {"first": first, "last": last})
            if answer.status_code != 422 or text not in answer.content.decode():
                wrong.append(f"{page} from {first} to {last}: {answer.status_code}")
        longest = {"first": str(today - (days - 1) * DAY)}
        accepted = [
            {},
            longest,
            {"last": "1900-01-01"},
            {"first": "2024-02-29", "last": "2024-03-01"},
        ]
        wrong += [f"{page}: {each}" for each in accepted if admin.get(url, each).status_code != 200]
    assert wrong == []
    kept = {"first": "2026-02-31", "by": "product", "currency": "SEK"}
    text = admin.get(reverse("adminpanel:sales"), kept).content.decode()
    for name in ("by", "currency"):
        assert f'name="{name}" value="{kept[name]}"' in text


def test_x515_named_periods_are_whole_days_in_every_month() -> None:
    found = {
        today: {name: find(date.fromisoformat(today)) for name, (_, find) in PERIODS.items()}
        for today in ("2024-02-29", "2026-01-01", "2026-03-31")
    }
    assert {name: list(map(str, days)) for name, days in found["2024-02-29"].items()} == {
        "today": ["2024-02-29", "2024-02-29"],
        "yesterday": ["2024-02-28", "2024-02-28"],
        "last_7": ["2024-02-23", "2024-02-29"],
        "last_30": ["2024-01-31", "2024-02-29"],
        "last_90": ["2023-12-02", "2024-02-29"],
        "this_month": ["2024-02-01", "2024-02-29"],
        "last_month": ["2024-01-01", "2024-01-31"],
        "this_year": ["2024-01-01", "2024-02-29"],
    }
    assert found["2026-01-01"]["last_month"] == (date(2025, 12, 1), date(2025, 12, 31))
    assert found["2026-03-31"]["last_month"] == (date(2026, 2, 1), date(2026, 2, 28))


def test_x514_weeks_and_months_cover_each_day_once() -> None:
    first, last = date(2023, 12, 20), date(2024, 3, 5)
    for by, count in (("day", 77), ("week", 12), ("month", 4)):
        spans = list(list_spans(first, last, by))
        days = [start + n * DAY for start, end in spans for n in range((end - start).days + 1)]
        assert days == [first + n * DAY for n in range(77)], by
        assert len(spans) == count
    assert all(not start.weekday() for start, _ in list(list_spans(first, last, "week"))[1:])


@pytest.mark.usefixtures("lamp")
def test_x514_a_year_reads_a_bounded_number_of_partitions_in_one_round(client: Client) -> None:
    analyst = sign_in_staff(client, make_user(role="analyst"))
    url = reverse("adminpanel:sales")
    asked = {"first": str(LAST - 365 * DAY), "last": str(LAST)}
    costs = {}
    for by in (*BY_TIME, *BY_KEY):
        analyst.get(url, asked | {"by": by})
        costs[by] = read_cost(analyst.get(url, asked | {"by": by}))
    # Three periods of 13 months each: customers and keys; the session, the user, and the names of the keys.
    assert {by: cost for by, cost in costs.items() if cost[0] > 3 * 2 * 13 + 8 or cost[1] > 4} == {}
