"""`manage.py choose_keyspace`: print the name of a keyspace whose tables suit this checkout's models, for `make run`."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from devtools.keyspaces import choose_keyspace


class Command(BaseCommand):
    help = (
        "Print the keyspace of the settings, or the next one if that has tables of another version."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(choose_keyspace(settings.DATABASES["default"]["NAME"]))
