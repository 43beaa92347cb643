"""A product's columns are declared once, in catalogue.columns; the statements, the table and the entity agree with it."""

import re
from dataclasses import fields

from catalogue.columns import COLUMNS
from catalogue.entities import Product
from catalogue.models import Product as ProductTable
from catalogue.operations.products import INSERT_VARIANT, UPDATE_PRODUCT
from catalogue.queries.products import PRODUCT, PRODUCTS

ALL = {each.name for each in COLUMNS}
SAVED = {each.name for each in COLUMNS if each.is_saved}
# Columns of the table that are no column of the entity: its currency is that of its prices.
HIDDEN = {"version", "currency"}
VARIANT = set(re.findall(r":(\w+)", INSERT_VARIANT.cql)) - {"product_id"}


def selected(cql: str) -> set[str]:
    found = re.match(r"SELECT (.*?) FROM", " ".join(cql.split()))
    assert found
    return set(found[1].split(", "))


def assigned(cql: str) -> set[str]:
    changes, _where = cql.split(" SET ")[1].split(" WHERE ")
    return {each.split(" = ")[0].strip() for each in changes.split(",")}


def test_each_column_is_declared_once() -> None:
    assert len(ALL) == len(COLUMNS) >= 30


def test_a_product_is_read_with_all_its_columns() -> None:
    for statement in (PRODUCT, PRODUCTS):
        assert selected(statement.cql) == ALL | HIDDEN | VARIANT | {"product_id"}


def test_a_save_writes_what_is_typed_and_nothing_that_is_counted() -> None:
    assert assigned(UPDATE_PRODUCT.cql) == SAVED | HIDDEN | {"save_id"}


def test_the_table_and_the_entity_have_these_columns() -> None:
    static = {name for name, column in ProductTable._columns.items() if column.static}
    assert static == ALL | HIDDEN | {"save_id", "bulk_change_ids", "list_places"}
    assert {each.name for each in fields(Product)} == ALL | {"product_id", "version", "variants"}
