"""Conflicts: staff save a form after somebody else has changed the same product, order or setting.

The page answers 409, and shows the saved and the typed values (`adminpanel/_conflict.html`). The form keeps the typed
values. It also keeps the version that its page showed, unless the user chooses to overwrite the newer version.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

# The name of the button that overwrites the newer version. The button's value is the newer version.
OVERWRITE = "overwrite"


@dataclass(frozen=True)
class FieldConflict:
    """A form field that somebody else has saved with another text: its label, the saved text and the typed text."""

    label: str
    saved: str
    typed: str


@dataclass(frozen=True)
class Conflict:
    """A conflict: who saved first and when, the version that they saved, and the fields that differ."""

    who: str
    at: datetime | None
    version: str
    fields: tuple[FieldConflict, ...]


def compare_fields(saved: Mapping[str, str], typed: Mapping[str, str]) -> tuple[FieldConflict, ...]:
    """Return the fields whose saved and typed texts differ, in the order of the form's fields."""
    labels = dict.fromkeys([*typed, *saved])
    found = [FieldConflict(each, saved.get(each, ""), typed.get(each, "")) for each in labels]
    return tuple(each for each in found if _lines(each.saved) != _lines(each.typed))


def _lines(text: str) -> list[str]:
    # Browsers change the line ends of a text.
    return text.strip().splitlines()


def get_seen_version(data: Mapping[str, str]) -> str:
    """Return the version that a form replaces: the version that its page showed, or the newer one to overwrite."""
    # If somebody else removed the edited object, its version is ''.
    return data.get(OVERWRITE, data.get("version", ""))
