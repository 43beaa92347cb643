"""The demo shop and the large shop, loaded by their commands into keyspaces of their own and looked at from outside.

Each is loaded once, by one process, which also does what is to be done to it, and prints what it has seen as it goes on.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from cassandra_db.session import get_session
from demo.orders import FATES, plan_orders
from demo.visits import SEARCHED_IN_VAIN
from tests.environment import KEYSPACE, ROOT
from tests.journeys.stored_state import connect_node
from tests.proof import LONG, ProofReport

pytestmark = [pytest.mark.whole_shop, pytest.mark.timeout(900)]

PRODUCTS, ORDERS = (20_000, 2_000) if LONG else (300, 40)
# Enough for every fate; the real demo shop has 200.
PLACED = 60
# The last of the 1,200: a return that is paid back and one that is declined, notes, tags, one that was cancelled.
OLDER = 13

# What is seen of a demo shop, by the name of what happened before.
Seen = Callable[[str], Any]

DEMO_SHOP = (
    f"PLACED, OLDER = {PLACED}, {OLDER}"
    + """
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from django.core.management import call_command
from cassandra_db.session import close_session
from catalogue import queries, search
from catalogue.operations import list_related_with_pins
from inventory.queries import get_stock_numbers
from inventory.warehouses import list_warehouses
from demo import orders as demo_orders
from demo.visits import SEARCHED, SEARCHED_IN_VAIN
from inventory.queries import get_stock
from orders import operations as order_operations
from orders import queries as orders
from orders.operations.pending_effects import clear_pending_effects
from orders.operations.transitions import append_event
from orders.lifecycle.transitions import Transition
from consistency.runner import RULES, check_consistency
from demo.orders import plan_orders

def command(*words):
    said = StringIO()
    call_command(*words, stdout=said)
    return said.getvalue()

def looked_at():
    products = list(queries.iterate_products())
    kept = [get_stock_numbers(v.variant_id, w) for p in products for v in p.variants for w in list_warehouses()]
    placed = [orders.get_order(plan.order_id) for plan in plan_orders(datetime.now(UTC), PLACED)]
    return {
        "products": len(products),
        "rows": [len(queries.list_featured(name)) for name in ("featured", "deals", "new_arrivals", "popular")],
        "without company": [p.name for p in products if not list_related_with_pins(p.product_id)],
        "words": Counter(order.customer_label for order in placed),
        "numbers": len({order.number for order in placed}),
        "wrong sums": [o.number for o in placed if o.subtotal + o.delivery - o.discount != o.total],
        "wrong stock": sum(n.received != n.available + n.reserved + n.committed + n.shipped for n in kept),
        "negative": sum(min(n.available, n.reserved, n.committed, n.shipped) < 0 for n in kept),
        "received": sum(n.received for n in kept),
        "untracked": [o.number for o in placed for parcel in o.parcels() if parcel.is_sent and not parcel.tracking],
        "sams": sum(order.email == "shopper@shop.example" for order in placed),
        "board": {name: count.number for name, count in order_operations.count_board_orders().numbers.items()},
        "suggested": [each.name for each in queries.list_suggestions("mu")],
        "found": search.search_products("mug").total,
        "searched": {word: search.search_products(word).total for word in (*SEARCHED, *SEARCHED_IN_VAIN)},
    }

def free():
    return [get_stock(p.product_id) for p in queries.iterate_products()]

def older_orders():
    placed = [orders.get_order(plan.order_id) for plan in plan_orders(datetime.now(UTC))[-OLDER:]]
    return {
        "states": Counter(order.state for order in placed),
        "returns": sorted(each.state for order in placed for each in order.returns),
        "notes": sum(event.kind == "note" for order in placed for event in order.events),
        "tags": sorted({tag for order in placed for tag in order.tags}),
        "youngest": min((datetime.now(UTC) - order.changed_at).days for order in placed),
        "out of order": [o.number for o in placed if [e.at for e in o.events] != sorted((e.at for e in o.events), reverse=True)],
    }

def sold():
    tree, now = queries.get_category_tree_at_quorum(), datetime.now(UTC)
    on_sale = sorted(p.slug for p in queries.iterate_products() if p.is_on_sale(now))
    return {"categories": [each.slug for each in tree.nodes], "sold": on_sale}

def check(*rules):
    report = check_consistency(None, rules or RULES, recheck_after=(0.0, 0.0), grace_period=timedelta(0))
    return {"violations": [str(each) for each in report.violations], "looked at": report.checked_counts}

def seen(what, found):
    print(json.dumps([what, found]), flush=True)

