"""The codes of the payment methods."""

CARD, TRANSFER, CASH_ON_DELIVERY = "card", "transfer", "cod"


# Without a provider: staff record what was paid, and send refunds themselves.
MANUAL_METHODS = (TRANSFER, CASH_ON_DELIVERY)


def is_paid_afterwards(payment_method: str, total: int) -> bool:
    """Return whether no bank is asked before an order is sent, or its units are reserved for days: whoever places it risks nothing.

    `total` is in minor units; for nothing to pay no bank is asked, either.
    """
    return payment_method in MANUAL_METHODS or not total
