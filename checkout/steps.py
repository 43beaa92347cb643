"""The steps from a cart to an order, in their order. Each has the name of its view, and an address of its own."""

from collections.abc import Mapping

from django.urls import reverse

DETAILS, DELIVERY, REVIEW = STEPS = ("details", "delivery", "review")
# Formerly all three were at the first one's address, with these names.
_FORMER_NAMES = {"details": DETAILS, "ways": DELIVERY, "review": REVIEW}


def step_url(step: str) -> str:
    """Return a step's address."""
    return reverse(f"checkout:{step}")


def next_step(step: str) -> str:
    """Return the step after this one; the last one for the last."""
    return STEPS[min(STEPS.index(step) + 1, len(STEPS) - 1)]


def parse_step(name: str) -> str:
    """Return the step that a button names, by its present or former name; the first one for any other."""
    return name if name in STEPS else _FORMER_NAMES.get(name, DETAILS)


def legacy_step(query: Mapping[str, str], posted: Mapping[str, str]) -> str:
    """Return the step that a link or form of the former kind is about; the first one for all else."""
    return _FORMER_NAMES.get(posted.get("on", "") or query.get("step", ""), DETAILS)
