"""Paths of redirects."""

from itertools import count
from zlib import crc32

from catalogue.operations.redirects import SHARDS


def find_path_beside(path: str) -> str:
    """Return another path of the same shard."""
    paths = (f"{path}/{number}" for number in count())
    return next(
        each for each in paths if (crc32(each.encode()) - crc32(path.encode())) % SHARDS == 0
    )
