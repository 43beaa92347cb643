"""The steps from a cart to an order, in their order. Each is named as its view, and is an address of its own."""

from collections.abc import Mapping

from django.urls import reverse

DETAILS, DELIVERY, REVIEW = STEPS = ("details", "delivery", "review")
# Before that all three stood at the first one's address, and these were their names there.
_FORMER_NAMES = {"details": DETAILS, "ways": DELIVERY, "review": REVIEW}


def step_url(step: str) -> str:
    """Return where a step stands."""
    return reverse(f"checkout:{step}")


def next_step(step: str) -> str:
    """Return the step that one leads to; nothing comes after the last."""
    return STEPS[min(STEPS.index(step) + 1, len(STEPS) - 1)]


def parse_step(name: str) -> str:
    """Return the step that a button names, by its name of today or by that of before; the first one for any other."""
    return name if name in STEPS else _FORMER_NAMES.get(name, DETAILS)


def legacy_step(query: Mapping[str, str], posted: Mapping[str, str]) -> str:
    """Return the step that a link or a form from before is about; the first one for all else."""
    return _FORMER_NAMES.get(posted.get("on", "") or query.get("step", ""), DETAILS)
