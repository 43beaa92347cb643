"""What the documents claim to be tested is tested: each test that they name is there."""

import re

from tests.architecture.apps import ROOT
from tests.rules import for_each

NAMED = [
    (document.name, command, file, test)
    for document in sorted((ROOT / "docs").rglob("*.md"))
    for command, file, test in re.findall(
        r"`(?:make (test|prove|prove LONG=1) ARGS=)?(tests/[a-z_/]+\.py)::(test_[a-z0-9_]+)`",
        document.read_text(),
    )
]
RESILIENCE = (ROOT / "docs" / "resilience.md").read_text()
NOTES = set(re.findall(r"^(\d+)\. .*`make (?:test|prove) ARGS=tests/", RESILIENCE, re.MULTILINE))
CELLS = [
    (row, cell.strip())
    for row in [line for line in RESILIENCE.splitlines() if line.startswith("|")][2:]
    for cell in row.strip("|").split("|")[1:]
]


@for_each(NAMED, at_least=14)
def test_each_test_that_a_document_names_is_there_and_run_by_its_command(
    named: tuple[str, str, str, str],
) -> None:
    _, command, file, test = named
    assert (ROOT / file).exists(), "there is no such file"
    found = re.search(rf"((?:^@.*\n)*)def {test}\(", (ROOT / file).read_text(), re.MULTILINE)
    assert found, "the file has no such test"
    proof, long = (
        ("prove" if "mark.proof" in found[1] else "test"),
        (" LONG=1" if "mark.long" in found[1] else ""),
    )
    assert command in ("", proof + long), f"it is run by make {proof}{long}"


@for_each(CELLS, at_least=45)
def test_the_matrix_of_failures_names_a_test_for_all_that_it_claims(named: tuple[str, str]) -> None:
    _, cell = named
    claims = set(re.findall(r"\[(\d+)\]", cell))
    assert claims or cell == "–", "it claims something and names no test"
    assert claims <= NOTES, "it names a note that names no test"
