"""Repeats a read and a conditional write until no other writer is faster.

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
    """Yield the number of each attempt, from 0, at most `most`. A caller that runs out of attempts raises its own error.

    The second attempt follows at once. A random pause before each further one, up to 2 ms at first and 50 ms at last, keeps
    competing writers out of step.
    """
    for number in range(most):
        if number > 1:
            sleep(_random.uniform(0, min(_FIRST * 2 ** (number - 2), _LONGEST)))
        yield number
