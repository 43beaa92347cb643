"""What can go wrong with a payment gateway, with messages for the shopper."""


class GatewayUnavailable(Exception):
    """The gateway cannot be reached."""

    def __init__(self) -> None:
        super().__init__(
            "The bank does not answer at the moment. Please try again in a few minutes."
        )


class NoGateway(GatewayUnavailable):
    """No gateway is configured for this shop (PAYMENT_GATEWAY)."""

    def __init__(self) -> None:
        Exception.__init__(
            self,
            "This shop cannot take payments yet, so nothing can be ordered. Nothing was charged.",
        )
