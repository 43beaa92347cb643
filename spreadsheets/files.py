"""Read CSV and XLSX files line by line in bounded memory, and write them. The content tells the format, not the file's name."""

import csv
import io
import re
import zipfile
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import IO, Any
from xml.parsers import expat

from django.utils.translation import gettext as _
from openpyxl import Workbook, load_workbook
from openpyxl.styles.numbers import is_datetime

from spreadsheets.cells import escape_xml, is_number, make_harmless, restore_harmless, text_of
from spreadsheets.errors import FileRefused

MAX_FILE_BYTES = 64 * 1024 * 1024
# The number of lines, not counting the head.
MAX_LINES = 100_000
# Magento writes 90.
MAX_COLUMNS = 256
# The longest text of a cell. It is longer than any text of a product; XLSX allows less.
MAX_CELL_LENGTH = 130_000
MAX_XLSX_CELL_LENGTH = 32_767
MAX_RECORD_LENGTH = 400_000
# The bounds of an XLSX file, which is a ZIP archive: of its sheets, which are read as a stream; of its shared texts, which
# openpyxl keeps in memory; and of all other parts.
MAX_SHEET_BYTES = 256 * 1024 * 1024
MAX_SHARED_BYTES = 64 * 1024 * 1024
MAX_PART_BYTES = 4 * 1024 * 1024
MAX_PARTS = 200
MAX_SHARED_TEXTS = 1_000_000
MAX_TAG_BYTES = 1024 * 1024
_CHUNK = 64 * 1024
SEPARATORS = ",;\t"
# For Excel, a line before the head may name the separator. The line is not part of the table.
_NAMED_SEPARATOR = re.compile(r'\ufeff?"?sep=([^\w"\s]|\t)"?', re.IGNORECASE)
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
FORMATS = tuple(CONTENT_TYPES)


@dataclass
class Table:
    """A file that is being read: its head and its numbered lines. `encoding` is only set for CSV whose encoding was guessed.

    Workbooks are slow to read; `unpack_workbook` converts a workbook to CSV.
    """

    head: list[str]
    lines: Iterator[tuple[int, list[str]]] = field(repr=False)
    encoding: str = ""
    is_workbook: bool = False


def open_table(file: IO[bytes], known: Iterable[str]) -> Table:
    """Return the table in a file; the names in `known` help to find the separator. Raises FileRefused, also while lines are read."""
    beginning = file.read(_CHUNK)
    file.seek(0)
    if not beginning.strip(b"\0\r\n\t ;,") or beginning in (BOM_UTF16_LE, BOM_UTF16_BE, BOM_UTF8):
        raise FileRefused(_("The file is empty."))
    if beginning.startswith(b"PK\x03\x04"):
        return _open_xlsx(file)
    if beginning.startswith(b"\xd0\xcf\x11\xe0"):
        raise FileRefused(_("This is an old Excel format. Save it as .xlsx or CSV."))
    return _open_csv(file, _guess_encoding(file, beginning), frozenset(known))


def _numbered(records: Iterable[list[str]], first: int) -> Iterator[tuple[int, list[str]]]:
    for number, record in enumerate(records, start=first):
        if number - first >= MAX_LINES:
            raise FileRefused(
                _("The file has more than %(most)d lines. Split it.") % {"most": MAX_LINES}
            )
        yield number, [restore_harmless(each) for each in record]


