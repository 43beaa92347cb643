"""Why a cart could not be changed, in words for its owner."""


class CartError(Exception):
    """The cart stays as it was. The text is for the shopper."""


class NoSuchCart(CartError):
    """The cart is not one of this owner's, or not any more."""

    def __init__(self) -> None:
        super().__init__("That cart is no longer here, so nothing was changed. This is your cart now.")


class NoSuchLine(CartError):
    """The cart has no such line, or not any more."""

    def __init__(self) -> None:
        super().__init__("That is no longer in your cart, so nothing was changed.")


class CartFull(CartError):
    """The cart has as many lines as it can hold."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"Your cart is full: it can hold {limit} lines. Take one out first.")


class TooManyCarts(CartError):
    """The owner has as many carts as one can have."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have {limit} carts, which is as many as we can keep. Delete one first.")


class TooMany(CartError):
    """A line would have more units than a line can have."""

    def __init__(self, limit: int, there: int) -> None:
        super().__init__(
            f"You can have {limit} of one thing at most. There {'is' if there == 1 else 'are'} {there} in your cart already."
        )


class NoLongerSold(CartError):
    """The variant is not sold any more."""

    def __init__(self, name: str = "That") -> None:
        super().__init__(f"{name} is no longer sold.")


class SoldOut(CartError):
    """None of the variant is left."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is sold out at the moment.")


class CartBusy(CartError):
    """Too many others changed the same cart at the same moment."""

    def __init__(self) -> None:
        super().__init__("Your cart is being changed in many places at once. Please try again.")
