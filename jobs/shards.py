"""Shards: parts of a heavy job's things, so that several workers can share the job."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Shard:
    """A part of a job's things. Each thing belongs to one shard, by its id. The default shard has all things."""

    family: str
    number: int = 0
    shard_count: int = 1

    @property
    def job_name(self) -> str:
        """The name of the shard's job, under which its lease and its position are stored."""
        return (
            self.family
            if self.shard_count == 1
            else f"{self.family} {self.number + 1} of {self.shard_count}"
        )

    def has_id(self, item_id: UUID) -> bool:
        """Return whether a thing belongs to this shard."""
        return item_id.int % self.shard_count == self.number
