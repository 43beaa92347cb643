"""Errors of the web layer, whose texts are for visitors."""

from django.utils.translation import gettext as _

from web.durations import format_duration


class TooManyAttempts(Exception):
    """A rate limit is reached. `retry_after` is the number of seconds until another attempt is allowed."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = max(1, retry_after)

    def __str__(self) -> str:
        return _("Too many attempts. Wait %(wait_time)s, then try again.") % {
            "wait_time": self.wait_time
        }

    @property
    def wait_time(self) -> str:
        """The time to wait, in words."""
        unit = 30 if self.retry_after <= 30 else 60
        return format_duration(-(-self.retry_after // unit) * unit)
