"""What Home shows to a member of staff. A role gets the numbers of the pages that it may open."""

from dataclasses import dataclass
from datetime import datetime

from accounts.access import has_permission
from accounts.models import User
from adminpanel.board.pages import TO_PACK
from adminpanel.board.waits import Wait, board_url, list_oldest_wait
from adminpanel.home.sales import HomeSales, prefetch_home_sales, prefetch_visitors
from adminpanel.home.to_do import list_waits, queues
from adminpanel.reports.visits import VisitLine
from analytics.days import shop_day
from analytics.figures import Figures
from orders import operations
from orders.board_queries import prefetch_board_counts


@dataclass(frozen=True)
class Home:
    """The contents of Home. What the user may not see is None, and `oldest` is empty."""

    waits: tuple[Wait, ...]
    sales: HomeSales | None = None
    visits: VisitLine | None = None
    to_pack: Wait | None = None
    oldest: tuple[Wait, ...] = ()


def get_home(user: User, now: datetime) -> Home:
    """Return what a user sees of the shop at `now`. All reads start together. Raises CassandraUnavailable."""

    def may(page: str) -> bool:
        return has_permission(user, f"adminpanel.{page}")

    counting = prefetch_board_counts() if may("board") else None
    selling = prefetch_home_sales(now) if may("sales") else None
    visiting = prefetch_visitors(now) if may("visits") else None
    counts = operations.count_board_orders(counting) if counting else None
    sales = selling() if selling else None
    visits = None
    if sales and visiting:
        visits = VisitLine(shop_day(now), visiting(), sales=Figures(sales.today.orders))
    return Home(
        tuple(list_waits(user, counts)),
        sales,
        visits,
        Wait("", str(counts.numbers[TO_PACK]), board_url(TO_PACK)) if counts else None,
        tuple(list_oldest_wait(queues.get().oldest, now)) if counts else (),
    )
