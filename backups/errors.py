"""Errors of backups."""


class BackupError(Exception):
    """A backup cannot be made, verified or restored; the message says why and what to do. Nothing was destroyed."""
