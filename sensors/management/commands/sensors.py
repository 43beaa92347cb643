"""`manage.py sensors`: list, add and remove the devices that may send readings from the warehouses."""

import re
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inventory.warehouses import find_warehouse_key, list_warehouses
from sensors.readings import TooManySensors, add_sensor, list_sensors, remove_sensor

_SERIAL_NUMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Command(BaseCommand):
    help = (
        "List the sensors of the warehouses; let a device send readings, and print its token; or take no more of one."
        " Other processes follow within five seconds."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--add", metavar="SERIAL", help="a new device; one that is known gets another token"
        )
        what.add_argument("--remove", metavar="SERIAL", help="take no more readings of a device")
        parser.add_argument("--warehouse", help="where the new device is: the key or the name")

    def handle(
        self, *, add: str | None, remove: str | None, warehouse: str | None, **options: Any
    ) -> None:
        if add:
            self._add(add, warehouse or "")
        elif remove:
            if remove not in {each.serial_number for each in list_sensors()}:
                raise CommandError(f"There is no sensor {remove}.")
            remove_sensor(remove)
        else:
            for sensor in list_sensors():
                self.stdout.write(f"{sensor.serial_number:40} {sensor.warehouse}")

    def _add(self, serial_number: str, warehouse: str) -> None:
        key = find_warehouse_key(warehouse)
        if not key:
            known = ", ".join(list_warehouses())
            raise CommandError(f"--warehouse is one of {known}.")
        if not _SERIAL_NUMBER.fullmatch(serial_number):
            raise CommandError("A serial number has letters, digits, dots, dashes: 40 at most.")
        try:
            token = add_sensor(serial_number, key)
        except TooManySensors as many:
            raise CommandError(f"There can be {many} sensors.") from many
        self.stdout.write(token)
