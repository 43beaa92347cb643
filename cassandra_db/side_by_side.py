"""Steps that do not depend on each other, taken at the same time: what waits for Cassandra waits once."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any

from cassandra_db.statements import measure_branches

log = logging.getLogger(__name__)
# Of a process, for all its requests: who finds all threads busy waits for one. A step waits for no other step.
_threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="side-by-side")


def run_side_by_side(*steps: Callable[[], Any]) -> tuple[Any, ...]:
    """Run the steps at the same time, each in a thread with a copy of this one's context; return what each has returned.

    A step must not call this function itself. One that fails keeps no other from its end: once all have ended, the error of the
    first of them, in their order, is raised.
    """
    with measure_branches(steps) as measured:
        futures = [_threads.submit(copy_context().run, step) for step in measured]
        wait(futures)
    errors = [error for future in futures if (error := future.exception())]
    for error in errors[1:]:
        log.error("beside another failure: %s", error, exc_info=error)
    if errors:
        raise errors[0]
    return tuple(future.result() for future in futures)
