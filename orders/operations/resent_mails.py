"""Resending the mails about an order with their original text."""

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from cassandra_db import Row
from mail import queries as mails
from mail.operations import queue_mail_again
from mail.queries import derive_mail_id
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import MailRefused
from orders.lifecycle.states import CONFIRMING_EVENTS
from orders.operations.emails import mail_event_key
from orders.operations.transitions import add_note, submit_under_way


def get_order_mail(order: Order, mail_id: UUID) -> Row | None:
    """Return the mail with this id, or None if it is not about this order. Raises CassandraUnavailable."""
    mail = mails.get_mail(mail_id)
    return mail if mail and mail.recipient and mail.order_number == order.number else None


def resend_mail(
    order: Order, mail_id: UUID, *, actor: str, submit_id: UUID, now: datetime
) -> Order:
    """Send a mail about an order again with the same text, to the order's present address. Return the order with a note.

    The mail is sent once for each `submit_id`. `now` is in UTC. Raises MailRefused, whose message says why. Also raises
    CassandraUnavailable; then call it again.
    """
    if any(event.submit_id == submit_id for event in order.events):
        return order
    mail = check_resend(order, mail_id)
    queued_at = queue_mail_again(
        mail, derive_mail_id(mail_id, f"again {submit_id}"), order.email, now, about=order.user_id
    )
    with submit_under_way(submit_id):
        text = _("Email resent: %(subject)s") % {"subject": mail.subject}
        # All callers get the time of the first queueing, so they write one note.
        return add_note(order, text, actor=actor, now=queued_at, once=submit_id)


def check_resend(order: Order, mail_id: UUID) -> Row:
    """Return a mail about an order that may be sent again. Raises MailRefused, whose message says why not, CassandraUnavailable."""
    mail = get_order_mail(order, mail_id)
    if mail is None or mail.text is None:
        raise MailRefused(_("This email is no longer kept. Emails are kept for 30 days."))
    if order.is_erased:
        raise MailRefused(_("The customer’s data was deleted, so no email can be sent."))
    if order.is_unproved:
        raise MailRefused(
            _("This order’s email address isn’t confirmed yet, so it gets no more emails.")
        )
    if mails.get_undeliverable_address(order.email):
        raise MailRefused(
            _("Emails to this address bounced permanently. Allow it under “Emails” first.")
        )
    return mail


def find_confirmation_mail_id(order: Order) -> UUID:
    """Return the id of an order's confirmation mail. Raises MailRefused if the order has not been confirmed."""
    for event in order.events:
        if event.kind in CONFIRMING_EVENTS:
            return derive_mail_id(order.order_id, mail_event_key(event))
    raise MailRefused(_("This order has not been confirmed yet."))


def find_dispatch_mail_id(order: Order, until: datetime) -> UUID:
    """Return the id of the mail about an order's last dispatch by `until` (UTC). Raises MailRefused if nothing was shipped."""
    for event in order.events:
        if event.kind == "shipped" and event.at <= until:
            return derive_mail_id(order.order_id, mail_event_key(event))
    raise MailRefused(_("Nothing of this order has been shipped yet."))
