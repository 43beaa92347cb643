"""What can go wrong with a payment gateway, with messages for the shopper."""

from django.utils.translation import gettext as _


class GatewayUnavailable(Exception):
    """The gateway cannot be reached."""

    def __init__(self) -> None:
        super().__init__(_("We cannot reach the bank right now. Try again in a few minutes."))


class NoGateway(GatewayUnavailable):
    """No gateway is configured for this shop (PAYMENT_GATEWAY)."""

    def __init__(self) -> None:
        Exception.__init__(
            self,
            _(
                "This shop cannot take payments yet, so you cannot place an order. Nothing was charged."
            ),
        )
