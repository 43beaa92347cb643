"""Tables: the models are the schema, and each says what it answers, what bounds it and who writes it."""

import pkgutil
import re
from typing import Any

import pytest
from django.db import connections

from cassandra_db.session import keyspace, session
from tests.rules import for_each
from web.personal import DELETED, EXPIRES, KEPT, Holds, holds, nobody, rooms

introspection: Any = connections["default"].introspection  # the engine's own
MODELS = [model for models in introspection.cql_models.values() for model in models]


def named(model: Any) -> str:
    return str(model.__table_name__)


@for_each(MODELS, named, at_least=55)
def test_the_model_equals_the_live_table(model: Any) -> None:
    table = session().cluster.metadata.keyspaces[keyspace()].tables[model.__table_name__]
    live = {name: (column.cql_type, column.is_static) for name, column in table.columns.items()}
    declared = {column.db_field_name: (column.db_type, column.static) for column in model._columns.values()}
    assert declared == live
    assert [column.name for column in table.partition_key] == [c.db_field_name for c in model._partition_keys.values()]
    clustering = [(column.name, column.is_reversed) for column in table.clustering_key]
    assert clustering == [(c.db_field_name, c.clustering_order == "DESC") for c in model._clustering_keys.values()]
    for option, value in (getattr(model, "__options__", None) or {}).items():
        if isinstance(value, dict):
            assert {key: table.options[option].get(key) for key in value if key != "class"} == {
                k: v for k, v in value.items() if k != "class"
            }
        else:
            assert table.options[option] == value


@for_each(MODELS, named, at_least=55)
def test_the_docstring_names_the_bound_and_the_writer(model: Any) -> None:
    text = model.__doc__ or ""
    assert re.search(r"^(?:[QKU]\d+(?:, [QKU]\d+)*: )?\S.*\.", text), "the first line is the question it answers"
    assert re.search(r"Bound: \S", text)
    writer = re.search(r"Writer: ([a-z_.]+[a-z_])", text)
    assert writer, "say who writes it"
    assert pkgutil.resolve_name(writer[1].rstrip("."))


@for_each(MODELS, named, at_least=55)
def test_s52_each_table_declares_whose_data_it_holds_and_what_erasing_does(model: Any) -> None:
    declared = getattr(model, "__person__", None)
    assert isinstance(declared, Holds), (
        "say __person__ = nobody(), or holds(…): web/personal.py tells how, and write what the room's"
        " privacy.py does with it"
    )
    assert set(declared.columns) <= set(model._columns), "it names columns that the table does not have"
    room = model.__module__.removesuffix(".models")
    if declared.columns and declared.on_erase != EXPIRES:
        assert room in {module.__name__.removesuffix(".privacy") for module in rooms()}, f"{room} has no privacy.py"


def test_s52_a_row_that_stays_has_a_reason() -> None:
    assert str(nobody()) == "nobody"
    assert str(holds("user_id", on_erase=DELETED)) == "user_id; when the person is erased: deleted"
    for wrong in ({"on_erase": KEPT}, {"on_erase": "lost", "why": "nobody looked"}):
        with pytest.raises(ValueError, match="why a row stays"):
            holds("user_id", **wrong)
    with pytest.raises(ValueError, match="columns"):
        holds(on_erase=DELETED)


def test_no_table_is_made_that_no_model_declares() -> None:
    live = set(session().cluster.metadata.keyspaces[keyspace()].tables)
    assert live == {model.__table_name__ for model in MODELS}


def test_the_questions_of_this_shop_each_have_a_table() -> None:
    told = " ".join(model.__doc__.split("\n")[0] for model in MODELS)
    questions = (*(f"Q{number}" for number in range(1, 19)), "K1", "K4", "K5", "U1", "U2")
    without = [question for question in questions if not re.search(rf"\b{question}\b", told)]
    assert not without, f"{without} have no table"
