"""The showroom and the large shop, loaded by their commands into keyspaces of their own and looked at from outside."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from cassandra_db.session import session
from storefront.showroom_orders import COUNT, FATES, plans
from tests.environment import KEYSPACE, ROOT

pytestmark = [pytest.mark.whole_shop, pytest.mark.timeout(900)]

SHOWROOM = """
import json
from collections import Counter
from datetime import UTC, datetime
from catalogue import queries, search
from inventory.queries import WAREHOUSES, numbers
from orders import queries as orders
from storefront.showroom_orders import plans

products = list(queries.scanned_products())
kept = [numbers(v.variant_id, w) for p in products for v in p.variants for w in WAREHOUSES]
placed = [orders.order(plan.order_id) for plan in plans(datetime.now(UTC))]
print(json.dumps({
    "products": len(products),
    "rows": [len(queries.featured(name)) for name in ("featured", "deals", "new_arrivals")],
    "without company": [p.name for p in products if not queries.related(p.product_id)],
    "words": Counter(order.word for order in placed),
    "numbers": len({order.number for order in placed}),
    "wrong sums": [o.number for o in placed if o.subtotal + o.delivery - o.discount != o.total],
    "wrong stock": sum(n.received != n.available + n.held + n.committed + n.shipped for n in kept),
    "negative": sum(min(n.available, n.held, n.committed, n.shipped) < 0 for n in kept),
    "received": sum(n.received for n in kept),
    "sams": sum(order.email == "shopper@stoa.example" for order in placed),
    "board": {name: count.number for name, count in orders.board_counts().items()},
    "suggested": [each.name for each in queries.suggestions("mu")],
    "found": search.search("mug").total,
}))
"""

LARGE = """
import json
from catalogue import queries, search
from inventory.queries import stock_of
from orders import queries as orders
from storefront import scale

tree = queries.categories()
products = list(queries.scanned_products())
product = products[0]
order_id = scale.id_for("order", 7)
order = orders.order(order_id)
print(json.dumps({
    "products": len(products),
    "roots": [len(queries.category_page(node.category_id, limit=1000).cards) for node in tree.roots],
    "category": product.product_id in {
        c.product_id for c in queries.category_page(product.category_id, "name", limit=1000).cards
    },
    "slug": queries.product_id_by_slug(product.slug) == product.product_id,
    "sku": queries.variant_by_sku(product.variants[0].sku).variant_id == product.variants[0].variant_id,
    "related": len(queries.related(product.product_id)),
    "stock": set(stock_of(product.product_id)) == {v.variant_id for v in product.variants},
    "order": [order.state, order.payment, order.fulfilment, len(order.events), order.column],
    "by number": orders.order_by_number(order.number) == order,
    "items": sum(item.quantity for item in orders.items(order)) == order.item_count,
    "listed": sum(map(len, orders.orders_of(order.user_id, [order.placed_at.year]).values())) > 0,
    "found": search.search(product.name).total,
    "featured": len(queries.featured("new_arrivals")),
}))
"""


class Loaded:
    """A keyspace of its own, filled and asked by processes of their own."""

    def __init__(self, keyspace: str, folder: Path) -> None:
        self.keyspace = keyspace
        self.folder = folder

    def command(self, *words: str) -> str:
        environment = os.environ | {"CASSANDRA_KEYSPACE": self.keyspace, "SEARCH_INDEX_DIR": str(self.folder)}
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, script: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.command("shell", "--verbosity", "0", "-c", script).splitlines()[-1])
        return found


def loaded(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    shop = Loaded(f"{KEYSPACE}_{name}", tmp_path_factory.mktemp(name))
    shop.command("sync_cassandra")
    yield shop
    session().execute(f"DROP KEYSPACE IF EXISTS {shop.keyspace}", timeout=120)


@pytest.fixture(scope="module")
def showroom(keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    yield from loaded("room", tmp_path_factory)


@pytest.fixture(scope="module")
def large_shop(keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    yield from loaded("large", tmp_path_factory)


def test_the_showroom_makes_sense_and_loading_it_again_changes_nothing(showroom: Loaded) -> None:
    told = showroom.command("load_showroom")
    for login in ("shopper@stoa.example", "staff@stoa.example", "admin@stoa.example"):
        assert login in told
    first = showroom.ask(SHOWROOM)
    assert 55 <= first["products"] <= 70
    assert min(first["rows"]) >= 6
    assert first["without company"] == []
    assert sum(first["words"].values()) == first["numbers"] == COUNT
    assert len(first["words"]) == len(FATES)
    assert first["wrong sums"] == []
    assert (first["wrong stock"], first["negative"]) == (0, 0)
    assert first["sams"] > 5
    assert all(first["board"][name] for name in ("to_pay", "payment_problem", "to_pack", "shipped", "on_hold"))
    assert first["suggested"]
    assert first["found"] >= 2
    showroom.command("load_showroom")
    assert showroom.ask(SHOWROOM) == first


def test_the_large_shop_is_whole(large_shop: Loaded) -> None:
    command = ("load_scale", "--products", "300", "--orders", "40", "--processes", "2")
    told = large_shop.command(*command, "--keyspace", large_shop.keyspace)
    assert "rows in" in told
    found = large_shop.ask(LARGE)
    assert found["products"] == 300
    assert sum(found["roots"]) == 300
    for what in ("category", "slug", "sku", "stock", "by number", "items", "listed", "found"):
        assert found[what], what
    assert found["related"] >= 2
    assert found["order"] == ["closed", "paid", "delivered", 7, "done"]
    assert found["featured"] == 24


def test_the_showroom_is_loaded_only_into_one() -> None:
    with override_settings(SHOWROOM=False), pytest.raises(CommandError, match="no showroom"):
        call_command("load_showroom")


def test_an_order_of_the_showroom_is_the_same_each_time() -> None:
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    assert [plan.order_id for plan in plans(now)] == [plan.order_id for plan in plans(now)]
    assert all(plan.placed_at <= now for plan in plans(now))
    assert {plan.fate for plan in plans(now)} == set(FATES)


def test_what_is_derived_can_be_made_anew(showroom: Loaded) -> None:
    told = showroom.command("rebuild")
    assert [line.split(":")[0] for line in told.splitlines()] == [
        "index",
        "suggestions",
        "front-page",
        "related",
        "sitemap",
        "order-lists",
    ]
    assert showroom.command("rebuild", "index").startswith("index: ")
