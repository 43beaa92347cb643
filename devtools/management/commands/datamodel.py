"""`manage.py datamodel`: render docs/data-model.md from the models."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from devtools.datamodel import render_data_model


class Command(BaseCommand):
    help = "Print the data model as the models have it; --write puts it into docs/data-model.md, --check compares."

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--write", action="store_true", help="write docs/data-model.md")
        what.add_argument(
            "--check", action="store_true", help="fail if docs/data-model.md says something else"
        )

    def handle(self, *, write: bool, check: bool, **options: Any) -> None:
        page = settings.BASE_DIR / "docs" / "data-model.md"
        text = render_data_model()
        if write:
            page.write_text(text, encoding="utf-8")
            self.stdout.write(f"Wrote {page.relative_to(settings.BASE_DIR)}.")
        elif not check:
            self.stdout.write(text)
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            raise CommandError(
                "docs/data-model.md is not what the models say: run `manage.py datamodel --write`."
            )
