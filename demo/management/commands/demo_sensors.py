"""`manage.py demo_sensors`: simulate the sensors in the demo shop's warehouses, and send their readings to the shop."""

import json
import signal
import threading
import urllib.error
import urllib.request
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse

from cassandra_db import current_time
from demo.sensors import SENSORS, measure
from sensors.readings import add_sensor


class Command(BaseCommand):
    help = "Register the demo shop's sensors anew, and send their readings over HTTP until SIGTERM or SIGINT."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", nargs="?", default="http://127.0.0.1:8000", help="of the shop")
        parser.add_argument("--every", type=float, default=10.0, metavar="SECONDS")
        parser.add_argument("--times", type=int, default=0, help="end after so many; 0: never")

    def handle(self, *, url: str, every: float, times: int, **options: Any) -> None:
        tokens = {number: add_sensor(number, key) for number, key in SENSORS.items()}
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        self.stdout.write(f"{len(tokens)} sensors send to {url} every {every:g} seconds")
        sent = 0
        while not stopped.is_set() and not (times and sent >= times):
            for serial_number, token in tokens.items():
                self._send(url + reverse("readings", args=[serial_number]), serial_number, token)
            sent += 1
            if not (times and sent >= times):
                stopped.wait(every)

    def _send(self, address: str, serial_number: str, token: str) -> None:
        """Send a sensor's current readings. They are lost if the shop does not accept them."""
        readings = [
            {"at": each.at.isoformat(), "type": each.kind, "value": each.value}
            for each in measure(serial_number, current_time())
        ]
        request = urllib.request.Request(  # noqa: S310 -- the shop's own address
            address,
            json.dumps({"readings": readings}).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            urllib.request.urlopen(request, timeout=10).close()  # noqa: S310
        except urllib.error.URLError as error:
            self.stderr.write(f"{serial_number}: {error}")
