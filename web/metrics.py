"""What the processes of a web server count for whoever watches over the shop: requests and statements (decision 064).

Under gunicorn each process counts into files of its own, in the folder PROMETHEUS_MULTIPROC_DIR, and whichever process is asked adds up all
of them: a scrape reaches one process by chance. Without that variable (the reloading server, tests) a process knows its own figures alone.
Labels have few values, whatever is sent: names of views and questions, never a path.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.http import HttpRequest
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from cassandra_db import Meter

# As the library does: what is set later changes nothing any more.
_FOLDER = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_METHODS = {"GET", "HEAD", "POST"}
STATEMENT_SECONDS = Histogram(
    "stoa_statement_seconds",
    "How long Cassandra took to answer, by question and kind",
    ("question", "kind"),
    buckets=_SECONDS,
)
STATEMENT_FAILURES = Counter(
    "stoa_statement_failures",
    "Statements without an answer, by question and kind",
    ("question", "kind"),
)
REQUESTS = Counter("stoa_requests", "Requests answered", ("view", "method", "status"))
REQUEST_SECONDS = Histogram(
    "stoa_request_seconds", "How long an answer took, by view", ("view",), buckets=_SECONDS
)
REQUEST_STATEMENTS = Counter("stoa_request_statements", "Statements waited for, by view", ("view",))
REQUEST_ROUNDS = Counter(
    "stoa_request_rounds", "Rounds of statements, one after the other, by view", ("view",)
)
# Looking a series up by its labels costs as much as counting.
_seconds_of = cache(STATEMENT_SECONDS.labels)
_failures_of = cache(STATEMENT_FAILURES.labels)


def count_statement(question: str, kind: str, seconds: float | None) -> None:
    """Count a statement; `seconds` is None for one that was not answered. Called by cassandra_db, also in the driver's thread."""
    if seconds is None:
        _failures_of(question, kind).inc()
    else:
        _seconds_of(question, kind).observe(seconds)


def count_request(request: HttpRequest, status: int, seconds: float, meter: Meter) -> None:
    """Count an answer and what it cost."""
    match = request.resolver_match
    view = match.view_name if match and match.view_name else "none"
    method = request.method if request.method in _METHODS else "other"
    REQUESTS.labels(view, method, status).inc()
    REQUEST_SECONDS.labels(view).observe(seconds)
    REQUEST_STATEMENTS.labels(view).inc(meter.statement_count)
    REQUEST_ROUNDS.labels(view).inc(meter.round_count)


def collect_metrics() -> list[Metric]:
    """Return what all processes of this server have counted since it was started, those that have ended with them."""
    if not _FOLDER:
        return list(REGISTRY.collect())
    registry = CollectorRegistry()
    MultiProcessCollector(registry, _FOLDER)
    with _locked(Path(_FOLDER), fcntl.LOCK_SH):
        return list(registry.collect())


def add_up_ended_process(pid: int) -> None:
    """Move what an ended process has counted into the files of all that have ended: a server has thousands of them in a year."""
    if not _FOLDER:
        return
    folder = Path(_FOLDER)
    with _locked(folder, fcntl.LOCK_EX):
        for kind in ("counter", "histogram"):
            its_own = folder / f"{kind}_{pid}.db"
            if not its_own.exists():
                continue
            total = MmapedDict(str(folder / f"{kind}_0.db"))  # no process of ours has this number
            for key, value, _, _ in MmapedDict.read_all_values_from_file(str(its_own)):
                total.write_value(key, total.read_value(key)[0] + value, 0.0)
            total.close()
            its_own.unlink()


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    """Nobody adds up while a process ends: its numbers would count twice, or not at all, and look like a restart."""
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, how)
        yield


def estimate_quantile(buckets: list[tuple[float, float]], share: float) -> float:
    """Return the seconds within which so large a `share` of the answers came, from counts up to each bound, evenly spread between two of them.

    `buckets` has (bound, count so far) by bound, the last one without end: what is beyond the last bound counts as that one.
    """
    wanted = share * buckets[-1][1]
    for (low, before), (high, count) in pairwise([(0.0, 0.0), *buckets]):
        if count >= wanted and count > before:
            return (
                low
                if high == float("inf")
                else low + (high - low) * (wanted - before) / (count - before)
            )
    return 0.0
