"""What Home shows to a member of staff. A role gets the numbers of the pages that it may open."""

from dataclasses import dataclass
from datetime import datetime

from accounts.access import has_permission
from accounts.models import User
from adminpanel.board.pages import TO_PACK
from adminpanel.board.waits import Wait, list_oldest_wait, list_order_waits
from adminpanel.home.sales import HomeSales, prefetch_home_sales, prefetch_visitors
from adminpanel.home.to_do import QUEUES, list_low_stock_waits, oldest_order
from adminpanel.reports.visits import VisitLine
from adminpanel.stock.low_stock import low_stock
from analytics.days import shop_day
from analytics.figures import Figures
from cassandra_db import run_side_by_side
from orders import operations
from orders.board_queries import BoardCounts, prefetch_board_counts
from orders.lifecycle.entities import CappedCount


@dataclass(frozen=True)
class Home:
    """The contents of Home. What the user may not see is None, and `oldest` is empty."""

    waits: tuple[Wait, ...]
    sales: HomeSales | None = None
    visits: VisitLine | None = None
    to_pack: CappedCount | None = None
    oldest: tuple[Wait, ...] = ()


def get_home(user: User, now: datetime) -> Home:
    """Return what a user sees of the shop at `now`. All reads start together. Raises CassandraUnavailable."""

    def may(page: str) -> bool:
        return has_permission(user, f"adminpanel.{page}")

    counting = prefetch_board_counts() if may("board") else None
    selling = prefetch_home_sales(now) if may("sales") else None
    visiting = prefetch_visitors(now) if may("visits") else None

    def collect() -> tuple[BoardCounts | None, HomeSales | None, VisitLine | None]:
        counts = operations.count_board_orders(counting) if counting else None
        sales = selling() if selling else None
        if not (sales and visiting):
            return counts, sales, None
        orders = Figures(sales.today.orders)
        return counts, sales, VisitLine(shop_day(now), visiting(), sales=orders)

    queues = [each for each in QUEUES if may(each.page)]
    *numbers, low, oldest, (counts, sales, visits) = run_side_by_side(
        *(each.recent.get for each in queues),
        low_stock.get if may("stock") else list,
        oldest_order.get if counting else lambda: None,
        collect,
    )
    return Home(
        (
            *(list_order_waits(counts) if counts else ()),
            *(
                wait
                for each, count in zip(queues, numbers, strict=True)
                for wait in each.list_waits(count)
            ),
            *list_low_stock_waits(low),
        ),
        sales,
        visits,
        counts.numbers[TO_PACK] if counts else None,
        tuple(list_oldest_wait(oldest, now)),
    )
