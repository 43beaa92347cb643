"""`sync_cassandra` among nodes that take their time to agree on a new table."""

from io import StringIO
from typing import Any

import pytest
from cassandra.cqlengine import management
from django.conf import settings
from django.core.management import CommandError, call_command

from cassandra_db.management.commands.sync_cassandra import MAX_ATTEMPTS


def sync(monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> tuple[str, int]:
    """Sync, and meet the errors in turn at `daily_customers`. Return what was said, and how often that table was looked at."""
    left, looked_at = list(errors), 0

    def sync_table(model: Any, **_: object) -> None:
        nonlocal looked_at
        if model._raw_column_family_name() == "daily_customers":
            looked_at += 1
            if left:
                raise left.pop(0)

    monkeypatch.setattr(management, "sync_table", sync_table)
    out = StringIO()
    call_command("sync_cassandra", stdout=out)
    return out.getvalue(), looked_at


def test_a_table_that_the_driver_has_not_read_yet_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replication = dict(settings.DATABASES["default"]["OPTIONS"]["replication"])
    said, looked_at = sync(monkeypatch, KeyError("daily_customers"))
    assert looked_at == 2
    assert said.count("do not agree on the tables yet") == 1
    assert settings.DATABASES["default"]["OPTIONS"]["replication"] == replication


def test_nodes_that_never_agree_are_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="did not agree"):
        sync(monkeypatch, *[KeyError("daily_customers")] * MAX_ATTEMPTS)


def test_any_other_error_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError, match="no such option"):
        sync(monkeypatch, KeyError("no such option"))
