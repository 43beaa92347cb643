"""Puts the converted lines of each product together, in bounded memory, and reads and writes converted files."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from django.utils.translation import gettext as _

from catalogue.rules import MAX_VARIANT_ROWS
from spreadsheets.entities import pack, unpack_faults
from spreadsheets.errors import FileRefused
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.mapping import split_cells
from spreadsheets.foreign.values import make_slug

# The values of these columns come together from all lines of a product.
_JOINED = ("old_addresses", "pictures")


def pack_line(line: ConvertedLine) -> bytes:
    """Return a line of a converted file."""
    packed = [line.line, dict(line.cells), pack(line.faults)]
    return json.dumps(packed, ensure_ascii=False).encode() + b"\n"


def _unpack_line(packed: bytes) -> ConvertedLine:
    line, cells, faults = json.loads(packed)
    return ConvertedLine(line, cells, unpack_faults(faults))


def read_converted(file: IO[bytes]) -> Iterator[ConvertedLine]:
    """Yield the lines of a converted file, which `pack_line` wrote."""
    return map(_unpack_line, file)


def group_lines(lines: Iterable[ConvertedLine], scratch: IO[bytes]) -> Iterator[ConvertedLine]:
    """Yield the lines product by product, in the order of each product's first line. Only one product is in memory at a time.

    The first line of a product has the cells of the product. A product without an address gets one from its name, and a variant
    without a SKU one from the address. `scratch` is an empty file. Raises FileRefused for a product with too many lines.
    """
    ranks: dict[str, int] = {}
    places: list[tuple[int, int]] = []  # the product's rank, and where its line is
    for line in lines:
        slug = line.cells.get("product") or make_slug(line.cells.get("name", ""))
        # A line without an address or a name stays alone.
        rank = ranks.setdefault(slug or f"line {line.line}", len(ranks))
        places.append((rank, scratch.tell()))
        scratch.write(pack_line(line.with_cells({"product": slug})))
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
    joined: dict[str, dict[str, None]] = {}
    for line in group:
        for name, text in split_cells(line.cells)[0].items():
            if name in _JOINED:
                joined.setdefault(name, {}).update(dict.fromkeys(filter(None, text.split("\n"))))
            else:
                whole[name] = whole.get(name) or text
    whole |= {name: "\n".join(texts) for name, texts in joined.items()}
    # A line that only describes the product, such as one with a further picture, is no variant.
    variants = [each for each in group if any(split_cells(each.cells)[1].values())] or group[:1]
    faults = [fault for line in group if line not in variants for fault in line.faults]
    slug = group[0].cells["product"]
    for number, line in enumerate(variants, start=1):
        own = split_cells(line.cells)[1]
        own["sku"] = own.get("sku") or (f"{slug}-{number}".upper() if slug else "")
        yield ConvertedLine(line.line, {"product": slug, **whole, **own}, (*faults, *line.faults))
        whole, faults = {}, []
