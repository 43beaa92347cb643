"""`manage.py remove_stale_contenttypes`: says that there is nothing to remove, since content types have no table."""

from typing import Any, NoReturn

from django.contrib.contenttypes.management.commands import remove_stale_contenttypes
from django.core.management.base import CommandError


class Command(remove_stale_contenttypes.Command):
    help = "Say that content types have no table."

    def handle(self, **options: Any) -> NoReturn:
        raise CommandError("Content types have no table here: there is nothing to remove.")
