"""`manage.py sync_cassandra`: the former name of `manage.py migrate`."""

from typing import Any

from django.core.management import call_command
from django_cassandra_engine.management.commands import sync_cassandra


class Command(sync_cassandra.Command):  # type: ignore[misc]
    help = "The former name of `manage.py migrate`."

    def handle(self, **options: Any) -> None:
        call_command("migrate", verbosity=options["verbosity"], stdout=self.stdout)
