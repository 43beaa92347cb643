"""Verifies backups: restores the tables into a scratch keyspace, checks the shop in it, and reads the media."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings

from backups.errors import BackupError, explain
from backups.operations.restores import restore_tables
from backups.queries import execute, find_keyspace, find_mark
from backups.store import BackupStore
from cassandra_db import CassandraUnavailable, current_time

# The check works with a copy of the shop, so it must reach no bank and nobody's mailbox.
_NOTHING_OUTSIDE = {"PAYMENT_GATEWAY": "none", "STRIPE_SECRET_KEY": "", "EMAIL_URL": "dummymail://"}


@explain(CassandraUnavailable, "Cassandra does not answer")
def verify_backup(name: str, say: Callable[[str], None]) -> bool:
    """Verify a backup. Say what the consistency check finds in it, and return whether that is nothing.

    Raises BackupError if a file is missing or damaged, if the tables cannot be restored or the check cannot run.
    """
    store = BackupStore()
    manifest = store.read_manifest(name)
    scratch = f"{manifest.keyspace}_verify"
    _drop(scratch)
    try:
        restore_tables(store, manifest, scratch, say, is_scratch=True)
        for file in manifest.media:
            for _content in store.read_file(file):
                pass
        say(f"{len(manifest.media)} files of the media are as they were")
        _run("migrate", scratch, {0})
        # What was pending at the time of the snapshot is no violation: after a restore the worker does it.
        minutes = (current_time() - manifest.snapshot_at) // timedelta(minutes=1) + 5
        checked = _run(f"check_consistency --grace {minutes}", scratch, {0, 1})
        say(checked.stdout.rstrip())
        return checked.returncode == 0
    finally:
        _drop(scratch)


def _drop(scratch: str) -> None:
    """Drop the scratch keyspace. Raises BackupError if it may be somebody's: no verification marks its restore as finished."""
    found, mark = find_keyspace(scratch), find_mark(scratch)
    if found and (mark.is_finished if mark else found.tables):
        raise BackupError(f"The keyspace {scratch} is not of a verification: drop it yourself.")
    execute(f"DROP KEYSPACE IF EXISTS {scratch}")


def _run(command: str, keyspace: str, expected: set[int]) -> subprocess.CompletedProcess[str]:
    """Run a command of this shop in a keyspace. Raises BackupError for another status than expected."""
    done = subprocess.run(  # noqa: S603 -- our own program, and no shell
        [sys.executable, "manage.py", *command.split()],
        cwd=settings.BASE_DIR,
        env=os.environ | _NOTHING_OUTSIDE | {"CASSANDRA_KEYSPACE": keyspace},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in expected:
        raise BackupError(f"manage.py {command} failed in {keyspace}: {done.stderr[-2000:]}")
    return done
