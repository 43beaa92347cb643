"""Announces that a member has changed a cart, for those with whom it is shared (notifications)."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock
from time import monotonic
from uuid import UUID

from cart.notifications import CHANGED
from notifications.operations import announce
from web.origin import current_member_id

# A reader is told once an hour, but who shares the cart may have changed since the last announcement.
_ANNOUNCED_EVERY = timedelta(minutes=5)
_MAX_REMEMBERED = 10_000
_lock = Lock()
_announced: OrderedDict[tuple[UUID, UUID], float] = OrderedDict()


@contextmanager
def change_announced(cart_id: UUID) -> Iterator[None]:
    """Announce the change of a cart within the block, before it is made.

    A process announces a member's changes of a cart at most once in five minutes. Changes of guests cost nothing.
    Raises CassandraUnavailable.
    """
    member_id = current_member_id()
    if member_id is None or _is_remembered((cart_id, member_id)):
        yield
        return
    announce("cart", cart_id, f"{CHANGED} {member_id}")
    yield
    with _lock:
        _announced[cart_id, member_id] = monotonic()
        while len(_announced) > _MAX_REMEMBERED:
            _announced.popitem(last=False)


def _is_remembered(key: tuple[UUID, UUID]) -> bool:
    with _lock:
        at = _announced.get(key)
        if at is not None and monotonic() - at < _ANNOUNCED_EVERY.total_seconds():
            return True
        _announced.pop(key, None)
        return False
