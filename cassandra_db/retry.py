"""Repeats a read and its conditional write until no other writer is faster.

for _ in retry_attempts(30):
    row = CART.one(cart_id=cart_id)
    if RENAMED.apply(if_lost=SEND_AGAIN, cart_id=cart_id, name=name, seen=row.version):
        return
raise CartBusy
"""

from collections.abc import Iterator
from random import SystemRandom
from time import sleep

_FIRST, _LONGEST = 0.002, 0.05  # seconds
_random = SystemRandom()


def retry_attempts(most: int) -> Iterator[int]:
    """Yield the number of each attempt, from 0 on, for at most `most` attempts. After the last one the caller raises its own error.

    The second attempt follows at once. Before each later attempt there is a random pause, up to 2 ms at first and 50 ms at last.
    So competing writers do not try at the same time.
    """
    for number in range(most):
        if number > 1:
            sleep(_random.uniform(0, min(_FIRST * 2 ** (number - 2), _LONGEST)))
        yield number
