"""Delivers queued mail in a test, as the worker would."""

from datetime import timedelta

from django.core import mail
from django.core.mail import EmailMessage

from cassandra_db import current_time
from mail.operations import LATEST_OUTBOX_ENTRY, send_due_mails
from mail.queries import list_recipient_mails
from tests.shards import ItemsShard


def deliver_mail(email: str) -> list[EmailMessage]:
    """Deliver what is queued to an address; return all messages to it that are in `django.core.mail.outbox`."""
    now = current_time()
    queued = frozenset(row.mail_id for row in list_recipient_mails(email))
    send_due_mails(
        now,
        position=now - LATEST_OUTBOX_ENTRY - timedelta(minutes=1),
        shard=ItemsShard("mail", item_ids=queued),
    )
    return [message for message in mail.outbox if email in message.to]
