"""Errors of the web layer, in words fit for their reader."""


class TooManyAttempts(Exception):
    """Something was tried more often than its limit allows. `retry_after`: the seconds until it may be tried again."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = max(1, retry_after)

    def __str__(self) -> str:
        return f"That was tried too often. Wait {self.wait_time}, then try again."

    @property
    def wait_time(self) -> str:
        """The time to wait, in words."""
        minutes = -(-self.retry_after // 60)
        if minutes > 1:
            return f"{minutes} minutes"
        return "a minute" if self.retry_after > 30 else "half a minute"
