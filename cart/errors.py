"""Why a cart could not be changed, in words for its owner."""


class CartError(Exception):
    """The cart stays as it was. The text is for the shopper."""


class NoSuchCart(CartError):
    """The cart is not one of this owner's, or not any more."""

    def __init__(self) -> None:
        super().__init__(
            "That cart is no longer here, so nothing was changed. This is your cart now."
        )


class NotAllowed(CartError):
    """The cart is shared with this person in a role that does not go so far."""

    def __init__(self, name: str, shared_by: str, role: str) -> None:
        whose = (
            f"“{name}” is shared by {shared_by}" if shared_by else f"“{name}” is shared with you"
        )
        may = {
            "viewer": "you can look at it, and not change it",
            "editor": "you can change what is in it, and not order or manage it",
            "buyer": "you can change what is in it and order it, and not manage it",
        }
        super().__init__(f"{whose}: {may[role]}.")


class BadName(CartError):
    """A cart cannot be called that. The text says why."""


class NameTaken(BadName):
    """Another cart of the same person has this name, in whatever case."""

    def __init__(self, name: str) -> None:
        super().__init__(f"You have a cart called “{name}” already. Choose another name.")


class SameCart(CartError):
    """What should go into another cart is already in that one."""

    def __init__(self) -> None:
        super().__init__("That is the same cart, so nothing was changed. Choose another one.")


class NoSuchLine(CartError):
    """The cart has no such line, or not any more."""

    def __init__(self) -> None:
        super().__init__("That is no longer in your cart, so nothing was changed.")


class CartFull(CartError):
    """The cart has as many lines as it can hold."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"Your cart is full: it can hold {limit} lines. Take one out first, or go on in another cart."
        )


class TooManyCarts(CartError):
    """The owner has as many carts as allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"You have {limit} carts, which is as many as we can keep. Delete one first."
        )


class TooManyUnits(CartError):
    """A line would have more units than a line can have."""

    def __init__(self, limit: int, in_cart: int) -> None:
        super().__init__(
            f"You can have {limit} of one thing at most. There {'is' if in_cart == 1 else 'are'} {in_cart} in your cart already."
        )


class TooManyUnitsTogether(CartError):
    """Two lines of one variant would be more than a line can have."""

    def __init__(self, name: str, limit: int, together: int) -> None:
        super().__init__(
            f"Together that would be {together} of {name}, and a cart can have {limit} of one thing at most. "
            "Nothing was changed."
        )


class TooManyLines(CartError):
    """Two carts together would have more lines than a cart can hold."""

    def __init__(self, limit: int, together: int) -> None:
        super().__init__(
            f"Together that would be {together} lines, and a cart can hold {limit} at most. Nothing was changed."
        )


class UndoExpired(CartError):
    """What should be undone cannot be found any more."""

    def __init__(self) -> None:
        super().__init__(
            "That was too long ago, or has been undone already, so nothing was changed."
        )


class SoldOut(CartError):
    """None of the variant is left."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is sold out at the moment.")


class CartBusy(CartError):
    """Too many others changed the same cart at the same moment."""

    def __init__(self) -> None:
        super().__init__("Your cart is being changed in many places at once. Please try again.")


class PriceChanged(CartError):
    """The price that was agreed to is not the one that was shown any more."""

    def __init__(self) -> None:
        super().__init__(
            "Something has changed since this page was shown, so nothing was agreed to. This is how it is now."
        )


class CartChanged(CartError):
    """The cart should be ordered as it was read, and has changed since."""

    def __init__(self) -> None:
        super().__init__("Your cart was changed at this moment. Please look it over once more.")


class TooManyPeople(CartError):
    """The cart is shared with as many people as it can be."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"People, invitations and links together can be {limit} a cart, and there are as many. Take one out first."
        )


class NoSuchPerson(CartError):
    """The cart is not shared with this person, or not any more."""

    def __init__(self) -> None:
        super().__init__("This person is not in the cart any more, so nothing was changed.")


class InvitedAlready(CartError):
    """The e-mail address is in the cart already, or invited in another role."""

    def __init__(self, email: str, role: str = "") -> None:
        super().__init__(
            f"{email} is invited as {role} already. Withdraw that invitation first, then send another."
            if role
            else f"{email} is in this cart already. Change the role there."
        )


class InvitationOver(CartError):
    """The invitation was accepted, withdrawn or is too old, or its cart is gone."""

    def __init__(self) -> None:
        super().__init__(
            "This invitation is over: it was used or withdrawn, or it is older than 14 days."
        )


class WrongInvitee(CartError):
    """An invitation is opened by another person than the one invited."""

    def __init__(self, invited: str, signed_in: str) -> None:
        super().__init__(f"This invitation is for {invited}, and you are signed in as {signed_in}.")
