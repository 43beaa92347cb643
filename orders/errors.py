"""What can go wrong with an order, in words for its reader."""

from __future__ import annotations

from django.utils.translation import gettext as _

from orders.entities import Order


class OrderError(Exception):
    """Something about an order was refused; nothing was changed."""


class CheckoutUsed(OrderError):
    """This checkout has become an order already, with another content than was sent now."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            _("This checkout has already become order %(number)s.") % {"number": order.number}
        )
        self.order = order


class CartOrdered(OrderError):
    """The cart has become an order already, which waits for its payment."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            _("You have already placed this order. Order %(number)s is waiting for payment.")
            % {"number": order.number}
        )
        self.order = order


class CheckoutAbandoned(OrderError):
    """This checkout was left for too long and its goods were given back: it needs a new id."""

    def __init__(self) -> None:
        super().__init__(
            _("This page was open for a long time. Check your order again before you place it.")
        )


class CheckoutBusy(OrderError):
    """The same checkout is being placed at this moment by another request, which takes long."""

    def __init__(self) -> None:
        super().__init__(
            _("We are placing your order right now. Wait a few seconds and try again.")
        )


class TransitionRefused(OrderError):
    """The order's state does not allow this. `why` says so in words, where the state alone does not."""

    def __init__(self, order: Order, kind: str, why: str = "") -> None:
        said = kind.replace("_", " ")
        super().__init__(
            _("Order %(number)s cannot be %(done)s now: %(why)s.")
            % {
                "number": order.number,
                "done": said,
                "why": why or _(order.customer_label).lower(),
            }
        )
        self.order = order
        self.why = why


class StaleOrder(OrderError):
    """Somebody else has changed the order since it was read. `order` is what it is now."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            _("Someone else has changed order %(number)s in the meantime.")
            % {"number": order.number}
        )
        self.order = order
        # Who was it, and when? Notes change nothing, so they are not it.
        self.event = next((event for event in order.events if event.kind != "note"), None)


class TooManyPaymentAttempts(OrderError):
    """An order's payment was tried as often as one may."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _("You have tried to pay %(limit)s times, which is the limit. Contact us for help.")
            % {"limit": limit}
        )


class NotPayable(OrderError):
    """The order waits for no payment."""

    def __init__(self) -> None:
        super().__init__(_("This order is not waiting for payment."))


class SettlementUnstable(OrderError):
    """What is owed for an order's money changes whenever it is done."""

    def __init__(self, order: Order) -> None:
        super().__init__(f"The money of order {order.number} does not come to rest.")


class WebhookBusy(OrderError):
    """The same notice is being followed by another request at this moment."""

    def __init__(self) -> None:
        super().__init__("This notice is being followed already.")
