"""What can go wrong with whoever takes the money, in words for the shopper."""


class GatewayUnavailable(Exception):
    """Whoever takes the money cannot be reached."""

    def __init__(self) -> None:
        super().__init__(
            "The bank does not answer at the moment. Please try again in a few minutes."
        )


class NoGateway(GatewayUnavailable):
    """Nobody is named to take this shop's money (PAYMENT_GATEWAY)."""

    def __init__(self) -> None:
        Exception.__init__(
            self,
            "This shop cannot take payments yet, so nothing can be ordered. Nothing was charged.",
        )
