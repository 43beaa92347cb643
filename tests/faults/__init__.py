"""Faults that a tired good engineer could write, and whose tests must find them: `python -m tests.mutants` puts each back.

A file for each app. Each fault has a name that says what is wrong, its file, the text `old` that is right and stands there once,
the text `new` that stands there instead, and the cheapest files of tests that find it. A bug that is fixed adds the one that it
was. Code that moves takes its faults along.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """A fault that was put back: `old` stands once in `file` and becomes `new`, and a test in the files `tests` fails."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _read_faults() -> tuple[Fault, ...]:
    files = sorted(Path(__file__).parent.glob("*.toml"))
    listed = [each for path in files for each in tomllib.loads(path.read_text())["fault"]]
    return tuple(Fault(**each | {"tests": tuple(each["tests"])}) for each in listed)


FAULTS = _read_faults()
