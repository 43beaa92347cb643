"""Shards: parts of the items that a heavy job handles, so that several workers can share the job."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Shard:
    """A part of the items of a job. An item's id decides to which shard it belongs. The default shard has all items."""

    family: str
    number: int = 0
    shard_count: int = 1

    @property
    def job_name(self) -> str:
        """The name of the shard's job, which is the key of the shard's lease and position."""
        return (
            self.family
            if self.shard_count == 1
            else f"{self.family} {self.number + 1} of {self.shard_count}"
        )

    def has_id(self, item_id: UUID) -> bool:
        """Return whether an item belongs to this shard."""
        return item_id.int % self.shard_count == self.number
