"""What a test reads, where the read may find nothing."""

from typing import TypeVar

Thing = TypeVar("Thing")


def existing(found: Thing | None) -> Thing:
    """Return what was found. Raises AssertionError if it was nothing."""
    assert found, "it is not there"
    return found