load = ("load_demo", "--orders", str(PLACED), "--posts", "5")
command("migrate")
close_session()
seen("said", command(*load))
seen("loaded", looked_at())
command(*load)
seen("loaded again", looked_at())
# The older orders, cut off when each of them was placed, and continued.
older = ("load_demo", "--older-than", str(1200 - OLDER), "--posts", "5")
before, go_on = free(), demo_orders._let_happen
demo_orders._let_happen = lambda *each: None
command(*older)
demo_orders._let_happen = go_on
seen("said of older", command(*older))
seen("older", older_orders() | {"as much in stock": free() == before})
command(*older)
seen("older again", older_orders() | {"as much in stock": free() == before})
seen("rebuilt", command("rebuild"))
seen("index rebuilt", command("rebuild", "index"))
seen("checked", check())
# A process dies after an event, and its pending effects are lost, too.
order = next(found for plan in plan_orders(datetime.now(UTC), PLACED) if (found := orders.get_order(plan.order_id)).customer_label == "Confirmed")
_, pending_effects = append_event(order, Transition("held", actor="system", at=datetime.now(UTC)))
clear_pending_effects(pending_effects)
seen("broken", f"order {order.number} ({order.order_id})")
seen("checked when broken", check("I3"))
before = sold()
command("load_brand", "quire-and-nib")
seen("branded", sold() | check("I14", "I20"))
command("load_brand", "first")
seen("as before", sold() == before)
"""
)

LARGE = """
import json
from catalogue import queries, search
from catalogue.operations import list_related_with_pins
from inventory.queries import get_stock
from orders import queries as orders
from benchmarks import scale

