"""`manage.py load_brand`: turn the demo shop into another brand's shop, and back."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from cassandra_db import current_time
from demo.brands import FIRST, list_brand_names, load_brand


class Command(BaseCommand):
    help = "Give the demo shop another brand, by what staff save on their pages; or the first one again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=[FIRST, *list_brand_names()])

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("This is no demo shop: set STOA_DEMO=true if it shall become one.")
        load_brand(name, current_time())
        self.stdout.write("Pages have it within seconds, lists and menus within a minute.")
