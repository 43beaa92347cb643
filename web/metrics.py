"""Metrics of a web server's processes: requests and statements (decision 064).

A scrape reaches one process by chance. So under gunicorn each process counts into its own files in PROMETHEUS_MULTIPROC_DIR, and
the scraped process adds up the counts of all files. Without that variable (the reloading server, tests) a process reports only
its own counts. Labels have few values: names of views and questions, never a path.
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

# This module reads the variable when it is imported, as the library does.
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
# These caches save the lookup of a series by its labels, which costs as much as counting.
_seconds_of = cache(STATEMENT_SECONDS.labels)
_failures_of = cache(STATEMENT_FAILURES.labels)


def count_statement(question: str, kind: str, seconds: float | None) -> None:
    """Count a statement; `seconds` is None for a statement without an answer. The driver's thread calls this function, too."""
    if seconds is None:
        _failures_of(question, kind).inc()
    else:
        _seconds_of(question, kind).observe(seconds)


def count_request(request: HttpRequest, status: int, seconds: float, meter: Meter) -> None:
    """Count the answer to a request, the seconds that it took, and its statements."""
    match = request.resolver_match
    view = match.view_name if match and match.view_name else "none"
    method = request.method if request.method in _METHODS else "other"
    REQUESTS.labels(view, method, status).inc()
    REQUEST_SECONDS.labels(view).observe(seconds)
    REQUEST_STATEMENTS.labels(view).inc(meter.statement_count)
    REQUEST_ROUNDS.labels(view).inc(meter.round_count)


def collect_metrics() -> list[Metric]:
    """Return the metrics of all processes since the server was started, including ended processes."""
    if not _FOLDER:
        return list(REGISTRY.collect())
    registry = CollectorRegistry()
    MultiProcessCollector(registry, _FOLDER)
    with _locked(Path(_FOLDER), fcntl.LOCK_SH):
        return list(registry.collect())


def add_up_ended_process(pid: int) -> None:
    """Add the counts of an ended process to the total of all ended processes: a server has thousands of them in a year."""
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
    """Keep scrapes from reading while an ended process's counts are added to the total: they would count it twice, or not at all."""
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, how)
        yield


def estimate_quantile(buckets: list[tuple[float, float]], share: float) -> float:
    """Return the seconds within which this share of the answers came, interpolated between the bounds of a histogram.

    `buckets` has (bound, number of answers up to it), in order; the last bound is infinite. Answers beyond the last finite bound
    count as that bound.
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
