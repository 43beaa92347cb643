"""Every statement of the shop, prepared on the real engine and checked by the rules of docs/architecture.md."""

import ast
import importlib
import pkgutil
import re
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from benchmarks import scale
from cassandra_db import REGISTRY, Statement
from cassandra_db.configuration import CONDITIONAL, READ
from conversations import queries as conversations
from inventory import queries as stock
from posts import like_queries
from tests.architecture.apps import (
    APPS,
    FILES,
    ROOT,
    VIEWS,
    list_modules,
    model_name,
    module_kind,
    relative_path,
)
from tests.rules import for_each

for app in APPS:
    for module in list_modules(app):
        importlib.import_module(module)

OURS = [statement for statement in REGISTRY if statement.question != "test"]
READS = [statement for statement in OURS if statement.profile == READ]
REQUESTS = [statement for statement in READS if not statement.is_scan]
SCANS = [statement for statement in READS if statement.is_scan]
WRITES = [statement for statement in OURS if statement.profile != READ]
MODELS: list[Any] = [
    model
    for app in apps.get_app_configs()
    for model in getattr(app.models_module, "__dict__", {}).values()
    if getattr(model, "__table_name__", None) and not getattr(model, "__abstract__", False)
]
# What answers a request: the views, and what runs around them.
ANSWERING = [
    *VIEWS,
    *(path for path in FILES if module_kind(path).endswith(("context", "middleware", "forms"))),
]

# Where a plain write may touch what conditional writes also touch, and why it is safe.
_SCALE = "benchmarks.scale fills a keyspace that nobody else writes to, with ids that nobody else can have made"
PLAIN_BESIDE_CONDITIONAL = {
    "conversations": "a column that no condition reads, or a whole partition that nothing writes to any more",
    "labels_by_user": "a column that no condition reads, or the whole mailbox of a member who is gone",
    "inventory": _SCALE,
    "order_ids_by_number": _SCALE,
    "orders": _SCALE,
    "blocks_by_user": "all blocks of a member who is gone",
    "likes_by_post": "a whole partition of a deleted post, which nobody likes any more",
    "likes_by_post_partitions": "of a deleted post",
    "post_comments": "a whole partition of a deleted post, on which nobody comments any more",
    "posts": "the sums, which no conditional write sets or asks for",
    "products": "availability and the like, which no conditional write sets or asks for; else "
    + _SCALE,
    "product_ids_by_slug": _SCALE,
    "variants_by_sku": _SCALE,
}


# What the load generator writes.
BULK = {scale.FIRST_VARIANT.cql, scale.VARIANT.cql}
# Some rows of one partition, whose key is bound.
ROWS_OF_ONE_PARTITION = (conversations.ENTRIES, like_queries.LIKES, stock.RESERVATIONS)

# CQL stands in queries, operations and the library; elsewhere only for a reason.
_STORE = "reads and writes a table of its own, which nobody else touches"
CQL_ELSEWHERE = {
    "accounts/audit_log.py": _STORE,
    "accounts/customer_search.py": "its one read stands beside what it is made into",
    "accounts/known_devices.py": "ends all sessions by one column of the user",
    "accounts/second_factor.py": _STORE,
    "accounts/sessions.py": _STORE,
    "analytics/event_writer.py": _STORE,
    "analytics/live.py": _STORE,
    "analytics/roll_up.py": _STORE,
    "sensors/readings.py": "reads and writes tables of its own, which nobody else touches",
    "catalogue/bulk_changes.py": _STORE + ", and a product's marks",
    "catalogue/missing_addresses.py": _STORE,
    "cart/people.py": "who shares a cart: its two reads stand beside what they are made into",
    "consistency/catalogue.py": "asks what no page asks",
    "consistency/conversations.py": "asks what no page asks",
    "consistency/copies.py": "asks what no page asks",
    "consistency/dates.py": "asks what no page asks",
    "consistency/lists.py": "asks what no page asks",
    "consistency/mailboxes.py": "asks what no page asks",
    "consistency/notifications.py": "asks what no page asks",
    "consistency/text_pages.py": "asks what no page asks",
    "consistency/order_search.py": "asks what no page asks",
    "consistency/past_orders.py": "asks what no page asks",
    "consistency/user_stats.py": "asks what no page asks",
    "consistency/users.py": "asks what no page asks",
    "consistency/books.py": "asks what no page asks",
    "consistency/sales.py": "asks what no page asks",
    "consistency/stock.py": "asks what no page asks",
    "consistency/stock_lists.py": "asks what no page asks",
    "consistency/vouchers.py": "asks what no page asks",
    "conversations/viewers.py": _STORE,
    "jobs/leases.py": _STORE,
    "orders/board_queries.py": "the reads of the board, split from queries.py by its length",
    "orders/customers.py": "the reads of the list of customers, split from queries.py by its length",
    "orders/search.py": "what staff type: its two reads stand beside what they are made into",
    "orders/viewers.py": _STORE,
    "posts/comment_queries.py": "the reads of comments, split from queries.py by their length",
    "posts/follow_invariants.py": "asks what no page asks",
    "posts/follow_queries.py": "the reads of follows, split from queries.py by their length",
    "posts/invariants.py": "asks what no page asks",
    "posts/like_queries.py": "the reads of likes, split from queries.py by their length",
    "reviews/copies.py": "the only writer of a review's copies",
    "reviews/votes.py": "the only writer of votes",
    "web/rate_limits.py": _STORE,
}


