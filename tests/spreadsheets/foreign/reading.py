"""Converts files of other shops, as the worker does, without a database."""

import io
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from spreadsheets.files import open_table
from spreadsheets.foreign.entities import ColumnMapping, ConvertedLine, ForeignRow
from spreadsheets.foreign.feeds import is_feed, open_feed
from spreadsheets.foreign.groups import group_lines
from spreadsheets.foreign.presets import find_preset, get_convert, list_first_targets

FOLDER = Path(__file__).parent
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


def convert_file(
    content: bytes, targets: dict[str, str] | None = None, layout: str = "products"
) -> tuple[list[ConvertedLine], Counter[str]]:
    """The lines that become of a file, product by product, and what was counted."""
    file = io.BytesIO(content)
    table = open_feed(file) if is_feed(file) else open_table(file, ())
    kept = [
        ForeignRow(line, dict(zip(table.head, record, strict=False)))
        for line, record in table.lines
    ]
    preset = find_preset(layout, table.head)
    mapping = ColumnMapping(
        list_first_targets(layout, table.head) | (targets or {}),
        NOW,
        preset.units if preset else {},
        Decimal(19),
        layout in ("products", "prices"),
    )
    notes: Counter[str] = Counter()
    convert = get_convert(preset.name if preset else "")
    lines = convert(lambda: iter(kept), mapping, notes)
    grouped = group_lines(lines, io.BytesIO()) if layout == "products" else lines
    return list(grouped), notes
