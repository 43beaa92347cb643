"""`manage.py load_scale --products N --orders M`: fill a separate keyspace, to try the shop at this size."""

import io
import os
import subprocess
import sys
from argparse import ArgumentParser
from datetime import datetime
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from benchmarks import scale
from cassandra_db import current_time
from cassandra_db.session import keyspace_name


class Command(BaseCommand):
    help = "Fill a keyspace of its own with made-up products and orders. Serve it by CASSANDRA_KEYSPACE."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--products", type=int, default=100_000)
        parser.add_argument("--orders", type=int, default=0)
        parser.add_argument("--keyspace", help="default: the shop's own with _scale behind it")
        parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
        parser.add_argument(
            "--part", help="used between the processes", choices=("products", "orders", "derived")
        )
        parser.add_argument("--number", type=int, default=0, help="used between the processes")
        parser.add_argument("--now", type=datetime.fromisoformat, help="used between the processes")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["part"]:
            return self._load(**options)
        current = settings.DATABASES["default"]["NAME"]
        wanted = options["keyspace"] or (
            current if current.endswith("_scale") else f"{current}_scale"
        )
        if wanted != current:
            command = [sys.executable, *sys.argv, "--keyspace", wanted]
            done = subprocess.run(
                command, env=os.environ | {"CASSANDRA_KEYSPACE": wanted}, check=False
            )
            if done.returncode:
                raise CommandError(f"{wanted} could not be filled")
            return None
        return self._load_all(**options)

    def _load_all(self, *, products: int, orders: int, processes: int, **options: Any) -> None:
        call_command("migrate", verbosity=0, stdout=io.StringIO())
        began, now = monotonic(), current_time()
        scale.load_categories()
        for what, count in (("products", products), ("orders", orders), ("derived", products)):
            if count:
                self._in_processes(what, products, orders, processes, now)
        self.stdout.write(
            f"{keyspace_name()} is full ({monotonic() - began:.0f} s). Serve it: CASSANDRA_KEYSPACE={keyspace_name()}"
        )

    def _in_processes(
        self, what: str, products: int, orders: int, processes: int, now: datetime
    ) -> None:
        began = monotonic()
        size = ["--products", str(products), "--orders", str(orders), "--processes", str(processes)]
        parts = [
            subprocess.Popen(
                [
                    sys.executable,
                    sys.argv[0],
                    "load_scale",
                    *size,
                    "--part",
                    what,
                    "--number",
                    str(number),
                    "--now",
                    now.isoformat(),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(processes)
        ]
        outputs = [part.communicate()[0] for part in parts]
        if any(part.returncode for part in parts):
            raise CommandError(f"{what}: a process failed")
        rows, took = sum(int(text.split()[-1]) for text in outputs), monotonic() - began
        self.stdout.write(
            f"{what:<8} {rows:>12,} rows in {took:.0f} s"
            + (f", {rows / took:,.0f} a second" if rows else "")
        )
        self.stdout.flush()

    def _load(
        self,
        *,
        part: str,
        number: int,
        processes: int,
        products: int,
        orders: int,
        now: datetime,
        **options: Any,
    ) -> None:
        own_part = scale.Part(number, processes)
        if part == "products":
            rows = scale.load_products(products, own_part, now)
        elif part == "orders":
            rows = scale.load_orders(orders, products, own_part, now)
        else:
            rows = scale.rebuild_derived(own_part)
        self.stdout.write(str(rows))
