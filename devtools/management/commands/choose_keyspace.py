"""`manage.py choose_keyspace`: print the name of a keyspace whose tables suit this checkout's models, for `make run`.

The parts of the demo shop follow that it holds as this checkout would fill them today (demo.mark).
"""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from cassandra_db import current_time
from demo import mark
from devtools.keyspaces import choose_keyspace


class Command(BaseCommand):
    help = (
        "Print the keyspace of the settings, or the next one if that has tables of another version."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = settings.DATABASES["default"]["NAME"]
        chosen = choose_keyspace(wanted)
        is_ready = settings.DEMO and chosen == wanted
        parts = mark.list_filled_parts(current_time()) if is_ready else []
        self.stdout.write(" ".join([chosen, *parts]))
