"""Waits in tests for what another thread, process or browser does."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T | None],
    failure: str = "it did not happen in time",
    *,
    seconds: float = 20.0,
) -> T:
    """Ask until the answer is true, and return it. Raises AssertionError with `failure` after `seconds`."""
    deadline, pause = time.monotonic() + seconds, 0.001
    while not (found := condition()):
        assert time.monotonic() < deadline, f"after {seconds:.0f} s: {failure}"
        time.sleep(pause)
        pause = min(2 * pause, 0.2)
    return found
