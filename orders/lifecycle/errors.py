"""The errors of orders, with messages for people."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from orders.lifecycle.entities import Order
from orders.lifecycle.refusals import describe_refusal


class OrderError(Exception):
    """The base of the errors about orders; nothing was changed."""


class CheckoutUsed(OrderError):
    """This checkout has already become the order `order`, but with other content."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            _("This checkout has already become order %(number)s.") % {"number": order.number}
        )
        self.order = order


class CartOrdered(OrderError):
    """The cart has already become the order `order`, which waits for its payment."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            _("You’ve already placed this order. Order %(number)s is waiting for payment.")
            % {"number": order.number}
        )
        self.order = order


class CheckoutAbandoned(OrderError):
    """This checkout was abandoned and its units were released. The shopper needs a checkout with a new id."""

    def __init__(self) -> None:
        super().__init__(
            _("This page was open for a long time. Check your order again before you place it.")
        )


class CheckoutBusy(OrderError):
    """Another request has been placing the same checkout for some seconds."""

    def __init__(self) -> None:
        super().__init__(_("We’re placing your order right now. Wait half a minute and try again."))


class TooManyUnpaidUnits(OrderError):
    """A mailbox or network would have too many units on unpaid orders. `left` is the number of units that it may still order."""

    def __init__(self, left: int) -> None:
        super().__init__(
            ngettext(
                "You can order %(count)s more item without paying first. Order fewer, or choose another payment method.",
                "You can order %(count)s more items without paying first. Order fewer, or choose another payment method.",
                left,
            )
            % {"count": left}
            if left
            else _(
                "Too many items on your orders are not paid for yet. Choose another payment method, or pay for an earlier order first."
            )
        )
        self.left = left


class TransitionRefused(OrderError):
    """The order does not allow an event of this kind. `why` is the reason, unless the order's state explains the refusal."""

    def __init__(self, order: Order, kind: str, why: str = "") -> None:
        super().__init__(describe_refusal(order, kind, why))
        self.order = order
        self.kind = kind
        self.why = why


class OrderChanged(OrderError):
    """Another write has changed the order since it was read. `order` is the changed order, `event` the event that changed it."""

    def __init__(self, order: Order) -> None:
        super().__init__(_("Someone else has changed order %(number)s.") % {"number": order.number})
        self.order = order
        self.event = next((event for event in order.events if event.kind != "note"), None)


class InvalidTag(OrderError):
    """The typed text cannot be a tag. The message says why."""


class TooManyTags(OrderError):
    """An order would have more tags than are allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _("An order can have up to %(limit)s tags. Remove one first.") % {"limit": limit}
        )


class TrackingNumberTaken(OrderError):
    """Another order's parcel has this tracking number."""

    def __init__(self, tracking: str) -> None:
        super().__init__(
            _("The tracking number %(tracking)s is used on another order.") % {"tracking": tracking}
        )


class MailRefused(OrderError):
    """A mail about an order cannot be sent again. The message says why."""


class TooManyPaymentAttempts(OrderError):
    """An order has had as many payment attempts as are allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _("You’ve tried to pay %(limit)s times, which is the limit. Contact us for help.")
            % {"limit": limit}
        )


class ConfirmationTooLate(OrderError):
    """The order `order` ended before its e-mail address was confirmed."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            _("Order %(number)s has already ended. Nothing was charged. You can order again.")
            % {"number": order.number}
        )
        self.order = order


class AlreadyConfirmed(OrderError):
    """The order's e-mail address is confirmed, so the mailed link no longer cancels the order."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "This order is already confirmed. To cancel it, open it with the link in our latest email."
            )
        )


class CustomerRefused(OrderError):
    """Staff have blocked this customer from placing orders."""

    def __init__(self, contact: str) -> None:
        super().__init__(
            _(
                "We can’t take this order. Please write to %(email)s, and we’ll sort it out with you."
            )
            % {"email": contact}
        )


class NotPayable(OrderError):
    """The order is not waiting for a payment."""

    def __init__(self) -> None:
        super().__init__(_("This order isn’t waiting for payment."))


class SettlementUnstable(OrderError):
    """The captures, voids and refunds of an order do not come to an end."""

    def __init__(self, order: Order) -> None:
        super().__init__(f"The money of order {order.number} does not come to rest.")


class WebhookBusy(OrderError):
    """Another request is processing the same webhook at this moment."""

    def __init__(self) -> None:
        super().__init__("This webhook is being processed already.")
