"""Django's own commands about accounts and tables: they work, or name the command that does."""

import io
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from accounts import queries
from accounts.management.commands import changepassword, createsuperuser
from tests.factories import PASSWORD, make_user
from tests.reads import existing

NEW = "nine dry badgers"


def run(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def test_x280_createsuperuser_makes_an_admin_as_staff_add_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    email = f"{uuid4().hex}@example.com"
    monkeypatch.delenv("DJANGO_SUPERUSER_PASSWORD", raising=False)
    with pytest.raises(CommandError, match="DJANGO_SUPERUSER_PASSWORD"):
        run("createsuperuser", "--noinput", "--email", email)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "12345678")
    with pytest.raises(CommandError, match="too common"):
        run("createsuperuser", "--noinput", "--email", email)
    with pytest.raises(CommandError, match="no e-mail address"):
        run("createsuperuser", "--noinput", "--email", "boss")
    with pytest.raises(CommandError, match="--email"):
        run("createsuperuser", "--noinput")
    assert queries.find_user_by_email(email) is None
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    monkeypatch.setenv("DJANGO_SUPERUSER_EMAIL", email)
    assert "registered with the role admin" in run("createsuperuser", "--noinput")
    boss = existing(queries.find_user_by_email(email))
    assert (boss.role, boss.check_password(PASSWORD)) == ("admin", True)
    with pytest.raises(CommandError, match=f"staff add {email} --role admin"):
        run("createsuperuser", "--noinput")


def test_x280_createsuperuser_asks_for_what_was_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    email = f"{uuid4().hex}@example.com"
    monkeypatch.setattr(createsuperuser.Command, "can_ask", lambda self: True)
    monkeypatch.setattr("builtins.input", lambda prompt: email)
    monkeypatch.setattr("getpass.getpass", lambda *prompt: PASSWORD)
    run("createsuperuser")
    boss = existing(queries.find_user_by_email(email))
    assert boss.check_password(PASSWORD)


def test_x280_changepassword_ends_sessions_and_stands_in_the_audit_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice = make_user()
    monkeypatch.setattr(changepassword.Command, "_get_pass", lambda *prompt: NEW)
    assert "successfully" in run("changepassword", alice.email)
    found = existing(queries.get_user(alice.pk))
    assert found.check_password(NEW)
    with pytest.raises(CommandError, match="does not exist"):
        run("changepassword", f"{uuid4().hex}@example.com")


def test_x280_migrate_makes_tables_and_nothing_waits_to_be_migrated() -> None:
    assert "Syncing accounts.models.User" in run("migrate", "--noinput")
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert "Syncing accounts.models.User" in run("sync_cassandra")
    assert "Nothing is pending" in run("migrate", "--plan")
    assert "Nothing is pending" in run("migrate", "--check")
    for asked in (["--fake"], ["--prune", "accounts"], ["accounts", "0001"]):
        with pytest.raises(CommandError, match="no numbered migrations"):
            run("migrate", *asked)


def test_x280_what_reads_and_writes_models_names_what_does_it_here() -> None:
    for command, named in (
        (["dumpdata"], "nodetool snapshot"),
        (["dumpdata", "accounts.User", "--indent", "2"], "nodetool snapshot"),
        (["loaddata", "users.json"], "sstableloader"),
        (["remove_stale_contenttypes", "--noinput"], "no table"),
    ):
        with pytest.raises(CommandError, match=named):
            run(*command)


def test_x280_flush_asks_before_it_empties_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = make_user()
    monkeypatch.setattr("builtins.input", lambda prompt: "no")
    assert "cancelled" in run("flush")
    assert queries.get_user(alice.pk)
