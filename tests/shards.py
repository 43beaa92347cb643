"""A worker's shard of one thing: what other tests have left behind in the same keyspace is not looked at."""

from dataclasses import dataclass
from uuid import UUID

from jobs.shards import Shard


@dataclass(frozen=True)
class SingleItemShard(Shard):
    """The part of the things that is this one."""

    item_id: UUID | None = None

    def has_id(self, thing: UUID) -> bool:
        return thing == self.item_id


@dataclass(frozen=True)
class ItemsShard(Shard):
    """The part of the things that are among these."""

    item_ids: frozenset[UUID] = frozenset()

    def has_id(self, thing: UUID) -> bool:
        return thing in self.item_ids
