"""`manage.py staff add|list|remove|second-factor-reset`: manages the staff and their roles."""

import getpass
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email

from accounts import audit_log, operations, queries
from accounts.errors import LastAdmin
from accounts.models import User
from accounts.roles import ROLES
from cassandra_db import current_time


class Command(BaseCommand):
    help = "Make a user a member of staff, list the staff, or make one of them a shopper again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        add = actions.add_parser(
            "add", help="give a role; an account is made if there is none for the address"
        )
        add.add_argument("email")
        add.add_argument("--role", required=True, choices=ROLES)
        add.add_argument(
            "--name",
            default="",
            help="the name of a new account (default: the first part of the address)",
        )
        how = add.add_mutually_exclusive_group()
        how.add_argument(
            "--password-stdin",
            action="store_true",
            help="read a new account's password from the standard input",
        )
        how.add_argument(
            "--link",
            action="store_true",
            help="print a link, good for 24 hours, to choose name and password",
        )
        actions.add_parser("list", help="list everybody with a role")
        remove = actions.add_parser("remove", help="take the role away; the account stays")
        remove.add_argument("email")
        reset = actions.add_parser(
            "second-factor-reset",
            help="take a second factor away: the next login sets up a new one",
        )
        reset.add_argument("email")

    def handle(self, *args: Any, action: str, email: str = "", **options: Any) -> None:
        if action == "list":
            return self.list_staff()
        with logged_command(f"staff {action}", email, options.get("role") or "") as changes:
            found = queries.find_user_by_email(email)
            {
                "add": self.add_staff,
                "remove": self.remove_staff,
                "second-factor-reset": self.reset_second_factor,
            }[action](email=email, **options)
            if found and action in ("add", "remove"):
                now = {"role": options.get("role") or "none"}
                changes |= audit_log.describe_changes({"role": found.role or "none"}, now)
        return None

    def add_staff(
        self, *, email: str, role: str, name: str, password_stdin: bool, link: bool, **_: Any
    ) -> None:
        """Give the role to a member, or create an account with it."""
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email} is no e-mail address.") from error
        if found := queries.find_user_by_email(email):
            operations.set_role(found.pk, role, current_time())
            self.stdout.write(f"{email} has the role {role} now and has to sign in again.")
        elif link:
            self.stdout.write(operations.registration_link(email, role))
        else:
            password = self.read_password(email, from_stdin=password_stdin)
            operations.register_user(
                email, name or email.partition("@")[0], password, current_time(), role
            )
            self.stdout.write(f"{email} is registered with the role {role}.")

    def read_password(self, email: str, *, from_stdin: bool) -> str:
        """Read a valid password. Raises CommandError for an invalid one."""
        password = self.get_password(from_stdin=from_stdin)
        try:
            validate_password(password, User(email=email))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        return password

    def get_password(self, *, from_stdin: bool) -> str:
        """Return the password from the standard input, or as it was typed twice."""
        if from_stdin:
            return sys.stdin.readline().rstrip("\r\n")
        if not self.can_ask():
            raise CommandError(
                "There is nobody to ask for a password: use --password-stdin or --link."
            )
        password = getpass.getpass()
        if getpass.getpass("The same again: ") != password:
            raise CommandError("These were two different passwords.")
        return password

    def can_ask(self) -> bool:
        """Return whether the command runs in a terminal."""
        return sys.stdin.isatty()

    def list_staff(self) -> None:
        """Print the staff with their roles."""
        everybody = queries.list_staff()
        for row in everybody:
            self.stdout.write(
                f"{row.role:10} {row.email} ({row.name}){'' if row.active else ', may not sign in'}"
            )
        self.stdout.write(f"{len(everybody)} with a role.")

    def remove_staff(self, *, email: str, **_: Any) -> None:
        """Remove the role and end the sessions."""
        found = queries.find_user_by_email(email)
        if found is None or not found.role:
            raise CommandError(f"{email} has no role here. `manage.py staff list` lists who has.")
        operations.set_role(found.pk, "", current_time())
        self.stdout.write(f"{email} is a shopper now.")

    def reset_second_factor(self, *, email: str, **_: Any) -> None:
        """Delete the second factor and end the sessions."""
        found = queries.find_user_by_email(email)
        if found is None or not operations.reset_second_factor(found, current_time()):
            raise CommandError(f"{email} has no second factor.")
        self.stdout.write(
            f"{email} sets up a new second factor at the next login, and has to sign in again."
        )


@contextmanager
def logged_command(act: str, email: str, role: str = "") -> Iterator[dict[str, Any]]:
    """Log a command about an account before it runs, and log its outcome when it ends.

    Yields a dict that takes the changes for the audit log. Raises CommandError if an operation refuses the command.
    """
    # The command is logged before it runs, like a submit on the staff's pages (accounts.audit_log).
    found = queries.find_user_by_email(email)
    entry = audit_log.open_entry(
        act,
        current_time(),
        name=f"{_system_user()}, by manage.py",
        subject=str(found.pk) if found else audit_log.mailbox_pseudonym(email),
        fields={"role": [role]},
    )
    changes: dict[str, Any] = {}
    try:
        yield changes
    except CommandError:
        audit_log.close_entry(entry, "refused")
        raise
    except LastAdmin as error:
        audit_log.close_entry(entry, "refused")
        raise CommandError(str(error)) from error
    audit_log.close_entry(entry, "done", changes)


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user of a container has no name
        return "somebody"
