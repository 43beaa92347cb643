"""Reads the nightly reports about products."""

from collections.abc import Mapping, Sequence
from datetime import date

from cassandra_db import PendingResult, Row, read
from inventory.warehouses import MAX_WAREHOUSES
from pricing.money import from_minor_units
from product_reports.entities import (
    REASONS,
    AttentionList,
    ProductFigures,
    StockValueCount,
    StockValueLine,
)

# The rows of one day: its warehouses, each in at most this many currencies.
_MAX_CURRENCIES = 10
# Q16: the latest count of the stock value up to a day.
STOCK_VALUES = read(
    "Q16",
    """SELECT day, warehouse_id, currency, units, value, unpriced_units, counted_at FROM stock_values
       WHERE year = :year AND day <= :day LIMIT :most""",
)


def prefetch_stock_values(day: date) -> list[PendingResult]:
    """Start reading the latest count up to a day, in its year and the year before, for `stock_value_from_rows`."""
    most = MAX_WAREHOUSES * _MAX_CURRENCIES
    return [STOCK_VALUES.start(year=year, day=day, most=most) for year in (day.year, day.year - 1)]


def stock_value_from_rows(rows: Sequence[Row]) -> StockValueCount | None:
    """Return the count of the first row's day, or None without rows."""
    if not rows:
        return None
    of_day = [row for row in rows if row.day == rows[0].day]
    lines = tuple(_stock_value_line(row) for row in of_day)
    currencies = dict.fromkeys(each.value.currency for each in lines)
    totals = tuple(
        _add_up([each for each in lines if each.value.currency == currency])
        for currency in currencies
    )
    return StockValueCount(rows[0].day.date(), rows[0].counted_at, lines, totals)


def _stock_value_line(row: Row) -> StockValueLine:
    return StockValueLine(
        row.warehouse_id,
        row.units or 0,
        from_minor_units(row.value or 0, row.currency),
        row.unpriced_units or 0,
    )


def _add_up(lines: Sequence[StockValueLine]) -> StockValueLine:
    return StockValueLine(
        "",
        sum(each.units for each in lines),
        sum((each.value for each in lines[1:]), lines[0].value),
        sum(each.unpriced_units for each in lines),
    )


# Q18: the products that need attention for a reason; how many they are.
ATTENTION = read(
    "Q18",
    """SELECT position, total, counted_at, product_id, name, sku, on_hand, visitors, subscribers, sold, refunded
       FROM products_needing_attention WHERE reason = :reason""",
)
ATTENTION_TOTAL = read(
    "Q18", "SELECT total, counted_at FROM products_needing_attention WHERE reason = :reason LIMIT 1"
)


def prefetch_attention(reason: str) -> PendingResult:
    """Start reading the products that need attention for a reason, for `attention_from_rows`."""
    return ATTENTION.start(reason=reason)


def attention_from_rows(reason: str, rows: Sequence[Row]) -> AttentionList:
    """Return the list that these rows store. It is empty and has no time if the job has never counted."""
    if not rows:
        return AttentionList(reason)
    lines = tuple(
        ProductFigures(
            row.product_id,
            row.name or "",
            row.sku or "",
            *(row.on_hand or 0, row.visitors or 0, row.subscribers or 0),
            *(row.sold or 0, row.refunded or 0),
        )
        for row in rows
        if row.position is not None
    )
    return AttentionList(reason, lines, rows[0].total or 0, rows[0].counted_at)


def prefetch_attention_totals() -> Mapping[str, PendingResult]:
    """Start reading how many products need attention, keyed by reason; each row has total and counted_at."""
    return {reason: ATTENTION_TOTAL.start(reason=reason) for reason in REASONS}
