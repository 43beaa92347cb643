"""docs/source-documents.md says of each thing that the four source documents name what became of it."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from django.urls import Resolver404, resolve

from tests.architecture.apps import FILES, ROOT
from tests.architecture.test_tables import MODELS

PAGE = ROOT / "docs" / "source-documents.md"
# Tables and types stand with their columns; of all other lists an entry is a row's whole first cell.
_WITH_COLUMNS = ("tables", "types")
_ANSWERS = ("**here**", "**instead**", "**not**")
_NAME = re.compile(r"`([^`]+)`")
_CONSTANT_IN_FILE = re.compile(r"`([A-Z][A-Z_]+)` in `([^`]+\.py)`")
# What the third column says in CQL, and other words that are no name of the shop's.
_CQL = {"IF NOT EXISTS", "SELECT *", "bigint", "text", "timeuuid", "gc_grace_seconds"}
_CQL |= {"available >= :n", "quantity + :n", "UnifiedCompactionStrategy"}
_WORDS = {"models.py", "area", "stoa", "read", "__partition_bytes__"}


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


def _is_command(name: str) -> bool:
    program, _, words = name.partition(" ")
    first = words.removeprefix("-m ").split(" ")[0]
    if program == "manage.py":
        return any(ROOT.glob(f"*/management/commands/{first}.py"))
    if program == "python":
        return (ROOT / f"{first.replace('.', '/')}.py").exists()
    makefile = (ROOT / "Makefile").read_text()
    return program == "make" and re.search(rf"^{first}:", makefile, re.MULTILINE) is not None


def _is_address(name: str) -> bool:
    try:
        resolve(name.replace("…", "any"))
    except Resolver404:
        return False
    return True


class _Names:
    """What the shop has by name: tables with their columns, and the text of its code."""

    def __init__(self) -> None:
        self.columns = {model.__table_name__: set(model._columns) for model in MODELS}
        self.all_columns = set().union(*self.columns.values())
        self.code = "\n".join(path.read_text() for path in FILES)

    def has(self, name: str) -> bool:
        """Return whether a name is that of a table, column, constant, path, command or address."""
        table, _, column = name.partition(".")
        if name in _CQL | _WORDS or name in self.columns:
            return True
        if table in self.columns:
            return column in self.columns[table]
        if name.startswith("/"):
            return _is_address(name)
        if "/" in name:
            return (ROOT / name).exists()
        if " " in name:
            return _is_command(name)
        if name.isupper():
            return re.search(rf"\b{name}\b", self.code) is not None
        return name in self.all_columns


def _wrong(rows: list[list[str]], names: _Names) -> Iterator[str]:
    for row in rows:
        if len(row) != 3 or not row[2].startswith(_ANSWERS):
            yield f"{row[0]!r} does not say here, instead or not"
            continue
        for name in _NAME.findall(row[2]):
            if not names.has(name):
                yield f"{row[0]!r} names {name}, which is not there"
        for constant, file in _CONSTANT_IN_FILE.findall(row[2]):
            if not re.search(rf"^{constant}\b", (ROOT / file).read_text(), re.MULTILINE):
                yield f"{row[0]!r} names {constant}, which is not in {file}"


def test_each_thing_that_the_source_documents_name_has_its_row() -> None:
    documents = tomllib.loads((ROOT / "tests" / "source_documents.toml").read_text())["document"]
    sections = _sections(PAGE.read_text())
    names = _Names()
    assert len(documents) == 4
    violations = [
        f"{document['id']}: {violation}"
        for document in documents
        for rows in [sections[document["id"]]]
        for violation in (*_missing(document, rows), *_wrong(rows, names))
    ]
    assert not violations, "\n".join(violations)
