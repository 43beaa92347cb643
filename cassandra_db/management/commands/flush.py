"""`manage.py flush`: empties all tables. Unlike the engine's, it asks first, as Django's does."""

from typing import Any

from django.core.management.commands import flush


class Command(flush.Command):
    def handle(self, **options: Any) -> None:
        # There is no migration to tell of.
        super().handle(**options | {"inhibit_post_migrate": True})
