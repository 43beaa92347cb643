"""Stale edits: somebody saves what another person has changed since the page was opened.

The answer is the same page with status 409 and `adminpanel/_conflict.html` above its form: both states side by side. All that was typed
stays in the form, and so does the version that it was typed for, unless the person chooses to write over the newer one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

# The name of the button that overwrites; its value is the newer version.
OVERWRITE = "overwrite"


@dataclass(frozen=True)
class FieldConflict:
    """A field by its label: what is saved now, and what was typed instead."""

    label: str
    saved: str
    typed: str


@dataclass(frozen=True)
class Conflict:
    """Who was faster and when, the version that is saved now, and the fields that differ."""

    who: str
    at: datetime | None
    version: str
    fields: tuple[FieldConflict, ...]


def compare_fields(saved: Mapping[str, str], typed: Mapping[str, str]) -> tuple[FieldConflict, ...]:
    """Return the fields, by their labels, in which what is saved differs from what was typed, in the order of the form."""
    labels = dict.fromkeys([*typed, *saved])
    found = [FieldConflict(each, saved.get(each, ""), typed.get(each, "")) for each in labels]
    return tuple(each for each in found if _lines(each.saved) != _lines(each.typed))


def _lines(text: str) -> list[str]:
    # A browser sends line ends of its own.
    return text.strip().splitlines()


def get_seen_version(data: Mapping[str, str]) -> str:
    """Return the version that a form was sent for: the one that its page showed, or the newer one that it overwrites."""
    # '' is the version of something that was removed.
    return data.get(OVERWRITE, data.get("version", ""))
