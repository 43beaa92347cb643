"""What the consistency check looks at, and what it finds."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from cassandra_db import Statement

# A repair gets the present moment (UTC).
Fix = Callable[[datetime], object]


def call(repair: Callable[..., object], *args: Any, **values: Any) -> Fix:
    """Return the fix that calls a function which needs no present moment."""
    return lambda now: repair(*args, **values)


@dataclass(frozen=True)
class Violation:
    """Something that must not be, in one line: which invariant, of what (with its ids), and what is wrong.

    `detail` has the numbers, which may change while the shop runs; two looks that differ in nothing else saw the same.
    """

    rule: str
    subject: str
    fault: str
    detail: str = ""
    fix: Fix | None = field(default=None, compare=False, repr=False)
    # The newest write timestamp of the rows that are wrong, in microseconds: the repair's has to be later.
    written: int = field(default=0, compare=False, repr=False)

    def __str__(self) -> str:
        return (
            f"{self.rule} {self.subject}: {self.fault}{f' ({self.detail})' if self.detail else ''}"
        )

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.rule, self.subject, self.fault)


@dataclass(frozen=True)
class Scope:
    """Look at these alone, and at what belongs to them. For tests, and for a closer look at one order."""

    orders: frozenset[UUID] = frozenset()
    variants: frozenset[UUID] = frozenset()
    users: frozenset[UUID] = frozenset()
    codes: frozenset[str] = frozenset()
    days: frozenset[date] = frozenset()
    products: frozenset[UUID] = frozenset()
    changes: frozenset[UUID] = frozenset()
    transfers: frozenset[UUID] = frozenset()
    jobs: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()


SubjectFinder = Callable[[Scope | None], Iterable[Any]]


def list_values(table: Statement, column: str, scope_field: str) -> SubjectFinder:
    """Return what finds the values of a column in a whole table, or those that a field of the scope names."""

    def find(scope: Scope | None) -> Iterator[Any]:
        if scope is not None:
            yield from sorted(getattr(scope, scope_field))
        else:
            yield from (getattr(row, column) for row in table.iterate_table())

    return find


def list_rows(table: Statement) -> SubjectFinder:
    """Return what finds all rows of a table, and none for a scope."""
    return lambda scope: table.iterate_table() if scope is None else ()


def list_tables(names: Collection[str]) -> SubjectFinder:
    """Return what finds these tables, or those of them that the scope names."""
    return lambda scope: names if scope is None else scope.tables & set(names)


@dataclass(frozen=True)
class Check:
    """One kind of thing to look at: how to find all of them, and what may be wrong with one.

    `find_violations` reads everything anew at each call: it is called again before anything is called a violation. `find_order_id`
    says to which order a thing belongs: one with pending effects is left to the worker.
    """

    name: str
    rules: tuple[str, ...]
    iterate_subjects: SubjectFinder
    find_violations: Callable[[Any], Iterator[Violation]]
    find_order_id: Callable[[Any], UUID | None] = lambda thing: None


@dataclass
class Report:
    """What a consistency check has seen."""

    checked_counts: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    fixed_violations: list[Violation] = field(default_factory=list)
    in_progress: set[Hashable] = field(default_factory=set)

    @property
    def is_clean(self) -> bool:
        return not self.violations
