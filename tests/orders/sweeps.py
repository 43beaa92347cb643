"""Runs the worker's job for pending effects on some minutes alone."""

from collections.abc import Sequence
from datetime import datetime

from jobs.due_rows import Sweep
from jobs.shards import Shard
from orders import jobs
from orders.operations.pending_effects import DUE_EFFECTS


def apply_pending_effects(
    minutes: Sequence[datetime], now: datetime, shard: Shard = jobs.ALL_ORDERS
) -> set[datetime]:
    """Apply the pending effects stored under these minutes. Return the minutes that the next run has to read again."""
    sweep = Sweep(DUE_EFFECTS, minutes, now, shard)
    jobs.apply_pending_effects(sweep)
    return sweep.kept
