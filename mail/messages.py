"""Builds the message for the mail server, and the address to which an undeliverable message returns."""

import hmac
from email.utils import parseaddr
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend

from cassandra_db import Row
from mail import one_click
from web.encryption import keyed_digests

_PURPOSE = "bounce"
_SIGNATURE_LENGTH = 20  # hexadecimal digits: 80 bits; with "bounce+" and the mail's id at most 64 letters before the @
_TOKEN_LENGTH = 32 + _SIGNATURE_LENGTH


def build_message(mail: Row, connection: BaseEmailBackend | None) -> EmailMultiAlternatives:
    """Return the message for a mail of `queries.open_mail`. Raises ValueError for an unreadable text or impossible address."""
    if mail.text is None:
        raise ValueError("encrypted under a SECRET_KEY that is gone")
    sender = settings.DEFAULT_FROM_EMAIL
    domain = parseaddr(sender)[1].rpartition("@")[2]
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
            "Message-ID": f"<{mail.mail_id}@{domain}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    if mail.unsubscribe_url:
        message.extra_headers["List-Unsubscribe"] = f"<{mail.unsubscribe_url}>"
        if mail.unsubscribe_url.startswith("https://"):
            message.extra_headers[one_click.HEADER[0]] = one_click.HEADER[1]
    if mail.html:
        message.attach_alternative(mail.html, "text/html")
    return message


def bounce_address(mail_id: UUID) -> str:
    """Return the signed address to which a mail bounces; "" if MAIL_BOUNCE_ADDRESS is not set."""
    local, at, domain = settings.MAIL_BOUNCE_ADDRESS.rpartition("@")
    return f"{local}+{mail_id.hex}{_sign(mail_id)[0]}{at}{domain}" if at else ""


def read_bounce_address(address: str) -> UUID | None:
    """Return the id of the mail in an address that `bounce_address` made; None if the address's signature is wrong."""
    token = address.rpartition("@")[0].rpartition("+")[2].casefold()
    if len(token) != _TOKEN_LENGTH or not token.isascii():
        return None
    try:
        mail_id = UUID(hex=token[:32])
    except ValueError:
        return None
    signature = token[32:]
    signed = any(hmac.compare_digest(signature, each) for each in _sign(mail_id))
    return mail_id if signed else None


def _sign(mail_id: UUID) -> list[str]:
    return [digest[:_SIGNATURE_LENGTH] for digest in keyed_digests("", _PURPOSE, str(mail_id))]
