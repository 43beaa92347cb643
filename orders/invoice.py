"""An order's invoice as a PDF: the lines, the tax by rate, what was paid and what was refunded.

It is made from the order alone (orders.drawn_invoices keeps it for two minutes). The order's number is the invoice's; refunds follow as credits with numbers derived
from it, so that each document that changes a sum has a number.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.enums import MethodReturnValue, XPos, YPos
from moneyed import Money
from pymupdf_fonts import myfont

from orders.entities import Order
from orders.events import Event
from orders.items import Item
from orders.states import CANCELLED, EXPIRED
from pricing.money import from_minor_units as amount_of
from pricing.templatetags.money import format_money
from shop_settings.terms import get_terms

# FiraGO, regular and bold, as its package names them.
_FACES = {"": "figo", "B": "figbo"}
_FAMILY = "FiraGO"
_MARGIN, _ROW = 18, 5  # mm
_SOFT, _LINE = (90, 90, 90), (190, 190, 190)
_PAID_BY = {  # what was paid, and what is still to be paid
    "card": (
        gettext_noop("Paid by card: %(amount)s."),
        gettext_noop("To be paid by card: %(amount)s."),
    ),
    "transfer": (
        gettext_noop("Paid by bank transfer: %(amount)s."),
        gettext_noop("To be paid by bank transfer: %(amount)s."),
    ),
    "cod": (
        gettext_noop("Paid in cash on delivery: %(amount)s."),
        gettext_noop("To be paid in cash on delivery: %(amount)s."),
    ),
}
_PAID_OTHERWISE = (gettext_noop("Paid: %(amount)s."), gettext_noop("To be paid: %(amount)s."))


def render_invoice(order: Order, items: Sequence[Item]) -> bytes:
    """Return the invoice of an order with these lines as a PDF file; the same order gives the same bytes."""
    with TemporaryDirectory() as folder:
        page = _Page(order, Path(folder))
        page.write_heading()
        page.write_parties()
        page.write_lines(items)
        page.write_totals()
        page.write_taxes()
        page.write_payment()
        page.write_missing_letters()
        return bytes(page.output())


class _Page(FPDF):
    """A4 with the seller at the foot of each page."""

    def __init__(self, order: Order, folder: Path) -> None:
        super().__init__(format="A4")
        self.order, self.lacks_letters = order, False
        # Who sold it on the day of the invoice, whoever does today.
        self.terms = get_terms(timezone.localdate(_confirmation_event(order).at))
        self.set_margin(_MARGIN)
        self.set_auto_page_break(auto=True, margin=24)
        for style, name in _FACES.items():
            file = folder / f"{name}.ttf"
            file.write_bytes(_face(name))
            self.add_font(_FAMILY, style, file)
        self.set_title(_("Invoice %(number)s") % {"number": order.number})
        self.set_author(self.terms.seller_name)
        self.set_lang("en-IE")
        self.set_creation_date(order.changed_at)
        self.set_draw_color(*_LINE)
        self.add_page()

    def _vat_line(self) -> str:
        return _("VAT %(number)s") % {"number": self.terms.vat_id}

    def _printable(self, text: str) -> str:
        """Return a text with the characters that the typeface has, and note whether it lacks some."""
        printable = printable_text(text)
        self.lacks_letters |= printable.count("?") > text.count("?")
        return printable

    def write_line(
        self, text: str, size: float = 9.5, style: str = "", align: str = "L", width: float = 0
    ) -> None:
        """Write a text of one or more lines and continue below it."""
        self.set_font(_FAMILY, style, size)
        self.multi_cell(
            width, size * 0.5, self._printable(text), align=align, new_x=XPos.LEFT, new_y=YPos.NEXT
        )

    def footer(self) -> None:
        """Write the seller and the page's number; fpdf2 calls this at the end of each page."""
        terms = self.terms
        self.set_y(-18)
        self.set_font(_FAMILY, "", 7.5)
        self.set_text_color(*_SOFT)
        parts = [terms.seller_name, *terms.seller_address, self._vat_line(), terms.email]
        self.cell(0, 4, self._printable(" · ".join(parts)), align="L", new_x=XPos.LMARGIN)
        self.cell(0, 4, f"{self.order.number} · {self.page_no()} / {{nb}}", align="R")
        self.set_text_color(0)

    def write_heading(self) -> None:
        """Write the seller's name, and the invoice's number and dates."""
        order, top = self.order, self.get_y()
        self.write_line(self.terms.seller_name, 20, "B")
        self.set_xy(105, top)
        for name, value in self._facts():
            self.set_x(105)
            self.set_font(_FAMILY, "", 9.5)
            self.set_text_color(*_SOFT)
            self.cell(35, 5, name)
            self.set_text_color(0)
            self.set_font(_FAMILY, "B" if value == order.number else "", 9.5)
            self.cell(0, 5, self._printable(value), align="R", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.set_y(max(self.get_y(), top + 26) + 4)
        self.write_line(
            _("Invoice") if order.state != CANCELLED else _("Invoice for a cancelled order"),
            16,
            "B",
        )
        self.ln(3)

    def _facts(self) -> list[tuple[str, str]]:
        order = self.order
        sent = next((event for event in reversed(order.events) if event.kind == "shipped"), None)
        return [
            (_("Invoice and order"), order.number),
            (_("Invoice date"), _day(_confirmation_event(order).at)),
            (_("Ordered"), _day(order.placed_at)),
            (_("Shipped"), _day(sent.at) if sent else _("not yet")),
            (_("Delivery"), order.method.label),
        ]

    def write_parties(self) -> None:
        """Write the billing address, the delivery address and the seller."""
        terms, top, width = self.terms, self.get_y(), (self.epw - 10) / 3
        columns = [
            (_("Billing address"), self.order.billing_address.lines),
            (_("Delivery address"), self.order.delivery_address.lines),
            (_("Seller"), [terms.seller_name, *terms.seller_address, self._vat_line()]),
        ]
        lowest = top
        for column, (title, lines) in enumerate(columns):
            self.set_xy(_MARGIN + column * (width + 5), top)
            self.set_text_color(*_SOFT)
            self.write_line(title, 8.5, width=width)
            self.set_text_color(0)
            for line in lines:
                self.write_line(line, width=width)
            lowest = max(lowest, self.get_y())
        self.set_xy(_MARGIN, lowest + 7)

    def write_lines(self, items: Sequence[Item]) -> None:
        """Write the order's lines, a row each; the headings are repeated on each page."""
        rows = [
            [
                str(item.quantity),
                self._printable(f"{item.label}\n{item.sku}"),
                f"{self.order.tax_rates[item.tax_class]}%",
                format_money(item.unit_price),
                format_money(item.line_total),
            ]
            for item in items
            if item.quantity
        ]
        self._table(
            [_("Qty"), _("Item"), _("Tax"), _("Price"), _("Total")],
            rows,
            (12, 92, 16, 26, 28),
            "RLRRR",
        )

    def write_totals(self) -> None:
        """Write how the lines add up to the total."""
        order = self.order
        rows = [(_("Subtotal"), order.subtotal)]
        rows += [(each.name, -each.amount) for each in order.discounts if each.amount.amount]
        if order.discount.amount and not order.discounts:
            rows.append((_("Discount"), -order.discount))
        rows.append(
            (_("Delivery, %(method)s") % {"method": order.method.name.lower()}, order.delivery)
        )
        added = order.total - (order.subtotal + order.delivery - order.discount)
        if added.amount:
            rows.append((_("Tax"), added))
        self.ln(3)
        for name, amount in rows:
            self._write_amount(name, amount)
        self._write_amount(_("Total"), order.total, "B")

    def _write_amount(self, name: str, amount: Money, style: str = "") -> None:
        self.set_font(_FAMILY, style, 11 if style else 9.5)
        self.set_x(90)
        self.cell(74, 6, self._printable(name), align="R")
        self.cell(0, 6, format_money(amount), align="R", new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def write_taxes(self) -> None:
        """Write the tax of each rate."""
        self.ln(4)
        rows = [
            [
                f"{part.rate}%",
                format_money(part.net),
                format_money(part.tax),
                format_money(part.net + part.tax),
            ]
            for part in self.order.taxes
        ]
        self._table([_("Tax rate"), _("Net"), _("Tax"), _("Gross")], rows, (30, 30, 30, 30), "LRRR")
        self.ln(2)
        self.write_line(
            _("The total includes %(tax)s tax.") % {"tax": format_money(self.order.tax)}, 8.5
        )

    def write_payment(self) -> None:
        """Write what was paid and how, what was refunded, and what is still to be paid."""
        order = self.order
        self.ln(4)
        self.write_line(_("Payment"), 11, "B")
        self.ln(1)
        for sentence in describe_payment(order):
            self.write_line(sentence)
        if not (credits := list_credits(order)):
            return
        self.ln(5)
        self.write_line(_("Credits"), 11, "B")
        self.ln(1)
        rows = [
            [number, _day(event.at), self._printable(reason), format_money(-amount)]
            for number, event, reason, amount in credits
        ]
        self._table(
            [_("Credit"), _("Date"), _("Reason"), _("Amount")], rows, (34, 34, 78, 28), "LLLR"
        )
        self._write_amount(
            _("Refunded"), -sum((amount for *_, amount in credits), order.total * 0), "B"
        )

    def write_missing_letters(self) -> None:
        """Say where to read what the typeface lacks the letters for."""
        if self.lacks_letters:
            self.ln(5)
            url = f"{settings.PUBLIC_URL}{reverse('orders:detail', args=[self.order.number])}"
            self.write_line(
                _(
                    "Letters that cannot be printed here are shown as “?”. You can read them at %(url)s"
                )
                % {"url": url},
                8.5,
            )

    def _table(
        self, head: list[str], rows: list[list[str]], widths: tuple[int, ...], aligned: str
    ) -> None:
        """Write rows in columns of these widths in mm, each aligned to L or R, and the headings on each page again."""
        headings = [[name] for name in head]
        self._row(headings, widths, aligned, "B")
        for row in rows:
            self.set_font(_FAMILY, "", 9.5)
            cells = [self._wrap_text(text, width) for text, width in zip(row, widths, strict=True)]
            if self.will_page_break(_ROW * max(map(len, cells)) + 2):
                self.add_page()
                self._row(headings, widths, aligned, "B")
            self._row(cells, widths, aligned)

    def _row(
        self, cells: list[list[str]], widths: tuple[int, ...], aligned: str, style: str = ""
    ) -> None:
        top, left = self.get_y() + 1, self.l_margin
        self.set_font(_FAMILY, style, 8.5 if style else 9.5)
        for lines, width, align in zip(cells, widths, aligned, strict=True):
            for row, line in enumerate(lines):
                self.set_xy(left, top + row * _ROW)
                self.cell(width, _ROW, line, align=align)
            left += width
        lowest = top + _ROW * max(map(len, cells)) + 1
        self.line(self.l_margin, lowest, left, lowest)
        self.set_xy(self.l_margin, lowest)

    def _wrap_text(self, text: str, width: float) -> list[str]:
        """Return a cell's text in lines that fit."""
        lines: list[str] = []
        for line in text.split("\n"):
            if self.get_string_width(line) < width - 2:
                lines.append(line)
            else:
                broken = self.multi_cell(
                    width, _ROW, line, align="L", dry_run=True, output=MethodReturnValue.LINES
                )
                lines += cast(list[str], broken)
        return lines


def describe_payment(order: Order) -> list[str]:
    """Return in sentences what was paid, what was refunded and what is open."""
    paid_text, to_pay_text = _PAID_BY.get(order.payment_method, _PAID_OTHERWISE)
    paid = order.captured if order.captured.amount else order.total * int(order.has_been_paid)
    refunded = order.refunded if order.refunded.amount else paid * int(order.payment == "refunded")
    sentences = []
    if paid.amount:
        sentences.append(_(paid_text) % {"amount": format_money(paid)})
    elif order.payment == "authorized":
        sentences.append(
            _("%(total)s is reserved on your card. We charge it when we send the items.")
            % {"total": format_money(order.total)}
        )
    if refunded.amount:
        sentences.append(_("Refunded: %(amount)s.") % {"amount": format_money(refunded)})
    left = order.total - paid
    if (
        left.amount > 0
        and order.state not in (CANCELLED, EXPIRED)
        and order.payment != "authorized"
    ):
        sentences.append(_(to_pay_text) % {"amount": format_money(left)})
    return sentences


def list_credits(order: Order) -> list[tuple[str, Event, str, Money]]:
    """Return the refunds, the oldest first: a number, the event, the reason, and the amount."""
    reasons = {
        event.details.get("refund"): event.details.get("reason", "")
        for event in order.events
        if event.kind == "refund_owed"
    }
    refunds = [event for event in reversed(order.events) if event.kind == "refunded"]
    found = []
    for number, event in enumerate(refunds, 1):
        cents = event.details.get("amount")
        amount = (
            amount_of(int(cents), order.total.currency.code) if cents is not None else order.total
        )
        reason = reasons.get(event.details.get("refund")) or (
            _("Cancelled") if order.state == CANCELLED else _("Refund")
        )
        found.append((f"{order.number}-{number}", event, str(reason), amount))
    return found


def _confirmation_event(order: Order) -> Event:
    kinds = ("authorized", "paid", "paid_late", "confirmed")
    return next(
        (event for event in reversed(order.events) if event.kind in kinds), order.events[-1]
    )


def _day(moment: datetime) -> str:
    return str(date_format(timezone.localtime(moment), "j F Y"))


@cache
def _face(name: str) -> bytes:
    """Return a font face without its layout tables, which we do not use and which take longest to subset."""
    font, file = TTFont(BytesIO(myfont(name)), recalcTimestamp=False), BytesIO()
    for table in ("GSUB", "GPOS", "GDEF"):
        del font[table]
    font.save(file)
    return file.getvalue()


@cache
def _printable_codepoints() -> frozenset[int]:
    """Return the characters that both faces have."""
    regular, bold = (
        TTFont(BytesIO(_face(name)), lazy=True).getBestCmap() for name in _FACES.values()
    )
    return frozenset(regular.keys() & bold.keys())


def printable_text(text: str) -> str:
    """Return a text with the characters that the typeface has; others become "?"."""
    known = _printable_codepoints()
    whole = unicodedata.normalize("NFC", text)
    return "".join(
        letter if letter == "\n" or ord(letter) in known else _nearest(letter) for letter in whole
    )


def _nearest(letter: str) -> str:
    """Return the letter in a form that the typeface has, such as one of ordinary width; else "?" or ''."""
    plain = unicodedata.normalize("NFKC", letter)
    if unicodedata.category(letter) in ("Cc", "Cf", "Mn"):
        return ""
    return plain if all(ord(each) in _printable_codepoints() for each in plain) else "?"
