"""Prices over time: which one is in force, and which one may be crossed out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from moneyed import Money

# Over how long before a reduction the lowest price counts (Directive 98/6/EC, Article 6a, the "Omnibus" directive).
REFERENCE_DURATION = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PricePoint:
    """From when on a price is asked; `compare_at` is the one that is crossed out beside it.

    At the end of a planned sale `back_to` is when that began: the price of before comes back, also if it is changed until then.
    """

    starts_at: datetime
    price: Money
    compare_at: Money | None = None
    back_to: datetime | None = field(default=None, compare=False)


def price_in_force(points: Sequence[PricePoint], now: datetime) -> PricePoint:
    """Return the point whose price is asked at a moment. They are in the order of time, and the first has begun.

    Every price that anybody sees or pays comes from here: a variant that is read has it as its `price`.
    """
    return next((each for each in reversed(points) if each.starts_at <= now), points[0])


def follow_base_prices(points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return the points with the price of before at the end of each sale, as it is now. They are in the order of time.

    Nothing is crossed out there: the sale itself is among the 30 days whose lowest price counts.
    What is before a sale that has begun is known no more: what was noted at its end stays.
    """
    followed: list[PricePoint] = []
    for point in points:
        base = [each for each in followed if point.back_to and each.starts_at < point.back_to]
        followed.append(replace(point, price=base[-1].price, compare_at=None) if base else point)
    return followed


def begin_with(moment: datetime | None, points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return the points as they are asked of somebody if nothing is before a moment: the last one before it begins with it.

    Both are in the order of time.
    """
    dated = (
        replace(each, starts_at=max(each.starts_at, moment or each.starts_at)) for each in points
    )
    return list({each.starts_at: each for each in dated}.values())


def compute_reference_price(earlier: Sequence[PricePoint], reduced: PricePoint) -> Money | None:
    """Return the highest price that may be crossed out beside a reduced one; None if nothing was asked before it.

    That is the lowest of the 30 days before the reduction began. A reduction that goes further, without a rise in between,
    began with its first step. `earlier` are the points before it, in the order of time.
    """
    before, first = list(earlier), reduced
    while before and before[-1].compare_at is not None and before[-1].price >= first.price:
        first = before.pop()
    if not before:
        # Before the first step only its own price is known.
        return first.compare_at if earlier else None
    since = first.starts_at - REFERENCE_DURATION
    begun = [each for each in before if each.starts_at <= since]
    later = [each for each in before if each.starts_at > since]
    return min(each.price for each in (*begun[-1:], *later))
