"""What can go wrong with a draft order."""

from drafts.entities import DraftOrder


class DraftChanged(Exception):
    """Somebody has saved or deleted it meanwhile. `current` is what is so now, None if it is gone."""

    def __init__(self, current: DraftOrder | None) -> None:
        super().__init__("the draft has changed")
        self.current = current


class DraftOrdered(Exception):
    """It is an order, or is becoming one at this moment."""


class OfferOutdated(Exception):
    """What was offered cannot be ordered as it is: another tax holds, or the offer's time is over."""
