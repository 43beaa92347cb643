"""`manage.py createsuperuser`: makes an admin's account like `staff add EMAIL --role admin`, but takes Django's arguments."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts import queries
from accounts.management.commands import staff
from accounts.roles import ADMIN


class Command(staff.Command):
    help = "Make an admin's account, as `staff add EMAIL --role admin` does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", help="the address that the admin signs in with")
        parser.add_argument(
            "--noinput",
            "--no-input",
            action="store_false",
            dest="interactive",
            help="ask nothing: take DJANGO_SUPERUSER_EMAIL and DJANGO_SUPERUSER_PASSWORD from the environment",
        )

    def handle(  # type: ignore[override]
        self, *args: Any, email: str | None, interactive: bool, **options: Any
    ) -> None:
        self.is_interactive = interactive
        email = email or os.environ.get("DJANGO_SUPERUSER_EMAIL")
        if not email:
            if not (interactive and self.can_ask()):
                raise CommandError("Give --email, or DJANGO_SUPERUSER_EMAIL in the environment.")
            email = input("E-mail address: ")
        if queries.find_user_by_email(email):
            raise CommandError(
                f"{email} has an account: `manage.py staff add {email} --role admin` makes it an admin's."
            )
        super().handle(
            action="add", email=email, role=ADMIN, name="", password_stdin=False, link=False
        )

    def get_password(self, *, from_stdin: bool) -> str:
        """Return the password from the environment, or as it was typed twice."""
        if self.is_interactive:
            return super().get_password(from_stdin=from_stdin)
        password = os.environ.get("DJANGO_SUPERUSER_PASSWORD")
        if not password:
            raise CommandError("DJANGO_SUPERUSER_PASSWORD is not in the environment.")
        return password
