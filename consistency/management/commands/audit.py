"""`manage.py audit`: the former name of `check_consistency`."""

from consistency.management.commands.check_consistency import Command

__all__ = ["Command"]
