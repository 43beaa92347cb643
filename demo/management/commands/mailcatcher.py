"""`manage.py mailcatcher`: run the demo shop's own mail server, which keeps every message and forwards none."""

import logging
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


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
        controller = Controller(Mailbox(maildir), hostname=host, port=port)
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
