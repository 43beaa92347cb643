"""Chooses among the partitions of what a crowd writes: a popular post's likes, a popular person's followers."""

from hashlib import blake2b
from uuid import UUID

# The partition that all begin with. Later ones are numbered from 0 on.
FIRST_PARTITION = -1


def choose_partition(user_id: UUID, total: int) -> int:
    """Return a person's partition among `total`, the same at each call."""
    digest = blake2b(user_id.bytes, digest_size=8).digest()
    return int.from_bytes(digest, "big") % total
