"""Convert files of other shops to our layouts (decision 111).

The worker asks staff once what becomes of the columns and of unknown categories. Then it replaces the file by a converted one,
which is read like our own. A run that is killed begins again.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import islice
from tempfile import TemporaryFile
from typing import IO

from django.utils.translation import gettext as _

from cassandra_db import applied_if, apply_batch, conditional_write, current_time, read, write
from pricing.delivery import get_default_country
from pricing.tax import get_tax_rates
from spreadsheets import entities, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.errors import FileRefused
from spreadsheets.files import MAX_LINES, MAX_SHEET_BYTES, Table, open_table
from spreadsheets.foreign.categories import MAX_ANSWERS, CategoryFinder
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.groups import group_lines, pack_line
from spreadsheets.foreign.mapping import list_columns, read_line
from spreadsheets.foreign.presets import PRESETS, UNKNOWN, find_preset, list_first_targets
from spreadsheets.foreign.questions import (
    SAMPLE_LINES,
    Question,
    hash_head,
    name_columns,
    take_samples,
    unpack_question,
)
from spreadsheets.foreign.values import convert_product_line, convert_stock_line, split_categories
from spreadsheets.layouts import Layout
from spreadsheets.operations.former_prices import keep_former_prices
from spreadsheets.operations.stored_files import file_of, reopen
from spreadsheets.operations.tasks import replace_file

# Q30: what became of the columns of an earlier file with this header.
REMEMBERED = read(
    "Q30", "SELECT targets, categories FROM remembered_mappings WHERE head_hash = :head_hash"
)
REMEMBER = write(
    "Q30",
    """INSERT INTO remembered_mappings (head_hash, targets, categories) VALUES (:head_hash, :targets, :categories)""",
)
NOTE_QUESTION = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, question = :question, changed_at = :now, failures = 0
       WHERE month = :month AND task_id = :task_id IF state = :state AND question = :seen""",
)


def convert_or_ask(task: SpreadsheetTask, layout: Layout, file: IO[bytes], table: Table) -> None:
    """Convert a file with foreign columns, or ask staff what is not known yet. Raises FileRefused."""
    question = unpack_question(task.question) if task.question else _begin(task, layout, file)
    finder = CategoryFinder(question.categories, are_remembered=not task.question)
    notes, now = Counter[str](), current_time()
    for line in _read_foreign(question, layout, file):
        if layout.name == "products":
            finder.resolve(line.with_cells(split_categories(line.cells.get("categories", ""))))
    if finder.unknown or not task.question:
        asked = replace(question, categories=finder.used, unknown=tuple(finder.unknown))
        _note_question(task, entities.ASKING, asked, now)
        return
    finder.create(task.task_id)
    tax_percent = get_tax_rates(get_default_country()).by_class["standard"]
    lines = iterate_converted(question, layout, file, tax_percent, now, notes)
    with TemporaryFile() as scratch:
        if layout.name == "products":
            grouped = group_lines(map(finder.resolve, lines), scratch)
            lines = keep_former_prices(grouped, notes, now)
        converted = file_of(map(pack_line, lines))
    source, encoding = question.preset or "other", table.encoding
    described = replace(task, source=source, notes=dict(+notes), encoding=encoding, question="")
    replace_file(described, converted)


def _begin(task: SpreadsheetTask, layout: Layout, file: IO[bytes]) -> Question:
    """Return the first question about a file. What was answered for an earlier file with the same columns is chosen."""
    table = open_table(reopen(file), layout.head)
    head = name_columns(table.head)
    first = (record for _line, record in islice(table.lines, SAMPLE_LINES))
    # Tasks are kept for months, and are no place for what customers are called.
    samples = take_samples(head, () if task.is_about_people else first)
    targets, categories = list_first_targets(layout.name, head), {}
    if known := REMEMBERED.one(head_hash=hash_head(layout.name, head)):
        # By their places, since a name can be written in another way.
        targets = dict(zip(head, json.loads(known.targets).values(), strict=True))
        categories = json.loads(known.categories)
    shown = {
        name: texts
        for name, texts in samples.items()
        if texts or targets[name] or task.is_about_people
    }
    return Question(find_preset(layout.name, head), shown, targets, categories)


def _read_foreign(question: Question, layout: Layout, file: IO[bytes]) -> Iterator[ConvertedLine]:
    """Yield the lines of a foreign file by their targets, with the values of the file. Raises FileRefused."""
    preset = PRESETS.get(question.preset, UNKNOWN)
    columns = list_columns(question.targets, preset.units)

    def read_lines() -> Iterator[ConvertedLine]:
        for line, record in open_table(reopen(file), layout.head).lines:
            if any(record):
                yield read_line(line, record, columns)

    size = 0
    for number, line in enumerate(preset.convert(read_lines)):
        size += sum(map(len, line.cells.values()))
        # A variation for any value is a line for each one.
        if number >= MAX_LINES or size > MAX_SHEET_BYTES:
            raise FileRefused(_("The file has too many variants. Split it."))
        yield line


def iterate_converted(
    question: Question,
    layout: Layout,
    file: IO[bytes],
    tax_percent: Decimal,
    now: datetime,
    notes: Counter[str],
) -> Iterator[ConvertedLine]:
    """Yield the lines of a foreign file in our layout, in the file's order. Raises FileRefused."""
    for line in _read_foreign(question, layout, file):
        if layout.name == "stock":
            line = convert_stock_line(line)
        elif line.cells and layout.name in ("products", "prices"):
            line = convert_product_line(line, tax_percent, now, notes)
        if line.cells:
            yield line
        notes["left_out"] += not line.cells


def answer_question(
    task: SpreadsheetTask, targets: Mapping[str, str], categories: Mapping[str, str], now: datetime
) -> bool:
    """Let the worker convert a file by these answers, and remember them. Return whether the question was still the task's.

    `task` is the task as it was read for the page. Raises CassandraUnavailable.
    """
    asked = unpack_question(task.question)
    answered = replace(
        asked,
        targets={**asked.targets, **targets},
        categories={**asked.categories, **categories},
        unknown=(),
    )
    if not _note_question(task, entities.READING, answered, now):
        return False
    head_hash, kept = hash_head(task.layout, answered.targets), dict(answered.categories)
    if known := REMEMBERED.one(head_hash=head_hash):
        # Those for other files come last.
        kept |= json.loads(known.categories) | kept
    REMEMBER.run(
        head_hash=head_hash,
        targets=json.dumps(answered.targets, ensure_ascii=False),
        categories=json.dumps(dict(islice(kept.items(), MAX_ANSWERS)), ensure_ascii=False),
    )
    return True


def _note_question(task: SpreadsheetTask, then: str, question: Question, now: datetime) -> bool:
    """Ask staff, or let the worker go on; return whether the task was still as it was read."""
    packed, unfinished = question.pack(), queries.UNFINISHED
    change = unfinished.bind_remove if then == entities.ASKING else unfinished.bind_add
    outcome = apply_batch(
        NOTE_QUESTION.bind(
            **task.key,
            state=task.state,
            then=then,
            question=packed,
            seen=task.question or None,
            now=now,
        ),
        change(task.task_id),
        if_lost=applied_if(lambda row: bool(row.state == then and row.question == packed)),
    )
    return bool(outcome)
