"""What can go wrong with whoever takes the money, in words for the shopper."""

from django.utils.translation import gettext as _


class GatewayUnavailable(Exception):
    """Whoever takes the money cannot be reached."""

    def __init__(self) -> None:
        super().__init__(_("We cannot reach the bank right now. Try again in a few minutes."))


class NoGateway(GatewayUnavailable):
    """Nobody is named to take this shop's money (PAYMENT_GATEWAY)."""

    def __init__(self) -> None:
        Exception.__init__(
            self,
            _(
                "This shop cannot take payments yet, so you cannot place an order. Nothing was charged."
            ),
        )
