"""Stale edits: a form is saved after somebody else has changed the same thing.

The page answers 409 and shows both states (`adminpanel/_conflict.html`). The form keeps what was typed, and the version
that its page showed unless the user chooses to overwrite the newer one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

# The name of the button that overwrites; its value is the newer version.
OVERWRITE = "overwrite"


@dataclass(frozen=True)
class FieldConflict:
    """A field in both states: its label, the saved and the typed text."""

    label: str
    saved: str
    typed: str


@dataclass(frozen=True)
class Conflict:
    """Who saved first and when, the saved version, and the fields that differ."""

    who: str
    at: datetime | None
    version: str
    fields: tuple[FieldConflict, ...]


def compare_fields(saved: Mapping[str, str], typed: Mapping[str, str]) -> tuple[FieldConflict, ...]:
    """Return the fields whose saved and typed texts differ, in the order of the form."""
    labels = dict.fromkeys([*typed, *saved])
    found = [FieldConflict(each, saved.get(each, ""), typed.get(each, "")) for each in labels]
    return tuple(each for each in found if _lines(each.saved) != _lines(each.typed))


def _lines(text: str) -> list[str]:
    # Browsers change line ends.
    return text.strip().splitlines()


def get_seen_version(data: Mapping[str, str]) -> str:
    """Return the version that a form replaces: the one that its page showed, or the newer one that it overwrites."""
    # A removed thing has the version ''.
    return data.get(OVERWRITE, data.get("version", ""))
