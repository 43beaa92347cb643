"""The worker's jobs for carts: finishing interrupted moves, and removing stale carts."""

import logging
from datetime import datetime, timedelta

from django.utils.translation import ngettext

from cart.errors import CartBusy, CartError
from cart.operations import cleanup
from cart.operations.transfers import PENDING_MOVES, finish_move
from cassandra_db import CassandraUnavailable
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count
from jobs.rows import guard_row

log = logging.getLogger(__name__)


def finish_moves(now: datetime) -> str:
    """Finish interrupted moves between carts."""
    finished = 0
    with PENDING_MOVES.sweep(now) as sweep:
        for rows in sweep.groups("move_id"):
            with sweep.handle(rows, rows[0].move_id):
                try:
                    finish_move(rows[0], now)
                    finished += 1
                except CartBusy as error:
                    log.warning("move %s is left for the next run: %s", rows[0].move_id, error)
                    sweep.keep(rows)
    return describe_count(
        ngettext("%(count)s move finished", "%(count)s moves finished", finished), finished
    )


def remove_stale_carts(now: datetime) -> str:
    """Remove deleted carts after a day, and guests' carts 30 days after their last change."""
    removed = 0
    for cart in cleanup.iterate_stale_carts(now):
        with guard_row(f"cart {cart.cart_id}"):
            try:
                removed += cleanup.remove_stale_cart(cart, now)
            except (CartError, CassandraUnavailable) as error:
                log.warning("cart %s is left for the next run: %s", cart.cart_id, error)
    owners = cleanup.remove_empty_owners()
    return f"{removed} carts and {owners} owners without carts removed" if removed or owners else ""


JOBS = [
    Job(
        PENDING_MOVES.job,
        timedelta(seconds=20),
        finish_moves,
        normal_lag=PENDING_MOVES.wait + MINUTE,
        idle_every=timedelta(minutes=2),
    ),
    Job("carts", timedelta(days=1), remove_stale_carts),
]
