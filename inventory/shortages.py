"""What this process was told last about variants of which there are too few: for two seconds it tells others the same, without a read.

In a sale thousands come for what is sold out. A refused reservation says how many units there are, and so does a page's read of
the stock; whoever comes next and wants more of them than that is answered from here. Units that come back are in sight when
this has expired at the latest, and at once in the process that brings them back. Only a cart whose checkout has reserved nothing
may be answered so: units of one's own are not among those that are left. Why: docs/decisions/017.
"""

import threading
from collections.abc import Iterable, Mapping
from time import monotonic
from uuid import UUID

# For how long a process believes what it was told, in seconds.
KNOWN_SECONDS = 2.0
# How many variants it remembers; the oldest are forgotten first.
MAX_VARIANTS = 1000

# By variant: how many units could be ordered, and since when this is known; None where it was forgotten then. The oldest stand first.
known_shortages: dict[UUID, tuple[int | None, float]] = {}
_lock = threading.Lock()


def read_clock() -> float:
    """Return the moment, for `remember_shortages`: take it before Cassandra is asked."""
    return monotonic()


def remember_shortages(units: Mapping[UUID, int], asked_at: float) -> None:
    """Remember how many units of each variant could be ordered in all, as Cassandra has said when it was asked then."""
    with _lock:
        for variant_id, available in units.items():
            _note(variant_id, available, asked_at)


def _note(variant_id: UUID, available: int | None, at: float) -> None:
    """Note what is known since then, unless something newer is."""
    if variant_id in known_shortages and known_shortages[variant_id][1] > at:
        return
    known_shortages.pop(variant_id, None)
    known_shortages[variant_id] = (available, at)
    while len(known_shortages) > MAX_VARIANTS:
        del known_shortages[next(iter(known_shortages))]


def get_known_shortages(variant_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return how many units of these variants could be ordered, for those of which that was heard just now."""
    since = monotonic() - KNOWN_SECONDS
    with _lock:
        found = {each: known_shortages[each] for each in variant_ids if each in known_shortages}
    return {
        variant_id: units
        for variant_id, (units, known) in found.items()
        if known > since and units is not None
    }


def forget_shortages(variant_ids: Iterable[UUID]) -> None:
    """Forget what was heard of these variants, also by whoever is still about to remember it: their stock has changed."""
    now = monotonic()
    with _lock:
        for each in variant_ids:
            _note(each, None, now)
