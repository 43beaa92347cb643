"""The command to which the mail server pipes customers' answers."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cassandra_db import CassandraUnavailable, current_time
from conversations.incoming import receive_mail
from conversations.mail_parsing import MailRefused
from mail.management.commands.receive_bounce import NOT_OURS, TRY_AGAIN
from web.errors import TooManyAttempts


class Command(BaseCommand):
    """The command that reads a mail from standard input, and stores it in its conversation."""

    help = (
        "Takes a customer's answer: the mail server pipes it in (docs/operations/configuration.md)"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("address", help="the address that it came to: the envelope's recipient")

    def handle(self, *, address: str, **options: Any) -> None:
        """Store the mail, and print one line."""
        try:
            self.stdout.write(receive_mail(sys.stdin.buffer.read, address, current_time()))
        except MailRefused as error:
            raise CommandError(str(error), returncode=NOT_OURS) from error
        except TooManyAttempts as error:
            raise CommandError("Too many mails. Try again later.", returncode=TRY_AGAIN) from error
        except CassandraUnavailable as error:
            raise CommandError(
                "The database does not answer. Try again later.", returncode=TRY_AGAIN
            ) from error
