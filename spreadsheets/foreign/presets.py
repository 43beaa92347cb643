"""The layouts of other shops that are recognised by their columns."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from spreadsheets.files import normalize_name
from spreadsheets.foreign.entities import AUTOMATIC, SKIPPED, Convert
from spreadsheets.foreign.mapping import convert, guess_targets


@dataclass(frozen=True)
class Preset:
    """The layout of another shop. A file with all columns in `marks` has it; our `layout` is the one into which it is converted.

    Names of columns are normalised (spreadsheets.files.normalize_name). `targets` are the first choices of the mapping page: our
    columns, or AUTOMATIC if `convert` reads the column. Columns that are not named are skipped. `units` are those of numbers
    without one.
    """

    name: str
    label: str
    marks: frozenset[str]
    targets: Mapping[str, str]
    convert: Convert
    layout: str = "products"
    units: Mapping[str, str] = field(default_factory=dict)


# The first one whose marks are in a file counts.
PRESETS: Mapping[str, Preset] = {each.name: each for each in ()}


def find_preset(layout: str, head: Collection[str]) -> Preset | None:
    """Return the preset that a file's columns have, or None."""
    names = {normalize_name(each) for each in head}
    return next(
        (each for each in PRESETS.values() if each.layout == layout and each.marks <= names), None
    )


def list_first_targets(layout: str, head: Collection[str]) -> dict[str, str]:
    """Return the first choice for each column: by the file's preset, or by the column's name."""
    if preset := find_preset(layout, head):
        return {each: preset.targets.get(normalize_name(each), SKIPPED) for each in head}
    return guess_targets(layout, head)


def get_convert(preset: str) -> Convert:
    """Return the converter of a preset, or the one for files of unknown shops."""
    return PRESETS[preset].convert if preset else convert


assert AUTOMATIC not in {
    target
    for each in PRESETS.values()
    if each.convert is convert
    for target in each.targets.values()
}
