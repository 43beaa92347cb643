"""Why a change of stock is refused."""

from collections.abc import Mapping
from uuid import UUID

from inventory.entities import StockTransfer


class OutOfStock(Exception):
    """There are fewer units than wanted; nothing is reserved. `shortages` has the number of available units, by variant."""

    def __init__(self, shortages: Mapping[UUID, int]) -> None:
        super().__init__(f"not enough of {len(shortages)} variants")
        self.shortages = dict(shortages)


class NotEnoughAvailable(Exception):
    """More units were to be removed than are free; nothing was changed. `available` is the number of free units."""

    def __init__(self, available: int) -> None:
        super().__init__(f"only {available} units are free")
        self.available = available


class StockChanged(Exception):
    """The numbers of a stock item have changed since they were read; nothing was written."""


class PlaceChanged(Exception):
    """Somebody else has changed the place of a variant in its warehouse. `place` is its present place."""

    def __init__(self, place: str) -> None:
        super().__init__(f"it lies at {place or 'no place'} now")
        self.place = place


class NothingReceived(Exception):
    """The ledger has no receipt of a stock item, so its numbers cannot be rebuilt."""


class StockNumbersChanging(Exception):
    """A stock item's numbers changed during each attempt, so they were not written."""


class TooManyTransfers(Exception):
    """So many transfers are open that staff and worker could not see another one; nothing was changed."""


class TransferRefused(Exception):
    """A transfer is not in the state that the requested change needs. `transfer` has its present state."""

    def __init__(self, transfer: StockTransfer) -> None:
        super().__init__(f"transfer {transfer.transfer_id} is {transfer.state}")
        self.transfer = transfer
