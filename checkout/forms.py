"""Untrusted input of the checkout -> clean values."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django import forms

from accounts.forms import AddressFields, email_field
from checkout.offers import ways_to_pay
from checkout.steps import DELIVERY, DETAILS
from payments import gateways
from pricing.delivery import DEFAULT_COUNTRY, METHODS, Method, methods


class CheckoutForm(AddressFields):
    """Who, where to, and how. Nothing here says what is bought or what it costs: the server knows."""

    # What the second step asks for; the first one asks for all else.
    OF_DELIVERY = ("delivery", "payment", "same_billing")

    # As on the page, so that the summary of errors reads from top to bottom.
    field_order = ("email",)
    email = email_field()
    delivery = forms.ChoiceField(
        label="Delivery",
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose how it shall be delivered",
            "invalid_choice": "Choose one of these ways to deliver",
        },
    )
    payment = forms.ChoiceField(
        label="Payment",
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose how you want to pay",
            "invalid_choice": "Choose one of these ways to pay",
        },
    )
    same_billing = forms.BooleanField(label="The invoice goes to the same address", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, section="shipping", **kwargs)
        self.fields["email"].help_text = "For the confirmation and the link to your order"
        choices = [(method.code, method.name) for method in methods(self.destination)]
        self.fields["delivery"].choices = choices  # type: ignore[attr-defined]
        self.ways_to_pay = ways_to_pay(self.destination)
        self.fields["payment"].choices = [(way.code, way.name) for way in self.ways_to_pay]  # type: ignore[attr-defined]

    @property
    def destination(self) -> str:
        """The country that is chosen now, or the one that is preset."""
        chosen = self["country"].value()
        return chosen if chosen in METHODS else DEFAULT_COUNTRY

    @property
    def method(self) -> Method:
        """The way to deliver that is chosen now, or the usual one."""
        chosen = self["delivery"].value()
        known = methods(self.destination)
        return next((method for method in known if method.code == chosen), known[0])

    @property
    def way_to_pay(self) -> gateways.PaymentMethod | None:
        """The way to pay that is chosen now, or the usual one; None if there is none."""
        chosen = self["payment"].value()
        known = self.ways_to_pay
        return next((way for way in known if way.code == chosen), known[0] if known else None)

    @property
    def bills_elsewhere(self) -> bool:
        """Whether the invoice goes to another address than the parcel."""
        return not self["same_billing"].value()

    def is_wrong(self, step: str) -> bool:
        """Tell whether something in the fields of a step is missing or wrong."""
        return any(self._step_of(name) == step for name in self.errors)

    def asked_only(self, step: str) -> None:
        """Forget the errors of another step than the one that was sent."""
        for name in list(self.errors):
            if self._step_of(name) != step:
                del self.errors[name]

    def _step_of(self, name: str) -> str:
        return DELIVERY if name in self.OF_DELIVERY else DETAILS


class BillingForm(AddressFields):
    """The address on the invoice, where that is another one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, section="billing", prefix="billing", **kwargs)
        del self.fields["phone"]
        self.fields["name"].error_messages["required"] = "Enter the name on the invoice"
        self.fields["name"].label = "Name on the invoice"


def fingerprint(form: CheckoutForm, billing: BillingForm | None, shown: object) -> str:
    """Return what tells one checkout's content from another's: the clean values and what was shown with them."""
    content = json.dumps(
        [form.cleaned_data, billing.cleaned_data if billing else None, shown], sort_keys=True
    )
    return hashlib.sha256(content.encode()).hexdigest()
