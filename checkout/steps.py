"""The steps from a cart to an order, in order. Each has a view of its name, and its own URL."""

from collections.abc import Mapping

from django.urls import reverse

DETAILS, DELIVERY, REVIEW = STEPS = ("details", "delivery", "review")
# The names of the steps when all three were on one page.
_FORMER_NAMES = {"details": DETAILS, "ways": DELIVERY, "review": REVIEW}


def step_url(step: str) -> str:
    """Return a step's address."""
    return reverse(f"checkout:{step}")


def next_step(step: str) -> str:
    """Return the next step; after the last step the last one."""
    return STEPS[min(STEPS.index(step) + 1, len(STEPS) - 1)]


def parse_step(name: str) -> str:
    """Return the step of a button's present or former name; the first step for other names."""
    return name if name in STEPS else _FORMER_NAMES.get(name, DETAILS)


def legacy_step(query: Mapping[str, str], posted: Mapping[str, str]) -> str:
    """Return the step of a link or form of the old single-page checkout; the first step by default."""
    return _FORMER_NAMES.get(posted.get("on", "") or query.get("step", ""), DETAILS)
