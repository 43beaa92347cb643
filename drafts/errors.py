"""The errors of draft orders."""

from django.utils.translation import gettext as _

from drafts.entities import DraftOrder


class DraftChanged(Exception):
    """Somebody else has saved or deleted the draft. `current` is the stored draft, or None if it was deleted."""

    def __init__(self, current: DraftOrder | None) -> None:
        super().__init__("the draft has changed")
        self.current = current


class DraftOrdered(Exception):
    """The draft has become an order, or is being placed as an order at this moment."""


class AdditionRefused(Exception):
    """The draft shall add to an order that is not the customer's, or does not exist. `number` is that order's typed number."""

    def __init__(self, number: str) -> None:
        super().__init__(
            _(
                "Order %(number)s isn’t this customer’s. Enter the email address of that order, or start a new draft."
            )
            % {"number": number}
        )


class OfferOutdated(Exception):
    """The offer can no longer be ordered: it has expired, or the tax has changed."""
