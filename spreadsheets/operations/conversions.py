"""Convert files of other shops to our layouts (decision 111).

The worker asks staff once what becomes of the columns and of unknown categories. Then it replaces the file by a converted one,
which is read like our own. A run that is killed begins again.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from tempfile import TemporaryFile
from typing import IO
from uuid import uuid4

from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from cassandra_db import (
    REFUSED_MEANS_DONE,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
    read,
    write,
)
from pricing.delivery import get_default_country
from pricing.tax import get_tax_rates
from spreadsheets import entities, queries
from spreadsheets.entities import Fault, SpreadsheetTask
from spreadsheets.files import Table, open_table
from spreadsheets.foreign.categories import CategoryFinder
from spreadsheets.foreign.entities import ColumnMapping, ConvertedLine, ForeignRow
from spreadsheets.foreign.groups import group_lines, pack_line
from spreadsheets.foreign.presets import PRESETS, find_preset, get_convert, list_first_targets
from spreadsheets.foreign.questions import (
    SAMPLE_LINES,
    Question,
    hash_head,
    name_columns,
    take_samples,
    unpack_question,
)
from spreadsheets.layouts import Layout
from spreadsheets.operations.former_prices import keep_former_prices
from spreadsheets.operations.stored_files import INCOMING, file_of, reopen

# Q30: what became of the columns of an earlier file with this header.
REMEMBERED = read(
    "Q30", "SELECT targets, categories FROM remembered_mappings WHERE head_hash = :head_hash"
)
REMEMBER = write(
    "Q30",
    """INSERT INTO remembered_mappings (head_hash, targets, categories) VALUES (:head_hash, :targets, :categories)""",
)
ASK = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, question = :question, changed_at = :now
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)
ANSWER = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, question = :question, changed_at = :now, failures = 0
       WHERE month = :month AND task_id = :task_id IF state = :state AND question = :seen""",
)
NOTE_CONVERTED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET stored_as = :stored_as, source = :source, notes = :notes, encoding = :encoding, question = :question
       WHERE month = :month AND task_id = :task_id IF stored_as = :seen""",
)


class _ForeignFile:
    """The rows of a file of another shop. They can be read several times, one after another."""

    def __init__(self, file: IO[bytes], layout: Layout, table: Table) -> None:
        self._file, self._layout = file, layout
        self.head = name_columns(table.head)
        # The lines with more cells than the head.
        self.long_lines: set[int] = set()

    def iterate_rows(self) -> Iterator[ForeignRow]:
        """Yield the rows from the beginning of the file. Raises FileRefused."""
        for line, record in open_table(reopen(self._file), self._layout.head).lines:
            if any(record):
                if any(record[len(self.head) :]):
                    self.long_lines.add(line)
                cells = [*record, *[""] * len(self.head)]
                yield ForeignRow(line, dict(zip(self.head, cells, strict=False)))


def convert_or_ask(task: SpreadsheetTask, layout: Layout, file: IO[bytes], table: Table) -> None:
    """Convert a file with foreign columns, or ask staff what is not known yet. Raises FileRefused."""
    foreign = _ForeignFile(file, layout, table)
    if not task.question:
        question = _first_question(task, layout, foreign)
        # A category that was removed since is asked for again.
        answers = CategoryFinder({}).keep_known(question.categories)
        finder = CategoryFinder(answers)
        if layout.name == "products":
            for line in _convert(layout, question, foreign, Counter()):
                finder.resolve(line)
        _ask(task, replace(question, categories=answers, unknown=tuple(finder.unknown)))
        return
    question, notes = unpack_question(task.question), Counter[str]()
    finder = CategoryFinder(question.categories)
    finder.create(task.task_id)
    lines = _convert(layout, question, foreign, notes)
    with TemporaryFile() as scratch:
        if layout.name == "products":
            grouped = group_lines(map(finder.resolve, lines), scratch)
            lines = keep_former_prices(grouped, notes, current_time())
        converted = file_of(map(pack_line, lines))
    if finder.unknown:
        _ask(task, replace(question, unknown=tuple(finder.unknown)))
        return
    stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", converted)
    outcome = NOTE_CONVERTED.apply(
        if_lost=applied_if(lambda row: bool(row.stored_as == stored_as)),
        **task.key,
        stored_as=stored_as,
        source=question.preset or "other",
        notes=dict(+notes),
        encoding=table.encoding or None,
        question=None,
        seen=task.stored_as,
    )
    default_storage.delete(task.stored_as if outcome else stored_as)


def _first_question(task: SpreadsheetTask, layout: Layout, foreign: _ForeignFile) -> Question:
    head = foreign.head
    first = (row.cells for row in islice(foreign.iterate_rows(), SAMPLE_LINES))
    # Tasks are kept for months, and are no place for what customers are called.
    samples = take_samples(head, () if task.is_about_people else first)
    preset = find_preset(layout.name, head)
    known = REMEMBERED.one(head_hash=hash_head(layout.name, head))
    targets = list_first_targets(layout.name, head)
    if known:
        chosen = json.loads(known.targets)
        targets |= {name: chosen[name] for name in targets if name in chosen}
    return Question(
        preset.name if preset else "",
        {
            name: texts
            for name, texts in samples.items()
            if texts or targets[name] or task.is_about_people
        },
        targets,
        json.loads(known.categories) if known else {},
    )


def _convert(
    layout: Layout, question: Question, foreign: _ForeignFile, notes: Counter[str]
) -> Iterator[ConvertedLine]:
    preset = PRESETS.get(question.preset)
    mapping = ColumnMapping(
        question.targets,
        current_time(),
        preset.units if preset else {},
        get_tax_rates(get_default_country()).by_class["standard"],
        layout.name in ("products", "prices"),
    )
    for line in get_convert(question.preset)(foreign.iterate_rows, mapping, notes):
        if line.line in foreign.long_lines:
            text = _("This line has more cells than the first one.")
            line = line.with_cells({}, Fault(line.line, "", text))
        yield line


def _ask(task: SpreadsheetTask, question: Question) -> None:
    apply_batch(
        ASK.bind(
            **task.key,
            state=entities.READING,
            then=entities.ASKING,
            question=question.pack(),
            now=current_time(),
        ),
        queries.UNFINISHED.bind_remove(task.task_id),
        if_lost=REFUSED_MEANS_DONE,
    )


def answer_question(
    task: SpreadsheetTask, targets: Mapping[str, str], categories: Mapping[str, str], now: datetime
) -> bool:
    """Let the worker convert a file by these answers, and remember them. Return whether the question was still the task's.

    `task` is the task as it was read for the page. Raises CassandraUnavailable.
    """
    asked = unpack_question(task.question)
    answered = asked.answer(targets, categories)
    packed = answered.pack()
    outcome = apply_batch(
        ANSWER.bind(
            **task.key,
            state=entities.ASKING,
            then=entities.READING,
            question=packed,
            seen=task.question,
            now=now,
        ),
        queries.UNFINISHED.bind_add(task.task_id),
        if_lost=applied_if(lambda row: bool(row.question == packed)),
    )
    if outcome:
        REMEMBER.run(
            head_hash=hash_head(task.layout, list(answered.targets)),
            targets=json.dumps(answered.targets, ensure_ascii=False),
            categories=json.dumps(answered.categories, ensure_ascii=False),
        )
    return bool(outcome)
