"""The codes of the payment methods."""

CARD, TRANSFER, CASH_ON_DELIVERY = "card", "transfer", "cod"
# Methods without a provider: staff record payments, and send refunds themselves.
MANUAL_METHODS = (TRANSFER, CASH_ON_DELIVERY)


def is_paid_afterwards(payment_method: str, total: int) -> bool:
    """Return whether an order is reserved or sent before anything is paid, so that placing it risks nothing.

    `total` is in minor units. If it is 0, no bank is asked, either.
    """
    return payment_method in MANUAL_METHODS or not total
