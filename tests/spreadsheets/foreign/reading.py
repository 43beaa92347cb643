"""Converts files of other shops, as the worker does, without a database."""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryFile

from spreadsheets.files import open_table
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.groups import group_lines
from spreadsheets.foreign.presets import find_preset, list_first_targets
from spreadsheets.foreign.questions import Question, name_columns
from spreadsheets.layouts import LAYOUTS
from spreadsheets.operations.conversions import iterate_converted
from spreadsheets.operations.stored_files import reopen

FOLDER = Path(__file__).parent
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


def convert_file(
    content: bytes, targets: dict[str, str] | None = None, layout: str = "products"
) -> tuple[list[ConvertedLine], dict[str, int]]:
    """The lines that become of a file, product by product, and what was counted."""
    notes: Counter[str] = Counter()
    with TemporaryFile() as file, TemporaryFile() as scratch:
        file.write(content)
        file.flush()
        head = name_columns(open_table(reopen(file), ()).head)
        chosen = list_first_targets(layout, head) | (targets or {})
        question = Question(find_preset(layout, head), {}, chosen)
        lines = iterate_converted(question, LAYOUTS[layout], file, Decimal(19), NOW, notes)
        return list(group_lines(lines, scratch) if layout == "products" else lines), dict(+notes)
