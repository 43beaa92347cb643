"""Orders that are sent before they are paid are confirmed by the mail to their address (decision 023).

Until the confirmation, the units are reserved for half an hour. The address may be a stranger's, so it gets only this one mail.
"""

from datetime import datetime

from jobs.minutes import floor_to_minute
from mail.operations import allow_address, queue_mail
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import AlreadyConfirmed, ConfirmationTooLate
from orders.lifecycle.states import CANCELLED, EXPIRED
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_as_planned
from orders.operations.emails import mail_context, mail_options
from orders.operations.mail_texts import compose_confirmation_mail
from payments.gateways import METHODS
from payments.methods import TRANSFER
from pricing.money import to_minor_units


def confirm_email(order: Order, now: datetime) -> Order:
    """Confirm an order's e-mail address; return the order. A second call changes nothing.

    The time to pay by transfer begins now. An order with payment on delivery is confirmed, too; the effects confirm a free order.
    Raises ConfirmationTooLate if the order has ended, OrderChanged if other writes keep changing it, CassandraUnavailable.
    """

    def plan(order: Order) -> Transition | None:
        if order.is_over(now) and not order.is_email_confirmed:
            raise ConfirmationTooLate(order)
        return _confirmation(order, now) if order.needs_email_confirmation else None

    confirmed = transition_as_planned(order, plan)
    # The mailed link has arrived, so the address is reachable.
    allow_address(confirmed.email)
    return confirmed


def _confirmation(order: Order, now: datetime) -> Transition:
    pay_until = METHODS[order.payment_method].pay_until(now)
    is_on_delivery = bool(to_minor_units(order.total)) and order.payment_method != TRANSFER
    return Transition(
        "email_confirmed",
        actor="shopper",
        at=now,
        details={"pay_until": pay_until.isoformat()},
        companion_events={"confirmed": {}} if is_on_delivery else {},
        payment_id=order.payment_attempts[0].payment_id if is_on_delivery else None,
    )


def reject_order(order: Order, now: datetime) -> Order:
    """Cancel an order whose mail reached a stranger; return the order. An order that has ended stays as it is.

    Raises AlreadyConfirmed if its address was confirmed, TransitionRefused if it is packed or sent, OrderChanged if other
    writes keep changing it, CassandraUnavailable.
    """

    def plan(order: Order) -> Transition | None:
        if order.state in (CANCELLED, EXPIRED):
            return None
        if order.is_email_confirmed:
            raise AlreadyConfirmed
        return Transition("cancelled", actor="shopper", at=now, note="“This was not me.”")

    return transition_as_planned(order, plan)


def resend_confirmation_mail(order: Order, now: datetime) -> bool:
    """Mail an order's confirmation link again, at most once a minute. Return whether the order still needs the confirmation.

    Raises CassandraUnavailable.
    """
    if not order.needs_email_confirmation or order.is_over(now):
        return False
    items = queries.list_items(order)
    queue_mail(
        order.order_id,
        f"confirm {floor_to_minute(now).isoformat()}",
        order.email,
        "order_to_confirm",
        mail_context(order, items, compose_confirmation_mail(order)),
        now,
        mail_options(order),
    )
    return True
