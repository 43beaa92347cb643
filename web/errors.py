"""Errors of the web layer, in words fit for their reader."""

from django.utils.translation import gettext as _

from web.durations import format_duration


class TooManyAttempts(Exception):
    """Something was tried more often than its limit allows. `retry_after`: the seconds until it may be tried again."""

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
