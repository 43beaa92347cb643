"""The errors of changes of carts, with texts for the shopper."""

from django.utils.translation import gettext as _


class CartError(Exception):
    """The base of these errors: the cart was not changed. The text of the error is for the shopper."""


class NoSuchCart(CartError):
    """The owner does not have the cart, or no longer has it."""

    def __init__(self) -> None:
        super().__init__(
            _("That cart no longer exists, so nothing was changed. This is your cart now.")
        )


class NotAllowed(CartError):
    """The person's role in the cart does not allow the action."""

    def __init__(self, name: str, shared_by: str, role: str) -> None:
        whose = (
            _("“%(name)s” is shared by %(shared_by)s.") % {"name": name, "shared_by": shared_by}
            if shared_by
            else _("“%(name)s” is shared with you.") % {"name": name}
        )
        may = {
            "viewer": _("You can view it, but you can’t edit it."),
            "editor": _("You can edit it, but you can’t order or manage it."),
            "buyer": _("You can edit and order it, but you can’t manage it."),
        }
        super().__init__(f"{whose} {may[role]}")


class InvalidCartName(CartError):
    """The name is not valid for a cart. The text says why."""


class NameTaken(InvalidCartName):
    """Another cart of the same person has this name, in upper or lower case."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("You already have a cart called “%(name)s”. Choose another name.") % {"name": name}
        )


class SameCart(CartError):
    """The source and the target of a move are the same cart."""

    def __init__(self) -> None:
        super().__init__(_("That’s the same cart, so nothing was changed. Choose a different one."))


class NoSuchLine(CartError):
    """The cart does not have, or no longer has, this line."""

    def __init__(self) -> None:
        super().__init__(_("That item is no longer in your cart, so nothing was changed."))


class CartFull(CartError):
    """The cart has as many lines as it can hold."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _(
                "Your cart is full. It can hold %(limit)s different items. Remove one first, or use another cart."
            )
            % {"limit": limit}
        )


class TooManyCarts(CartError):
    """The owner has as many carts as allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _("You have %(limit)s carts, which is the maximum. Delete one first.")
            % {"limit": limit}
        )


class TooManyUnits(CartError):
    """A line would have more units than a line can have."""

    def __init__(self, limit: int, in_cart: int) -> None:
        super().__init__(
            _("You can have up to %(limit)s of one item. You already have %(count)s in your cart.")
            % {"limit": limit, "count": in_cart}
        )


class NotEnoughLeft(CartError):
    """Too few units are left: the line can have `left` units, and has `in_cart` units."""

    def __init__(self, left: int, in_cart: int = 0) -> None:
        words = _("Only %(left)s left.")
        if in_cart:
            words = _("Only %(left)s left, and you already have %(count)s in your cart.")
        super().__init__(words % {"left": left, "count": in_cart})
        self.left = left
        self.in_cart = in_cart


class TooManyUnitsTogether(CartError):
    """Two lines of one variant would together have more units than a line can have."""

    def __init__(self, name: str, limit: int, together: int) -> None:
        super().__init__(
            _(
                "That would make %(total)s of %(name)s, and a cart can hold up to %(limit)s of one item. Nothing was changed."
            )
            % {"total": together, "name": name, "limit": limit}
        )


class TooManyLines(CartError):
    """Two carts together would have more lines than a cart can hold."""

    def __init__(self, limit: int, together: int) -> None:
        super().__init__(
            _(
                "That would make %(total)s different items, and a cart can hold up to %(limit)s. Nothing was changed."
            )
            % {"total": together, "limit": limit}
        )


class UndoExpired(CartError):
    """The change to undo no longer exists."""

    def __init__(self) -> None:
        super().__init__(
            _("It’s too late to undo this, or it was already undone. Nothing was changed.")
        )


class SoldOut(CartError):
    """No unit of the variant is left."""

    def __init__(self, name: str) -> None:
        super().__init__(_("%(name)s is sold out.") % {"name": name})


class CartBusy(CartError):
    """Too many other requests changed the same cart at the same moment."""

    def __init__(self) -> None:
        super().__init__(_("Your cart is being changed in several places at once. Try again."))


class PriceChanged(CartError):
    """The price is no longer the one that the shopper accepted."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "Something changed since you opened this page, so no prices were accepted. Here’s your cart as it is now."
            )
        )


class CartChanged(CartError):
    """The cart has changed since it was read for an order."""

    def __init__(self) -> None:
        super().__init__(_("Your cart has just changed. Review it and try again."))


class TooManyPeople(CartError):
    """The cart is shared with as many people as allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _(
                "A cart can have up to %(limit)s people, invitations and links in total. Remove one first."
            )
            % {"limit": limit}
        )


class NoSuchPerson(CartError):
    """The cart is not shared with this person, or no longer."""

    def __init__(self) -> None:
        super().__init__(_("This person no longer has access to the cart, so nothing was changed."))


class AlreadyInvited(CartError):
    """The person with this e-mail address has access already, or an invitation in another role."""

    def __init__(self, email: str, role: str = "") -> None:
        super().__init__(
            _(
                "%(email)s is already invited with the role %(role)s. Withdraw that invitation first, then send a new one."
            )
            % {"email": email, "role": role}
            if role
            else _(
                "%(email)s already has access to this cart. Change their role in the list instead."
            )
            % {"email": email}
        )


class InvitationOver(CartError):
    """The invitation was used or withdrawn, is too old, or its cart is deleted."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "This invitation has expired. It was used or withdrawn, or it’s more than 14 days old."
            )
        )


class WrongInvitee(CartError):
    """The invitation is for another person."""

    def __init__(self, invited: str, signed_in: str) -> None:
        super().__init__(
            _("This invitation is for %(invited)s, but you’re signed in as %(signed_in)s.")
            % {"invited": invited, "signed_in": signed_in}
        )
