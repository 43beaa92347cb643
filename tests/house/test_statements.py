"""Every statement of the shop, prepared on the real engine and judged by the rules of docs/architecture.md."""

import ast
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps

from cassandra_db import REGISTRY, Statement
from cassandra_db.configuration import CONDITIONAL, READ
from tests.house.rooms import ROOMS, ROOT, modules_of

for room in ROOMS:
    for module in modules_of(room):
        importlib.import_module(module)

OURS = [statement for statement in REGISTRY if statement.question != "test"]
READS = [statement for statement in OURS if statement.profile == READ]
REQUESTS = [statement for statement in READS if not statement.scans]
SCANS = [statement for statement in READS if statement.scans]
WRITES = [statement for statement in OURS if statement.profile != READ]

# Where a plain write may touch what conditional writes also touch, and why it is safe.
_SCALE = "storefront.scale fills a keyspace that nobody else writes to, with ids that nobody else can have made"
PLAIN_BESIDE_CONDITIONAL = {
    "inventory": _SCALE,
    "order_ids_by_number": _SCALE,
    "orders": _SCALE,
    "product_ids_by_slug": _SCALE,
    "variants_by_sku": _SCALE,
}


def table_of(statement: Statement) -> str:
    found = re.search(r"(?:FROM|INTO|UPDATE)\s+([a-z_]+)", statement.cql)
    assert found, statement
    return found[1]


def test_the_registry_is_full() -> None:
    assert len(OURS) > 60
    assert SCANS


@pytest.mark.parametrize("statement", OURS, ids=lambda s: f"{s.question}-{table_of(s)}")
def test_it_prepares_and_asks_for_nothing_forbidden(statement: Statement) -> None:
    statement.prepared()
    cql = f" {statement.cql.upper()} "
    for forbidden in ("SELECT *", "ALLOW FILTERING", "COUNT(", " OFFSET ", "MATERIALIZED"):
        assert forbidden not in cql
    assert " USING TIMESTAMP " not in cql or " IF " not in cql
    assert statement.question.strip()


@pytest.mark.parametrize("statement", REQUESTS + WRITES, ids=lambda s: f"{s.question}-{table_of(s)}")
def test_a_request_binds_its_whole_partition_key(statement: Statement) -> None:
    assert statement.prepared().routing_key_indexes, "the partition key is not bound: make it a scan, or another table"
    assert " IN :" not in statement.cql.split(" IF ")[0]


@pytest.mark.parametrize("statement", SCANS, ids=lambda s: f"{s.question}-{table_of(s)}")
def test_a_scan_goes_over_token_ranges(statement: Statement) -> None:
    assert re.search(r"token\((.+?)\) > :start AND token\(\1\) <= :end", statement.cql)


@pytest.mark.parametrize("statement", WRITES, ids=lambda s: f"{s.question}-{table_of(s)}")
def test_a_conditional_write_is_declared_as_one(statement: Statement) -> None:
    if " IF " in statement.cql:
        assert statement.profile == CONDITIONAL
        assert not statement.idempotent
    if statement.profile == CONDITIONAL:
        assert not statement.idempotent


def test_no_table_takes_plain_and_conditional_writes_without_a_reason() -> None:
    conditional = {table_of(s) for s in WRITES if s.profile == CONDITIONAL}
    plain = {table_of(s) for s in WRITES if s.profile != CONDITIONAL}
    assert conditional & plain == set(PLAIN_BESIDE_CONDITIONAL)


def test_every_table_is_used() -> None:
    used = {table_of(s) for s in OURS}
    for room in apps.get_app_configs():
        for model in getattr(room.models_module, "__dict__", {}).values():
            name = getattr(model, "__table_name__", None)
            if name and not getattr(model, "__abstract__", False):
                assert name in used, f"nothing reads or writes {name}"


@cache
def scanning_functions() -> set[str]:
    found = set()
    for path in ROOT.glob("*/**/*.py"):
        if path.parts[len(ROOT.parts)] in ROOMS:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and ".over_ring(" in ast.unparse(node):
                    found.add(node.name)
    return found - {"over_ring"}


@pytest.mark.parametrize(
    "path",
    sorted(
        p
        for room in ROOMS
        for p in (ROOT / room).rglob("*.py")
        if p.stem in {"views", "context", "middleware", "forms"}
    ),
    ids=lambda p: f"{p.parent.name}/{p.name}",
)
def test_views_scan_nothing(path: Path) -> None:
    assert scanning_functions()
    names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
    names |= {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert not names & (scanning_functions() | {"over_ring"})


def test_all_modules_were_imported() -> None:
    assert {name for _, name, _ in pkgutil.iter_modules([str(ROOT)])} >= set(ROOMS)
