"""Paths of redirects, and their bound."""

from collections import Counter
from itertools import count, islice
from zlib import crc32

import pytest

from catalogue.operations import redirects
from catalogue.operations.redirects import SHARDS


def allow_in_shard(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let a shard have this many redirects, and let the next redirect count them."""
    monkeypatch.setattr(redirects, "MAX_IN_SHARD", most)
    monkeypatch.setattr(redirects, "_room", Counter())


def find_path_beside(path: str, after: int = 0) -> str:
    """Return another path of the same shard, the one after `after` others."""
    paths = (f"{path}/{number}" for number in count())
    beside = (each for each in paths if (crc32(each.encode()) - crc32(path.encode())) % SHARDS == 0)
    return next(islice(beside, after, None))
