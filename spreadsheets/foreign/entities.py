"""Files in the layout of another shop: their rows, what becomes of their columns, and the lines in our layout."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property

from spreadsheets.entities import Fault
from spreadsheets.files import normalize_name

# What becomes of a column that is not one of ours: nothing, or its preset's converter reads it by its name.
SKIPPED, AUTOMATIC = "", "@"


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """A line of a foreign file: its number, and its cells by the file's own column names."""

    line: int
    cells: Mapping[str, str]


# Each call reads the file from its beginning, so a converter may read it twice. Only one row is in memory at a time.
Rows = Callable[[], Iterator[ForeignRow]]


@dataclass(frozen=True)
class ColumnMapping:
    """What becomes of each column of a foreign file, and what is known beside the file.

    A target is a column of our layout, one of spreadsheets.foreign.mapping.EXTRA_TARGETS, SKIPPED or AUTOMATIC. `units` are the
    units of numbers that name none, by column. `now` decides whether a sale is on. `tax_percent` is added to prices without tax.
    """

    targets: Mapping[str, str]
    now: datetime
    units: Mapping[str, str] = field(default_factory=dict)
    tax_percent: Decimal = Decimal(0)
    # In other layouts than those of products, values stay as they are.
    is_about_products: bool = True

    @cached_property
    def automatic(self) -> dict[str, str]:
        """The normalised names of the AUTOMATIC columns, by their names."""
        found = (name for name, target in self.targets.items() if target == AUTOMATIC)
        return {name: normalize_name(name) for name in found}


@dataclass(frozen=True, slots=True)
class ConvertedLine:
    """A line in our layout, and the line of the foreign file from which it was made.

    Only `cells` that are there change something. Lines with the same `product` form one product, wherever they are: for each
    column of the product the first text counts. A line without a text for a variant describes the product only. A product
    without an address gets one from its name, and a variant without a SKU one from the address (spreadsheets.foreign.groups).
    Category cells have paths, names or addresses: "Kitchen > Mugs".
    """

    line: int
    cells: Mapping[str, str]
    faults: tuple[Fault, ...] = ()

    def with_cells(self, cells: Mapping[str, str], *faults: Fault) -> "ConvertedLine":
        """Return the line with further cells, over those that it has, and with further faults."""
        return ConvertedLine(self.line, {**self.cells, **cells}, (*self.faults, *faults))


# Converts the rows of a file, in bounded memory. In the last argument it counts what staff should know; the words for each count
# are in adminpanel.files.notes.
Convert = Callable[[Rows, ColumnMapping, Counter[str]], Iterator[ConvertedLine]]
