"""The recipes of CONTRIBUTING.md work as they stand there, and name what the code has."""

import re
import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from jobs.leases import get_position, hold_lease
from orders.operations import user_stats
from tests.architecture.apps import FILES, ROOT
from tests.rules import for_each

RECIPES = (ROOT / "CONTRIBUTING.md").read_text()
IDENTIFIERS = {
    name
    for path in [*FILES, *(ROOT / "tests").rglob("*.py")]
    for name in re.findall(r"[A-Za-z_]\w*", path.read_text())
}
# What a newcomer reads in `backticks` with an underscore in it is a name: a function, a decorator, a column …
NAMED = sorted(
    {
        name
        for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", RECIPES, flags=re.DOTALL))
        for name in re.findall(
            r"(?<![\w./<-])[a-z]+_[a-z_]*[a-z]\b(?![\w/]*\.(?:py|md|html))", span
        )
    }
)


def run_recipe(title: str) -> dict[str, Any]:
    """Run the code that stands under this heading; return the names that it makes."""
    section = RECIPES.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.search(r"```python\n(.*?)\n *```", section, re.DOTALL)
    assert found, f"there is no code under {title!r}"
    names: dict[str, Any] = {"__name__": f"recipe for {title}"}
    exec(textwrap.dedent(found[1]), names)  # noqa: S102 - it is our own document
    return names


def test_the_recipes_for_a_question_and_a_job_run_as_they_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_recipe("A question")["list_units_by_warehouse"](uuid4()) == []

    # The job's own position stays where it is.
    table = replace(user_stats.DUE_USER_STATS, job=f"test-{uuid4()}")
    monkeypatch.setattr(user_stats, "DUE_USER_STATS", table)
    (job,) = run_recipe("A job")["JOBS"]
    # Long ago, when no other test reserved anything.
    now = datetime(2001, 1, 1, tzinfo=UTC)
    for moment in (now, now + timedelta(minutes=5)):
        with hold_lease(job.name):
            assert job.run(moment) == ""
        assert get_position(job.name) == (moment - table.max_write_delay).isoformat()


@for_each(NAMED, at_least=25)
def test_each_name_in_the_recipes_stands_in_the_code(name: str) -> None:
    assert name in IDENTIFIERS, "no file has it"
