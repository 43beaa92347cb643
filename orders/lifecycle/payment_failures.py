"""Why a payment has failed, in words for its shopper. Each cause is the state in which the attempt has ended."""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True)
class PaymentFailure:
    """What happened, and why and what to do now; both to be translated where they are shown."""

    headline: str
    explanation: str


PAYMENT_FAILURES = {
    "declined": PaymentFailure(
        _("Your payment didn’t go through. Nothing was charged."),
        _("Your bank declined it. Check your card details or use another card."),
    ),
    "left_unpaid": PaymentFailure(
        _("Your order isn’t paid yet. Nothing was charged."),
        _("You left the payment page without paying. You can go back to it and pay."),
    ),
    # Of another amount, in another currency, or for another order.
    "failed": PaymentFailure(
        _("Your payment didn’t go through. We don’t keep it."),
        _(
            "It was approved for another amount than this order costs, so we sent it back. Try again."
        ),
    ),
}
