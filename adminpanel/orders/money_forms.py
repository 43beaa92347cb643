"""The forms about an order's money: one for refunds, one for payments that staff record by hand."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import uuid4

from django import forms
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.orders.forms import AmountField, OrderForm, UnitsField, line_contents
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.returns import Return
from orders.lifecycle.states import PENDING
from pricing.money import to_minor_units
from pricing.templatetags.money import format_money


class RefundForm(OrderForm):
    """The form that refunds units, the delivery or another sum. It can belong to a return.

    Units and delivery can be refunded once only, up to the paid sum. A refund of 0 closes a return whose units were
    free or are already refunded. For such a return, the form proposes 0.

    `shown` is the sum, in minor units, that the button said. If another sum would be refunded, the form is shown again.
    static/js/orders.js keeps both up to date, with the data attributes of the fields. The button `full` refunds all that is left.
    """

    mail_kinds = {"refunded": ""}
    shown = forms.CharField(required=False, widget=forms.HiddenInput, max_length=20)

    def __init__(
        self,
        order: Order,
        items: Sequence[Item],
        order_return: Return | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            order, f"refund-{order_return.return_id}" if order_return else "refund", data
        )
        self.items, self.order_return = order.current_lines(items), order_return
        self.is_full = order_return is None and bool(self.data.get("full"))
        self.restock_fields: dict[int, forms.BoundField] = {}
        self.most = balance.refundable_amount(order)
        self.refunded_units = balance.refunded_units_by_line(
            order, {item.line_number: item.quantity for item in items}
        )[0]
        wanted = self._count_wanted_units()
        self.owes_nothing = (
            order_return is not None and not min(self._paid_for(wanted), self.most).amount
        )
        self.add_unit_fields(line_contents(self.items, wanted), prefill=order_return is not None)
        self._add_restock_fields()
        self._add_fields()
        self.initial["shown"] = to_minor_units(self.sum)

    def _add_restock_fields(self) -> None:
        """Describe the lines' sums to the script, and add fields for the delivered units that go back into stock."""
        returnable = {} if self.order_return else self.order.returnable_units()
        for item, field in self.lines:
            line = item.line_number
            field.field.widget.attrs |= {
                "data-total": to_minor_units(item.final_total),
                "data-quantity": item.quantity,
                "data-before": self.refunded_units.get(line, 0),
            }
            if most := min(returnable.get(line, 0), cast(UnitsField, field.field).most):
                self.fields[f"restock_{line}"] = UnitsField(_("Back in stock"), most)
                self.restock_fields[line] = self[f"restock_{line}"]

    @property
    def rows(self) -> list[tuple[Item, forms.BoundField, forms.BoundField | None]]:
        """The lines, each with the fields of its refunded and restocked units."""
        return [
            (item, field, self.restock_fields.get(item.line_number)) for item, field in self.lines
        ]

    @property
    def restock(self) -> dict[int, int]:
        """The units of the valid form that go back into stock, by line number."""
        found = {line: self.cleaned_data[each.name] for line, each in self.restock_fields.items()}
        return {line: units for line, units in found.items() if units}

    @property
    def sum(self) -> Money:
        """The sum that the form refunds as it is drawn; 0 if it has errors."""
        found: Money | None = None
        if self.is_bound:
            found = self.cleaned_data.get("amount") if hasattr(self, "cleaned_data") else None
        elif not self.owes_nothing:
            found = self._paid_for(
                {item.line_number: int(field.initial or 0) for item, field in self.lines}
            )
        return self.order.total * 0 if found is None else found

    def _count_wanted_units(self) -> dict[int, int]:
        """Return the refundable units, keyed by line number. For a return, return only the units that were sent back."""
        refundable = {
            item.line_number: max(0, item.quantity - self.refunded_units.get(item.line_number, 0))
            for item in self.items
        }
        if not self.order_return:
            return refundable
        returned = self.order_return.lines.items()
        return {line: min(units, refundable.get(line, 0)) for line, units in returned}

    def _add_fields(self) -> None:
        """Add the fields for the delivery (if it is refundable), for another amount, and for the reason."""
        if self.order.delivery.amount and not _delivery_refunded(self.order):
            self.fields["delivery"] = forms.BooleanField(
                label=_("Delivery, %(amount)s") % {"amount": format_money(self.order.delivery)},
                required=False,
                widget=forms.CheckboxInput({"data-cents": to_minor_units(self.order.delivery)}),
            )
        help_text = _("Leave empty to refund what was paid for the items above.")
        if self.order_return:
            help_text += " " + _("Enter 0 to close the return without a refund.")
        self.fields["amount"] = AmountField(
            _("Other amount"),
            self.most,
            required=False,
            help_text=help_text,
            takes_zero=self.order_return is not None,
        )
        self.fields["reason"] = forms.CharField(
            label=_("Reason"),
            max_length=200,
            required=not self.is_full,
            help_text=_("The customer sees this."),
            error_messages={"required": _("Enter a reason for the refund")},
        )
        if self.order_return:
            self.initial["reason"] = (
                _("Nothing was paid for it, or it is already refunded.")
                if self.owes_nothing
                else "What you sent back has arrived."
            )
        if self.owes_nothing:
            self.initial["amount"] = "0"

    def clean(self) -> dict[str, Any]:
        """Return the values; `amount` is the sum to refund. Raises ValidationError if the sum is missing or too large."""
        cleaned = super().clean() or self.cleaned_data
        if "delivery" not in self.fields and self.data.get("delivery"):
            raise forms.ValidationError(_("Delivery is already refunded, or was free"))
        if self.errors:
            return cleaned
        cleaned.setdefault("delivery", False)
        if self.is_full:
            cleaned |= {"delivery": "delivery" in self.fields, "amount": self.most}
            cleaned |= {field.name: cast(UnitsField, field.field).most for _, field in self.lines}
        typed, zero = cleaned["amount"], self.order.total * 0
        delivery = self.order.delivery if cleaned["delivery"] else zero
        amount = self._paid_for(self.units) + delivery if typed is None else typed
        is_closing = self.order_return is not None and (typed == zero or self.owes_nothing)
        if not to_minor_units(amount) and not is_closing:
            self.add_error("amount", _("Enter what to refund, or an amount"))
        elif amount > self.most:
            self.add_error(
                "amount",
                _("You can refund at most %(most)s; this is %(amount)s")
                % {"most": format_money(self.most), "amount": format_money(amount)},
            )
        for line, field in self.restock_fields.items():
            if cleaned[field.name] > self.units[line]:
                self.add_error(field.name, _("Enter at most the number of units to refund"))
        cleaned["amount"] = amount
        self._check_shown(amount)
        return cleaned

    def _check_shown(self, amount: Money) -> None:
        """Add an error if the button said another sum. Pages of earlier versions send none."""
        cents, shown = str(to_minor_units(amount)), self.data.get("shown")
        if self.errors or self.is_full or shown in (None, cents):
            return
        self.keep_typed(shown=cents)
        words = _("Nothing is refunded yet. Check the sum, %(amount)s, and press the button again")
        self.add_error(None, words % {"amount": format_money(amount)})

    def _paid_for(self, units_by_line: Mapping[int, int]) -> Money:
        parts = [
            item.units_total(units, self.refunded_units.get(item.line_number, 0))
            for item in self.items
            if (units := units_by_line.get(item.line_number, 0))
        ]
        return sum(parts, self.order.total * 0)


def _delivery_refunded(order: Order) -> bool:
    return any(
        event.kind == "refund_owed" and event.details.get("delivery") for event in order.events
    )


class ReceivedPaymentForm(OrderForm):
    """The form that records money received by transfer or on delivery."""

    press = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, order: Order, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(order, "received", data, press=uuid4())
        self.mail_kinds = {"confirmed": ""} if order.state == PENDING else {}
        left = balance.amount_to_capture(order)
        self.fields["amount"] = AmountField(
            _("Amount received"),
            left,
            help_text=_("%(amount)s is still to be paid.") % {"amount": format_money(left)},
        )
        self.initial["amount"] = str(left.amount)
