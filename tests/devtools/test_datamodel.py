"""docs/data-model.md says what the models say."""

import re

import pytest
from django.core.management import CommandError, call_command

from devtools.datamodel import list_tables, render_data_model
from tests.architecture.test_statements import OURS
from tests.environment import ROOT


def test_the_page_is_what_the_models_say() -> None:
    """Run `manage.py datamodel --write` after a change of a model."""
    assert (ROOT / "docs" / "data-model.md").read_text(encoding="utf-8") == render_data_model()
    call_command("datamodel", "--check")


def test_check_fails_when_the_page_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "devtools.management.commands.datamodel.render_data_model", lambda: "another page"
    )
    with pytest.raises(CommandError, match="datamodel --write"):
        call_command("datamodel", "--check")


def test_it_shows_key_bound_writer_and_remarks() -> None:
    found = {table.name: table for table in list_tables()}
    orders = found["orders"]
    assert orders.key == "((order_id), event_id DESC)"
    assert orders.questions == ("Q12", "Q14")
    assert ("user_id", "uuid", "*static*", "null for a guest") in orders.columns
    assert all(table.size_bound and table.writer and table.purpose for table in found.values())


def test_the_index_of_the_data_model_has_each_numbered_question() -> None:
    """A rule's number (I) is not a question's."""
    asked = {
        statement.question for statement in OURS if re.fullmatch(r"[A-HJ-Z]\d+", statement.question)
    }
    assert len(asked) >= 30
    assert asked - {question for table in list_tables() for question in table.questions} == set()
