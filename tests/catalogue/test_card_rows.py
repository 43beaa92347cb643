"""Cards as one row stores them: a list of related products."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from moneyed import EUR, Money

from catalogue.card_rows import RelatedCard, pack_related, parse_related
from catalogue.entities import ProductCard

PLAIN = ProductCard(
    product_id=uuid4(),
    name="Cup “Ö”",
    slug="cup",
    brand="",
    picture="mug/dfcfb0",
    swatches=(),
    variant_count=1,
    price=Money("0.00", EUR),
    price_varies=False,
    compare_at=None,
    rating=None,
    rating_count=0,
    popularity=0,
    bestseller=False,
    availability="in",
    created_at=datetime(2026, 11, 1, 12, 30, 1, 250_000, tzinfo=UTC),
)
FULL = replace(
    PLAIN,
    product_id=uuid4(),
    brand="Hald",
    swatches=("dfcfb0", "b2572f"),
    variant_count=3,
    price=Money("12.50", EUR),
    price_varies=True,
    compare_at=Money("15.00", EUR),
    rating=4.5,
    rating_count=12,
    popularity=3,
    bestseller=True,
    availability="out",
    unit_price=Money("25.00", EUR),
    unit="l",
)


def test_x572_q5_related_cards_are_read_as_they_were_packed() -> None:
    cards = [RelatedCard(PLAIN, pinned=True), RelatedCard(FULL, pinned=False)]
    assert parse_related(pack_related(cards)) == cards
    assert parse_related(pack_related([])) == []


def test_x572_the_largest_list_of_related_cards_stays_within_its_partition() -> None:
    largest = replace(
        FULL, name="ö" * 200, slug="s" * 100, picture="p" * 300, swatches=("dfcfb0",) * 200
    )
    text = pack_related([RelatedCard(largest, pinned=True)] * 12)
    assert len(text.encode()) < 50_000
