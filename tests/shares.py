"""A worker's share of one thing: what other tests have left behind in the same keyspace is not looked at."""

from dataclasses import dataclass
from uuid import UUID

from jobs.shares import Shard


@dataclass(frozen=True)
class Only(Shard):
    """The part of the things that is this one."""

    thing: UUID | None = None

    def has(self, thing: UUID) -> bool:
        return thing == self.thing


@dataclass(frozen=True)
class AnyOf(Shard):
    """The part of the things that are among these."""

    things: frozenset[UUID] = frozenset()

    def has(self, thing: UUID) -> bool:
        return thing in self.things
