"""The command to which the mail server pipes bounced mails."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cassandra_db import CassandraUnavailable, current_time
from mail import queries
from mail.bounces import MAX_REPORT_BYTES, read_delivery_report
from mail.messages import read_bounce_address
from mail.operations import note_trouble, receive_hard_bounce

# Exit codes that mail servers understand (sysexits.h): the shop did not send the mail; the server shall try again later.
NOT_OURS, TRY_AGAIN = 65, 75


class Command(BaseCommand):
    """The command that reads a delivery report from standard input, and records it with the mail that failed."""

    help = "Takes a mail that came back: the mail server pipes it in (docs/operations/configuration.md)"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("address", help="the address that it came to: the envelope's recipient")

    def handle(self, *, address: str, **options: Any) -> None:
        """Record the report, and print one line."""
        mail_id = read_bounce_address(address)
        if mail_id is None:
            raise CommandError("This is no address of the shop's mails.", returncode=NOT_OURS)
        report = read_delivery_report(sys.stdin.buffer.read(MAX_REPORT_BYTES))
        if report is None:
            self.stdout.write("Nothing noted: it reports no trouble.")
            return
        try:
            mail = queries.get_mail(mail_id)
            if mail is None or mail.recipient is None:
                self.stdout.write(f"Nothing noted: mail {mail_id} is no longer kept.")
            elif report.is_hard:
                receive_hard_bounce(
                    mail, report.failure, current_time(), is_address_dead=report.is_address_dead
                )
                self.stdout.write(f"Mail {mail_id} came back for good.")
            else:
                note_trouble(mail, report.failure)
                self.stdout.write(f"Mail {mail_id} is delayed.")
        except CassandraUnavailable as error:
            raise CommandError(
                "The database does not answer. Try again later.", returncode=TRY_AGAIN
            ) from error
