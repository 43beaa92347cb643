"""`manage.py mailcatcher`: run the demo shop's own mail server, which keeps every message and forwards none.

A mail to a reply address of the shop is taken in, as `manage.py receive_mail` does for a real mail server.
"""

import asyncio
import logging
import signal
import threading
from argparse import ArgumentParser
from io import BytesIO
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from cassandra_db import CassandraUnavailable, current_time
from conversations.incoming import receive_mail
from conversations.mail_parsing import MailRefused
from mail.messages import read_reply_address
from web.errors import TooManyAttempts


class _Catcher(Mailbox):
    """Keeps each mail, and hands answers of customers to the shop."""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        for address in filter(read_reply_address, envelope.rcpt_tos):
            if refusal := await asyncio.to_thread(_take_in, envelope.content, address):
                return refusal
        return await super().handle_DATA(server, session, envelope)


def _take_in(content: bytes, address: str) -> str:
    """Hand a mail to the shop; return the answer for its sender, "" if the shop has taken it."""
    try:
        receive_mail(BytesIO(content).read, address, current_time())
    except MailRefused as error:
        return f"550 {error}"
    except (TooManyAttempts, CassandraUnavailable):
        return "451 Too many mails, or the shop is busy. Try again later."
    return ""


class Command(BaseCommand):
    help = "Catch the mail that the shop sends on this machine and keep it in a Maildir."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8025)
        parser.add_argument("--maildir", type=Path, default=settings.MAILDIR)

    def handle(self, *args: Any, host: str, port: int, maildir: Path, **options: Any) -> None:
        # The mail server logs senders and recipients, which are personal data and belong in no log.
        logging.getLogger("mail.log").setLevel(logging.WARNING)
        maildir.parent.mkdir(parents=True, exist_ok=True)
        controller = Controller(_Catcher(maildir), hostname=host, port=port)
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        try:
            controller.start()
        except OSError as error:
            raise CommandError(f"Port {port} on {host} cannot be used: {error}") from error
        self.stdout.write(f"Catching mail on {host}:{port}, keeping it in {maildir}")
        self.stdout.flush()  # the process that started it waits for this line
        stopped.wait()
        controller.stop()
