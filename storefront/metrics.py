"""The page /metrics: counters of the processes (web.metrics), and the state of the worker's jobs."""

from collections.abc import Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from cassandra_db import CassandraUnavailable
from jobs.progress import list_progress
from jobs.registry import list_jobs
from web.metrics import collect_metrics


class _Collected(Collector):
    """A collector of metrics that are collected already, for a registry."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        return self._families


def render_metrics(accept: str, now: datetime) -> tuple[bytes, str]:
    """Return the metrics in the format that the header `Accept` prefers, and its content type. `now` is in UTC."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected([*collect_metrics(), *_collect_jobs(now)]))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def _collect_jobs(now: datetime) -> list[Metric]:
    """Return the metrics of all jobs; while Cassandra is away, only the metric that says so."""
    answers = GaugeMetricFamily("stoa_cassandra_answers", "Whether a read was answered just now")
    delay = GaugeMetricFamily(
        "stoa_job_delay_seconds", "For how long a job should have run", labels=("job",)
    )
    backlog = GaugeMetricFamily(
        "stoa_job_backlog_seconds",
        "How old the oldest thing is that a job has left",
        labels=("job",),
    )
    problems = GaugeMetricFamily(
        "stoa_job_needs_attention", "Whether the worker's page marks the job", labels=("job",)
    )
    try:
        for each in list_progress(list_jobs(), now):
            if each.delay is not None:
                delay.add_metric((each.job.name,), each.delay.total_seconds())
            backlog.add_metric((each.job.name,), each.backlog_age.total_seconds())
            problems.add_metric((each.job.name,), bool(each.problem))
        answers.add_metric((), 1)
    except CassandraUnavailable:
        answers.add_metric((), 0)
        return [answers]
    return [answers, delay, backlog, problems]
