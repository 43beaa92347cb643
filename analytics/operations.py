"""Stores sales facts, and adds up the sales of each day by the dimensions of reports."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from cassandra.query import BoundStatement

from analytics import queries
from analytics.days import month_start, order_shard, shop_day
from analytics.dimensions import DIMENSIONS, roll_up_dimension
from analytics.figures import Fact, SoldLine
from analytics.queries import SHOP
from cassandra_db import current_microseconds, read, truncate_to_milliseconds, write, write_batch
from catalogue.entities import Product
from catalogue.queries import get_category, prefetch_product_at_quorum, product_from_rows
from jobs.rows import guard_row
from shop_settings.restores import copy_timestamp_at

# The time after marking a day in which a delayed process may still write facts. Then a last run adds up its sales.
LATEST_FACT = timedelta(minutes=5)


@dataclass(frozen=True)
class Sale:
    """A paid order in its present state. `version` is the number of its events; a higher version replaces a lower one."""

    order_id: UUID
    placed_at: datetime
    version: int
    currency: str
    lines: tuple[SoldLine, ...]
    country: str = ""  # of the delivery address
    payment_method: str = ""

    @property
    def day(self) -> date:
        return shop_day(self.placed_at)

    @property
    def written_at(self) -> int:
        """The timestamp with which the order's facts are written, in microseconds since 1970."""
        return copy_timestamp_at(self.placed_at, self.version)

    def is_recorded(self, facts: Iterable[Fact]) -> bool:
        """Return whether these facts of the order have everything that the sale says of its lines."""
        stored = {(each.line, each.placed_at, each.country, each.payment_method) for each in facts}
        placed_at = truncate_to_milliseconds(self.placed_at)
        return stored >= {
            (line, placed_at, self.country, self.payment_method) for line in self.lines
        }


FACT = write(
    "Q18",
    """INSERT INTO sales_facts (day, shard, order_id, line_number, product_id, variant_id, categories, currency, units,
                                gross, net, refunded_units, refunded_gross, refunded_net, placed_at, country,
                                payment_method, promotions)
       VALUES (:day, :shard, :order_id, :line_number, :product_id, :variant_id, :categories, :currency, :units,
               :gross, :net, :refunded_units, :refunded_gross, :refunded_net, :placed_at, :country,
               :payment_method, :promotions) USING TIMESTAMP :at""",
)
DAY_CHANGED = write(
    "Q18",
    "INSERT INTO sales_days (shop, day, written) VALUES (:shop, :day, :written) USING TIMESTAMP :written",
)


def record_sale(sale: Sale) -> bool:
    """Store the sales facts of an order, with its refunds. Return whether anything was written; a second call writes nothing.

    A line keeps the categories that its product had at the first call. Raises CassandraUnavailable.
    """
    known_facts = {
        fact.line.line_number: fact for fact in queries.list_order_facts(sale.day, sale.order_id)
    }
    if sale.is_recorded(known_facts.values()):
        return False
    reading = {
        line.product_id: prefetch_product_at_quorum(line.product_id)
        for line in sale.lines
        if line.line_number not in known_facts
    }
    # The day is marked before its facts are written, in case of a crash, and with them: then a run that sees the mark sees the
    # facts. It is marked afterwards if this process was delayed.
    noted = mark_day_changed(sale.day)
    categories = _categories(product_from_rows(each.rows()) for each in reading.values())
    facts = [
        Fact(
            sale.order_id,
            line,
            known_facts[line.line_number].categories
            if line.line_number in known_facts
            else categories.get(line.product_id, ()),
            sale.currency,
        )
        for line in sale.lines
    ]
    write_batch([*(fact_row(fact, sale) for fact in facts), mark_day(sale.day)])
    if current_microseconds() - noted > LATEST_FACT // timedelta(microseconds=2):
        mark_day_changed(sale.day)
    return True


def mark_day_changed(day: date) -> int:
    """Mark a day's sales to be added up again. Return the mark's time in microseconds since 1970. Raises CassandraUnavailable."""
    written = current_microseconds()
    DAY_CHANGED.run(shop=SHOP, day=day, written=written)
    return written


def mark_day(day: date) -> BoundStatement:
    """Return the write of a day's mark, to be written together with facts."""
    return DAY_CHANGED.bind(shop=SHOP, day=day, written=current_microseconds())


def _categories(products: Iterable[Product | None]) -> dict[UUID, tuple[UUID, ...]]:
    found = {}
    for product in products:
        if product and (node := get_category(product.category_id)):
            found[product.product_id] = tuple(each.category_id for each in [*node.ancestors, node])
    return found


def fact_row(fact: Fact, sale: Sale) -> BoundStatement:
    line = fact.line
    return FACT.bind(
        day=sale.day,
        shard=order_shard(fact.order_id),
        order_id=fact.order_id,
        line_number=line.line_number,
        product_id=line.product_id,
        variant_id=line.variant_id,
        categories=json.dumps([str(each) for each in fact.categories]),
        currency=fact.currency,
        units=line.units,
        gross=line.gross,
        net=line.net,
        refunded_units=line.refunded_units,
        refunded_gross=line.refunded_gross,
        refunded_net=line.refunded_net,
        placed_at=sale.placed_at,
        country=sale.country,
        payment_method=sale.payment_method,
        promotions=None if line.promotions is None else json.dumps(line.promotions),
        at=sale.written_at,
    )


