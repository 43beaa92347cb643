"""Builds the message for the mail server, and the signed addresses to which bounced mails and replies come.

The signature in such an address names one mail or one conversation. Nothing else in a mail that comes in is believed.
"""

import hmac
from email.utils import formataddr, parseaddr
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend

from cassandra_db import Row
from mail import one_click
from shop_settings.brand import get_brand
from web.encryption import keyed_digests

_BOUNCE, _REPLY = "bounce", "reply"
_SIGNATURE_LENGTH = 20  # hexadecimal digits: 80 bits; with "bounce+" and the mail's id at most 64 letters before the @
_TOKEN_LENGTH = 32 + _SIGNATURE_LENGTH


def build_message(mail: Row, connection: BaseEmailBackend | None) -> EmailMultiAlternatives:
    """Return the message for a mail of `queries.open_mail`. Raises ValueError for an unreadable text or impossible address."""
    if mail.text is None:
        raise ValueError("encrypted under a SECRET_KEY that is gone")
    sender = get_sender()
    message = EmailMultiAlternatives(
        mail.subject,
        mail.text,
        # This is the envelope's sender. Readers see the header "From" instead.
        from_email=bounce_address(mail.mail_id) or sender,
        to=[mail.recipient],
        connection=connection,
        headers={
            "From": sender,
            # The id is fixed, so that mail programs recognise a mail that is sent twice.
            "Message-ID": make_message_id(mail.mail_id),
        },
    )
    if mail.thread_id:
        _continue_thread(message, mail)
    else:
        message.extra_headers["Auto-Submitted"] = "auto-generated"
    if mail.unsubscribe_url:
        message.extra_headers["List-Unsubscribe"] = f"<{mail.unsubscribe_url}>"
        if mail.unsubscribe_url.startswith("https://"):
            message.extra_headers[one_click.HEADER[0]] = one_click.HEADER[1]
    if mail.html:
        message.attach_alternative(mail.html, "text/html")
    return message


def _continue_thread(message: EmailMultiAlternatives, mail: Row) -> None:
    """Let mail programs show a mail with the earlier mails of its thread, and answer to the thread's address."""
    if address := reply_address(mail.thread_id):
        message.extra_headers["Reply-To"] = address
    if mail.references:
        message.extra_headers["In-Reply-To"] = mail.references[-1]
        message.extra_headers["References"] = " ".join(mail.references)


def get_sender() -> str:
    """Return the address of the shop's mails, with the brand's name."""
    return formataddr((get_brand().name, parseaddr(settings.DEFAULT_FROM_EMAIL)[1]))


def make_message_id(mail_id: UUID) -> str:
    """Return the Message-ID of the mail with this id."""
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
    return f"<{mail_id}@{domain}>"


def bounce_address(mail_id: UUID) -> str:
    """Return the signed address to which a mail bounces; "" if MAIL_BOUNCE_ADDRESS is not set."""
    return _signed_address(settings.MAIL_BOUNCE_ADDRESS, mail_id, _BOUNCE)


def read_bounce_address(address: str) -> UUID | None:
    """Return the id of the mail in an address that `bounce_address` made; None if the address's signature is wrong."""
    return _read_address(address, _BOUNCE)


def reply_address(thread_id: UUID) -> str:
    """Return the signed address to which replies in a thread come; "" if MAIL_REPLY_ADDRESS is not set."""
    return _signed_address(settings.MAIL_REPLY_ADDRESS, thread_id, _REPLY)


def read_reply_address(address: str) -> UUID | None:
    """Return the id of the thread in an address that `reply_address` made; None if the address's signature is wrong."""
    return _read_address(address, _REPLY)


def _signed_address(base: str, signed_id: UUID, purpose: str) -> str:
    local, at, domain = base.rpartition("@")
    return f"{local}+{signed_id.hex}{_sign(signed_id, purpose)[0]}{at}{domain}" if at else ""


def _read_address(address: str, purpose: str) -> UUID | None:
    token = address.rpartition("@")[0].rpartition("+")[2].casefold()
    if len(token) != _TOKEN_LENGTH or not token.isascii():
        return None
    try:
        signed_id = UUID(hex=token[:32])
    except ValueError:
        return None
    signature = token[32:]
    signed = any(hmac.compare_digest(signature, each) for each in _sign(signed_id, purpose))
    return signed_id if signed else None


def _sign(signed_id: UUID, purpose: str) -> list[str]:
    return [digest[:_SIGNATURE_LENGTH] for digest in keyed_digests("", purpose, str(signed_id))]
