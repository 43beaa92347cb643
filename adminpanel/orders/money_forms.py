"""The forms about an order's money: one for refunds, one for payments that staff record by hand."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.orders.forms import AmountField, OrderForm, line_contents
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.returns import Return
from pricing.money import to_minor_units
from pricing.templatetags.money import format_money


class RefundForm(OrderForm):
    """The form that refunds units, the delivery or another sum. It can belong to a return.

    Units and delivery can be refunded once only, up to the paid sum. A refund of 0 closes a return whose units were
    free or are already refunded. For such a return, the form proposes 0.
    """

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
        self.most = balance.refundable_amount(order)
        self.refunded_units = balance.refunded_units_by_line(
            order, {item.line_number: item.quantity for item in items}
        )[0]
        wanted = self._count_wanted_units()
        self.owes_nothing = (
            order_return is not None and not min(self._paid_for(wanted), self.most).amount
        )
        self.add_unit_fields(line_contents(self.items, wanted), prefill=order_return is not None)
        self._add_fields()

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
        cleaned["amount"] = amount
        return cleaned

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
        left = balance.amount_to_capture(order)
        self.fields["amount"] = AmountField(
            _("Amount received"),
            left,
            help_text=_("%(amount)s is still to be paid.") % {"amount": format_money(left)},
        )
        self.initial["amount"] = str(left.amount)
