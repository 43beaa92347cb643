"""Withdrawal from a contract (Directive 2011/83/EU, Article 11a): a consumer's statement is recorded, acknowledged and followed.

A statement that names an order and its e-mail address is an event of that order: the acknowledgement is that event's mail,
and what follows from it is one of the order's effects, so a crash in between leaves nothing undone. Any other may be meant
for an order all the same, with a letter mistyped: the shop's own mailbox gets it. Its sender is told the same, whatever it was.
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
    """What a consumer has stated: `number` as orders have it, `email` where it is acknowledged."""

    name: str
    number: str
    email: str

    @property
    def statement_id(self) -> UUID:
        """The same for the same words: sent twice it is one statement."""
        return uuid5(_STATEMENTS, f"{self.number} {email_key(self.email)} {self.name}")


def record_withdrawal(
    statement: WithdrawalStatement, now: datetime, *, is_above_limit: bool = False
) -> None:
    """Record a statement, and have it acknowledged; a second one with the same words changes nothing. `now` is in UTC.

    Above the limit only an order's first one is recorded: so anybody may always withdraw, and a mailbox gets no more mails.
    The order's worker does the rest: the answer takes as long whether there is such an order or not. What cannot be written
    to its order, since that changes again and again, goes to the shop's mailbox, too. Raises CassandraUnavailable.
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
    context = {
        "statement": statement,
        "paragraphs": withdrawal_paragraphs(statement.number, statement.email, now),
    }
    # First the shop's: whoever has an acknowledgement has withdrawn.
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
    """Do what is due after a withdrawal, and return the order after it: done again, it does nothing. Raises CassandraUnavailable.

    What is not packed is cancelled. What is packed is put on hold for staff, who take it apart, and then it is cancelled. For
    what has arrived a return is requested, whatever the day: staff answer it.
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
    # Once: whoever resumes it has decided that it is sent all the same.
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
    """Return the units by line that have arrived and are in no return; not those of one that staff have declined since."""
    units = order.returnable_units()
    for each in order.returns:
        if each.state == REJECTED and each.requested_at > since:
            for line, count in each.lines.items():
                units[line] = units.get(line, 0) - count
    return {line: count for line, count in units.items() if count > 0}
