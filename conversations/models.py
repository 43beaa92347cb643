"""The tables of conversations: the mailbox of the slides. Its `emails` and `emails_by_label` hold conversations here."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

_DAY = 24 * 3600


class Conversation(Model):
    """M1: a conversation between a customer and the shop, and its messages, newest first.

    The head is static. The rows of `labels_by_user` and all lists follow from this partition.
    Bound: 1,000 messages (rules.MAX_MESSAGES) of at most 64 KiB, mostly 1 KB; then a new conversation follows it.
    Writer: conversations.operations.messages, only by conditional batches.
    """

    __table_name__ = "conversations"
    __partition_bytes__ = 64 * MB
    __personal_data__ = {
        "columns": (
            "customer_id",
            "customer_email",
            "customer_name",
            "sender_name",
            "sender_email",
            "body",
        ),
        "on_erase": "deleted",
        "why": "the person's messages and files go; the shop's replies stay without the person's name",
    }
    conversation_id = columns.TimeUUID(partition_key=True)
    message_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    # A member's id, or a guest's id made of the address (guests.guest_id).
    customer_id = columns.UUID(static=True)
    customer_email = columns.Text(static=True)
    customer_name = columns.Text(static=True)
    is_member = columns.Boolean(static=True)
    subject = columns.Text(static=True)
    topic = columns.Text(static=True)  # order, product or other
    topic_id = columns.UUID(static=True)  # the order's or product's id
    state = columns.Text(static=True)  # states.py
    waiting_since = columns.DateTime(static=True)  # of the customer's first unanswered message
    assignee_id = columns.UUID(static=True)
    message_count = columns.Integer(static=True)
    version = columns.Integer(static=True)  # goes up with each change of state or assignee
    change_id = columns.UUID(static=True)  # the id of the form or message that made the version
    follows_id = columns.TimeUUID(static=True)  # the full conversation that this one continues
    continued_id = columns.TimeUUID(static=True)  # the conversation that continues this full one
    # The newest message; each message is at least a millisecond later than the one before it, so read marks miss none.
    last_message_id = columns.TimeUUID(static=True)
    last_customer_id = columns.TimeUUID(static=True)  # the customer's newest message
    last_shop_id = columns.TimeUUID(static=True)  # the shop's newest message, no note
    told_until = columns.TimeUUID(static=True)  # up to here the customer was mailed and notified
    kind = columns.Text()  # customer, shop or note
    author_id = columns.UUID()  # the member or staff member who wrote it
    sender_name = columns.Text()
    sender_email = columns.Text()  # of a mail
    is_verified = columns.Boolean()  # false for a mail from another address than the customer's
    recipients = columns.List(columns.Text)  # the slides' `to`
    body = columns.Text()
    quoted = columns.Text()  # the whole text of a mail, if `body` lacks a part of it
    mail_message_id = columns.Text()  # the Message-ID of a mail that came in
    attachments = columns.Text()  # JSON: a list of {id, name, type, size, digest}, at most ten


class MessageClaim(Model):
    """M1: the message that a form or a mail became, so that one that is sent twice is stored once.

    Bound: one row a partition; it expires after 30 days.
    Writer: conversations.operations.messages, by IF NOT EXISTS.
    """

    __table_name__ = "message_claims"
    __partition_bytes__ = 1 * KB
    __options__ = {"default_time_to_live": 30 * _DAY}
    __personal_data__ = None
    # The form's id, or a hash of Message-ID and conversation.
    source_id = columns.UUID(partition_key=True)
    conversation_id = columns.TimeUUID()
    message_id = columns.TimeUUID()


class ConversationByLabel(Model):
    """M2: the conversations under a label (the slides' `emails_by_label`), newest first, in a partition for each year.

    A row is a copy of the conversation's row in `labels_by_user`, from which the key of an old row is read, never computed again.
    Its timestamp is that row's version, so a late copy loses against a newer one.
    Bound: the conversations of one label and year, 600 bytes each.
    Writer: conversations.operations.mailboxes.
    """

    __table_name__ = "conversations_by_label"
    __partition_bytes__ = 100 * MB
    __options__ = {"gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("user_id", "sender", "subject", "excerpt"),
        "on_erase": "deleted",
    }
    user_id = columns.UUID(partition_key=True)  # the mailbox: a member's, or the shop's
    label_id = columns.UUID(partition_key=True)
    year = columns.Integer(partition_key=True)
    last_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    conversation_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    # The slides' `from`: the customer in the shop's mailbox, who wrote last in a member's.
    sender = columns.Text()
    subject = columns.Text()
    excerpt = columns.Text()  # the beginning of the last message, 160 characters
    topic = columns.Text()
    unread = columns.Boolean()
    has_files = columns.Boolean()
    labels = columns.Set(columns.UUID)  # all labels of the conversation


class LabelByUser(Model):
    """M3: a mailbox's labels with their colours and exact counts, and the labels of each conversation.

    Rows of kind `label` have a label's casefolded name as key, rows of kind `conversation` a conversation's id (hexadecimal).
    Both change in one conditional batch, so the counts always equal the rows.
    Bound: 100,000 conversations at 300 bytes and 100 labels; a job deletes conversations that have been done for 24 months.
    Writer: conversations.operations.mailboxes and .labels, only by conditional batches.
    """

    __table_name__ = "labels_by_user"
    __partition_bytes__ = 60 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    kind = columns.Text(primary_key=True)
    key = columns.Text(primary_key=True)
    newest_label_id = columns.UUID(static=True)  # the label that was created last
    # Of a label.
    label_id = columns.UUID()  # a new one when the label is emptied
    name = columns.Text()
    color = columns.Text()
    count = columns.Integer()
    unread_count = columns.Integer()
    first_year = columns.Integer()  # no partition of the label is older
    # Of a conversation.
    labels = columns.Set(columns.UUID)
    placed_at = columns.DateTime()  # its `last_at` in `conversations_by_label`
    last_message_id = columns.TimeUUID()  # the newest message that this side has not written
    read_until = columns.TimeUUID()
    unread = columns.Boolean()
    # In microseconds since 1970, larger than the one before: the timestamp of the copies.
    version = columns.BigInt()
    change_id = columns.UUID()
    copied = columns.BigInt()  # the version whose copies are complete, a plain write
    # JSON: places of earlier versions whose copies may still exist, a list of [label id, milliseconds since 1970].
    former_places = columns.Text()


class Attachment(Model):
    """M4: a chunk of at most 1 MiB of an attachment. Its name, type, size and digest stand in the message.

    Bound: one chunk a partition.
    Writer: conversations.operations.attachments.
    """

    __table_name__ = "attachments"
    __partition_bytes__ = 2 * MB
    __personal_data__ = {"columns": ("content",), "on_erase": "deleted"}
    attachment_id = columns.UUID(partition_key=True)
    chunk = columns.Integer(partition_key=True)
    content = columns.Blob()


class PendingUpload(Model):
    """M4: attachments that may never become part of a message, by the hour in which they were stored.

    Bound: the uploads of one hour, 80 bytes each.
    Writer: conversations.operations.attachments.
    """

    __table_name__ = "pending_attachments_by_hour"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = None
    hour = columns.DateTime(partition_key=True)
    attachment_id = columns.UUID(primary_key=True)
    source_id = columns.UUID()  # the claim of the message
    chunk_count = columns.Integer()
    written = columns.BigInt()  # in microseconds since 1970


class PendingConversation(Model):
    """M1: conversations whose lists, mails or notifications may be behind, by the minute of the change.

    Bound: the changes of one minute, 80 bytes each.
    Writer: conversations.operations, before a conversation changes; the worker deletes the row.
    """

    __table_name__ = "pending_conversations_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    conversation_id = columns.TimeUUID(primary_key=True)
    # The mailbox whose copies may be behind; the nil id: both mailboxes.
    user_id = columns.UUID(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970


class EmptiedLabel(Model):
    """M6: labels that are being emptied or deleted, by the minute: the worker deletes their partitions.

    Bound: the emptied labels of one minute, 100 bytes each.
    Writer: conversations.operations.labels.
    """

    __table_name__ = "emptied_labels_by_minute"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "the worker deletes it within minutes",
    }
    minute = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    label_id = columns.UUID(primary_key=True)  # the id that the label had before
    is_trash = columns.Boolean()  # the shop's trash, whose conversations are deleted
    first_year = columns.Integer()
    written = columns.BigInt()  # in microseconds since 1970


class ConversationByCustomer(Model):
    """M7: a customer's conversations, newest first: a member's, or a guest's by the address.

    Bound: the conversations of one customer, 200 bytes each.
    Writer: conversations.operations.messages.
    """

    __table_name__ = "conversations_by_customer"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("customer_id",), "on_erase": "deleted"}
    customer_id = columns.UUID(partition_key=True)
    conversation_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    subject = columns.Text()


class ConversationByTopic(Model):
    """M7: the conversations about an order, or about a product in a year, newest first.

    Bound: the conversations about one product in a year, 200 bytes each. For an order the year is 0.
    Writer: conversations.operations.messages.
    """

    __table_name__ = "conversations_by_topic"
    __partition_bytes__ = 10 * MB
    __personal_data__ = None
    topic_id = columns.UUID(partition_key=True)
    year = columns.Integer(partition_key=True)
    conversation_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    subject = columns.Text()


class ContactRequest(Model):
    """M8: a guest's first message, until the guest confirms the address by the mailed link.

    Bound: one row a partition; it expires after two days.
    Writer: conversations.operations.contact_requests.
    """

    __table_name__ = "contact_requests"
    __partition_bytes__ = 100 * KB
    __options__ = {"default_time_to_live": 2 * _DAY}
    __personal_data__ = {
        "columns": ("email", "name", "content"),
        "on_erase": "expires",
        "why": "two days after it was typed",
    }
    request_id = columns.UUID(partition_key=True)  # the form's id
    email = columns.Text()
    name = columns.Text()
    content = columns.Text()  # JSON, encrypted with SECRET_KEY: subject, topic, topic_id, body
    conversation_id = columns.TimeUUID()  # once it is confirmed


class MessageDraft(Model):
    """M8: what a person has typed and not sent, by conversation; the nil id for a new one.

    Bound: 100 drafts of at most 64 KiB; a draft expires after 30 days.
    Writer: conversations.operations.drafts.
    """

    __table_name__ = "message_drafts"
    __partition_bytes__ = 7 * MB
    __options__ = {"default_time_to_live": 30 * _DAY}
    __personal_data__ = {"columns": ("user_id", "body"), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    conversation_id = columns.UUID(primary_key=True)
    body = columns.Text()
    saved_at = columns.DateTime()


class ViewerByConversation(Model):
    """M9: the staff who have a conversation open. A row expires after 15 seconds.

    Bound: the staff, 60 bytes each.
    Writer: conversations.viewers.
    """

    __table_name__ = "viewers_by_conversation"
    __partition_bytes__ = 10 * KB
    __options__ = {"default_time_to_live": 15, "gc_grace_seconds": 3600}
    __personal_data__ = {
        "columns": ("user_id", "name"),
        "on_erase": "expires",
        "why": "after 15 seconds",
    }
    conversation_id = columns.TimeUUID(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    name = columns.Text()


class BlockedSender(Model):
    """M10: the addresses whose mails and messages the shop refuses, in shards, so that staff can list them.

    Bound: a sixteenth of the blocked addresses, 150 bytes each.
    Writer: conversations.operations.blocked_senders.
    """

    __table_name__ = "blocked_senders"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("email",), "on_erase": "deleted"}
    shard = columns.Integer(partition_key=True)  # of the address, 0 to 15
    email = columns.Text(primary_key=True)  # casefolded
    blocked_at = columns.DateTime()
    blocked_by = columns.UUID()
