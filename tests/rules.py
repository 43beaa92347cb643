"""One rule over many things: a failure names each thing that broke it."""

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from inspect import Signature
from typing import Any, TypeVar

import pytest

Thing = TypeVar("Thing")


def for_each(
    things: Collection[Thing], name: Callable[[Thing], object] = str, *, at_least: int = 1
) -> Callable[[Callable[[Thing], None]], Callable[[], None]]:
    """Make a test of one thing the test of all of them; it also fails when there are fewer than `at_least` to see."""

    def over(rule: Callable[[Thing], None]) -> Callable[[], None]:
        @wraps(rule)
        def test() -> None:
            broken = []
            for thing in things:
                try:
                    rule(thing)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - reported below, with the others
                    broken.append(f"{name(thing)}: {type(error).__name__}: {error}")
            assert not broken, f"{len(broken)} of {len(things)} break it:\n" + "\n".join(broken)
            assert len(things) >= at_least, (
                f"it saw {len(things)}, and there are at least {at_least}"
            )

        # Or pytest would look for a fixture of the thing's name.
        test.__dict__["__signature__"] = Signature()
        return test

    return over


def assert_explained(
    submit: Callable[[Any], Any], cases: Iterable[tuple[Any, str]], *always: str, status: int = 422
) -> None:
    """Submit what each case types; each answer has the status, the case's own words, and those that `always` stand there."""
    wrong = []
    for typed, words in cases:
        answer = submit(typed)
        missing = [each for each in (words, *always) if each not in answer.content.decode()]
        if answer.status_code != status or missing:
            wrong.append(f"{typed}: {answer.status_code}, without {missing}")
    assert not wrong, "\n".join(wrong)