# The timestamps of the facts' rows, which never exceed that of the order's next version.
STAMPS = read(
    "Q18",
    """SELECT line_number, is_returning, writetime(units) AS written FROM sales_facts
       WHERE day = :day AND shard = :shard AND order_id = :order_id""",
)
RETURNING = write(
    "Q18",
    """UPDATE sales_facts USING TIMESTAMP :written SET is_returning = :is_returning
       WHERE day = :day AND shard = :shard AND order_id = :order_id AND line_number = :line_number""",
)


def mark_returning(day: date, order_id: UUID, *, is_returning: bool) -> None:
    """Store in an order's facts whether its customer had bought before. The caller marks the day afterwards.

    A second call writes nothing. What is true is never taken back: at the row's timestamp, true wins. Raises CassandraUnavailable.
    """
    key = {"day": day, "shard": order_shard(order_id), "order_id": order_id}
    writes = [
        RETURNING.bind(
            line_number=row.line_number, is_returning=is_returning, written=row.written, **key
        )
        for row in STAMPS.all(**key)
        if row.is_returning != is_returning and row.written
    ]
    if writes:
        write_batch(writes)


FACTS_REMOVED = write(
    "Q18",
    "DELETE FROM sales_facts USING TIMESTAMP :at WHERE day = :day AND shard = :shard AND order_id = :order_id",
)


def remove_facts(day: date, order_id: UUID, before: int) -> None:
    """Delete the facts of an order from a day on which it sold nothing, except facts written after `before`.

    `before` is in microseconds since 1970. Only the consistency check uses this. Raises CassandraUnavailable.
    """
    FACTS_REMOVED.run(day=day, shard=order_shard(order_id), order_id=order_id, at=before)
    mark_day_changed(day)


DAY_EMPTIED = write(
    "Q18",
    """DELETE FROM daily_sales_by_dimension USING TIMESTAMP :at
       WHERE month = :month AND dimension = :dimension AND day = :day""",
)
DAILY = write(
    "Q18",
    """INSERT INTO daily_sales_by_dimension (month, dimension, day, key, currency, orders, units, gross, net,
                                             refunded_units, refunded_gross, refunded_net)
       VALUES (:month, :dimension, :day, :key, :currency, :orders, :units, :gross, :net, :refunded_units,
               :refunded_gross, :refunded_net) USING TIMESTAMP :at""",
)


def roll_up_day(day: date) -> None:
    """Add up the sales of a day, and store the sums. A second call changes nothing. Raises CassandraUnavailable."""
    read_at, facts = current_microseconds(), queries.list_day_facts(day)
    for dimension in DIMENSIONS:
        place = {"month": month_start(day), "dimension": dimension, "day": day}
        rows = (
            DAILY.bind(
                key=each.key, currency=each.currency, at=read_at, **place, **asdict(each.figures)
            )
            for each in roll_up_dimension(day, facts, dimension)
        )
        write_batch([DAY_EMPTIED.bind(at=read_at - 1, **place), *rows])


CUSTOMERS = write(
    "Q18",
    """INSERT INTO daily_customers (month, day, orders, first_orders, returning_orders)
       VALUES (:month, :day, :orders, :first_orders, :returning_orders) USING TIMESTAMP :at""",
)


def record_daily_customers(
    day: date, orders: int, first_orders: int, returning_orders: int, at: int
) -> None:
    """Store the numbers of a day's paid orders: of all, of customers' first orders, and of orders by returning customers.

    `at` is the time of the read, in microseconds since 1970. Raises CassandraUnavailable.
    """
    CUSTOMERS.run(
        month=month_start(day),
        day=day,
        orders=orders,
        first_orders=first_orders,
        returning_orders=returning_orders,
        at=at,
    )


DAY_DONE = write(
    "Q18", "DELETE FROM sales_days USING TIMESTAMP :written WHERE shop = :shop AND day = :day"
)


# The marks of the days that this process has added up.
_added_up: dict[date, int] = {}


def roll_up_changed_days(now: datetime) -> int:
    """Add up the sales of each day whose facts have changed, now and again after LATEST_FACT. Return how many were added up.

    The latest days come first: after an upgrade or an import, Home needs them first. Raises CassandraUnavailable.
    """
    latest = int((now - LATEST_FACT).timestamp() * 1_000_000)
    changed, count = queries.list_changed_days(), 0
    for day in _added_up.keys() - dict(changed).keys():
        del _added_up[day]
    for day, written in reversed(changed):
        if latest <= written == _added_up.get(day):
            continue
        with guard_row(f"sales of {day}"):
            roll_up_day(day)
            count += 1
            if written < latest:
                DAY_DONE.run(shop=SHOP, day=day, written=written)
            _added_up[day] = written
    return count
