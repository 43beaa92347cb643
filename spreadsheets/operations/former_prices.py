"""The former prices of another shop's file, as far as the law allows them here (Directive 98/6/EC, Article 6a).

A former price is the lowest one of 30 days in this shop. So a new variant has none yet, whatever the other shop has crossed out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from uuid import UUID

from catalogue.operations import list_asked_prices
from catalogue.prices import PricePoint, compute_reference_price
from catalogue.queries import prefetch_product_at_quorum
from catalogue.rules import normalize_sku
from spreadsheets.errors import CellRefused
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.products import find_skus
from spreadsheets.typed_values import format_price, parse_amount

# How many lines are looked up together.
_CHUNK = 100


def keep_former_prices(
    lines: Iterable[ConvertedLine], notes: Counter[str], now: datetime
) -> Iterator[ConvertedLine]:
    """Yield the lines with the highest former prices that are allowed. Those that are not are left out and counted.

    Raises CassandraUnavailable.
    """
    rest = iter(lines)
    while chunk := list(islice(rest, _CHUNK)):
        asked = _read_prices(chunk, now)
        for line in chunk:
            try:
                reduced = PricePoint(now, parse_amount(line.cells.get("price", "")))
                former = parse_amount(line.cells.get("compare_at", ""))
            except CellRefused:  # the import says so
                yield line
                continue
            points = asked.get(normalize_sku(line.cells.get("sku", "")), ())
            allowed = min(former, compute_reference_price(points, reduced) or reduced.price)
            is_allowed = allowed > reduced.price
            # Shopify also has former prices that are 0 or the price itself.
            notes["former_prices"] += former > reduced.price and not is_allowed
            yield line.with_cells({"compare_at": format_price(allowed) if is_allowed else ""})


def _read_prices(
    lines: Iterable[ConvertedLine], now: datetime
) -> Mapping[str, Sequence[PricePoint]]:
    """Return the prices that were asked until now for the variants that exist, by SKU."""
    crossed_out = (each.cells for each in lines if each.cells.get("compare_at"))
    variants = find_skus(normalize_sku(cells.get("sku", "")) for cells in crossed_out)
    products = {
        each: prefetch_product_at_quorum(each)
        for each in {row.product_id for row in variants.values()}
    }
    asked: dict[UUID, list[PricePoint]] = {}
    for product_id, pending in products.items():
        ids = [row.variant_id for row in variants.values() if row.product_id == product_id]
        asked |= list_asked_prices(ids, pending.rows(), now)
    return {sku: asked[row.variant_id] for sku, row in variants.items()}
