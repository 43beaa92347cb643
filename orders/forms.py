"""Untrusted input of the checkout and of the search for an order -> clean values."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django import forms

from accounts.forms import AddressFields, email_field
from orders import numbers
from orders.delivery import DEFAULT_COUNTRY, METHODS, Method, methods
from web.forms import Form


class CheckoutForm(AddressFields):
    """Who, where to, and how. Nothing here says what is bought or what it costs: the server knows."""

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
    same_billing = forms.BooleanField(label="The invoice goes to the same address", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, section="shipping", **kwargs)
        self.fields["email"].help_text = "For the confirmation and the link to your order"
        choices = [(method.code, method.name) for method in methods(self.destination)]
        self.fields["delivery"].choices = choices  # type: ignore[attr-defined]

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
    def bills_elsewhere(self) -> bool:
        """Whether the invoice goes to another address than the parcel."""
        return not self["same_billing"].value()


class BillingForm(AddressFields):
    """The address on the invoice, where that is another one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, section="billing", prefix="billing", **kwargs)
        del self.fields["phone"]
        self.fields["name"].error_messages["required"] = "Enter the name on the invoice"
        self.fields["name"].label = "Name on the invoice"


def fingerprint(form: CheckoutForm, billing: BillingForm | None, shown: object) -> str:
    """Return what tells one checkout's content from another's: the clean values and what was shown with them."""
    content = json.dumps([form.cleaned_data, billing.cleaned_data if billing else None, shown], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


class LookupForm(Form):
    number = forms.CharField(
        label="Order number",
        max_length=40,
        help_text="It is in your confirmation mail, like 7KQF-3M9X",
        widget=forms.TextInput({"autocomplete": "off", "class": "input--short", "autocapitalize": "characters"}),
        error_messages={"required": "Enter the order number"},
    )
    email = email_field()

    def clean_number(self) -> str:
        """Return the number as it is kept."""
        return numbers.tidied(self.cleaned_data["number"])
