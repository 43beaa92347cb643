"""Each rule of experience that holds in this shop has a test that bears its number."""

import re

from tests.architecture.apps import ROOT

RULES = [*range(1, 23), 24, *range(27, 33), 37, 38, *range(43, 74)]


def numbered() -> set[int]:
    """Return the rules that a test's name begins with: `test_x7_…`, or `test_x59_x60_…` for two in one."""
    found: set[int] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"def test_((?:x\d+_)+)", path.read_text()):
            found |= {int(number) for number in re.findall(r"\d+", name)}
    return found


def test_it_has_a_test_named_by_its_number() -> None:
    without = sorted(set(RULES) - numbered())
    assert not without, f"no test bears the number of {without}"
