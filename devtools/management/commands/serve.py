"""`manage.py serve`: run the whole shop on this machine until Ctrl-C, for `make run` and `make dev`."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from demo.logins import LOGINS
from devtools import shop_run
from devtools.node import NodeError


class Command(BaseCommand):
    help = "Run the shop with its worker, its mail catcher and its Cassandra until Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000))
        parser.add_argument(
            "--dev", action="store_true", help="the autoreloading server, with DEBUG on"
        )
        parser.add_argument(
            "--as-is",
            action="store_true",
            help="leave tables, demo shop and static files as they are",
        )
        parser.add_argument(
            "--stop", action="store_true", help="end every run of this checkout instead"
        )

    def handle(
        self, *args: Any, port: int, dev: bool, as_is: bool, stop: bool, **options: Any
    ) -> None:
        if stop:
            if not shop_run.stop_runs(self.say):
                self.say("No run of this checkout is open.")
            return
        try:
            logins = [(login.label, login.email, login.password) for login in LOGINS]
            shop_run.serve_shop(
                port=port, development=dev, prepare=not as_is, logins=logins, say=self.say
            )
        except (NodeError, shop_run.RunError) as error:
            raise CommandError(str(error)) from error

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
