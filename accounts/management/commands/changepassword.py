"""`manage.py changepassword EMAIL`: Django's command, which asks for the password twice. The audit log says who ran it."""

from typing import Any

from django.contrib.auth.management.commands import changepassword

from accounts.management.commands.staff import logged_command


class Command(changepassword.Command):
    help = "Change the password of the account with this e-mail address, and end its sessions."

    def handle(self, *args: Any, **options: Any) -> str | None:
        with logged_command("changepassword", options["username"] or ""):
            return super().handle(*args, **options)
