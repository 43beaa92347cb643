"""Mail on its way out."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class Mail(Model):
    """One mail. Its id is made of subject and event, and claimed by IF NOT EXISTS, so the same mail is written once.

    Bound: one row a partition; gone after 30 days.
    Writer: mail.operations.
    """

    __table_name__ = "mails"
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    mail_id = columns.UUID(partition_key=True)
    recipient = columns.Text()
    subject = columns.Text()
    text = columns.Text()
    html = columns.Text()
    attempts = columns.Integer()
    queued_at = columns.DateTime()
    sent_at = columns.DateTime()


class OutboxByMinute(Model):
    """Which mails are to be sent, by the minute from which on they are due. Written before the mail itself.

    Bound: the mails of one minute.
    Writer: mail.operations.
    """

    __table_name__ = "outbox_by_minute"
    __options__ = {"gc_grace_seconds": 24 * 3600}
    minute = columns.DateTime(partition_key=True)
    mail_id = columns.UUID(primary_key=True)
