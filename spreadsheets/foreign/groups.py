"""Puts the converted lines of each product together, in bounded memory, and reads and writes converted files."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from django.utils.translation import gettext as _

from catalogue.rules import MAX_VARIANT_ROWS
from spreadsheets.entities import Fault
from spreadsheets.errors import FileRefused
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.mapping import PRODUCT_COLUMNS
from spreadsheets.foreign.values import make_slug

# The values of these columns come together from all lines of a product.
_JOINED = ("old_addresses", "pictures")


def pack_line(line: ConvertedLine) -> bytes:
    """Return a line of a converted file."""
    faults = [[each.line, each.column, each.text] for each in line.faults]
    return json.dumps([line.line, dict(line.cells), faults], ensure_ascii=False).encode() + b"\n"


def _unpack_line(packed: bytes) -> ConvertedLine:
    line, cells, faults = json.loads(packed)
    return ConvertedLine(line, cells, tuple(Fault(*each) for each in faults))


def read_converted(file: IO[bytes]) -> Iterator[ConvertedLine]:
    """Yield the lines of a converted file, which `pack_line` wrote."""
    return map(_unpack_line, file)


def group_lines(lines: Iterable[ConvertedLine], scratch: IO[bytes]) -> Iterator[ConvertedLine]:
    """Yield the lines product by product, in the order of each product's first line. Only one product is in memory at a time.

    The first line of a product has the cells of the product. `scratch` is an empty file. Raises FileRefused for a product with
    too many lines.
    """
    ranks: dict[str, int] = {}
    places: list[tuple[int, int]] = []  # the product's rank, and where its line is
    for line in lines:
        key = line.cells.get("product") or make_slug(line.cells.get("name", ""))
        # A line without an address or a name stays alone.
        rank = ranks.setdefault(key or f"line {line.line}", len(ranks))
        places.append((rank, scratch.tell()))
        scratch.write(pack_line(line.with_cells({"product": key})))
    places.sort()
    group: list[ConvertedLine] = []
    for number, (rank, offset) in enumerate(places):
        scratch.seek(offset)
        group.append(_unpack_line(scratch.readline()))
        if len(group) > MAX_VARIANT_ROWS:
            raise FileRefused(
                _("Line %(line)d: a product can have %(most)d variants.")
                % {"line": group[-1].line, "most": MAX_VARIANT_ROWS}
            )
        if number + 1 == len(places) or places[number + 1][0] != rank:
            yield from _join(group)
            group = []


def _join(group: Sequence[ConvertedLine]) -> Iterator[ConvertedLine]:
    """Yield the lines of a product, as a file in our layout has them."""
    whole: dict[str, str] = {}
    parts: dict[str, dict[str, None]] = {}
    for line in group:
        for name, text in line.cells.items():
            if name in _JOINED:
                parts.setdefault(name, {}).update(dict.fromkeys(filter(None, text.split("\n"))))
            elif name in PRODUCT_COLUMNS and not whole.get(name):
                whole[name] = text
    whole |= {name: "\n".join(texts) for name, texts in parts.items()}
    # A line that only describes the product, such as one with a further picture, is no variant.
    variants = [each for each in group if _is_variant(each)] or group[:1]
    numbers = {each.line for each in variants}
    faults = [fault for line in group if line.line not in numbers for fault in line.faults]
    slug = group[0].cells["product"]
    for number, line in enumerate(variants, start=1):
        own = {name: line.cells[name] for name in line.cells if name not in PRODUCT_COLUMNS}
        if not own.get("sku"):
            own["sku"] = f"{slug}-{number}".upper() if slug else ""
        yield ConvertedLine(line.line, {"product": slug, **whole, **own}, (*faults, *line.faults))
        whole, faults = {}, []


def _is_variant(line: ConvertedLine) -> bool:
    own = line.cells.keys() - PRODUCT_COLUMNS - {"product"}
    return any(line.cells[name] for name in own)
