"""The demo shop's offers and codes: loaded once, one of each kind, shown where they count."""

from datetime import UTC, datetime

from django.test import Client

from demo.loader import PROMOTIONS, load_promotions
from promotions import queries
from promotions.queries import AUTOMATIC, CODE, get_promotion
from promotions.rules import KINDS
from tests.factories import make_product


def test_loading_them_again_changes_nothing_and_the_front_page_shows_what_counts_by_itself(
    client: Client,
) -> None:
    now = datetime.now(UTC)
    for _ in range(2):
        load_promotions(now, lambda: None)
    assert {each.kind for each in PROMOTIONS} == set(KINDS)
    assert get_promotion(CODE, "welcome10")
    summer = get_promotion(CODE, "summer20")
    assert summer
    assert "expired on" in summer.unavailable_reason(now)
    titles = [row.title for row in queries.list_promotions(AUTOMATIC)]
    assert titles.count(PROMOTIONS[-1].title) == 1
    assert PROMOTIONS[-1].title in client.get("/").content.decode()
    # It is for plants, and this is none.
    product = make_product()
    assert PROMOTIONS[-1].title not in client.get(f"/p/{product.slug}/").content.decode()


def test_what_parcels_weigh_is_known(client: Client) -> None:
    page = client.get("/help/delivery/").content.decode()
    assert "up to 5 kg" in page
    assert "Up to 31.5 kg costs €12.00 more" in page
