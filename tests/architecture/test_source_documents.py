"""docs/source-documents.md says of each thing that the four source documents name what became of it."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from tests.architecture.apps import ROOT
from tests.architecture.test_tables import MODELS

PAGE = ROOT / "docs" / "source-documents.md"
# Tables and types stand with their columns; of all other lists an entry is a row's whole first cell.
_WITH_COLUMNS = ("tables", "types")
_ANSWERS = ("**here**", "**instead**", "**not**")
_NAME = re.compile(r"`([^`]+)`")
_COLUMN = re.compile(r"`([a-z_]+)\.([a-z_]+)`")


def _sections(page: str) -> dict[str, list[list[str]]]:
    """Return the rows of each document's section by the document's id, as lists of cells."""
    found: dict[str, list[list[str]]] = {}
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        rows = [
            line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")
        ]
        found[part[:3]] = [row for row in rows if row[0] != "what"]
    return found


def _missing(document: dict[str, Any], rows: list[list[str]]) -> Iterator[str]:
    cells = [row[0] for row in rows]
    columns: dict[str, set[str]] = {}
    for cell in cells:
        if ": " in cell and cell.startswith("`"):
            table, named = cell.split(": ", 1)
            columns.setdefault(table.strip("`"), set()).update(_NAME.findall(named))
    listed = set()
    for name, entries in document.items():
        if name in _WITH_COLUMNS:
            for entry in entries:
                listed.add(f"`{entry['name']}`")
                for column in set(entry["columns"]) - columns.get(entry["name"], set()):
                    yield f"{entry['name']}.{column} has no row"
        elif isinstance(entries, list):
            listed |= set(entries)
    yield from (f"{each!r} has no row" for each in sorted(listed - set(cells)))
    unknown = {cell for cell in cells if ": " not in cell or not cell.startswith("`")} - listed
    yield from (f"{each!r} is in no list of the document" for each in sorted(unknown))


def _wrong(rows: list[list[str]]) -> Iterator[str]:
    tables = {model.__table_name__: set(model._columns) for model in MODELS}
    for row in rows:
        if len(row) != 3 or not row[2].startswith(_ANSWERS):
            yield f"{row[0]!r} does not say here, instead or not"
            continue
        for table, column in _COLUMN.findall(row[2]):
            if table in tables and column not in tables[table]:
                yield f"{row[0]!r} names {table}.{column}, which is not there"


def test_each_thing_that_the_source_documents_name_has_its_row() -> None:
    documents = tomllib.loads((ROOT / "tests" / "source_documents.toml").read_text())["document"]
    sections = _sections(PAGE.read_text())
    assert len(documents) == 4
    violations = [
        f"{document['id']}: {violation}"
        for document in documents
        for rows in [sections[document["id"]]]
        for violation in (*_missing(document, rows), *_wrong(rows))
    ]
    assert not violations, "\n".join(violations)
