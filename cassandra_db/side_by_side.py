"""Runs independent steps at the same time, so that a request waits for Cassandra only one time."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any

from cassandra_db.meter import measure_branches

log = logging.getLogger(__name__)
# All requests of the process share these threads. A step never waits for another step, so waiting for a thread is safe.
_threads = ThreadPoolExecutor(max_workers=64, thread_name_prefix="side-by-side")


def run_side_by_side(*steps: Callable[[], Any]) -> tuple[Any, ...]:
    """Run the steps at the same time, the last step in this thread. Return the results of all steps.

    The other threads get a copy of this thread's context, but not the language and time zone that Django keeps for a thread. So a
    step that renders text comes last. A step must not call this function. All steps run to their end; then the error of the first
    failed step is raised.
    """
    with measure_branches(steps) as measured:
        futures = [_threads.submit(copy_context().run, step) for step in measured[:-1]]
        own: Future[Any] = Future()
        try:
            own.set_result(copy_context().run(measured[-1]))
        except BaseException as failure:  # noqa: BLE001 -- raised below, when all steps have ended
            own.set_exception(failure)
        wait(futures)
        futures.append(own)
    errors = [error for future in futures if (error := future.exception())]
    for error in errors[1:]:
        log.error("beside another failure: %s", error, exc_info=error)
    if errors:
        raise errors[0]
    return tuple(future.result() for future in futures)
