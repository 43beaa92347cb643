"""`manage.py check_mail_domain`: check the DNS records by which mail servers recognise the shop's mails."""

from argparse import ArgumentParser
from email.utils import parseaddr
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from dns.resolver import Resolver

from mail.domain import WRONG, NoDnsAnswer, check_mail_domain

DNS_PORT = 53


class Command(BaseCommand):
    help = (
        "Check SPF, DKIM and DMARC of the domains of SHOP_EMAIL and MAIL_BOUNCE_ADDRESS (docs/operations/configuration.md)."
        " Status 0: nothing is wrong, 1: something is, 2: no DNS server answered."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--selector",
            action="append",
            required=True,
            help="the name of the DKIM key with which the mail server signs (may be given several times)",
        )
        parser.add_argument(
            "--nameserver", metavar="ADDRESS[:PORT]", help="ask this IPv4 address, not the system's"
        )

    def handle(self, *, selector: list[str], nameserver: str | None, **options: Any) -> None:
        """Print the findings. Raises SystemExit with the command's exit status."""
        resolver = Resolver(configure=nameserver is None)
        if nameserver:
            address, _, port = nameserver.partition(":")
            resolver.nameservers, resolver.port = [address], int(port or DNS_PORT)
        sender = _domain(settings.DEFAULT_FROM_EMAIL)
        bounce = _domain(settings.MAIL_BOUNCE_ADDRESS) or sender
        is_wrong = False
        try:
            for finding in check_mail_domain(sender, bounce, selector, resolver):
                is_wrong |= finding.level == WRONG
                self.stdout.write(f"{finding.level}: {finding.text}")
        except NoDnsAnswer as error:
            self.stderr.write(f"No DNS server answered: {error}")
            raise SystemExit(2) from error
        raise SystemExit(int(is_wrong))


def _domain(address: str) -> str:
    return parseaddr(address)[1].rpartition("@")[2].lower()
