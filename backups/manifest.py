"""What a backup says about itself."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class TableTime:
    """When a table was copied. Writes that were answered before `begun_at` are in the copy; writes begun after `ended_at` are not."""

    begun_at: datetime
    ended_at: datetime


@dataclass(frozen=True)
class Manifest:
    """A complete backup. `version` is the shop's that made it, and `times` has each table's time."""

    name: str
    keyspace: str
    version: str
    times: dict[str, TableTime]

    @property
    def snapshot_at(self) -> datetime:
        """The time since which writes may be missing: all that was answered before is in every table."""
        return min(time.begun_at for time in self.times.values())

    @property
    def snapshot_ended_at(self) -> datetime:
        """The time after which all writes are missing."""
        return max(time.ended_at for time in self.times.values())
