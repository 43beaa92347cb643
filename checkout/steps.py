"""The steps from a cart to an order, in their order. Each step has its own URL, and a view with the step's name."""

from collections.abc import Mapping

from django.urls import reverse

DETAILS, DELIVERY, REVIEW = STEPS = ("details", "delivery", "review")
# The former names of the steps, from the time when all three were on one page.
_FORMER_NAMES = {"details": DETAILS, "ways": DELIVERY, "review": REVIEW}


def step_url(step: str) -> str:
    """Return the URL of a step."""
    return reverse(f"checkout:{step}")


def next_step(step: str) -> str:
    """Return the step after this one; for the last step, return itself."""
    return STEPS[min(STEPS.index(step) + 1, len(STEPS) - 1)]


def parse_step(name: str) -> str:
    """Return the step that a button's name means. Former names are known, too; other names mean the first step."""
    return name if name in STEPS else _FORMER_NAMES.get(name, DETAILS)


def legacy_step(query: Mapping[str, str], posted: Mapping[str, str]) -> str:
    """Return the step that a link or form of the old single-page checkout means; the first step by default."""
    return _FORMER_NAMES.get(posted.get("on", "") or query.get("step", ""), DETAILS)
