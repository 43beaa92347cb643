"""Takes in the mails of customers. Decision 089 says what of a mail is believed.

The signed address to which a mail came names the conversation; its subject and references do not. The header From only decides
whether the sender is shown as verified. Nothing is ever sent in answer to a mail, so no loop can start.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from email.utils import parseaddr
from io import BytesIO
from uuid import UUID, uuid5

from django.conf import settings
from django.utils.translation import gettext as _

from conversations import queries
from conversations.entities import Attachment, Conversation, NewMessage, Sender
from conversations.errors import AttachmentRefused, NoSuchConversation
from conversations.mail_parsing import MailFile, MailRefused, ParsedMail, read_mail
from conversations.operations.attachments import store_attachment
from conversations.operations.blocked_senders import is_blocked
from conversations.operations.messages import send_message
from conversations.quotes import remove_quotes
from conversations.rules import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, MAX_BODY, MAX_MESSAGE_BYTES
from conversations.spam import is_spam, mark_as_spam
from conversations.states import CUSTOMER, NOTE
from mail.addresses import email_key
from mail.messages import read_reply_address
from notifications.kinds import start_recipient
from web.rate_limits import hit_account_limit

_MAX_NAMED = 20  # files that were left out


def receive_mail(read: Callable[[int], bytes], address: str, now: datetime) -> str:
    """Store a mail that came to `address`, once; return what became of it. `read` returns the mail in pieces.

    Raises MailRefused, TooManyAttempts, CassandraUnavailable.
    """
    conversation_id = read_reply_address(address)
    if conversation_id is None:
        raise MailRefused("This is no address of the shop's messages.")
    mail, conversation = read_mail(read), queries.get_conversation(conversation_id)
    if conversation is None or not conversation.customer.email:  # or the customer was erased
        raise MailRefused("This conversation no longer exists. Please start a new one.")
    if mail.is_bounce or any(_is_own(each) for each in mail.senders):
        return "Nothing stored: it comes from a mail server."
    if not mail.senders:
        raise MailRefused("This mail names no sender.")
    if any(map(is_blocked, {*mail.senders, conversation.customer.email})):
        return "Nothing stored: the shop takes no mail from this sender."
    source_id = uuid5(conversation_id, f"mail {mail.key}")
    for account in (email_key(mail.senders[0]), conversation_id.hex):
        hit_account_limit("message", f"mail {account}", source_id)
    return _store(conversation, mail, source_id, now)


def _is_own(sender: str) -> bool:
    own = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    return email_key(sender) == email_key(own) or read_reply_address(sender) is not None


def _store(conversation: Conversation, mail: ParsedMail, source_id: UUID, now: datetime) -> str:
    typed = remove_quotes(mail.text)
    if not typed and not mail.files:
        raise MailRefused("This mail has no text besides what it quotes. Please write one.")
    sender = _find_sender(conversation, mail)
    suspicious = is_spam(mail.text, is_flagged=mail.is_flagged)
    # A note waits for nobody and is not answered.
    is_note = mail.is_automatic or (suspicious and not sender.is_verified)
    attachments, left_out = _store_files(mail.files, source_id)
    body = typed if len(typed) <= MAX_BODY else f"{typed[: MAX_BODY - 1]}…"
    new = NewMessage(
        source_id=source_id,
        kind=NOTE if is_note else CUSTOMER,
        sender=sender,
        body="\n\n".join(filter(None, (body, left_out))),
        quoted=mail.text[:MAX_MESSAGE_BYTES] if mail.text != typed or body != typed else "",
        mail_message_id=mail.message_id,
        attachments=attachments,
    )
    try:
        send_message(conversation.conversation_id, new, now)
    except NoSuchConversation as error:
        raise MailRefused("This conversation no longer exists.") from error
    if suspicious and not is_note:
        mark_as_spam(conversation.conversation_id, source_id, now)
    return "Stored as a note." if is_note else "Stored."


def _find_sender(conversation: Conversation, mail: ParsedMail) -> Sender:
    """Return who wrote a mail. Only the customer's own address, alone in the header, is verified."""
    customer, (email, *others) = conversation.customer, mail.senders
    own = {email_key(customer.email)}
    if customer.is_member and (member := start_recipient(customer.customer_id)()):
        own.add(email_key(member.email))
    if others or email_key(email) not in own:
        return Sender(None, mail.sender_name or email, email, is_verified=False)
    return Sender(customer.customer_id if customer.is_member else None, customer.name, email)


def _store_files(files: Sequence[MailFile], source_id: UUID) -> tuple[tuple[Attachment, ...], str]:
    """Store a mail's files within the bounds; return them, and a sentence that names the others."""
    stored: list[Attachment] = []
    left_out: list[str] = []
    for file in files:
        content = file.read()
        size = len(content) + sum(each.size for each in stored)
        if len(stored) == MAX_ATTACHMENTS or size > MAX_ATTACHMENT_BYTES:
            left_out.append(file.name)
            continue
        try:
            stored.append(store_attachment(BytesIO(content), name=file.name, source_id=source_id))
        except AttachmentRefused:
            left_out.append(file.name)
    if not left_out:
        return tuple(stored), ""
    named = ", ".join(name[:100] for name in left_out[:_MAX_NAMED])
    return tuple(stored), _("Files that we could not keep: %(names)s") % {"names": named}
