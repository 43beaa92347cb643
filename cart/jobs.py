"""What the worker does for carts: it finishes what a crash cut off, and removes those that guests abandoned."""

import logging
from datetime import datetime, timedelta
from functools import partial

from django.utils.translation import ngettext

from cart.errors import CartError
from cart.operations import cleanup, transfers
from cassandra_db import CassandraUnavailable
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.registry import Job, describe_count
from jobs.rows import guard_row

# Younger moves may still be under way.
FINISH_AFTER = timedelta(minutes=2)
FIRST_LOOK_BACK = timedelta(days=1)
_AT_ONCE = 60
log = logging.getLogger(__name__)


def finish_moves(now: datetime) -> str:
    """Finish the moves between carts that were begun and interrupted."""
    was = get_position("moves")
    first = floor_to_minute(datetime.fromisoformat(was) if was else now - FIRST_LOOK_BACK)
    last = floor_to_minute(now - FINISH_AFTER)
    minutes = minutes_between(first, last)
    finished = 0
    left: list[datetime] = []
    for start in range(0, len(minutes), _AT_ONCE):
        for move in transfers.list_pending_moves(minutes[start : start + _AT_ONCE]):
            with guard_row(f"move {move.move_id}", partial(left.append, move.minute)):
                if _try_finish(move, now):
                    finished += 1
                else:
                    left.append(move.minute)
    # A minute in which something is left over is read again.
    reached = min(left, default=max(last, first))
    if reached.isoformat() != was:
        save_position("moves", reached.isoformat())
    return describe_count(
        ngettext("%(count)s move finished", "%(count)s moves finished", finished), finished
    )


def _try_finish(move: transfers.PendingMove, now: datetime) -> bool:
    try:
        transfers.finish_move(move, now)
    except (CartError, CassandraUnavailable) as error:
        log.warning("move %s is left for the next run: %s", move.move_id, error)
        return False
    return True


def remove_stale_carts(now: datetime) -> str:
    """Remove deleted carts after a day and guests' 30 days after their last change."""
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
        "moves",
        timedelta(seconds=20),
        finish_moves,
        normal_lag=FINISH_AFTER + MINUTE,
        idle_every=timedelta(minutes=1),
    ),
    Job("carts", timedelta(days=1), remove_stale_carts),
]
