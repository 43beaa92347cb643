"""What clients have asked a shop and were answered, noted so that a kill loses nothing but the answer.

A note is a line in the client's own file before the call, and another one after it.
"""

import itertools
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from cassandra_db import CassandraUnavailable
from orders.lifecycle.errors import CheckoutBusy

# What an answer of these says: nobody knows whether it was done.
UNKNOWN = (CassandraUnavailable, CheckoutBusy)


@dataclass(frozen=True)
class Note:
    """What a client asked for, when, and what it was answered, when; without an answer both are None."""

    kind: str
    thing: str  # the id of the order or of the receipt
    units: Mapping[str, int]  # by SKU; an order's in the order of its lines
    called: float
    answered: float | None = None
    answer: Any = None


class Notebook:
    """The file of a client's notes."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._numbers = itertools.count()

    def note(
        self, kind: str, thing: UUID, units: Mapping[str, int], call: Callable[[], Any]
    ) -> Any:
        """Call, and note that before and what came of it after; None if nobody knows."""
        number = next(self._numbers)
        self._write(number, kind=kind, thing=str(thing), units=units, called=time.monotonic())
        try:
            answer = call()
        except UNKNOWN:
            return None
        self._write(number, answered=time.monotonic(), answer=answer)
        return answer

    def _write(self, number: int, **fields: Any) -> None:
        os.write(self._file, json.dumps({"number": number, **fields}).encode() + b"\n")


def read_notes(path: Path) -> list[Note]:
    """Return a client's notes; the last line of one that was killed may be half a line."""
    fields: dict[int, dict[str, Any]] = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        part = json.loads(line)
        fields.setdefault(part.pop("number"), {}).update(part)
    return [Note(**each) for each in fields.values()]


def count_checkouts(path: Path) -> int:
    """Return how many checkouts a client has begun."""
    return path.read_bytes().count(b'"kind": "reserve"') if path.exists() else 0
