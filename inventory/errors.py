"""What can go wrong with stock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from inventory.entities import StockTransfer


class OutOfStock(Exception):
    """There are fewer units than wanted; nothing is reserved. `shortages` is how many there are, by variant."""

    def __init__(self, shortages: Mapping[UUID, int]) -> None:
        super().__init__(f"not enough of {len(shortages)} variants")
        self.shortages = dict(shortages)


class NotEnoughAvailable(Exception):
    """More units were to be taken off a stock item than are free; nothing was. `available` is how many are free."""

    def __init__(self, available: int) -> None:
        super().__init__(f"only {available} units are free")
        self.available = available


class StockChanged(Exception):
    """A stock item's numbers are not those that were read any more; nothing was changed."""


class PlaceChanged(Exception):
    """A variant lies elsewhere in its warehouse than was read, says somebody else. Carries the place as it is."""

    def __init__(self, place: str) -> None:
        super().__init__(f"it lies at {place or 'no place'} now")
        self.place = place


class NothingReceived(Exception):
    """The ledger has no receipt of a stock item, so its numbers cannot be rebuilt from it."""


class StockNumbersChanging(Exception):
    """A stock item's numbers changed at every try, so they were left as they are."""


class TooManyTransfers(Exception):
    """So many transfers are under way that no further one can be seen by staff and worker; nothing was changed."""


class TransferRefused(Exception):
    """A transfer cannot be what was asked of it, for it is something else already. Carries the transfer as it is."""

    def __init__(self, transfer: StockTransfer) -> None:
        super().__init__(f"transfer {transfer.transfer_id} is {transfer.state}")
        self.transfer = transfer
