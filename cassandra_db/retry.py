"""Reading and writing once more, because another writer was faster.

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
    """Yield a number for each try, from 0, `most` at the most; a caller that runs out of them raises its own error.

    The second try comes at once, because a refused write has shown what was in its way. Before each further one is a pause of
    random length, up to 2 ms at first and to 50 ms in the end: writers that are in each other's way get out of step.
    """
    for number in range(most):
        if number > 1:
            sleep(_random.uniform(0, min(_FIRST * 2 ** (number - 2), _LONGEST)))
        yield number
