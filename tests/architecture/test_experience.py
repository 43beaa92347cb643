"""Each rule of experience that holds in this shop has a test that bears its number."""

from tests.architecture.requirements import list_numbered_rules

RULES = [*range(1, 23), 24, *range(27, 33), 37, 38, *range(43, 74)]


def test_it_has_a_test_named_by_its_number() -> None:
    without = sorted(set(RULES) - list_numbered_rules("x"))
    assert not without, f"no test bears the number of {without}"
