"""The forms about a return: one decides about it, one records its receipt."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.orders.forms import OrderForm, line_contents
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.returns import Return

MAX_WORDS = 1000


class ReturnDecisionForm(OrderForm):
    """The form that approves or declines a return."""

    mail_kinds = {"return_approved": "", "return_rejected": ""}
    event = forms.ChoiceField(
        choices=[
            ("return_approved", gettext_lazy("Approve")),
            ("return_rejected", gettext_lazy("Decline")),
        ]
    )
    note = forms.CharField(
        label=gettext_lazy("Reason for declining"),
        required=False,
        max_length=MAX_WORDS,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("Only if you decline. The customer sees this."),
    )

    def __init__(
        self, order: Order, order_return: Return, data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(order, f"return-{order_return.return_id}", data)
        self.order_return = order_return

    def clean(self) -> dict[str, Any]:
        """Require a reason if the return is declined."""
        cleaned = super().clean() or self.cleaned_data
        is_declined = cleaned.get("event") == "return_rejected"
        if is_declined and not cleaned.get("note") and "note" not in self.errors:
            self.add_error("note", _("Tell the customer why you decline the return"))
        return cleaned


class ReturnReceiptForm(OrderForm):
    """The form that receives a return. It says how many of the units go back into stock."""

    mail_kinds = {"return_received": ""}

    def __init__(
        self,
        order: Order,
        order_return: Return,
        items: Iterable[Item],
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(order, f"return-{order_return.return_id}", data)
        self.order_return = order_return
        self.add_unit_fields(line_contents(items, order_return.lines))
