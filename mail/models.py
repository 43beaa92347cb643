"""The tables of outgoing mail."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class Mail(Model):
    """One mail. Its id is derived from its subject and event, and claimed by IF NOT EXISTS, so a mail is written only once.

    Bound: one row a partition; it expires after 30 days.
    Writer: mail.operations.
    """

    __table_name__ = "mails"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = {
        "columns": ("recipient", "failure", "references"),
        "on_erase": "deleted",
        "why": "sent or not; the farewell mail expires 30 days later",
    }
    mail_id = columns.UUID(partition_key=True)
    recipient = columns.Text()
    subject = columns.Text()
    # Text and HTML are encrypted with SECRET_KEY. They are deleted once the mail is sent, except in mails about an order.
    text = columns.Text()
    html = columns.Text()
    attempts = columns.Integer()
    claim = columns.UUID()  # the id of the current or last attempt
    due_at = columns.DateTime()  # the earliest time of the next attempt; null before the first
    queued_at = columns.DateTime()
    sent_at = columns.DateTime()
    order_number = columns.Text()  # the number of the order that the mail is about, if any
    fate = columns.Text()  # the way in which the mail failed for good (mail.fates); null while it waits, and once it is sent
    failed_at = columns.DateTime()
    failure = columns.Text()  # the mail server's last answer
    unsubscribe_url = columns.Text()  # the page that ends mails of this kind, if any
    thread_id = columns.UUID()  # the conversation of a mail that a person wrote; replies find it
    references = columns.List(columns.Text)  # the Message-IDs of the thread's earlier mails


class MailByOrder(Model):
    """The mails about an order, each with its fate, for the order's page.

    Bound: the mails of 30 days about one order, at 150 bytes a mail: one for each event, and one each time staff resend a mail.
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
    """The mails that failed for good on a day, for the staff's page of mails. The table `mails` has their content.

    Bound: the mails that failed on one day, at 16 bytes a mail. A page reads 100 of them. They expire after 30 days.
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

    Bound: the addresses of a year, at 250 bytes each. 100,000 addresses make 1.6 MB in each of the 16 partitions.
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
    mail_id = columns.UUID()  # the id of the mail that bounced


class OutboxByMinute(Model):
    """The mails to send, partitioned by the minute from which they are due. A mail's row here is written before the mail.

    Bound: the mails of one minute. A row expires a day after its mail.
    Writer: mail.operations.
    """

    __table_name__ = "outbox_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    mail_id = columns.UUID(primary_key=True)


class MailByRecipient(Model):
    """The mails to a mailbox, sent or not, so that they can be exported and deleted. A mail's row is written before the mail.

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
    """The mails to other mailboxes that may name a person, so that they can be deleted. A row is written before its mail.

    Bound: a person's orders, changes of address and invitations to carts in 30 days, at 16 bytes a mail. With the limit of
    invitations (LIMIT_INVITATION, 30 an hour), they make at most 350 kB.
    Writer: mail.operations.queue_mail.
    """

    __table_name__ = "mails_by_person"
    __partition_bytes__ = 350 * KB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = {"columns": ("person_id",), "on_erase": "deleted"}
    person_id = columns.UUID(partition_key=True)
    mail_id = columns.UUID(primary_key=True)
