"""`manage.py flush`: empties all tables. Unlike the engine's command, it first asks, as Django's command does."""

from typing import Any

from django.core.management.commands import flush


class Command(flush.Command):
    def handle(self, **options: Any) -> None:
        # There is no migration that the command could tell the apps about.
        super().handle(**options | {"inhibit_post_migrate": True})
