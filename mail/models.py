"""Mail on its way out."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class Mail(Model):
    """One mail. Its id is derived from subject and event, and claimed by IF NOT EXISTS, so the same mail is written once.

    Bound: one row a partition; gone after 30 days.
    Writer: mail.operations.
    """

    __table_name__ = "mails"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = {
        "columns": ("recipient", "failure"),
        "on_erase": "deleted",
        "why": "sent or not; the farewell mail expires 30 days later",
    }
    mail_id = columns.UUID(partition_key=True)
    recipient = columns.Text()
    subject = columns.Text()
    # Text and HTML are encrypted with SECRET_KEY and deleted once sent; an order's mail keeps them, to be sent again.
    text = columns.Text()
    html = columns.Text()
    attempts = columns.Integer()
    claim = columns.UUID()  # of the current or last attempt
    due_at = columns.DateTime()  # no worker makes another attempt before; null until the first
    queued_at = columns.DateTime()
    sent_at = columns.DateTime()
    order_number = columns.Text()  # of the order that it is about, if any
    fate = columns.Text()  # why it failed for good (mail.fates); null while it waits, and once sent
    failed_at = columns.DateTime()
    failure = columns.Text()  # the mail server's last answer
    unsubscribe_url = columns.Text()  # the page that ends mails of this kind, if any


class MailByOrder(Model):
    """The mails about an order and the fate of each, for the order's page.

    Bound: the mails of 30 days about one order, at 150 bytes a mail: one for each event, and those that staff resend.
    Writer: mail.operations.note_fate.
    """

    __table_name__ = "mails_by_order"
    __partition_bytes__ = 100 * KB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = None
    order_number = columns.Text(partition_key=True)
    mail_id = columns.UUID(primary_key=True)
    subject = columns.Text()
    queued_at = columns.DateTime()
    fate = columns.Text()


class FailedMailByDay(Model):
    """The mails that failed for good on a day, for the staff's page of mails; `mails` has their content.

    Bound: the mails that failed on one day, at 16 bytes a mail; a page reads a hundred of them. Gone after 30 days.
    Writer: mail.operations.note_fate.
    """

    __table_name__ = "failed_mails_by_day"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)
    mail_id = columns.UUID(primary_key=True)


class UndeliverableAddress(Model):
    """The addresses that get no more mail because a mail to them bounced for good.

    Bound: an address of a year at 250 bytes; 100,000 of them are 1.6 MB in each of the 16 partitions.
    Writer: mail.operations.
    """

    __table_name__ = "undeliverable_addresses"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 366 * 24 * 3600}
    __personal_data__ = {"columns": ("email", "failure"), "on_erase": "deleted"}
    bucket = columns.SmallInt(partition_key=True)  # mail.addresses.address_bucket
    email = columns.Text(primary_key=True)  # casefolded
    bounced_at = columns.DateTime()
    failure = columns.Text()  # the mail server's answer
    mail_id = columns.UUID()  # of the mail that came back


class OutboxByMinute(Model):
    """The mails to send, by the minute from which they are due. Written before the mail itself.

    Bound: the mails of one minute; gone a day after the mail itself.
    Writer: mail.operations.
    """

    __table_name__ = "outbox_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    mail_id = columns.UUID(primary_key=True)


class MailByRecipient(Model):
    """The mails to a mailbox, sent or not, so that they can be exported and deleted. Written before the mail itself.

    Bound: the mails of 30 days to one mailbox.
    Writer: mail.operations.queue_mail.
    """

    __table_name__ = "mails_by_recipient"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = {"columns": ("recipient",), "on_erase": "deleted"}
    recipient = columns.Text(partition_key=True)  # casefolded
    mail_id = columns.UUID(primary_key=True)


class MailByPerson(Model):
    """The mails to other mailboxes that may name a person, so that they can be deleted. Written before the mail itself.

    Bound: a person's orders, changes of address and invitations to carts in 30 days, at 16 bytes a mail: by the limit of
    invitations (LIMIT_INVITATION, 30 an hour) 350 kB at most.
    Writer: mail.operations.queue_mail.
    """

    __table_name__ = "mails_by_person"
    __partition_bytes__ = 350 * KB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = {"columns": ("person_id",), "on_erase": "deleted"}
    person_id = columns.UUID(partition_key=True)
    mail_id = columns.UUID(primary_key=True)
