"""What can go wrong with stock."""

from collections.abc import Mapping
from uuid import UUID


class OutOfStock(Exception):
    """There are fewer units than wanted; nothing is held. `shortages` tells how many there are, by variant."""

    def __init__(self, shortages: Mapping[UUID, int]) -> None:
        super().__init__(f"not enough of {len(shortages)} variants")
        self.shortages = dict(shortages)


class NotEnoughAvailable(Exception):
    """More units were to be taken off a shelf than are free there; nothing was. `available` tells how many are."""

    def __init__(self, available: int) -> None:
        super().__init__(f"only {available} units are free")
        self.available = available


class NothingReceived(Exception):
    """The ledger knows of no goods that ever arrived in a place, so its numbers cannot be made from it."""


class StockNumbersChanging(Exception):
    """A place's numbers changed each time somebody looked, so they were left as they are."""
