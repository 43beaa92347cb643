"""How the tables of an earlier version become those of this one (decision 119): `manage.py migrate`.

Expand makes tables and adds columns, which the earlier version does not mind. Backfills store in older rows what this version
stores in new ones, once no process of the earlier version writes any more. Contract drops what this version does not read.
An app's module `schema_steps` has BACKFILLS, and DROPS: tables, or columns as "table.column". One lease keeps two migrations
apart. The lease of a backfill has its position.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from time import monotonic, sleep
from typing import Any

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import module_has_submodule

from cassandra_db import current_time
from cassandra_db.partitions import list_models
from cassandra_db.schema import (
    Say,
    drop_part,
    list_missing_parts,
    list_model_parts,
    list_parts,
    refresh_schema,
    sync_tables,
)
from cassandra_db.session import keyspace_name
from jobs.errors import BackfillIncomplete, DropRefused, LeaseLost, MigrationBusy, SchemaOutdated
from jobs.leases import Lease, claim_lease, get_lease, hold_lease, list_leases, save_position
from jobs.models import Lease as LeaseTable
from jobs.rows import collect_failed_rows

# The name of the lease under which the schema is changed, and the position of a backfill that is done.
SCHEMA, DONE = "schema", "done"
# The table that marks a restored keyspace until it is reconciled. It has no model, because a shop has no such table.
RESTORE_MARK = "restore_state"
# How long a migration waits for another one to end, in seconds: longer than all tables take on nodes that have much to do.
WAIT_SECONDS = 600
# How often a backfill reports its progress, in seconds.
REPORT_SECONDS = 2.0
_NAMED = 6  # parts that a message names


@dataclass(frozen=True)
class Backfill:
    """Work that stores in the rows of earlier versions what this version stores, done once.

    `run` takes a position, "" at first. After each piece of work it yields the position from which another run would go on, and
    a text that says how far it is. It may be killed at any point; then the last piece is done again.
    """

    name: str
    purpose: str
    run: Callable[[str], Iterator[tuple[str, str]]]

    @property
    def job(self) -> str:
        """The name of its lease."""
        return f"backfill {self.name}"


@dataclass(frozen=True)
class PendingSteps:
    """What `manage.py migrate` has left to do."""

    missing: list[str]  # tables and columns
    backfills: list[Backfill]
    drops: list[str]


def list_backfills() -> list[Backfill]:
    """Return the backfills of all apps."""
    return _collect("BACKFILLS")


def list_drops() -> list[str]:
    """Return the tables and columns of earlier versions. Raises ImproperlyConfigured for one that a model has."""
    drops: list[str] = _collect("DROPS")
    if used := set(drops) & set(list_model_parts()):
        raise ImproperlyConfigured(f"a model has {', '.join(sorted(used))}: it cannot be dropped")
    return drops


def _collect(name: str) -> list[Any]:
    modules = [
        import_module(f"{app.name}.schema_steps")
        for app in apps.get_app_configs()
        if app.module and module_has_submodule(app.module, "schema_steps")
    ]
    return [step for module in modules for step in getattr(module, name, ())]


def is_backfill_done(step: Backfill) -> bool:
    """Return whether the rows of earlier versions have what a backfill stores. Raises CassandraUnavailable."""
    return get_lease(step.job).position == DONE


def list_pending_steps() -> PendingSteps:
    """Return what is left to do. Raises CassandraUnavailable."""
    parts, backfills, table = list_parts(), list_backfills(), LeaseTable.__table_name__
    missing = list_missing_parts(parts)
    if table in missing:
        backfills = []  # the keyspace is new
    elif not any(part.startswith(f"{table}.") for part in missing):
        leases = list_leases([step.job for step in backfills])
        done = {lease.job for lease in leases if lease.position == DONE}
        backfills = [step for step in backfills if step.job not in done]
    return PendingSteps(missing, backfills, [part for part in list_drops() if part in parts])


def require_current_schema() -> None:
    """Raise SchemaOutdated if the keyspace lacks what the models have, or is not reconciled after a restore; it may have more.

    Raises CassandraUnavailable.
    """
    parts = list_parts()
    if RESTORE_MARK in parts:
        raise SchemaOutdated(
            f"The keyspace {keyspace_name()} was restored from a backup: run `manage.py reconcile_restore` first."
        )
    if missing := list_missing_parts(parts):
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise SchemaOutdated(
            f"The keyspace {keyspace_name()} lacks {', '.join(missing[:_NAMED])}{more}: run `manage.py migrate` of this version first."
        )


def migrate(say: Say, *, backfill: bool = False, contract: bool = False, share: int = 50) -> None:
    """Expand the schema; then fill rows and drop what is not used any more, if asked to.

    Backfills work for `share` per cent of the time. Raises MigrationError, LeaseLost, CassandraUnavailable.
    """
    is_new = LeaseTable.__table_name__ not in list_parts()
    sync_tables([LeaseTable], say)
    with _wait_for_lease(SCHEMA, say) as lease:
        sync_tables(list_models(), say)
        if is_new:
            for step in list_backfills():
                with hold_lease(step.job):
                    save_position(step.job, DONE)
        if backfill:
            for step in list_pending_steps().backfills:
                _run_backfill(step, say, share)
        if contract:
            _drop_parts(lease, say)


def _wait_for_lease(job: str, say: Say) -> Lease:
    """Claim a lease as soon as no other process holds it. Raises MigrationBusy, CassandraUnavailable."""
    until, told = monotonic() + WAIT_SECONDS, ""
    while (lease := claim_lease(seen := get_lease(job), current_time())) is None:
        if seen.worker != told:
            told = seen.worker
            say(f"Waiting for the migration of the process {told}")
        if monotonic() > until:
            raise MigrationBusy(f"The process {told} has not ended its migration yet.")
        sleep(1)
    return lease


def _run_backfill(step: Backfill, say: Say, share: int) -> None:
    reported, began = monotonic(), monotonic()
    # A killed process may have held it for a little longer than the lease of the schema.
    with _wait_for_lease(step.job, say) as lease, collect_failed_rows() as failed:
        say(f"Backfill {step.name}: {step.purpose}")
        for position, progress in step.run(lease.seen.position):
            if not failed.failures:
                save_position(step.job, position)
            if monotonic() - reported > REPORT_SECONDS:
                reported = monotonic()
                say(f"  {progress}")
            sleep((monotonic() - began) * (100 - share) / share)
            began = monotonic()
        if failed.failures:
            # The next run does again all that followed the last position without a failure.
            raise BackfillIncomplete(
                f"{step.name}: {failed}. The log names them all. Run it again."
            )
        save_position(step.job, DONE)
    say(f"Backfill {step.name} is done")


def _drop_parts(lease: Lease, say: Say) -> None:
    pending = list_pending_steps()
    if pending.backfills:
        names = ", ".join(step.name for step in pending.backfills)
        raise DropRefused(f"Nothing is dropped before these backfills are done: {names}.")
    for part in pending.drops:
        if lease.is_lost:
            raise LeaseLost(f"{SCHEMA}: another process migrates")
        say(f"Dropping {part}")
        drop_part(part)
    refresh_schema()
