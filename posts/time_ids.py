"""Time-based ids that a form brings along, so that a form that is sent twice makes one post or one comment.

An id is bound to the person whose page made it: no other person can send it.
"""

from datetime import datetime, timedelta
from hashlib import blake2b
from random import SystemRandom
from uuid import UUID

from cassandra.util import uuid_from_time

from cassandra_db import current_microseconds
from posts.entities import get_moment

# A form may be sent for this long after its page was made.
FORM_DURATION = timedelta(days=1)
_CLOCKS_APART = timedelta(minutes=5)
_random = SystemRandom()


def make_form_id(user_id: UUID) -> UUID:
    """Return a new time-based id for a form of a person."""
    drawn = uuid_from_time(current_microseconds() / 1e6, 0, _random.getrandbits(14))
    return UUID(fields=(*drawn.fields[:5], _sign(drawn, user_id)))


def is_fresh(given: UUID, now: datetime) -> bool:
    """Return whether an id is time-based and less than a day old."""
    if given.version != 1:
        return False
    return now - FORM_DURATION < get_moment(given) < now + _CLOCKS_APART


def is_form_id(given: UUID, user_id: UUID, now: datetime) -> bool:
    """Return whether an id was made for a form of this person within the last day."""
    return is_fresh(given, now) and given.node == _sign(given, user_id)


def _sign(given: UUID, user_id: UUID) -> int:
    """Return the last 48 bits of an id: a hash of its other bits and of the person."""
    digest = blake2b(given.bytes[:10] + user_id.bytes, digest_size=6).digest()
    return int.from_bytes(digest, "big")
