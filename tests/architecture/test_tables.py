"""Tables: the models are the schema, and each says what it answers, what bounds it and who writes it."""

import pkgutil
import re
from typing import Any

import pytest
from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB, list_models
from cassandra_db.session import get_session, keyspace_name
from tests.architecture.apps import model_name
from tests.rules import for_each
from web.personal_data import list_privacy_modules

MODELS = list_models()


@for_each(MODELS, model_name, at_least=55)
def test_the_model_equals_the_live_table(model: Any) -> None:
    assert model.__table_name__, "say __table_name__"
    table = get_session().cluster.metadata.keyspaces[keyspace_name()].tables[model.__table_name__]
    live = {name: (column.cql_type, column.is_static) for name, column in table.columns.items()}
    declared = {
        column.db_field_name: (column.db_type, column.static) for column in model._columns.values()
    }
    assert declared == live
    assert [column.name for column in table.partition_key] == [
        c.db_field_name for c in model._partition_keys.values()
    ]
    clustering = [(column.name, column.is_reversed) for column in table.clustering_key]
    assert clustering == [
        (c.db_field_name, c.clustering_order == "DESC") for c in model._clustering_keys.values()
    ]
    for option, value in (getattr(model, "__options__", None) or {}).items():
        if isinstance(value, dict):
            assert {key: table.options[option].get(key) for key in value if key != "class"} == {
                k: v for k, v in value.items() if k != "class"
            }
        else:
            assert table.options[option] == value


@for_each(MODELS, model_name, at_least=55)
def test_the_docstring_names_the_bound_and_the_writer(model: Any) -> None:
    text = model.__doc__ or ""
    assert re.search(r"^\S.*\.", text), "the first line is the question it answers"
    assert re.search(r"Bound: \S", text), "say what bounds a partition"
    writer = re.search(r"Writer: ([a-z_.]+[a-z_])", text)
    assert writer, "say who writes it"
    assert pkgutil.resolve_name(writer[1].rstrip("."))


# Of 1,000 bytes: what the models' words mean.
UNITS = {"bytes": 1, "KB": KB, "kB": KB, "MB": MB}
LARGEST_PARTITION = 100 * MB


@for_each(MODELS, model_name, at_least=55)
def test_x210_the_bound_is_a_number_too_and_not_below_what_its_words_name(model: Any) -> None:
    words = re.search(r"Bound: (.*?)(?=^ *Writer:|\Z)", model.__doc__, re.DOTALL | re.MULTILINE)
    assert words, "say what bounds a partition"
    sizes = [
        float(number.replace(",", "")) * UNITS[unit]
        for number, unit in re.findall(r"([\d.,]*\d) (bytes|[Kk]B|MB)\b", words[1])
    ]
    assert max(sizes, default=1) <= model.__partition_bytes__ <= LARGEST_PARTITION


# What erasing a person may do to a row; what expires goes by itself, by its TTL.
ON_ERASE = {"deleted", "pseudonymised", "kept", "expires"}


@for_each(MODELS, model_name, at_least=55)
def test_s52_each_table_declares_whose_data_it_holds_and_what_erasing_does(model: Any) -> None:
    assert hasattr(model, "__personal_data__"), (
        "say __personal_data__ = None, or whose it is: web/personal_data.py tells how, and write what the app's privacy.py does with it"
    )
    declared = model.__personal_data__ or {"why": "nobody's"}
    assert set(declared) in ({"why"}, {"columns", "on_erase"}, {"columns", "on_erase", "why"})
    if "columns" not in declared:
        return
    assert declared["columns"], "it names no column"
    assert isinstance(declared["columns"], tuple)
    assert set(declared["columns"]) <= set(model._columns), (
        "it names columns that the table does not have"
    )
    assert declared["on_erase"] in ON_ERASE
    assert declared["on_erase"] == "deleted" or declared.get("why"), "a row that stays has a reason"
    app = model.__module__.removesuffix(".models")
    # What erases the original refreshes its copies.
    if declared["on_erase"] != "expires" and not declared.get("why", "").startswith("a copy of "):
        assert app in {
            module.__name__.removesuffix(".privacy") for module in list_privacy_modules()
        }, f"{app} has no privacy.py"


def test_no_table_is_made_that_no_model_declares() -> None:
    live = set(get_session().cluster.metadata.keyspaces[keyspace_name()].tables)
    assert live == {model.__table_name__ for model in MODELS}


def test_the_questions_of_this_shop_each_have_a_table() -> None:
    purposes = " ".join(model.__doc__.split("\n")[0] for model in MODELS)
    questions = (*(f"Q{number}" for number in range(1, 19)), "K1", "K4", "K5", "U1", "U2")
    without = [question for question in questions if not re.search(rf"\b{question}\b", purposes)]
    assert not without, f"{without} have no table"


def test_x281_a_model_that_breaks_a_rule_is_named_by_its_module_and_class() -> None:
    """One that forgot its `__table_name__`, too."""

    class Forgetful(Model):  # type: ignore[misc]
        key = columns.Text(partition_key=True)

    rules = [rule for name, rule in globals().items() if hasattr(rule, "__wrapped__")]
    assert len(rules) >= 4
    for rule in rules:
        with pytest.raises(AssertionError, match=rf"{__name__}\.Forgetful: .+"):
            for_each([Forgetful], model_name)(rule.__wrapped__)()
