"""The mails about an order, sent again by staff with the words that they had."""

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
    """Return a mail about this order (as `mail.queries.get_mail`), None if there is none, or none any more. Raises CassandraUnavailable."""
    mail = mails.get_mail(mail_id)
    is_its = mail is not None and mail.recipient and mail.order_number == order.number
    return mail if is_its else None


def resend_mail(
    order: Order, mail_id: UUID, *, actor: str, submit_id: UUID, now: datetime
) -> Order:
    """Send a mail about an order again with the same words, to the order's present address; return the order with a note of it.

    Once for each `submit_id`, however often, and by how many at once, this is called with it. `now` is in UTC.
    Raises MailRefused, whose text says why, CassandraUnavailable; then call it again.
    """
    if any(event.submit_id == submit_id for event in order.events):
        return order
    mail = check_resend(order, mail_id)
    queued_at = queue_mail_again(
        mail, derive_mail_id(mail_id, f"again {submit_id}"), order.email, now, about=order.user_id
    )
    with submit_under_way(submit_id):
        text = _("Email sent again: %(subject)s") % {"subject": mail.subject}
        # The mail is queued once, at one time: so two who send it at once write one note.
        return add_note(order, text, actor=actor, now=queued_at, once=submit_id)


def check_resend(order: Order, mail_id: UUID) -> Row:
    """Return a mail about an order that may be sent again. Raises MailRefused, whose text says why not, CassandraUnavailable."""
    mail = get_order_mail(order, mail_id)
    if mail is None or mail.text is None:
        raise MailRefused(_("This email is no longer kept. Emails are kept for 30 days."))
    if order.is_erased:
        raise MailRefused(_("The customer’s data was deleted, so no email can be sent."))
    if order.is_unproved:
        raise MailRefused(
            _("Nobody has confirmed this order’s email address yet, so it gets no more emails.")
        )
    if mails.get_undeliverable_address(order.email):
        raise MailRefused(
            _("Emails to this address came back, so it gets none. Allow it under “Emails” first.")
        )
    return mail


def find_confirmation_mail_id(order: Order) -> UUID:
    """Return the id of the mail that has confirmed an order. Raises MailRefused if it has not been confirmed."""
    for event in order.events:
        if event.kind in CONFIRMING_EVENTS:
            return derive_mail_id(order.order_id, mail_event_key(event))
    raise MailRefused(_("This order has not been confirmed yet."))


def find_dispatch_mail_id(order: Order, until: datetime) -> UUID:
    """Return the id of the mail about what was dispatched of an order last, until then (UTC). Raises MailRefused if nothing was."""
    for event in order.events:  # the last one first
        if event.kind == "shipped" and event.at <= until:
            return derive_mail_id(order.order_id, mail_event_key(event))
    raise MailRefused(_("Nothing of this order has been shipped yet."))
