"""What the documents name is there: tests, paths, anchors, decisions, the layers of the import contract."""

import re
from pathlib import Path

from tests.architecture.apps import ROOT, relative_path
from tests.architecture.requirements import iterate_files
from tests.rules import for_each

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "cassandra_db" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
DECISIONS = ROOT / "docs" / "decisions"
MAX_DECISION_WORDS = 250

NAMED = [
    (document.name, command, file, test)
    for document in DOCUMENTS
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
_FENCED = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
# In code and documents: "decision 044", "decisions 044, 045", "docs/decisions/024".
_DECISIONS = re.compile(r"[Dd]ecisions?(?:/| \[?)(\d{1,3}\b(?:(?:,| and|, and) \d{1,3}\b)*)")


def _prose(document: Path) -> str:
    return _FENCED.sub("", document.read_text())


def _tops() -> set[str]:
    """Return the folders at the top of the repository: what begins with one of them is a path."""
    return {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}


def list_missing_paths(text: str) -> list[str]:
    """Return the paths in backticks that are neither in the repository's root nor in `templates/`."""
    tops = _tops()
    return [
        span
        for span in _SPAN.findall(text)
        if _PATH.fullmatch(span)
        and "/" in span
        and span.split("/")[0] in tops
        and not any((ROOT / above / span).exists() for above in ("", "templates"))
    ]


def _anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _prose(document), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _list_broken_links(document: Path) -> list[str]:
    broken = []
    for link in _LINK.findall(_prose(document)):
        if re.match(r"https?:|mailto:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (document.parent / file) if file else document
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    return broken


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


@for_each(DOCUMENTS, at_least=50)
def test_each_path_and_link_in_a_document_leads_somewhere(document: Path) -> None:
    missing = [*list_missing_paths(_prose(document)), *_list_broken_links(document)]
    assert not missing, f"{relative_path(document)} names {missing}"


def test_the_diagram_of_the_readme_has_the_layers_of_the_import_contract() -> None:
    contract = (ROOT / "pyproject.toml").read_text().partition("layers = [")[2].partition("\n]")[0]
    layers = re.findall(r'^    "(\w+)",$', contract, re.MULTILINE)
    diagram = (ROOT / "README.md").read_text().partition("```mermaid")[2].partition("```")[0]
    drawn = [app for app in re.findall(r"\w+", diagram) if app in layers]
    assert len(layers) >= 25
    assert drawn == layers


def test_each_decision_is_short_complete_and_in_the_index() -> None:
    index = (DECISIONS / "README.md").read_text()
    rows = re.findall(r"^\| (?:\[(\d{3})\]\(([^)]+)\)|(\d{3})) \|", index, re.MULTILINE)
    numbers = [linked or folded for linked, _, folded in rows]
    assert numbers == [f"{number:03}" for number in range(1, len(numbers) + 1)]
    files = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    assert [path.name for path in files] == [file for _, file, _ in rows if file]
    for path in files:
        body = path.read_text().partition("\n")[2]
        words = sum(bool(re.search(r"\w", word)) for word in body.split())
        assert words <= MAX_DECISION_WORDS, f"{path.name} has {words} words"
        assert "**Not taken.**" in body, path.name
        assert "**Costs.**" in body, path.name


def test_each_decision_that_code_or_a_document_names_is_there() -> None:
    there = {path.name[:3] for path in DECISIONS.glob("[0-9]*.md")}
    named = {
        (relative_path(path), number.zfill(3))
        for path in iterate_files()
        for run in _DECISIONS.findall(path.read_text())
        for number in re.findall(r"\d+", run)
    }
    assert len(named) >= 40, "it has hardly looked anywhere"
    missing = sorted(f"{file}: {number}" for file, number in named if number not in there)
    assert not missing, "\n".join(missing)
