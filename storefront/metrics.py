"""The page /metrics: counters of the processes (web.metrics), the worker's jobs, and the state of the shop that alerts watch."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import inf

from django.conf import settings
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from adminpanel.system.workers import find_position
from analytics.days import month_start, shop_day
from books.queries import differences_from_rows, prefetch_differences
from cassandra_db import CassandraUnavailable, compare_clocks
from catalogue.search_index import find_index_age
from jobs.leases import get_lease
from jobs.minutes import parse_moment
from jobs.progress import JobProgress, list_progress
from jobs.registry import list_jobs
from mail.jobs import NAME as MAIL_JOB
from mail.queries import list_due_mail_minutes
from orders.board_queries import MAX_COUNTED
from orders.operations.pending_effects import DUE_EFFECTS, has_effects
from payments.queries import prefetch_unmatched_payments, unmatched_payments_from_rows
from web.metrics import collect_metrics

# The lease of `manage.py backup`: its position is the time of the last snapshot that is completely stored.
BACKUP = "backup"


class _Collected(Collector):
    """A collector of metrics that are collected already, for a registry."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        return self._families


def render_metrics(accept: str, now: datetime) -> tuple[bytes, str]:
    """Return the metrics in the format that the header `Accept` prefers, and its content type. `now` is in UTC."""
    registry = CollectorRegistry(auto_describe=False)
    build = InfoMetricFamily("stoa_build", "The version of the shop", {"version": settings.VERSION})
    registry.register(_Collected([build, *collect_metrics(), *_collect_state(now)]))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def _collect_state(now: datetime) -> list[Metric]:
    """Return the metrics of the shop's state; while Cassandra is away, only the metric that says so."""
    try:
        found = list_progress(list_jobs(), now)
        state = [*_collect_jobs(found), *_collect_delays(found, now)]
        answers = True
    except CassandraUnavailable:
        state, answers = [], False
    return [_gauge("cassandra_answers", "Whether a read was answered just now", answers), *state]


def _collect_jobs(found: Sequence[JobProgress]) -> list[Metric]:
    """Return the metrics of the worker's jobs."""

    def of_jobs(
        name: str, text: str, measure: Callable[[JobProgress], float | None]
    ) -> GaugeMetricFamily:
        family = GaugeMetricFamily(f"stoa_job_{name}", text, labels=("job",))
        for each in found:
            if (value := measure(each)) is not None:
                family.add_metric((each.job.name,), value)
        return family

    return [
        of_jobs(
            "delay_seconds",
            "For how long a job should have run",
            lambda each: None if each.delay is None else each.delay.total_seconds(),
        ),
        of_jobs(
            "backlog_seconds",
            "How old the oldest thing is that a job has left",
            lambda each: each.backlog_age.total_seconds(),
        ),
        of_jobs(
            "needs_attention",
            "Whether the worker's page marks the job",
            lambda each: bool(each.problem),
        ),
        of_jobs(
            "lease_lost",
            "Whether the job's worker has vanished without releasing its lease, and no other has taken over",
            lambda each: each.lease.holder is not None and each.lease.is_free(each.now),
        ),
    ]


def _collect_delays(found: Sequence[JobProgress], now: datetime) -> list[Metric]:
    """Return the metrics of what waits or is missing. Raises CassandraUnavailable."""
    month = month_start(shop_day(now))
    reading = [prefetch_differences(day) for day in (month, month - timedelta(days=1))]
    listed = prefetch_unmatched_payments()
    effect = DUE_EFFECTS.find_oldest(
        find_position(found, DUE_EFFECTS.job, now), now - DUE_EFFECTS.wait, has_effects
    )
    mails = list_due_mail_minutes(find_position(found, MAIL_JOB, now), now, MAX_COUNTED + 1)
    unmatched = [
        each
        for each in unmatched_payments_from_rows(listed.rows())
        if each.is_open and not each.is_manual
    ]
    unexplained = [
        each
        for pending in reading
        for each in differences_from_rows(pending.rows())
        if (each.at_gateway or 0) > (each.in_order or 0)
    ]
    return [
        _gauge(
            "pending_effect_age_seconds",
            "How long the oldest order waits for effects of an event: stock, money, lists, mails",
            _seconds_since(effect, now),
        ),
        _gauge(
            "payments_without_order",
            "Payments of two months that gateways hold and no order accounts for",
            len(unmatched) + len(unexplained),
        ),
        _gauge("mails_waiting", f"Mails that are due, at most {MAX_COUNTED + 1}", len(mails)),
        _gauge(
            "mail_age_seconds",
            "How long the oldest due mail waits",
            _seconds_since(min(mails, default=None), now),
        ),
        _gauge(
            "search_index_age_seconds",
            "The age of the oldest change that the search index of this host lacks; infinite without an index",
            _seconds(find_index_age(now)),
        ),
        _gauge(
            "clock_ahead_seconds",
            "How far the clock of this process is ahead of the nodes' clocks",
            compare_clocks().ahead.total_seconds(),
        ),
        _gauge(
            "backup_age_seconds",
            "The age of what the last complete backup has; infinite without one",
            _seconds_since(parse_moment(get_lease(BACKUP).position), now, inf),
        ),
    ]


def _seconds(age: timedelta | None) -> float:
    return inf if age is None else age.total_seconds()


def _seconds_since(moment: datetime | None, now: datetime, otherwise: float = 0.0) -> float:
    """Return the seconds since a moment, or `otherwise` if there is none."""
    return (now - moment).total_seconds() if moment else otherwise


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"stoa_{name}", text, value=value)
