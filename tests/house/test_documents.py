"""What the documents claim to be tested is tested: each test that they name is there."""

import re
from pathlib import Path

import pytest

from tests.house.rooms import ROOT

NAMED = re.compile(r"`(tests/[a-z_/]+\.py)::(test_[a-z0-9_]+)`")
DOCUMENTS = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_each_test_that_a_document_names_is_there(path: Path) -> None:
    for file, test in NAMED.findall(path.read_text()):
        source = ROOT / file
        assert source.exists(), f"{path.name} names {file}, which is not there"
        assert f"def {test}(" in source.read_text(), f"{path.name} names {test}, which is not in {file}"


def test_the_matrix_of_failures_names_a_test_for_all_that_it_claims() -> None:
    text = (ROOT / "docs" / "resilience.md").read_text()
    table = [line for line in text.splitlines() if line.startswith("|")][2:]
    notes = set(re.findall(r"^(\d+)\. .*`tests/", text, re.MULTILINE))
    for row in table:
        cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
        for cell in cells:
            claims = re.findall(r"\[(\d+)\]", cell)
            assert claims or cell == "–", f"a cell claims {cell!r} and names no test: {row}"
            assert set(claims) <= notes, f"a cell names note {claims}, which names no test"
