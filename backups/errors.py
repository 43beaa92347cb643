"""The error of backups."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError


class BackupError(CommandError):
    """A backup cannot be made, verified or restored. The message says why and what to do; nothing was destroyed."""


@contextmanager
def explain(kinds: type[Exception], text: str) -> Iterator[None]:
    """Turn errors of these kinds into a BackupError, in a block or a function."""
    try:
        yield
    except BackupError:
        raise
    except kinds as error:
        raise BackupError(f"{text}: {error}") from error
