"""What can go wrong with stock."""

from collections.abc import Mapping
from uuid import UUID


class OutOfStock(Exception):
    """There are fewer units than wanted; nothing is held. `shortages` tells how many there are, by variant."""

    def __init__(self, shortages: Mapping[UUID, int]) -> None:
        super().__init__(f"not enough of {len(shortages)} variants")
        self.shortages = dict(shortages)
