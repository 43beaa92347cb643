"""`manage.py audit`: what `check_consistency` was called before."""

from consistency.management.commands.check_consistency import Command

__all__ = ["Command"]
