"""The mails to customers about messages of the shop, and the Message-IDs by which mail programs keep a conversation together."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from conversations import queries
from conversations.entities import Conversation, Message
from conversations.states import NOTE
from conversations.tokens import conversation_token
from mail.messages import make_message_id
from mail.operations import MailOptions, queue_mail
from mail.queries import derive_mail_id
from notifications.kinds import start_recipient, wants_mail
from notifications.links import unsubscribe_url

# The kind of notifications about the shop's messages (conversations.notifications).
SHOP_REPLIED = "shop_replied"
_MAX_REFERENCES = 10


def queue_reply_mail(conversation: Conversation, message: Message, now: datetime) -> None:
    """Mail a message of the shop to the customer, once. A member who has chosen otherwise gets none. Raises CassandraUnavailable.

    The mail has the message's text, and a link to its files. Only its Reply-To identifies the conversation.
    """
    customer, ident = conversation.customer, conversation.conversation_id
    email, end_url = customer.email, ""
    if customer.is_member:
        recipient = start_recipient(customer.customer_id)()
        if recipient is None or not wants_mail(SHOP_REPLIED, recipient.choices):
            return
        email, end_url = recipient.email, unsubscribe_url(customer.customer_id, SHOP_REPLIED)
    if not email:
        return  # the customer was erased
    subject = conversation.subject
    context = {
        "thread_subject": subject if subject.casefold().startswith("re:") else f"Re: {subject}",
        "body": message.body,
        "file_names": [each.name for each in message.attachments],
        "url": page_url(conversation),
        "answer": _("To answer, reply to this email, or write on the page.")
        if settings.MAIL_REPLY_ADDRESS
        else _("Please don’t reply to this email. Answer on the page."),
        "end_url": end_url,
    }
    options = MailOptions(
        unsubscribe_url=end_url,
        thread_id=ident,
        references=_list_references(ident, message.message_id),
    )
    queue_mail(
        ident, _event(message.message_id), email, "conversation_reply", context, now, options
    )


def page_url(conversation: Conversation) -> str:
    """Return the address at which the customer reads the conversation: a member signed in, a guest by a signed link."""
    ident = conversation.conversation_id
    if conversation.customer.is_member:
        return f"{settings.PUBLIC_URL}{reverse('conversations:detail', args=[ident])}"
    return (
        f"{settings.PUBLIC_URL}{reverse('conversations:guest', args=[conversation_token(ident)])}"
    )


def _event(message_id: UUID) -> str:
    return f"reply {message_id.hex}"


def _list_references(conversation_id: UUID, before: UUID) -> tuple[str, ...]:
    """Return the Message-IDs of the conversation's mails before a message, oldest first. The shop's own are computed."""
    # Notes are among them.
    rows = queries.MESSAGES_BEFORE.all(
        conversation_id=conversation_id, before=before, most=2 * _MAX_REFERENCES
    )
    found = [
        make_message_id(derive_mail_id(conversation_id, _event(each.message_id)))
        if not each.is_from_customer
        else each.mail_message_id
        for each in queries.messages_from_rows(rows)
        if each.kind != NOTE
    ]
    return tuple(filter(None, found))[-_MAX_REFERENCES:]
