"""Compares the sizes of partitions with the bound that each model promises in `__partition_bytes__`.

A node knows the size of the largest partition of each table on its disk, in whole mebibytes, rounded up. It does not count rows
in its memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connections

KB, MB = 1_000, 1_000_000
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class PartitionSize:
    """The largest partition of a table on any node that answered, and its bound in bytes."""

    table: str
    mebibytes: int
    bound: int

    @property
    def least_bytes(self) -> int:
        """The least size that the partition can have: its last mebibyte may be nearly empty."""
        return max(self.mebibytes - 1, 0) * MEBIBYTE

    @property
    def share(self) -> float:
        """The share of the bound that the partition has reached."""
        return self.least_bytes / self.bound

    @property
    def is_above_half(self) -> bool:
        """Whether the partition has reached half of the bound, so that somebody should check the table."""
        return self.share >= 1 / 2

    @property
    def is_above_bound(self) -> bool:
        return self.share >= 1


def list_models() -> list[Any]:
    """Return the models of all installed apps. Together they are the schema."""
    introspection: Any = connections["default"].introspection  # the engine's own
    return [model for models in introspection.cql_models.values() for model in models]


def compare_with_bounds(mebibytes: Mapping[str, int]) -> list[PartitionSize]:
    """Return the tables whose largest partition is known; the nearest to its bound comes first. `mebibytes` is keyed by table."""
    found = [
        PartitionSize(name, mebibytes[name], model.__partition_bytes__)
        for model in list_models()
        if (name := str(model.__table_name__)) in mebibytes
    ]
    return sorted(found, key=lambda each: (-each.share, -each.mebibytes, each.table))
