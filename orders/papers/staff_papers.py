"""The papers of many orders as one PDF each: a picking list, packing slips, address labels, or all of them.

They are drawn only from lines of text, so that the worker can read orders in steps and draw once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from fpdf.enums import XPos, YPos

from inventory.warehouses import find_warehouse_name
from orders.papers.sheets import MARGIN, ROW, SOFT, Sheet
from shop_settings.terms import get_terms

# A standard sheet of eight labels, 105 by 74 mm each.
LABELS_A_ROW, LABELS_A_PAGE = 2, 8
_LABEL_WIDTH, _LABEL_HEIGHT, _LABEL_PADDING = 105, 74.25, 8
# The most lines of text in a row of the picking list; longer lists of orders continue in further rows.
_MAX_LINES = 30
_TICK, _PLACE, _UNITS, _ITEM = 6, 24, 14, 60


@dataclass(frozen=True, slots=True)
class PickLine:
    """Units of a SKU that an order needs from a place in a warehouse; without a SKU, an order with nothing to pack."""

    number: str
    sku: str = ""
    label: str = ""
    warehouse: str = ""
    place: str = ""
    units: int = 0


@dataclass(frozen=True, slots=True)
class SlipLine:
    """A line of a packing slip, with the slip's common fields. The lines of a slip follow each other."""

    number: str
    warehouse: str
    placed: str
    delivery: str
    notes: str
    address: str  # several lines of text
    sku: str
    label: str
    units: int


@dataclass(frozen=True, slots=True)
class LabelLine:
    """An address label."""

    number: str
    delivery: str
    address: str


def parse_pick_line(cells: Sequence[str]) -> PickLine:
    """Return a line of a picking list from its cells, in the order of the fields."""
    number, sku, label, warehouse, place, units = cells
    return PickLine(number, sku, label, warehouse, place, int(units))


def parse_slip_line(cells: Sequence[str]) -> SlipLine:
    """Return a line of a packing slip from its cells, in the order of the fields."""
    number, warehouse, placed, delivery, notes, address, sku, label, units = cells
    return SlipLine(number, warehouse, placed, delivery, notes, address, sku, label, int(units))


def draw_picking_list(lines: Iterable[PickLine], now: datetime) -> bytes:
    """Return a picking list as a PDF file."""
    with TemporaryDirectory() as folder:
        page = _Paper(Path(folder), _("Picking list"), now)
        page.write_picking_list(lines, now)
        return bytes(page.output())


def draw_packing_slips(lines: Iterable[SlipLine], now: datetime) -> bytes:
    """Return packing slips as a PDF file: a page or more for each order and warehouse, without prices."""
    with TemporaryDirectory() as folder:
        page = _Paper(Path(folder), _("Packing slips"), now)
        page.write_slips(lines)
        page.say_if_empty()
        return bytes(page.output())


def draw_address_labels(lines: Iterable[LabelLine], now: datetime) -> bytes:
    """Return address labels as a PDF file, LABELS_A_PAGE a page."""
    with TemporaryDirectory() as folder:
        page = _Paper(Path(folder), _("Address labels"), now)
        page.write_labels(lines)
        page.say_if_empty()
        return bytes(page.output())


def draw_everything(
    picks: Iterable[PickLine], slips: Iterable[SlipLine], labels: Iterable[LabelLine], now: datetime
) -> bytes:
    """Return the picking list, the packing slips and the address labels as one PDF file, in this order."""
    with TemporaryDirectory() as folder:
        page = _Paper(Path(folder), _("Documents"), now)
        page.foot = _("Picking list")
        page.write_picking_list(picks, now)
        page.write_slips(slips)
        page.write_labels(labels)
        return bytes(page.output())


