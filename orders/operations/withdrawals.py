"""Withdrawal from a contract (Directive 2011/83/EU, Article 11a): a consumer's statement is recorded, acknowledged and followed.

A statement that names an order and its e-mail address is an event of that order. The event's mail acknowledges the statement,
and the order's effects carry it out, so a crash leaves nothing undone. Any other statement may be mistyped, so it goes to the
shop's own mailbox. All senders get the same answer.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from cassandra_db import retry_attempts
from mail.addresses import email_key
from mail.operations import MailOptions, queue_mail
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.returns import REJECTED
from orders.lifecycle.states import TRANSITION_RULES
from orders.lifecycle.transitions import Transition
from orders.operations.mail_texts import withdrawal_paragraphs
from orders.operations.transitions import append_event
from shop_settings.terms import get_terms

_STATEMENTS = UUID("5b4b1d0e-6a0c-4a57-9d6f-3d6f0b7a2c11")
MAX_ATTEMPTS = 5
RETURN_REASON = "Withdrawal from the contract"


@dataclass(frozen=True)
class WithdrawalStatement:
    """A consumer's statement. `number` is normalized; `email` gets the acknowledgement."""

    name: str
    number: str
    email: str

    @property
    def statement_id(self) -> UUID:
        """The id of the statement. Statements with the same words have the same id."""
        return uuid5(_STATEMENTS, f"{self.number} {email_key(self.email)} {self.name}")


def record_withdrawal(
    statement: WithdrawalStatement, now: datetime, *, is_above_limit: bool = False
) -> None:
    """Record a statement, and have it acknowledged; repeating the same words changes nothing. `now` is in UTC.

    Above the limit only an order's first statement is recorded, so that everybody can withdraw and no mailbox is flooded.
    The worker applies the effects, so the answer takes equally long whether the order exists or not. If other writes keep
    changing the order, the statement goes to the shop's mailbox. Raises CassandraUnavailable.
    """
    order = queries.get_order_by_number(statement.number)
    transition = Transition("withdrawn", actor="shopper", at=now, details={"name": statement.name})
    for _ in retry_attempts(MAX_ATTEMPTS):
        if order is None or order.is_erased or email_key(order.email) != email_key(statement.email):
            if is_above_limit:
                return
            break
        if any(event.details.get("name") == statement.name for event in order.withdrawals):
            return
        if is_above_limit and order.withdrawals:
            return
        try:
            append_event(order, transition)
        except OrderChanged as stale:
            order = stale.order
        else:
            return
    _queue_unmatched(statement, now)


def _queue_unmatched(statement: WithdrawalStatement, now: datetime) -> None:
    paragraphs = withdrawal_paragraphs(statement.number, statement.email, now)
    context = {"statement": statement, "details": "\n\n".join(paragraphs)}
    # The shop's mail comes first: an acknowledged withdrawal must have reached the shop.
    queue_mail(
        statement.statement_id,
        "unmatched",
        get_terms().email,
        "withdrawal_unmatched",
        context,
        now,
        MailOptions(plain=True),
    )
    queue_mail(
        statement.statement_id, "received", statement.email, "withdrawal_received", context, now
    )


def follow_withdrawal(order: Order, now: datetime) -> Order:
    """Carry out an order's withdrawal; return the order. Repeating it changes nothing. Raises CassandraUnavailable.

    An order that is not packed is cancelled. A packed order is put on hold until staff have unpacked it. For units that have
    arrived a return is requested, even after the return period.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        transition = _next_step(order, now)
        if transition is None:
            break
        try:
            order = append_event(order, transition)[0]
        except OrderChanged as stale:
            order = stale.order
        except TransitionRefused as refused:
            order = queries.get_order(order.order_id) or refused.order
    return order


def _next_step(order: Order, now: datetime) -> Transition | None:
    if not order.withdrawals or order.is_erased:
        return None
    if order.can_be_cancelled:
        return Transition("cancelled", actor="shopper", at=now)
    first = order.withdrawals[-1].at
    since = {event.kind for event in order.events if event.at > first}
    # Only once: if staff resume it, they have decided to send it.
    if (
        order.has_packed_parcel
        and "held" not in since
        and TRANSITION_RULES["held"].is_allowed(order)
    ):
        return Transition("held", actor="system", at=now)
    units = (
        _units_to_return(order, first)
        if TRANSITION_RULES["return_requested"].is_allowed(order)
        else {}
    )
    if units:
        details = {"return": str(len(order.returns) + 1), "lines": units, "reason": RETURN_REASON}
        return Transition("return_requested", actor="shopper", at=now, details=details)
    return None


def _units_to_return(order: Order, since: datetime) -> dict[int, int]:
    """Return by line the arrived units that are in no return, and in no return that was requested after `since` and declined."""
    units = order.returnable_units()
    for each in order.returns:
        if each.state == REJECTED and each.requested_at > since:
            for line, count in each.lines.items():
                units[line] = units.get(line, 0) - count
    return {line: count for line, count in units.items() if count > 0}
