"""The commands on backups: make, verify, restore."""

from collections.abc import Callable

from backups.manifest import Manifest


def restore(name: str, keyspace: str, say: Callable[[str], None]) -> Manifest:
    """Restore a backup into a new keyspace, and its media beside what is there. Return its manifest.

    A restore that was killed goes on when it is called again. The keyspace keeps the table `restore_state` (backup, snapshot_at,
    finished_at) until `reconcile_restore` is through: see `get_restored_backup`.
    Raises BackupError with a message for the operator, CassandraUnavailable.
    """
    raise NotImplementedError


def read_manifest(name: str) -> Manifest:
    """Return a complete backup's manifest; "latest" names the newest. Raises BackupError."""
    raise NotImplementedError


def find_restored_backup() -> Manifest | None:
    """Return the manifest of the backup that the settings' keyspace was restored from; None once `forget_restore` was called.

    Raises BackupError if its restore has not finished, CassandraUnavailable.
    """
    raise NotImplementedError


def forget_restore() -> None:
    """Let the settings' keyspace count as a shop again, after its reconciliation. May be repeated. Raises CassandraUnavailable."""
    raise NotImplementedError
