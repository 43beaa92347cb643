"""The causes of failed payments, in words for the shopper. A cause is the final state of the attempt."""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True)
class PaymentFailure:
    """Two untranslated texts: one tells the shopper of the failure, the other of its cause and the next steps."""

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
    # The payment was for another amount, currency or order.
    "failed": PaymentFailure(
        _("Your payment didn’t go through. We don’t keep it."),
        _(
            "It was approved for another amount than this order costs, so we sent it back. Try again."
        ),
    ),
}
