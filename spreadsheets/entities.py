"""Imports and exports, the lines of a file, and the changes that each row makes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from jobs.change_rows import RowsOfChange
from jobs.months import month_of

READING, ASKING, REFUSED, READ = "reading", "asking", "refused", "read"
APPLYING, LINKING, FINISHED = "applying", "linking", "finished"
WRITING, WRITTEN, EXPIRED = "writing", "written", "expired"
# The states of the pictures and products that a row of an import names.
WAITING, FAILED = "waiting", "failed"
# The possible plans of a row of an import.
PLANS = ("new", "changed", "unchanged", "faulty")
# The layouts whose files are about people. Their rows are kept in a table of their own, for days only.
PEOPLE = ("customer-accounts", "past-orders", "reviews")


@dataclass(frozen=True, slots=True)
class SpreadsheetTask:
    """An import or export, which the worker does as a task.

    The states of an import are `reading`, `read` or `refused`, `applying`, `linking` if rows name pictures or products, and
    `finished`. A file with columns that we do not know waits for staff as `asking`, and is then converted. The states of an export
    are `writing`, `written`, and `expired` after an hour. After reading, `counts` has the number of rows by plan; once the rows
    are applied, `results` has the number by result.
    """

    task_id: UUID
    layout: str
    state: str
    file_name: str
    stored_as: str
    started_by: UUID
    started_at: datetime
    format: str = ""  # of an export: csv, xlsx or pdf
    encoding: str = ""  # of an import: the text's encoding, if it was guessed
    problem: str = ""
    handled: int = 0
    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    results: Mapping[str, int] = field(default_factory=dict, hash=False)
    changed_at: datetime | None = None
    failures: int = 0
    # Of a file of another shop: what staff are asked, or have answered (spreadsheets.foreign.questions); and once it is
    # converted, its preset or "other", and how often something was noticed, by kind.
    question: str = ""
    source: str = ""
    notes: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def key(self) -> dict[str, object]:
        return {"month": month_of(self.task_id), "task_id": self.task_id}

    @property
    def rows(self) -> RowsOfChange:
        return RowsOfChange(self.task_id, self.total, f"import {self.task_id}")

    @property
    def is_export(self) -> bool:
        return bool(self.format)

    @property
    def is_about_people(self) -> bool:
        return self.layout in PEOPLE

    @property
    def is_under_way(self) -> bool:
        return self.state in (READING, APPLYING, LINKING, WRITING)

    @property
    def has_old_files(self) -> bool:
        """Whether this is an export that can no longer be fetched, but still has files in the storage."""
        return self.is_export and self.state in (EXPIRED, REFUSED) and self.total > 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a cell. If `column` is empty, the fault is in a whole line."""

    line: int
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class FileRow:
    """One line of a file, or all lines of a product, which belong together. Each line has its number and its cells by column."""

    position: int
    key: str
    lines: tuple[tuple[int, Mapping[str, str]], ...]
    faults: tuple[Fault, ...] = ()
    repeated_skus: frozenset[str] = frozenset()

    @property
    def line(self) -> int:
        return self.lines[0][0]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a cell. `sku` is "" for a column of the whole product. `before` is None for a new product or variant."""

    line: int
    sku: str
    column: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A row of an import with its plan and result: one of jobs.change_rows.RESULTS, or "" before it is applied.

    `product_id` is None if the product is unknown. For stock, `seen` is how many units of the stock item had been received in
    total. `changes` of a faulty row are its cells. `links` is the state of the pictures and products that the row names, "" without
    any; `link_faults` say which of them are missing.
    """

    position: int
    line: int
    key: str
    plan: str
    label: str = ""
    product_id: UUID | None = None
    variant_id: UUID | None = None
    seen: int | None = None
    changes: tuple[Change, ...] = ()
    faults: tuple[Fault, ...] = ()
    result: str = ""
    reason: str = ""
    links: str = ""
    link_faults: tuple[Fault, ...] = ()

    @property
    def is_to_apply(self) -> bool:
        return self.plan in ("new", "changed")


def pack(things: Sequence[Change | Fault]) -> str | None:
    """Return changes or faults as JSON text. `unpack_changes` or `unpack_faults` reads it back."""
    if not things:
        return None
    cells = [[getattr(each, name) for name in each.__slots__] for each in things]
    return json.dumps(cells, ensure_ascii=False)


def unpack_changes(text: str | None) -> tuple[Change, ...]:
    """Return the changes that `pack` wrote."""
    return tuple(Change(*each) for each in json.loads(text or "[]"))


def unpack_faults(text: str | None) -> tuple[Fault, ...]:
    """Return the faults that `pack` wrote."""
    return tuple(Fault(*each) for each in json.loads(text or "[]"))
