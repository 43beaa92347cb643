"""Remember for two seconds which variants are short, so that other shoppers get their answer without a read.

In a sale thousands ask for sold-out units. A refused reservation tells how many units there are, and so does a page's read of the
stock. A shopper who wants more units is answered from this process's memory. Returned units become visible when the memory
expires, and at once in the process that books their return. A cart whose checkout has reserved units is never answered this way,
because the remembered numbers do not include its own units. See docs/decisions/017.
"""

import threading
from collections.abc import Iterable, Mapping
from time import monotonic
from uuid import UUID

# For how many seconds a process trusts its memory.
KNOWN_SECONDS = 2.0
# How many variants are remembered; the oldest are forgotten first.
MAX_VARIANTS = 1000
# By variant: the units that could be ordered (None: forgotten), and since when this is known. The oldest entries come first.
known_shortages: dict[UUID, tuple[int | None, float]] = {}
_lock = threading.Lock()


def read_clock() -> float:
    """Return the time for `remember_shortages`. Call it before the read of Cassandra."""
    return monotonic()


def remember_shortages(units: Mapping[UUID, int], asked_at: float) -> None:
    """Remember how many units of each variant could be ordered. The read that returned these numbers began at `asked_at`."""
    with _lock:
        for variant_id, available in units.items():
            _note(variant_id, available, asked_at)


def _note(variant_id: UUID, available: int | None, at: float) -> None:
    """Remember a variant's units, known since a moment, unless newer units are remembered."""
    if variant_id in known_shortages and known_shortages[variant_id][1] > at:
        return
    known_shortages.pop(variant_id, None)
    known_shortages[variant_id] = (available, at)
    while len(known_shortages) > MAX_VARIANTS:
        del known_shortages[next(iter(known_shortages))]


def get_known_shortages(variant_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return the units that can be ordered, for the variants that are remembered."""
    since = monotonic() - KNOWN_SECONDS
    with _lock:
        found = {each: known_shortages[each] for each in variant_ids if each in known_shortages}
    return {
        variant_id: units
        for variant_id, (units, known) in found.items()
        if known > since and units is not None  # None: see `forget_shortages`
    }


def forget_shortages(variant_ids: Iterable[UUID]) -> None:
    """Forget these variants, because their stock has changed. Answers to reads that began earlier are then ignored."""
    now = monotonic()
    with _lock:
        for each in variant_ids:
            _note(each, None, now)
