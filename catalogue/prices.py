"""Prices over time: the price that is in force, and the price that may be crossed out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from moneyed import Money

# The lowest price in these days before a reduction counts (Directive 98/6/EC, Article 6a, the "Omnibus" directive).
REFERENCE_DURATION = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PricePoint:
    """A price that is asked from a moment on. `compare_at` is the crossed-out price beside it.

    At the end of a planned sale, `back_to` is the begin of the sale. The price before the sale then comes back, even if it was
    changed in the meantime.
    """

    starts_at: datetime
    price: Money
    compare_at: Money | None = None
    back_to: datetime | None = field(default=None, compare=False)


def price_in_force(points: Sequence[PricePoint], now: datetime) -> PricePoint:
    """Return the price point in force at a moment. The points are sorted by time, and the first has begun.

    Every price that is shown or paid comes from this function, as the `price` of a variant that was read.
    """
    return next((each for each in reversed(points) if each.starts_at <= now), points[0])


def follow_base_prices(points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return the price points with the price after each planned sale set to the present price before the sale.

    No price is crossed out at the end, because the sale is among the 30 days whose lowest price counts. Once a sale has begun,
    the price before it is no longer known, so the stored price after the sale stays.
    """
    followed: list[PricePoint] = []
    for point in points:
        base = [each for each in followed if point.back_to and each.starts_at < point.back_to]
        followed.append(replace(point, price=base[-1].price, compare_at=None) if base else point)
    return followed


def begin_with(moment: datetime | None, points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return the price points from `moment` on, when a product's sale begins. The price then in force becomes the first point.

    The given and the returned points are sorted by time.
    """
    dated = (
        replace(each, starts_at=max(each.starts_at, moment or each.starts_at)) for each in points
    )
    return list({each.starts_at: each for each in dated}.values())


def compute_reference_price(earlier: Sequence[PricePoint], reduced: PricePoint) -> Money | None:
    """Return the highest price that may be crossed out beside the reduced price `reduced`; None if no price was asked before.

    It is the lowest price of the 30 days before the reduction began. Successive reductions without a rise in between count as one
    reduction, which began with the first of them. `earlier` are the price points before `reduced`, sorted by time.
    """
    before, first = list(earlier), reduced
    while before and before[-1].compare_at is not None and before[-1].price >= first.price:
        first = before.pop()
    if not before:
        # Before the first reduction, only the price that it crosses out is known.
        return first.compare_at if earlier else None
    since = first.starts_at - REFERENCE_DURATION
    begun = [each for each in before if each.starts_at <= since]
    later = [each for each in before if each.starts_at > since]
    return min(each.price for each in (*begun[-1:], *later))
