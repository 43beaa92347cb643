"""The parts of the consistency check: checks with their subjects, violations with their fixes, the scope and the report."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from cassandra_db import Statement

# A repair gets the present moment (UTC).
Fix = Callable[[datetime], object]


def call(repair: Callable[..., object], *args: Any, **values: Any) -> Fix:
    """Return a fix that calls `repair` with these arguments, without the present moment."""
    return lambda now: repair(*args, **values)


@dataclass(frozen=True)
class Violation:
    """A violated invariant: the invariant's name in `rule`, the subject with its ids, and the fault.

    `detail` has numbers that may change while the shop runs. Violations that differ only in `detail` are equal.
    """

    rule: str
    subject: str
    fault: str
    detail: str = ""
    fix: Fix | None = field(default=None, compare=False, repr=False)
    # The newest write timestamp of the wrong rows, in microseconds: the fix must write with a later one.
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
    """Restricts a check to some subjects, for tests and for the check of single orders."""

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
    conversations: frozenset[UUID] = frozenset()
    posts: frozenset[UUID] = frozenset()


SubjectFinder = Callable[[Scope | None], Iterable[Any]]


def column_subjects(table: Statement, column: str, scope_field: str) -> SubjectFinder:
    """Return a function that yields a check's subjects: a column's values in the whole table, or a scope's field."""

    def iterate_subjects(scope: Scope | None) -> Iterator[Any]:
        if scope is not None:
            yield from sorted(getattr(scope, scope_field))
        else:
            yield from (getattr(row, column) for row in table.iterate_table())

    return iterate_subjects


def row_subjects(table: Statement) -> SubjectFinder:
    """Return a function that yields all rows of a table, and no rows if it gets a scope."""
    return lambda scope: table.iterate_table() if scope is None else ()


def table_subjects(names: Collection[str]) -> SubjectFinder:
    """Return a function that returns these table names, or only those that its scope contains."""
    return lambda scope: names if scope is None else scope.tables & set(names)


@dataclass(frozen=True)
class Check:
    """A check of one kind of subject: functions that find all its subjects, and the violations of one subject.

    `find_violations` reads the subject's data anew at each call, because a second call confirms violations. `find_order_id` returns
    the id of a subject's order: an order with pending effects is left to the worker.
    """

    name: str
    rules: tuple[str, ...]
    iterate_subjects: SubjectFinder
    find_violations: Callable[[Any], Iterator[Violation]]
    find_order_id: Callable[[Any], UUID | None] = lambda thing: None


@dataclass
class Report:
    """The result of a consistency check."""

    checked_counts: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    fixed_violations: list[Violation] = field(default_factory=list)
    in_progress: set[Hashable] = field(default_factory=set)

    @property
    def is_clean(self) -> bool:
        return not self.violations
