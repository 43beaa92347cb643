"""Files in the layout of another shop: their lines, and how these become lines in our layout."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from spreadsheets.entities import Fault
from web.types import StrOrPromise

# What becomes of a column that is not one of ours: nothing, or its preset's converter reads it by its name.
SKIPPED, AUTOMATIC = "", "@"


@dataclass(frozen=True, slots=True)
class ConvertedLine:
    """A line in our layout, with the number of the line of the foreign file from which it was made.

    Only `cells` that are there change something. Lines with the same `product` form one product, wherever they are: for each
    column of the product the first text counts. A line without a text for a variant describes the product only. `own` has the
    AUTOMATIC cells of the foreign line, by the columns' normalised names.
    """

    line: int
    cells: Mapping[str, str]
    faults: tuple[Fault, ...] = ()
    own: Mapping[str, str] = field(default_factory=dict)

    def with_cells(self, cells: Mapping[str, str], *faults: Fault) -> "ConvertedLine":
        """Return the line with further cells, over those that it has, and with further faults."""
        return ConvertedLine(self.line, {**self.cells, **cells}, (*self.faults, *faults))


# Each call reads the file from its beginning, so a converter may read it twice. Only one line is in memory at a time.
Lines = Callable[[], Iterator[ConvertedLine]]


@dataclass(frozen=True)
class Preset:
    """The layout of another shop. A file has it if it has all columns of one of `marks`.

    Names of columns are normalised (spreadsheets.files.normalize_name). `targets` are the first choices of the mapping page;
    columns that are not named are skipped. `units` are those of columns whose numbers have none. `convert` yields the lines of
    our layout, with values as they are in the file; a line without cells is left out.
    """

    label: StrOrPromise
    marks: tuple[frozenset[str], ...]
    targets: Mapping[str, str]
    convert: Callable[[Lines], Iterator[ConvertedLine]]
    units: Mapping[str, str] = field(default_factory=dict)
