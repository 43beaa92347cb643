"""The rules of docs/requirements.md, which tests and comments name by number, and the tests that hold them.

`python -m tests.architecture.requirements` prints each rule with its tests; numbers as arguments choose rules.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.apps import ROOT, relative_path

PAGE = ROOT / "docs" / "requirements.md"
_SEARCHED = {".py", ".md", ".html", ".css", ".js"}
# Commands write there; it is no part of the repository.
_MADE = {"staticfiles", "test-results"}
# A browser that calls itself "X11; Linux" names no rule, nor does an Eircode that ends in X285, nor a linter's "noqa: S105".
_NUMBER = re.compile(
    r"(?<!noqa: )\b(?:[XSFI]\d{1,2}|X(?:1\d\d|2[0-7]\d|28[0-46-9]|29\d|[3-5]\d\d)|S1\d\d)\b(?!;)|\b[Ff]ault \d+\b"
)
_NUMBER_IN_NAME = re.compile(
    r"(?<=_)(?:[xsfi]\d{1,2}|x(?:1\d\d|2[0-7]\d|28[0-46-9]|29\d|[3-5]\d\d)|s1\d\d|fault_\d+)(?=_)"
)
_TEST = re.compile(r"^def (test_\w+).*\n(?:(?:[ )].*)?\n)*", re.MULTILINE)
_LINE = re.compile(r"^- ([XSFI]\d+|fault \d+): (.+)$", re.MULTILINE)


def _numbers(text: str) -> set[str]:
    return {number.replace("Fault", "fault") for number in _NUMBER.findall(text)}


def _numbers_in_name(name: str) -> set[str]:
    return {
        number.replace("_", " ") if number.startswith("fault") else number.upper()
        for number in _NUMBER_IN_NAME.findall(name)
    }


def iterate_files() -> Iterator[Path]:
    """Yield the repository's code and documents, but for the page of rules."""
    for top in sorted(ROOT.iterdir()):
        if not top.name.startswith(".") and top.name not in _MADE:
            for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
                if path.suffix in _SEARCHED and path != PAGE:
                    yield path


def _tests() -> Iterator[tuple[str, str, str]]:
    """Return each test's place (`file::name`), its name and its text."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for test in _TEST.finditer(path.read_text()):
            yield f"{relative_path(path)}::{test[1]}", test[1], test[0]


def find_used_numbers() -> dict[str, str]:
    """Return the numbers that the repository names outside of the page, each with a file that does."""
    found: dict[str, str] = {}
    for path in iterate_files():
        text = path.read_text()
        named = _numbers(text)
        for test in _TEST.finditer(text):
            named |= _numbers_in_name(test[1])
        found |= dict.fromkeys(named - found.keys(), relative_path(path))
    return found


def find_tests_by_rule() -> dict[str, list[str]]:
    """Return the tests that hold each number: those whose names bear it, else those in whose text it stands."""
    by_name: dict[str, list[str]] = defaultdict(list)
    by_text: dict[str, list[str]] = defaultdict(list)
    for place, name, text in _tests():
        for number in _numbers_in_name(name):
            by_name[number].append(place)
        for number in _numbers(text):
            by_text[number].append(place)
    return by_text | by_name


def list_numbered_rules(kind: str) -> set[int]:
    """Return the rules of a kind that a test's name begins with: `test_s7_…`, or `test_x43_s35_…` for two in one."""
    heads = (re.match(r"test_((?:[a-z]\d+_)+)", name) for _, name, _ in _tests())
    return {int(each) for head in heads if head for each in re.findall(rf"{kind}(\d+)_", head[1])}


def list_rules() -> list[tuple[str, str]]:
    """Return the number and the words of each line of the page, in the page's order."""
    return [(line[1], line[2]) for line in _LINE.finditer(PAGE.read_text())]


if __name__ == "__main__":
    wanted = {" ".join(sys.argv[1:])} if sys.argv[1:2] == ["fault"] else set(sys.argv[1:])
    tests_by_rule = find_tests_by_rule()
    for number, rule in list_rules():
        if not wanted or number in wanted:
            sys.stdout.write(f"{number}: {rule}\n")
            sys.stdout.writelines(f"    {place}\n" for place in tests_by_rule.get(number, []))
