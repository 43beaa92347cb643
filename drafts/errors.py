"""What can go wrong with a draft order."""

from django.utils.translation import gettext as _

from drafts.entities import DraftOrder


class DraftChanged(Exception):
    """Somebody has saved or deleted it meanwhile. `current` is what is so now, None if it is gone."""

    def __init__(self, current: DraftOrder | None) -> None:
        super().__init__("the draft has changed")
        self.current = current


class DraftOrdered(Exception):
    """It is an order, or is becoming one at this moment."""


class AdditionRefused(Exception):
    """It would add to an order of somebody else, or to none. `number` is that order's, as it was named."""

    def __init__(self, number: str) -> None:
        super().__init__(
            _(
                "Order %(number)s isn’t this customer’s. Enter the email address of that order, or start a new draft."
            )
            % {"number": number}
        )


class OfferOutdated(Exception):
    """What was offered cannot be ordered as it is: another tax holds, or the offer's time is over."""