tree = queries.get_category_tree()
products = list(queries.iterate_products())
product = products[0]
order_id = scale.stable_id("order", 7)
order = orders.get_order(order_id)
print(json.dumps({
    "products": len(products),
    "roots": [len(queries.get_category_page(node.category_id, limit=20_000).cards) for node in tree.roots],
    "category": product.product_id in {
        c.product_id for c in queries.get_category_page(product.category_id, "name", limit=20_000).cards
    },
    "slug": queries.find_product_id_by_slug(product.slug) == product.product_id,
    "sku": queries.find_variant_by_sku(product.variants[0].sku).variant_id == product.variants[0].variant_id,
    "related": len(list_related_with_pins(product.product_id)),
    "stock": set(get_stock(product.product_id)) == {v.variant_id for v in product.variants},
    "order": [order.state, order.payment, order.fulfilment, len(order.events), order.board_column],
    "by number": orders.get_order_by_number(order.number) == order,
    "items": sum(item.quantity for item in orders.list_items(order)) == order.item_count,
    "listed": sum(map(len, orders.list_orders_by_year(order.user_id, [order.placed_at.year]).values())) > 0,
    "found": search.search_products(product.name).total,
    "featured": len(queries.list_featured("new_arrivals")),
}))
"""


@contextmanager
def shop(name: str, folder: Path) -> Iterator[dict[str, str]]:
    """Name a keyspace of its own in an environment, and drop it at the end."""
    keyspace = f"{KEYSPACE}_{name}"
    yield os.environ | {"CASSANDRA_KEYSPACE": keyspace, "SEARCH_INDEX_DIR": str(folder)}
    get_session().execute(f"DROP KEYSPACE IF EXISTS {keyspace}", timeout=180)


def run(environment: dict[str, str], *words: str) -> str:
    """Run a command of manage.py and return what it printed."""
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(environment: dict[str, str], script: str) -> dict[str, Any]:
    """Run a script in the shop and return the JSON that it printed last."""
    found: dict[str, Any] = json.loads(
        run(environment, "shell", "-v0", "-c", script).splitlines()[-1]
    )
    return found


@pytest.fixture(scope="module")
def demo_shop(keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """A demo shop: loaded, loaded again, rebuilt, checked, broken and checked again. Each test waits for what it looks at."""
    known: dict[str, Any] = {}
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", DEMO_SHOP]
    with (
        shop("demo", tmp_path_factory.mktemp("demo")) as environment,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ) as process,
    ):

        def seen(what: str) -> Any:
            assert process.stdout
            while what not in known:
                line = process.stdout.readline()
                assert line, f"it ended before anything was {what}"
                known.update([json.loads(line)])
            return known[what]

        seen("loaded")  # what takes longest is nobody's test
        yield seen
        process.communicate()
        assert process.returncode == 0


def test_the_demo_shop_makes_sense(demo_shop: Seen) -> None:
    for login in ("shopper@shop.example", "staff@shop.example", "admin@shop.example"):
        assert login in demo_shop("said")
    first = demo_shop("loaded")
    assert 55 <= first["products"] <= 70
    assert min(first["rows"]) >= 6
    assert first["without company"] == []
    assert sum(first["words"].values()) == first["numbers"] == PLACED
    assert len(first["words"]) == len(FATES)
    assert first["wrong sums"] == []
    assert (first["wrong stock"], first["negative"]) == (0, 0)
    assert first["untracked"] == []
    assert first["sams"] > 2
    assert all(
        first["board"][name]
        for name in ("to_pay", "payment_problem", "to_pack", "shipped", "on_hold")
    )
    assert first["suggested"]
    assert first["found"] >= 2
    # The statistics of searches are what the search says.
    in_vain = {word for word, total in first["searched"].items() if not total}
    assert in_vain == set(SEARCHED_IN_VAIN)


def test_loading_it_again_changes_nothing(demo_shop: Seen) -> None:
    assert demo_shop("loaded again") == demo_shop("loaded")


def test_older_orders_come_while_the_shop_is_open_and_take_nothing_from_its_stock(
    demo_shop: Seen,
) -> None:
    assert f"has {OLDER} older orders" in demo_shop("said of older")
    older = demo_shop("older")
    assert older["states"] == {"closed": OLDER - 1, "cancelled": 1}
    assert older["returns"] == ["refunded", "rejected"]
    assert (older["notes"], older["tags"]) == (2, ["press", "regular", "wholesale"])
    assert older["youngest"] > 300
    assert (older["out of order"], older["as much in stock"]) == ([], True)
    assert demo_shop("older again") == older


def test_what_is_derived_can_be_made_anew(demo_shop: Seen) -> None:
    assert [line.split(":")[0] for line in demo_shop("rebuilt").splitlines()] == [
        "index",
        "suggestions",
        "front-page",
        "related",
        "sitemap",
        "feeds",
        "order-lists",
        "customer-sums",
        "account-search",
    ]
    assert demo_shop("index rebuilt").startswith("index: ")


def test_another_brand_sells_a_part_of_it_and_the_first_one_all_again(demo_shop: Seen) -> None:
    branded = demo_shop("branded")
    keys = ["notebooks-and-paper", "pens-and-pencils", "desk-light", "bags-and-cases"]
    assert branded["categories"] == keys
    assert len(branded["sold"]) == 16
    assert branded["violations"] == []
    assert demo_shop("as before")


def test_the_audit_looks_at_the_whole_shop_and_names_what_is_broken_in_it(demo_shop: Seen) -> None:
    checked = demo_shop("checked")
    assert checked["violations"] == []
    least = {
        "orders": PLACED,
        "copies of orders": 2 * PLACED,
        "stock items": 2 * demo_shop("loaded")["products"],
    }
    seen = checked["looked at"]
    assert {what: seen[what] for what, count in least.items() if seen[what] < count} == {}
    broken = demo_shop("checked when broken")["violations"]
    assert any(each.startswith(f"I3 {demo_shop('broken')}") for each in broken)
    assert [each for each in broken if demo_shop("broken") not in each] == []


@pytest.mark.proof
def test_the_large_shop_is_whole(keyspace: str, tmp_path: Path, proof_report: ProofReport) -> None:
    proof_report.state_claim(
        "A large shop",
        f"A shop of {PRODUCTS:,} products and {ORDERS:,} orders, filled by several processes at once, has every product in its"
        " categories, in its lists and in the search, and every order in its lists.",
    )
    with shop("large", tmp_path) as environment:
        load = (
            "load_scale",
            "--products",
            str(PRODUCTS),
            "--orders",
            str(ORDERS),
            "--processes",
            "2",
        )
        said = run(environment, *load, "--keyspace", environment["CASSANDRA_KEYSPACE"])
        found = ask(environment, LARGE)
        products, orders, *_ = (" ".join(line.split()) for line in said.splitlines())
        with connect_node() as plain:
            for asked, answer, table, count in (
                (f"load {PRODUCTS:,} products", products, "products", PRODUCTS),
                (f"load {ORDERS:,} orders", orders, "orders", ORDERS),
                (
                    "how many are in the categories",
                    f"{sum(found['roots']):,} products in {len(found['roots'])} categories",
                    "products",
                    PRODUCTS,
                ),
            ):
                key = "order_id" if table == "orders" else "product_id"
                ids = plain.execute(
                    f"SELECT DISTINCT {key} FROM {environment['CASSANDRA_KEYSPACE']}.{table}"  # noqa: S608
                )
                there = sum(1 for _ in ids)
                proof_report.add_row(
                    asked, answer, f"{there:,} partitions in {table}", is_match=there == count
                )
    assert "rows in" in said
    assert found["products"] == PRODUCTS
    assert sum(found["roots"]) == PRODUCTS
    for what in ("category", "slug", "sku", "stock", "by number", "items", "listed", "found"):
        assert found[what], what
    assert found["related"] >= 2
    assert found["order"] == ["closed", "paid", "delivered", 8, "done"]
    assert found["featured"] == 24


def test_the_demo_is_loaded_only_into_a_demo_shop() -> None:
    with override_settings(DEMO=False), pytest.raises(CommandError, match="no demo shop"):
        call_command("load_demo")


def test_an_order_of_the_demo_shop_is_the_same_each_time() -> None:
    now = datetime.now(UTC)
    assert [plan.order_id for plan in plan_orders(now)] == [
        plan.order_id for plan in plan_orders(now)
    ]
    assert all(plan.placed_at <= now for plan in plan_orders(now))
    assert {plan.fate for plan in plan_orders(now)} == set(FATES)
