"""Each number that a test or a comment names is a rule on docs/requirements.md, and each rule has a test."""

from collections import Counter

from tests.architecture.requirements import find_tests_by_rule, find_used_numbers, list_rules


def test_each_number_has_its_line_and_each_line_its_tests() -> None:
    named = find_used_numbers()
    listed = Counter(number for number, _ in list_rules())
    tests_by_rule = find_tests_by_rule()
    assert len(named) >= 100, "it has hardly looked anywhere"
    violations = [
        *(
            f"{number} has no line; {file} names it"
            for number, file in named.items()
            if number not in listed
        ),
        *(f"{number} has a line, and nothing names it" for number in listed.keys() - named),
        *(f"{number} has no test" for number in listed.keys() & named - tests_by_rule.keys()),
        *(f"{number} has {count} lines" for number, count in listed.items() if count > 1),
    ]
    assert not violations, "\n".join(sorted(violations))
