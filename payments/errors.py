"""The errors of payment gateways, with messages for shoppers."""

from django.utils.translation import gettext as _


class GatewayUnavailable(Exception):
    """The gateway cannot be reached."""

    def __init__(self) -> None:
        super().__init__(_("We can’t reach the bank right now. Try again in a few minutes."))


class GatewayMissing(GatewayUnavailable):
    """No gateway is configured for this shop (PAYMENT_GATEWAY)."""

    def __init__(self) -> None:
        Exception.__init__(
            self,
            _(
                "This shop can’t take payments yet, so you can’t place an order. Nothing was charged."
            ),
        )
