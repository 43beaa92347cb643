"""Renders docs/data-model.md from the models."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.db import connections

from cassandra_db.partitions import KB, MB

INTRODUCTION = """\
# Data model

<!-- Made by `manage.py datamodel --write` from the models' docstrings. Change those, not this page. -->

The questions come first, then a table for each: a page asks for partitions by their whole key and gets rows in the
order in which it shows them. Copies are written by the one function that is named as a table's writer.

How to read a key: what stands in the inner brackets is the partition key, the rest orders the rows within it.
A static column (*static*) has one value for the whole partition. Money is a whole number of minor units (cents) beside
its ISO 4217 currency; times are UTC. Question numbers: Q the shop, K and U the named carts, R reviews and questions,
N notifications, M conversations, L posts, A sensors. "Holds data of" names the columns that lead to a person, and what becomes
of the row when that person is erased.
"""

FAMILIES = "QKURNMLA"  # the letters that begin the numbers of questions, in the order of the index
_QUESTIONS = re.compile(rf"^((?:[{FAMILIES}]\d+)(?:, [{FAMILIES}]\d+)*): (.*)", re.DOTALL)
# A column's remark is a comment behind the column, or above it if the line is full.
_COLUMN = re.compile(r"^    ([a-z_]+) = columns\..*?\)[ ]*# (.+)$", re.MULTILINE)
_ABOVE = re.compile(r"^    # (.+)\n    ([a-z_]+) = columns\.", re.MULTILINE)


@dataclass(frozen=True)
class Table:
    """A table with the values that its model declares."""

    app: str
    name: str
    questions: tuple[str, ...]
    purpose: str
    remarks: str
    size_bound: str
    partition_bytes: int
    writer: str
    personal_data: str
    key: str
    columns: tuple[tuple[str, str, str, str], ...]  # name, type, static or not, remark
    options: str


@cache
def list_tables() -> tuple[Table, ...]:
    """Return all tables in the order of the apps in the settings, and within an app in the order of its models.py."""
    introspection: Any = connections["default"].introspection  # the engine's own
    order = [config.name for config in apps.get_app_configs()]
    found = [
        _table(module.removesuffix(".models"), model)
        for module, models in introspection.cql_models.items()
        for model in sorted(models, key=lambda model: inspect.getsourcelines(model)[1])
    ]
    return tuple(sorted(found, key=lambda table: order.index(table.app)))


def render_data_model() -> str:
    """Return the text of docs/data-model.md."""
    every = list_tables()
    return "\n".join(
        [
            INTRODUCTION,
            *_by_question(every),
            *(line for table in _with_headings(every) for line in table),
        ]
    )


def _by_question(every: Sequence[Table]) -> Iterator[str]:
    yield "## Question to table\n"
    yield "| questions | table |"
    yield "|---|---|"
    answering = [table for table in every if table.questions]
    for table in sorted(answering, key=lambda table: _rank(table.questions[0])):
        sentence = re.split(r"(?<=[.;]) ", table.purpose)[0].rstrip(".;")
        yield f"| {', '.join(table.questions)} | [{table.name}](#{table.name}): {sentence} |"
    yield ""


def _rank(question: str) -> tuple[int, int]:
    return FAMILIES.index(question[0]), int(question[1:])


def _with_headings(every: Sequence[Table]) -> Iterator[list[str]]:
    app = ""
    for table in every:
        lines = [] if table.app == app else [f"## {table.app}\n"]
        app = table.app
        yield lines + _describe(table)


def _describe(table: Table) -> list[str]:
    answers = f"{', '.join(table.questions)}: " if table.questions else ""
    lines = [
        f"### {table.name}\n",
        f"{answers}{table.purpose}{' ' + table.remarks if table.remarks else ''}\n",
    ]
    lines.append(f"- Key: `{table.key}`")
    lines.append(f"- Bound: {table.size_bound} At most {_size(table.partition_bytes)}.")
    lines.append(f"- Writer: {table.writer}")
    lines.append(f"- Holds data of: {table.personal_data}")
    if table.options:
        lines.append(f"- Options: {table.options}")
    lines += ["", "| column | type | |", "|---|---|---|"]
    for name, kind, static, remark in table.columns:
        lines.append(f"| {name} | {kind} | {'; '.join(filter(None, (static, remark)))} |")
    return [*lines, ""]


def _table(app: str, model: Any) -> Table:
    text = inspect.cleandoc(model.__doc__ or "")
    facts = {name: _fact(text, name) for name in ("Bound", "Writer")}
    words = re.split(r"^(?:Bound|Writer): ", text, maxsplit=1, flags=re.MULTILINE)[0]
    matched = _QUESTIONS.match(words)
    questions = tuple(matched[1].split(", ")) if matched else ()
    purpose, _, more = (matched[2] if matched else words).partition("\n")
    remarks = {name: remark for each in reversed(model.__mro__) for name, remark in _remarks(each)}
    return Table(
        app=app,
        name=model.__table_name__,
        questions=questions,
        purpose=_one_line(purpose),
        remarks=_one_line(more),
        size_bound=facts["Bound"],
        partition_bytes=model.__partition_bytes__,
        writer=facts["Writer"],
        personal_data=_person(getattr(model, "__personal_data__", None) or {}),
        key=_key(model),
        columns=tuple(
            (name, str(column.db_type), "*static*" if column.static else "", remarks.get(name, ""))
            for name, column in model._columns.items()
        ),
        options=_options(getattr(model, "__options__", None) or {}),
    )


def _fact(text: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*?)(?=^(?:Bound|Writer): |\Z)", text, re.DOTALL | re.MULTILINE)
    return _one_line(found[1]) if found else ""


def _key(model: Any) -> str:
    partition = f"({', '.join(model._partition_keys)})"
    clustering = [
        f"{name} DESC" if column.clustering_order == "DESC" else name
        for name, column in model._clustering_keys.items()
    ]
    return f"({', '.join([partition, *clustering])})"


def _size(count: int) -> str:
    return f"{count // MB:,} MB" if count >= MB else f"{count // KB} KB"


def _person(declared: Mapping[str, Any]) -> str:
    because = f": {declared['why']}" if "why" in declared else ""
    if "columns" not in declared:
        return f"nobody{because}"
    return f"{', '.join(declared['columns'])}; when the person is erased: {declared['on_erase']}{because}"


def _options(options: dict[str, Any]) -> str:
    parts = (f"{name} {_option(value)}" for name, value in options.items())
    return ", ".join(parts)


def _option(value: Any) -> str:
    return " ".join(str(each) for each in value.values()) if isinstance(value, dict) else str(value)


def _remarks(model: type) -> Iterator[tuple[str, str]]:
    if "columns" in getattr(inspect.getmodule(model), "__dict__", {}):
        source = inspect.getsource(model)
        yield from _COLUMN.findall(source)
        yield from ((name, remark) for remark, name in _ABOVE.findall(source))


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
