"""`manage.py loaddata`: names the commands that fill the tables, because Django's own command loads relational data."""

from typing import Any, NoReturn

from django.core.management.base import CommandError
from django.core.management.commands import loaddata


class Command(loaddata.Command):
    help = "Name what fills the tables instead."

    def handle(self, *args: Any, **options: Any) -> NoReturn:
        raise CommandError(
            "Rows are written by the apps' operations, which keep their copies in step. `nodetool refresh` and"
            " `sstableloader` restore a snapshot; `manage.py load_demo` fills a demo shop."
        )