def _guess_encoding(file: IO[bytes], beginning: bytes) -> str:
    """Return a text's encoding: by its first bytes, else UTF-8 if the whole text is valid UTF-8, else Windows-1252."""
    if beginning.startswith(BOM_UTF8):
        return "utf-8-sig"
    if beginning.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    # A head consists mostly of ASCII letters, so in UTF-16 every second byte is 0.
    for encoding, zeros in (("utf-16-le", beginning[1:200:2]), ("utf-16-be", beginning[:200:2])):
        if zeros.count(0) > len(zeros) // 2:
            return encoding
    decoder = getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(_CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    finally:
        file.seek(0)
    return "utf-8"


class _Lines:
    """The lines of a text, with a bound on their length. `length` is the length of all lines of the present CSV record."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text, self.length = text, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_RECORD_LENGTH)
        self.length += len(line)
        if self.length >= MAX_RECORD_LENGTH:
            raise FileRefused(_("A line is too long. Check for a missing quotation mark."))
        if not line:
            raise StopIteration
        return line


def _open_csv(file: IO[bytes], encoding: str, known: frozenset[str]) -> Table:
    head_text = io.TextIOWrapper(file, encoding, newline="")
    try:
        line = next(_Lines(head_text))
        named = _NAMED_SEPARATOR.fullmatch(line.strip("\r\n"))
        separator = (
            named[1] if named else max(SEPARATORS, key=lambda each: _count_known(line, each, known))
        )
        head_text.detach()
        file.seek(0)
        text = io.TextIOWrapper(file, encoding, newline="")
        if named:
            # Excel shows no row for this line: the row of the head is the first one.
            text.readline()
        records = _read_records(text, separator)
        head = next(records)
    except (UnicodeError, StopIteration) as error:
        raise FileRefused(
            _("This isn’t a table. Upload a CSV file in UTF-8, or an XLSX file.")
        ) from error
    return Table(head, _numbered(records, 2), encoding if encoding == "cp1252" else "")


def _count_known(line: str, separator: str, known: frozenset[str]) -> tuple[int, int]:
    names = line.split(separator)
    return sum(normalize_name(each) in known for each in names), len(names)


def normalize_name(name: str) -> str:
    """Return a column's name for comparisons: "Compare at" becomes `compare_at`."""
    return "_".join(name.strip(' \t\r\n"\ufeff').lower().replace("-", " ").split())


def _read_records(text: io.TextIOWrapper, separator: str) -> Iterator[list[str]]:
    lines = _Lines(text)
    csv.field_size_limit(MAX_CELL_LENGTH)
    reader = csv.reader(lines, delimiter=separator)
    try:
        for record in reader:
            lines.length = 0
            if len(record) > MAX_COLUMNS:
                raise _too_many_columns()
            yield record
    except csv.Error as error:
        raise FileRefused(
            _("Line %(line)d can’t be read. Check for a missing quotation mark.")
            % {"line": reader.line_num}
        ) from error
    except UnicodeError as error:
        raise FileRefused(
            _("Line %(line)d or one of the next has characters in an unknown encoding.")
            % {"line": reader.line_num + 1}
        ) from error


def _too_many_columns() -> FileRefused:
    return FileRefused(_("The file has more than %(most)d columns.") % {"most": MAX_COLUMNS})


def _open_xlsx(file: IO[bytes]) -> Table:
    try:
        _check_archive(file)
        file.seek(0)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        rows = _read_rows(book.worksheets[0])
        head = next(rows, [])
    except FileRefused:
        raise
    except Exception as error:  # openpyxl raises any error for a broken file
        raise _no_workbook() from error
    return Table(head, _numbered(rows, 2), is_workbook=True)


def _no_workbook() -> FileRefused:
    return FileRefused(_("This XLSX file can’t be read. Save it again, or as CSV."))


def _read_rows(sheet: Any) -> Iterator[list[str]]:
    try:
        # The size that a workbook states may be smaller than its real size.
        sheet.reset_dimensions()
        for row in sheet.iter_rows():
            if any(each.value is not None for each in row[MAX_COLUMNS:]):
                raise _too_many_columns()
            cells = [text_of(_value_of(each)) for each in row[:MAX_COLUMNS]]
            yield cells + [""] * (MAX_COLUMNS - len(cells))
    except FileRefused:
        raise
    except Exception as error:
        raise _no_workbook() from error


def _value_of(cell: Any) -> object:
    """Return a cell's displayed value. A workbook stores a day as its midnight; the cell's format tells that it shows no time."""
    value = cell.value
    if (
        isinstance(value, datetime)
        and value.time() == time.min
        and is_datetime(cell.number_format) == "date"
    ):
        return value.date()
    return value


def _check_archive(file: IO[bytes]) -> None:
    """Check the sizes of an XLSX file's parts, rows and cells in bounded memory before it is opened. Raises FileRefused."""
    bomb = _bomb()
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS:
            raise bomb
        sheets = [each for each in parts if each.filename.startswith("xl/worksheets/sheet")]
        shared = [each for each in parts if each.filename == "xl/sharedStrings.xml"]
        others = [each for each in parts if each not in sheets and each not in shared]
        for group, most in ((sheets, MAX_SHEET_BYTES), (shared, MAX_SHARED_BYTES)):
            if sum(each.file_size for each in group) > most:
                raise bomb
        if any(each.file_size > MAX_PART_BYTES for each in others):
            raise bomb
        # The archive's reader stops at the size that the archive states for a part.
        for part in (*sheets, *shared):
            with archive.open(part) as packed:
                _PartCheck(bomb).check(packed)


class _PartCheck:
    """A check of a part of an XLSX file by expat. It bounds rows, texts, elements and letters, and allows no entities.

    Elements and letters are counted for each row or shared text. Outside of these they are counted in total.
    """

    def __init__(self, bomb: FileRefused) -> None:
        self._bomb = bomb
        self._counts = dict.fromkeys(("row", "si"), 0)
        self._depth = self._elements = self._letters = 0
        self._outer_elements = self._outer_letters = 0

    def check(self, packed: IO[bytes]) -> None:
        """Raise `bomb` if a bound is exceeded."""
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._count_letters
        parser.StartDoctypeDeclHandler = self._refuse
        fed = reached = 0
        while chunk := packed.read(_CHUNK):
            parser.Parse(chunk)
            fed, reached = fed + len(chunk), max(reached, parser.CurrentByteIndex)
            # expat scans an unfinished tag or comment anew with each chunk.
            if fed - reached > MAX_TAG_BYTES:
                raise self._bomb
        parser.Parse(b"", True)  # noqa: FBT003 -- the end, as expat takes it

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if self._depth:
            self._depth += 1
        elif local in self._counts:
            self._depth, self._elements, self._letters = 1, 0, 0
        if local in self._counts:
            self._counts[local] += 1
        if self._depth:
            self._elements += 1
        else:
            self._outer_elements += 1
        if (
            self._counts["row"] > MAX_LINES + 1
            or self._counts["si"] > MAX_SHARED_TEXTS
            or self._elements > 8 * MAX_COLUMNS
            or self._outer_elements > MAX_PART_BYTES // 40
        ):
            raise self._bomb
        for each in attributes.values():
            self._count_letters(each)

    def _end(self, _name: str) -> None:
        self._depth = max(0, self._depth - 1)

    def _count_letters(self, text: str) -> None:
        if self._depth:
            self._letters += len(text)
        else:
            self._outer_letters += len(text)
        if self._letters > MAX_RECORD_LENGTH * 2 or self._outer_letters > MAX_PART_BYTES:
            raise self._bomb

    def _refuse(self, *_any: object) -> None:
        raise self._bomb


def unpack_workbook(table: Table) -> Iterator[bytes]:
    """Yield the lines of a workbook as lines of CSV. Raises FileRefused."""
    head, size = table.head, 0
    while head and not head[-1]:
        head.pop()
    yield csv_line(head)
    for _line, record in table.lines:
        while len(record) > len(head) and not record[-1]:
            record.pop()
        packed = csv_line(record)
        size += len(packed)
        # A shared text is repeated in each cell that uses it.
        if size > MAX_SHEET_BYTES:
            raise _bomb()
        yield packed


def _bomb() -> FileRefused:
    return FileRefused(_("This XLSX file is too large. Save it as CSV."))


def csv_line(cells: Sequence[str]) -> bytes:
    """Return a line of a CSV file in UTF-8, with all formulas made harmless."""
    text = io.StringIO()
    csv.writer(text).writerow([make_harmless(each) for each in cells])
    return text.getvalue().encode()


def read_csv_lines(file: IO[bytes]) -> Iterator[list[str]]:
    """Yield the cells of each line that `csv_line` wrote."""
    csv.field_size_limit(MAX_CELL_LENGTH * 2)
    for record in csv.reader(io.TextIOWrapper(file, "utf-8", newline="")):
        yield [restore_harmless(each) for each in record]


def write_xlsx(file: IO[bytes], lines: Iterable[Sequence[str]], numbers: frozenset[int]) -> None:
    """Write an XLSX file. Columns at the positions `numbers` hold numbers. Raises FileRefused beyond XLSX's limits."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for count, line in enumerate(lines):
        if count > MAX_LINES:
            raise FileRefused(
                _("XLSX files can have %(most)d lines. Use CSV.") % {"most": MAX_LINES}
            )
        sheet.append(
            [_xlsx_cell(text, may_be_number=place in numbers) for place, text in enumerate(line)]
        )
    book.save(file)


def _xlsx_cell(text: str, *, may_be_number: bool) -> str | int | float:
    if may_be_number and is_number(text):
        return float(text) if "." in text else int(text)
    cell = escape_xml(make_harmless(text))
    if len(cell) > MAX_XLSX_CELL_LENGTH:
        raise FileRefused(_("A text is too long for XLSX. Use CSV."))
    return cell
