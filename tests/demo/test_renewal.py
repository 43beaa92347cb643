"""The demo shop is renewed over what staff have changed in it."""

from dataclasses import replace
from datetime import UTC, datetime

from moneyed import EUR, Money

from catalogue import operations, queries
from demo import loader
from tests.factories import make_product


def test_x94_a_renewed_product_crosses_out_no_more_than_it_may() -> None:
    now = datetime.now(UTC)
    product = make_product(price="10.00", compare_at="12.00", listed=True)
    reduced = replace(product.variants[0], price=Money("5.00", EUR), compare_at=None)
    saved = operations.save_product(replace(product, variants=(reduced,)), now)
    loader.save_reduced_as_allowed(replace(product, version=saved.version), now)
    renewed = queries.get_product_at_quorum(product.product_id)
    assert renewed
    assert [(each.price, each.compare_at) for each in renewed.variants] == [(Money(10, EUR), None)]
