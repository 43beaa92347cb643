"""`manage.py dumpdata`: names the programs that copy the tables, because Django's own command dumps relational data."""

from typing import Any, NoReturn

from django.core.management.base import CommandError
from django.core.management.commands import dumpdata


class Command(dumpdata.Command):
    help = "Name what copies the tables instead."

    def handle(self, *args: Any, **options: Any) -> NoReturn:
        raise CommandError(
            "The tables are not read through models. A backup is `nodetool snapshot` on each node;"
            " cqlsh's `COPY … TO` reads a single table."
        )