class _Paper(Sheet):
    """Pages with the page's number at the foot; on packing slips, also the order's number."""

    def __init__(self, folder: Path, title: str, now: datetime) -> None:
        self.terms = get_terms(timezone.localdate(now))
        super().__init__(folder, title, self.terms.seller_name, now)
        self.foot, self.has_foot = title, True
        # Wide enough for some thousands of pages.
        self.alias_nb_pages("{all}")

    def footer(self) -> None:
        """Write the foot and the page's number; fpdf2 calls this at the end of each page."""
        if not self.has_foot:
            return
        self.set_y(-18)
        self.choose_font(7.5)
        self.set_text_color(*SOFT)
        self.cell(
            0, 4, self.printable(f"{self.terms.seller_name} · {self.foot}"), new_x=XPos.LMARGIN
        )
        self.cell(0, 4, f"{self.page_no()} / {{all}}", align="R")
        self.set_text_color(0)

    def write_picking_list(self, lines: Iterable[PickLine], now: datetime) -> None:
        """Write a picking list: the units by warehouse, place and SKU, and the orders that need them."""
        wanted: dict[tuple[str, str, str], list[PickLine]] = {}
        numbers, left_out = set[str](), list[str]()
        for line in lines:
            if line.sku:
                wanted.setdefault((line.warehouse, line.place, line.sku), []).append(line)
                numbers.add(line.number)
            else:
                left_out.append(line.number)
        self.add_page()
        self.write_line(_("Picking list"), 18, "B")
        # Items without a place come last, because somebody has to look for them.
        keys = sorted(wanted, key=lambda key: (key[0], not key[1], _natural(key[1]), key[2]))
        units = sum(each.units for found in wanted.values() for each in found)
        self.write_line(
            _("%(units)s for %(orders)s, %(when)s")
            % {
                "units": ngettext("%(count)d unit", "%(count)d units", units) % {"count": units},
                "orders": ngettext("%(count)d order", "%(count)d orders", len(numbers))
                % {"count": len(numbers)},
                "when": _moment(now),
            }
        )
        for warehouse, found in groupby(keys, key=lambda key: key[0]):
            self.write_picks(warehouse, [wanted[key] for key in found])
        if left_out:
            self.ln(5)
            self.write_line(
                _("Nothing is to be packed for: %(numbers)s") % {"numbers": ", ".join(left_out)},
                8.5,
            )
        self.write_missing_letters()

    def write_slips(self, lines: Iterable[SlipLine]) -> None:
        """Write packing slips, a page or more for each order and warehouse."""
        for _key, found in groupby(lines, key=lambda each: (each.number, each.warehouse)):
            self.write_slip(list(found))

    def write_labels(self, lines: Iterable[LabelLine]) -> None:
        """Write address labels, LABELS_A_PAGE a page, which have no foot."""
        for place, line in enumerate(lines):
            if place % LABELS_A_PAGE == 0:
                # `add_page` writes the foot of the previous page, so the foot ends afterwards.
                self.add_page()
                self.has_foot = False
                self.set_auto_page_break(auto=False)
            self.write_label(line, place % LABELS_A_PAGE)
        self.set_auto_page_break(auto=True, margin=24)

    def say_if_empty(self) -> None:
        """If there is no page, add one that says that nothing is to be printed."""
        if not self.page_no():
            self.add_page()
            self.write_line(_("Nothing is to be printed for these orders."), 12)

    def write_missing_letters(self) -> None:
        """Write a note that says where the text can be read, if the typeface lacked letters since the last call."""
        if self.lacks_letters:
            self.ln(4)
            self.write_line(
                _(
                    "Letters that cannot be printed here are shown as “?”. You can read them on the order’s page."
                ),
                8.5,
            )
        self.lacks_letters = False

    def write_picks(self, warehouse: str, found: Sequence[Sequence[PickLine]]) -> None:
        """Write a warehouse's part of the picking list, a row for each place and SKU."""
        self.ln(5)
        if self.will_page_break(40):
            self.add_page()
        self.write_line(find_warehouse_name(warehouse), 13, "B")
        self.ln(1)
        widths = (_TICK, _PLACE, _UNITS, _ITEM, self.epw - _TICK - _PLACE - _UNITS - _ITEM)
        head = ["", _("Place"), _("Units"), _("Item"), _("Orders")]
        self.write_row([[each] for each in head], widths, "LLRLL", "B")
        for lines in found:
            self._write_pick(lines, head, widths)

    def _write_pick(
        self, lines: Sequence[PickLine], head: Sequence[str], widths: Sequence[float]
    ) -> None:
        first = lines[0]
        units_by_number: dict[str, int] = {}
        for each in lines:
            units_by_number[each.number] = units_by_number.get(each.number, 0) + each.units
        self.choose_font()
        # No-break spaces keep units and number on one line.
        said = [f"{units}\u00a0×\u00a0{number}" for number, units in units_by_number.items()]
        orders = self.wrap_text(", ".join(said), widths[-1])
        name = self.wrap_text(f"{first.label}\n{first.sku}", widths[3])
        total = str(sum(units_by_number.values()))
        for start in range(0, len(orders), _MAX_LINES):
            part = orders[start : start + _MAX_LINES]
            # The SKU's barcode is drawn below the name, two lines high.
            cells = (
                [
                    [""],
                    self.wrap_text(first.place or "–", widths[1]),
                    [total],
                    [*name, "", ""],
                    part,
                ]
                if start == 0
                else [[""], [""], [""], [first.sku, _("continued")], part]
            )
            if self.will_page_break(ROW * max(map(len, cells)) + 2):
                self.add_page()
                self.write_row([[each] for each in head], widths, "LLRLL", "B")
            top = self.get_y() + 1
            self.write_row(cells, widths, "LLRLL")
            below = self.get_y()
            self.rect(self.l_margin + 1, top + 0.7, 3.5, 3.5)
            if start == 0:
                left = self.l_margin + sum(widths[:3])
                self.draw_barcode(first.sku, left, top + len(name) * ROW + 1, widths[3], 8)
            self.set_xy(self.l_margin, below)

    def write_slip(self, lines: Sequence[SlipLine]) -> None:
        """Write a packing slip on a page of its own."""
        first = lines[0]
        # `add_page` writes the foot of the previous page, so the new foot is set afterwards.
        self.add_page()
        self.foot = first.number
        top = self.get_y()
        self.write_line(self.terms.seller_name, 20, "B")
        self.draw_barcode(first.number, 125, top, self.w - MARGIN - 125, 14)
        self.set_xy(125, top + 15)
        self.choose_font(9.5, "B")
        self.cell(0, ROW, first.number, align="C", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.set_y(top + 26)
        self.write_line(_("Packing slip"), 16, "B")
        self.ln(3)
        top, half = self.get_y(), self.epw / 2
        for line in first.address.split("\n"):
            self.write_line(line, 11, width=half - 5)
        lowest = self.get_y()
        self.set_xy(MARGIN + half, top)
        for fact in (
            _("Order %(number)s") % {"number": first.number},
            _("Ordered on %(day)s") % {"day": first.placed},
            first.delivery,
            _("From %(warehouse)s") % {"warehouse": find_warehouse_name(first.warehouse)},
        ):
            self.write_line(fact, width=half)
        self.set_xy(MARGIN, max(lowest, self.get_y()) + 6)
        if first.notes:
            self.write_line(_("Delivery notes: %(notes)s") % {"notes": first.notes})
            self.ln(4)
        rows = [[str(each.units), each.label, each.sku] for each in lines]
        self.write_table([_("Qty"), _("Item"), _("SKU")], rows, (14, 100, 60), "RLL")
        self.write_missing_letters()

    def write_label(self, line: LabelLine, place: int) -> None:
        """Write an address label at its place on the page."""
        row, column = divmod(place, LABELS_A_ROW)
        left = column * _LABEL_WIDTH + _LABEL_PADDING
        top, width = row * _LABEL_HEIGHT + _LABEL_PADDING, _LABEL_WIDTH - 2 * _LABEL_PADDING
        bottom = (row + 1) * _LABEL_HEIGHT - _LABEL_PADDING
        self.set_xy(left, top)
        self.set_text_color(*SOFT)
        sender = " · ".join([self.terms.seller_name, *self.terms.seller_address])
        self.choose_font(6.5)
        self.cell(width, 3, self._cut(sender, width), new_x=XPos.LEFT, new_y=YPos.NEXT)
        self.set_text_color(0)
        self.ln(3)
        self.set_x(left)
        self.lacks_letters = False
        self._write_address(line.address.split("\n"), width, bottom - 15 - self.get_y())
        hint = _(" · some letters: see the order") if self.lacks_letters else ""
        self.set_xy(left, bottom - 4)
        self.choose_font(7.5)
        self.cell(width, 4, self._cut(f"{line.number} · {line.delivery}{hint}", width))
        self.draw_barcode(line.number, left - 3, bottom - 14, 55, 9)
        self.lacks_letters = False

    def _write_address(self, lines: Sequence[str], width: float, height: float) -> None:
        """Write an address in the largest size that fits."""
        left = self.x
        for size in (13, 11, 9.5, 8, 7, 6):
            self.choose_font(size)
            found = [part for line in lines for part in self.wrap_text(line, width)]
            if len(found) * size * 0.45 <= height:
                break
        for each in found:
            self.set_x(left)
            self.cell(width, size * 0.45, each, new_x=XPos.LEFT, new_y=YPos.NEXT)

    def _cut(self, text: str, width: float) -> str:
        """Return the first line of a wrapped text."""
        return self.wrap_text(text, width)[0]


def _natural(place: str) -> list[tuple[int, str]]:
    """Return the sort key of a place, which sorts A-2 before A-12."""
    parts = re.findall(r"[0-9]+|[^0-9]+", place)
    return [(int(part), "") if part[0] in "0123456789" else (-1, part) for part in parts]


def _moment(now: datetime) -> str:
    return str(date_format(timezone.localtime(now), "j F Y, H:i"))
