"""Calls that are made at the same moment, each in a thread of its own."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def map_at_once(
    call: Callable[[Thing], Result], things: Iterable[Thing], threads: int = 0
) -> list[Result]:
    """Call it with each of the things, in so many threads that start at one barrier (0: one for each); return the results."""
    things = list(things)
    threads = min(threads or len(things), len(things))
    start = Barrier(threads)

    def run(place: int, thing: Thing) -> Result:
        if place < threads:
            start.wait(60)
        return call(thing)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(len(things)), things))


def call_at_once(*calls: Callable[[], Any], refused: type[Exception] | None = None) -> list[Any]:
    """Call all of them; return what each returned, or the error with which it was `refused`."""

    def run(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            if refused and isinstance(error, refused):
                return error
            raise

    return map_at_once(run, calls)
