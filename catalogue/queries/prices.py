"""Read the price history of a variant, and find the highest price that may be crossed out."""

from collections.abc import Sequence
from uuid import UUID

from moneyed import Money

from cassandra_db import PendingResult, Row, current_time, read
from catalogue.entities import Product, Variant
from catalogue.prices import PricePoint, compute_reference_price
from catalogue.product_rows import make_price_point, pick_asked_prices

# Q1: the former prices of a variant.
HISTORY = read(
    "Q1",
    "SELECT starts_at, price, compare_at, currency FROM price_history WHERE variant_id = :variant_id LIMIT :most",
)
MAX_HISTORY = 200


def prefetch_price_history(variant_id: UUID) -> PendingResult:
    """Start reading the price history of a variant, for `price_history_from_rows`."""
    return HISTORY.start(variant_id=variant_id, most=MAX_HISTORY)


def price_history_from_rows(rows: Sequence[Row]) -> list[PricePoint]:
    """Return the price points that rows of the price history store, sorted by time."""
    return [
        make_price_point(row.currency, row.starts_at, row.price, row.compare_at)
        for row in reversed(rows)
    ]


def list_price_history(product: Product, variant: Variant) -> list[PricePoint]:
    """Return the prices that shoppers were asked for a variant, sorted by time: at most 200 former ones, then those of its row.

    Raises CassandraUnavailable.
    """
    former, now = prefetch_price_history(variant.variant_id).rows(), current_time()
    asked = {each.starts_at: each for each in price_history_from_rows(former)}
    asked |= {each.starts_at: each for each in _asked_in_row(product, variant)}
    return [asked[at] for at in sorted(asked) if at <= now]


def _asked_in_row(product: Product, variant: Variant) -> list[PricePoint]:
    """Return the prices of a sold variant's row that shoppers are asked, also those that are planned."""
    if not (variant.price_from and variant.sold):
        return []
    present = PricePoint(variant.price_from, variant.price, variant.compare_at)
    return pick_asked_prices(product, [*variant.earlier, present, *variant.planned])


def find_reference_price(
    product: Product, variant: Variant, history: Sequence[PricePoint], reduced: PricePoint
) -> Money | None:
    """Return the highest price that may be crossed out beside a new one, or None. `history` is from `list_price_history`."""
    asked = {each.starts_at: each for each in history}
    asked |= {each.starts_at: each for each in _asked_in_row(product, variant)}
    earlier = [asked[at] for at in sorted(asked) if at < reduced.starts_at]
    return compute_reference_price(earlier, reduced)
