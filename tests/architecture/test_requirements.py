"""Each number that a test or a comment names is a rule on docs/requirements.md, with the tests that hold it."""

from collections import Counter

from tests.architecture.requirements import (
    PAGE,
    find_tests_by_rule,
    find_used_numbers,
    list_rules,
    render_page,
)


def test_each_number_has_its_line_and_each_line_its_tests() -> None:
    page = PAGE.read_text()
    named, listed, tests_by_rule = (
        find_used_numbers(),
        Counter(list_rules(page)),
        find_tests_by_rule(),
    )
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
    if page != render_page(page):
        violations.append(
            "the last column is old: python -m tests.architecture.requirements --write"
        )
    assert not violations, "\n".join(sorted(violations))
