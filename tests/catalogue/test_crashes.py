"""A process that dies at a write of a product: the product is as it was or as it shall be, and the worker finishes the rest."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import time_machine
from moneyed import EUR, Money

from catalogue import operations, queries
from catalogue.entities import CategoryNode, Product
from catalogue.prices import PricePoint
from consistency.findings import Scope
from jobs.minutes import MINUTE
from tests.clock import now
from tests.consistency.test_check_consistency import found
from tests.factories import make_category, make_product
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes


def save_all_that_can_change(product: Product, category: CategoryNode) -> None:
    """Another address, another category, another price and one to come, and a variant more."""
    variant = replace(
        product.variants[0],
        price=Money("9.00", EUR),
        planned=(PricePoint(now() + timedelta(days=1), Money("12.00", EUR)),),
    )
    second = replace(
        product.variants[0],
        variant_id=uuid4(),
        sku=f"N-{uuid4().hex.upper()}",
        price=Money("11.00", EUR),
    )
    changed = replace(
        product,
        slug=f"{product.slug}-new",
        category_id=category.category_id,
        active_until=now() + timedelta(days=9),
        variants=(variant, second),
    )
    operations.save_product(changed, now())


def run_worker(product: Product) -> None:
    minutes = [operations.schedule_minute(now() + n * MINUTE) for n in range(3)]
    for minute, product_id in operations.list_scheduled_products(minutes, 100):
        if product_id == product.product_id:
            operations.follow_schedule(minute, product_id)
    if product.product_id in operations.list_changed_products(now() - MINUTE, now()):
        operations.refresh_cards(product.product_id)


def test_x90_x93_a_save_that_is_killed_at_any_write_leaves_the_old_or_the_new() -> None:
    def make() -> Product:
        return make_product("Astrolabe", price="10.00", listed=True)

    recorded, category = make(), make_category("New")
    writes = record_writes(lambda: save_all_that_can_change(recorded, category))
    writes = first_and_last_writes(writes)
    assert len(writes) >= 12
    outcomes = set()
    for target in writes:
        product = make()
        assert kill_at_write(
            target,
            lambda product=product: save_all_that_can_change(product, category),  # type: ignore[misc]
        )
        run_worker(product)
        stored = queries.get_product_at_quorum(product.product_id)
        assert stored
        is_new = stored.version == 2
        outcomes.add(is_new)
        assert (stored.slug != product.slug, len(stored.variants)) == (is_new, 1 + is_new)
        first, *_ = queries.list_price_history(stored, stored.variants[0])
        assert first.price == product.variants[0].price, target
        only = Scope(products=frozenset({product.product_id}))
        with time_machine.travel(now() + 10 * MINUTE, tick=True):
            assert found(only, "I14", "I18") == [], target
        # And whoever tries again finishes it.
        if not is_new:
            save_all_that_can_change(product, category)
    assert outcomes == {True, False}
