"""Parts of the things that a heavy job looks after, so that several workers can be at them."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Shard:
    """A part of the things that a job looks after: each thing belongs to one shard, by its id. By itself, all of them."""

    family: str
    number: int = 0
    shard_count: int = 1

    @property
    def job_name(self) -> str:
        """The name of the job that does it, which holds its lease and its position."""
        return (
            self.family
            if self.shard_count == 1
            else f"{self.family} {self.number + 1} of {self.shard_count}"
        )

    def has_id(self, item_id: UUID) -> bool:
        """Return whether a thing belongs to this shard."""
        return item_id.int % self.shard_count == self.number