def test_cql_stands_in_queries_and_operations() -> None:
    declaring = re.compile(r"^\w+ = (?:read|scan|write|conditional_write)\(", re.MULTILINE)
    found = {relative_path(path) for path in FILES if declaring.search(path.read_text())}
    allowed = {
        relative_path(path) for path in FILES if module_kind(path) in {"queries", "operations"}
    }
    assert len(found & allowed) >= 40
    assert found - allowed == set(CQL_ELSEWHERE)


def table_of(statement: Statement) -> str:
    found = re.search(r"(?:FROM|INTO|UPDATE)\s+([a-z_]+)", statement.cql)
    assert found, statement
    return found[1]


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    """Prepare all of them at once, side by side. One that cannot be fails where it is checked."""
    with ThreadPoolExecutor(8) as threads:
        wait([threads.submit(statement.prepare) for statement in OURS])


@for_each(OURS, at_least=320)
def test_it_prepares_and_asks_for_nothing_forbidden(statement: Statement) -> None:
    statement.prepare()
    cql = f" {statement.cql.upper()} "
    for forbidden in ("SELECT *", "ALLOW FILTERING", "COUNT(", " OFFSET ", "MATERIALIZED"):
        assert forbidden not in cql
    assert " USING TIMESTAMP " not in cql or " IF " not in cql
    assert statement.question.strip()


@for_each(REQUESTS + WRITES, at_least=305)
def test_a_request_binds_its_whole_partition_key(statement: Statement) -> None:
    assert statement.prepare().routing_key_indexes, (
        "the partition key is not bound: make it a scan, or another table"
    )
    is_allowed = statement in ROWS_OF_ONE_PARTITION
    assert is_allowed or " IN :" not in statement.cql.split(" IF ")[0]


@for_each(SCANS, at_least=15)
def test_a_scan_goes_over_token_ranges(statement: Statement) -> None:
    assert re.search(r"token\((.+?)\) > :start AND token\(\1\) <= :end", statement.cql)


@for_each(WRITES, at_least=210)
def test_a_conditional_write_is_declared_as_one(statement: Statement) -> None:
    if " IF " in statement.cql:
        assert statement.profile == CONDITIONAL
        assert not statement.is_idempotent
    if statement.profile == CONDITIONAL:
        assert not statement.is_idempotent


def test_no_table_takes_plain_and_conditional_writes_without_a_reason() -> None:
    conditional = {table_of(s) for s in WRITES if s.profile == CONDITIONAL}
    plain = {table_of(s) for s in WRITES if s.profile != CONDITIONAL}
    assert conditional & plain == set(PLAIN_BESIDE_CONDITIONAL)


@for_each(MODELS, model_name, at_least=55)
def test_every_table_is_used(model: Any) -> None:
    assert model.__table_name__ in {table_of(s) for s in OURS}, "nothing reads or writes it"


def test_x90_of_a_product_only_what_cards_say_of_stock_reviews_and_sales_is_written_plainly() -> (
    None
):
    """No cell is written both ways: their timestamps are of two clocks."""
    writes = [s for s in WRITES if table_of(s) == "products" and s.profile != CONDITIONAL]
    shops = [s for s in writes if s.cql not in BULK]
    assert [s.cql for s in shops] == [
        "UPDATE products SET list_places = list_places + :places WHERE product_id = :product_id",
        "UPDATE products SET list_places = list_places - :places WHERE product_id = :product_id",
        "UPDATE products SET availability = :word, in_stock_ids = :in_stock_ids WHERE product_id = :product_id",
        "UPDATE products USING TIMESTAMP :at SET rating = :rating, rating_count = :rating_count WHERE product_id = :product_id",
        "UPDATE products USING TIMESTAMP :at SET popularity = :popularity, bestseller = :bestseller WHERE product_id = :product_id",
    ]
    conditional = [s for s in WRITES if table_of(s) == "products" and s.profile == CONDITIONAL]
    assert len(conditional) >= 2
    plain = ("availability", "rating", "popularity", "bestseller", "list_places")
    assert not [s for s in conditional if any(name in s.cql for name in plain)]


def test_fault_5_no_order_leaves_the_staffs_board_by_a_ttl() -> None:
    (board,) = (model for model in MODELS if model.__table_name__ == "orders_by_status")
    writes = [s.cql for s in WRITES if table_of(s) == "orders_by_status"]
    assert len(writes) >= 2
    assert "default_time_to_live" not in (board.__options__ or {})
    assert not [cql for cql in writes if "TTL" in cql]


@cache
def scanning_functions() -> set[str]:
    return {
        node.name
        for path in FILES
        if ".iterate_table(" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and ".iterate_table(" in ast.unparse(node)
    }


def test_scanning_functions_are_found() -> None:
    assert len(scanning_functions()) >= 12


@for_each(ANSWERING, relative_path, at_least=42)
def test_views_scan_nothing(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert not names & (scanning_functions() | {"iterate_table"})


def test_all_modules_were_imported() -> None:
    assert {name for _, name, _ in pkgutil.iter_modules([str(ROOT)])} >= set(APPS)
