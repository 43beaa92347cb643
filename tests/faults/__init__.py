"""Faults that a tired good engineer could write, and whose tests must find them: `python -m tests.mutants` puts each back.

Each app has a TOML file. The head of each fault is the path of the file with the code. Below it are a name that says what is
wrong, the correct text `old` (once in that file), the text `new` that replaces it, and the cheapest test files that find it.
A bug that is fixed adds its fault. Code that moves takes its faults along.
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
    tables = [
        tomllib.loads(path.read_text()) for path in sorted(Path(__file__).parent.glob("*.toml"))
    ]
    return tuple(
        Fault(file=file, **fault | {"tests": tuple(fault["tests"])})
        for table in tables
        for file, faults in table.items()
        for fault in faults
    )


FAULTS = _read_faults()
