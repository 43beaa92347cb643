"""The state of the system: Cassandra's nodes and tables, slow statements, jobs, and the last consistency checks."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from prometheus_client import Metric

from cassandra_db import REGISTRY
from cassandra_db.nodes import Node, PendingFigures, TableFigures, list_nodes
from cassandra_db.partitions import MB, PartitionSize, compare_with_bounds
from consistency.queries import RecordedCheck, parse_checks, prefetch_recent_checks
from jobs.progress import JobProgress, list_progress
from jobs.registry import list_jobs
from web.metrics import collect_metrics, estimate_quantile

MAX_TABLES = 20
MAX_QUESTIONS = 12
# A table is listed if its largest partition has this many MiB or more, or its reads meet this many tombstones.
LARGE_MEBIBYTES, MANY_TOMBSTONES = 2, 100
MAX_CHECKS = 5
MEDIAN, NEARLY_ALL = 0.5, 0.99


@dataclass(frozen=True)
class TableLine:
    """A table: the size of its largest partition, and the tombstones per read, both on the worst node."""

    size: PartitionSize
    tombstones: float

    @property
    def bound_mb(self) -> float:
        return self.size.bound / MB

    @property
    def is_worth_a_look(self) -> bool:
        return (
            self.size.is_above_half
            or self.size.mebibytes >= LARGE_MEBIBYTES
            or self.tombstones >= MANY_TOMBSTONES
        )


@dataclass(frozen=True)
class QuestionLine:
    """The durations of the statements for one question of the data model. This server measures them from its start on."""

    question: str
    kind: str
    count: int
    seconds: float  # the sum of all durations
    median_ms: float
    slow_ms: float  # 99 of 100 statements were at least as fast
    failed: int

    @property
    def tables(self) -> str:
        """The names of the tables that the question's statements read or write."""
        cql = [each.cql for each in REGISTRY if each.question == self.question]
        found = [re.search(r"(?:FROM|INTO|UPDATE) ([a-z_]+)", each) for each in cql]
        return ", ".join(sorted({each[1] for each in found if each}))


@dataclass(frozen=True)
class SystemStatus:
    """The state of the system at one time."""

    nodes: tuple[Node, ...]
    figures: TableFigures
    tables: tuple[TableLine, ...]
    table_count: int
    questions: tuple[QuestionLine, ...]
    question_count: int
    jobs: tuple[JobProgress, ...]
    checks: tuple[RecordedCheck, ...]
    now: datetime

    @property
    def version(self) -> str:
        """The version of the shop's software."""
        return settings.VERSION

    @property
    def problems(self) -> list[JobProgress]:
        return [each for each in self.jobs if each.problem]

    @property
    def down_count(self) -> int:
        return sum(each.is_up is False or each.is_silent for each in self.nodes)

    @property
    def large_count(self) -> int:
        return sum(each.size.is_above_half for each in self.tables)


def get_system_status(now: datetime) -> SystemStatus:
    """Return the state of the system. All nodes are asked concurrently. Raises CassandraUnavailable."""
    pending = PendingFigures()
    pending_checks = prefetch_recent_checks(now, MAX_CHECKS)
    jobs = list_progress(list_jobs(), now)
    checks = parse_checks(pending_checks, MAX_CHECKS)
    figures = pending.get()
    sizes = compare_with_bounds(figures.mebibytes)
    lines = [TableLine(size, figures.tombstones.get(size.table, 0)) for size in sizes]
    questions = summarize_questions(collect_metrics())
    return SystemStatus(
        tuple(list_nodes()),
        figures,
        tuple([line for line in lines if line.is_worth_a_look][:MAX_TABLES]),
        len(sizes),
        tuple(questions[:MAX_QUESTIONS]),
        len(questions),
        tuple(jobs),
        tuple(checks),
        now,
    )


def summarize_questions(families: Iterable[Metric]) -> list[QuestionLine]:
    """Return the questions of the data model, the one that took the most time first."""
    buckets: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    failed: dict[tuple[str, str], float] = defaultdict(float)
    for family in families:
        for name, labels, value, *_ in family.samples:
            if not name.startswith("stoa_statement_"):
                continue
            key = labels["question"], labels["kind"]
            if name == "stoa_statement_seconds_bucket":
                buckets[key].append((float(labels["le"]), value))
            elif name == "stoa_statement_seconds_sum":
                seconds[key] = value
            elif name == "stoa_statement_failures_total":
                failed[key] = value
    lines = [
        _question_line(key, sorted(buckets[key]), seconds[key], failed[key])
        for key in {*buckets, *failed}
    ]
    return sorted(lines, key=lambda line: (-line.seconds, line.question, line.kind))


def _question_line(
    key: tuple[str, str], buckets: list[tuple[float, float]], seconds: float, failed: float
) -> QuestionLine:
    counts = buckets or [(float("inf"), 0.0)]
    return QuestionLine(
        *key,
        int(counts[-1][1]),
        seconds,
        1000 * estimate_quantile(counts, MEDIAN),
        1000 * estimate_quantile(counts, NEARLY_ALL),
        int(failed),
    )
