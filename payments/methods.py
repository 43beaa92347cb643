"""The codes of the payment methods."""

CARD, TRANSFER, CASH_ON_DELIVERY = "card", "transfer", "cod"
# Methods without a provider: staff record payments, and send refunds themselves.
MANUAL_METHODS = (TRANSFER, CASH_ON_DELIVERY)


def is_paid_afterwards(payment_method: str, total: int) -> bool:
    """Return whether an order's units are reserved or sent before the customer has paid.

    `total` is in minor units. An order with the total 0 counts, too, because no bank is asked to pay it.
    """
    return payment_method in MANUAL_METHODS or not total
