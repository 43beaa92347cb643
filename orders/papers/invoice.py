"""An order's invoice as a PDF: the lines, the tax by rate, payments and refunds.

It is drawn only from the order (orders.papers.drawn_invoices caches it) and has the order's number. Refunds are credits, with
numbers derived from it.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from fpdf.enums import XPos, YPos
from moneyed import Money

from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item
from orders.lifecycle.states import CANCELLED, EXPIRED
from orders.papers.sheets import MARGIN, SOFT, Sheet
from pricing.money import from_minor_units as amount_of
from pricing.sum_rows import TOTAL, list_sum_rows
from pricing.templatetags.money import format_money
from shop_settings.restores import get_number_series
from shop_settings.terms import get_terms

_PAID_BY = {  # the sentences for the paid amount, and for the amount to pay
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


class _Page(Sheet):
    """A4 with the seller at the foot of each page."""

    def __init__(self, order: Order, folder: Path) -> None:
        # The seller on the day of the invoice.
        self.terms = get_terms(timezone.localdate(_confirmation_event(order).at))
        title = _("Invoice %(number)s") % {"number": order.number}
        super().__init__(folder, title, self.terms.seller_name, order.changed_at)
        self.order = order
        self.add_page()

    def _vat_line(self) -> str:
        return _("VAT %(number)s") % {"number": self.terms.vat_id}

    def footer(self) -> None:
        """Write the seller and the page's number; fpdf2 calls this at the end of each page."""
        terms = self.terms
        self.set_y(-18)
        self.choose_font(7.5)
        self.set_text_color(*SOFT)
        parts = [terms.seller_name, *terms.seller_address, self._vat_line(), terms.email]
        self.cell(0, 4, self.printable(" · ".join(parts)), align="L", new_x=XPos.LMARGIN)
        self.cell(0, 4, f"{self.order.number} · {self.page_no()} / {{nb}}", align="R")
        self.set_text_color(0)

    def write_heading(self) -> None:
        """Write the seller's name, and the invoice's number and dates."""
        order, top = self.order, self.get_y()
        self.write_line(self.terms.seller_name, 20, "B")
        self.set_xy(105, top)
        for name, value in self._facts():
            self.set_x(105)
            self.choose_font()
            self.set_text_color(*SOFT)
            self.cell(35, 5, name)
            self.set_text_color(0)
            self.choose_font(9.5, "B" if value == order.number else "")
            self.cell(0, 5, self.printable(value), align="R", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
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
            self.set_xy(MARGIN + column * (width + 5), top)
            self.set_text_color(*SOFT)
            self.write_line(title, 8.5, width=width)
            self.set_text_color(0)
            for line in lines:
                self.write_line(line, width=width)
            lowest = max(lowest, self.get_y())
        self.set_xy(MARGIN, lowest + 7)

    def write_lines(self, items: Sequence[Item]) -> None:
        """Write a row for each line; the headings are repeated on each page."""
        rows = [
            [
                str(item.quantity),
                f"{item.label}\n{item.sku}",
                f"{self.order.tax_rates[item.tax_class]}%",
                format_money(item.unit_price),
                format_money(item.line_total),
            ]
            for item in items
            if item.quantity
        ]
        self.write_table(
            [_("Qty"), _("Item"), _("Tax"), _("Price"), _("Total")],
            rows,
            (12, 92, 16, 26, 28),
            "RLRRR",
        )

    def write_totals(self) -> None:
        """Write the sums from the subtotal of the lines to the total."""
        self.ln(3)
        for row in list_sum_rows(self.order, self.order.method.name):
            self._write_amount(row.label, row.amount, "B" if row.kind == TOTAL else "")

    def _write_amount(self, name: str, amount: str, style: str = "") -> None:
        self.choose_font(11 if style else 9.5, style)
        self.set_x(90)
        self.cell(74, 6, self.printable(name), align="R")
        self.cell(0, 6, self.printable(amount), align="R", new_x=XPos.LMARGIN, new_y=YPos.NEXT)

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
        self.write_table(
            [_("Tax rate"), _("Net"), _("Tax"), _("Gross")], rows, (30, 30, 30, 30), "LRRR"
        )
        self.ln(2)
        self.write_line(
            _("The total includes %(tax)s tax.") % {"tax": format_money(self.order.tax)}, 8.5
        )

    def write_payment(self) -> None:
        """Write the payment, the open amount, and the credits."""
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
            [number, _day(event.at), reason, format_money(-amount)]
            for number, event, reason, amount in credits
        ]
        self.write_table(
            [_("Credit"), _("Date"), _("Reason"), _("Amount")], rows, (34, 34, 78, 28), "LLLR"
        )
        refunded = -sum((amount for *_, amount in credits), order.total * 0)
        self._write_amount(_("Refunded"), format_money(refunded), "B")

    def write_missing_letters(self) -> None:
        """If the typeface lacks letters of a text, write a note that says where the text can be read."""
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


def describe_payment(order: Order) -> list[str]:
    """Return sentences about the paid, the refunded and the open amount."""
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
    """Return the refunds, oldest first: number, event, reason, amount."""
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
        credit = f"{order.number}-{number + get_number_series(event.at)}"
        found.append((credit, event, str(reason), amount))
    return found


def _confirmation_event(order: Order) -> Event:
    kinds = ("authorized", "paid", "paid_late", "confirmed")
    return next(
        (event for event in reversed(order.events) if event.kind in kinds), order.events[-1]
    )


def _day(moment: datetime) -> str:
    return str(date_format(timezone.localtime(moment), "j F Y"))
