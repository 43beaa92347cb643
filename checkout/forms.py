"""The forms of the checkout: they turn untrusted input into clean values."""

import hashlib
import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.forms import AddressFields, SingleLineField
from checkout.payment_methods import list_payment_methods
from checkout.steps import DELIVERY, DETAILS
from mail.forms import email_field
from payments import gateways
from pricing.delivery import (
    DeliveryMethod,
    PromisedDelivery,
    get_default_country,
    list_delivery_countries,
    list_delivery_methods,
)
from pricing.delivery_settings import country_name
from pricing.tax import get_tax_rates

# The longest text that fits on a label, on a packing list and in the checkout's cookie.
MAX_NOTES_LENGTH = 250


class CheckoutForm(AddressFields):
    """The form for contact, delivery address, delivery and payment methods. It has no items and prices: the server knows them."""

    # The fields of the second step. The first step has all others.
    DELIVERY_FIELDS = ("delivery", "payment", "same_billing", "notes")

    # In the page's order, so that the summary of errors reads from top to bottom.
    field_order = ("email",)
    email = email_field()
    delivery = forms.ChoiceField(
        label=_("Delivery"),
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a delivery method"),
            "invalid_choice": _("Choose one of these delivery methods"),
        },
    )
    payment = forms.ChoiceField(
        label=_("Payment"),
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a payment method"),
            "invalid_choice": _("Choose one of these payment methods"),
        },
    )
    same_billing = forms.BooleanField(
        label=_("My billing address is the same as my delivery address"), required=False
    )

    notes = SingleLineField(
        label=_("Delivery notes"),
        required=False,
        max_length=MAX_NOTES_LENGTH,
        help_text=_("For the carrier, for example where to leave the parcel"),
        widget=forms.Textarea({"rows": 3, "autocomplete": "off"}),
    )

    def __init__(self, *args: Any, ordered: PromisedDelivery | None = None, **kwargs: Any) -> None:
        """Build the form. `ordered` is the delivery of an existing order: it is accepted even if no longer offered."""
        self.ordered = ordered
        super().__init__(*args, section="shipping", **kwargs)
        self.fields["email"].help_text = _("We send your order confirmation here")
        # The methods are read once, so that the page and the order have the same.
        self.delivery_methods = list_delivery_methods(self.shipping_country)
        self.tax_rates = get_tax_rates(self.shipping_country)
        choices = [(method.code, method.name) for method in self.delivery_methods]
        choices += [(ordered.code, ordered.name)] if ordered else []
        self.fields["delivery"].choices = choices  # type: ignore[attr-defined]
        self.payment_methods = list_payment_methods(self.shipping_country)
        self.fields["payment"].choices = [(each.code, each.name) for each in self.payment_methods]  # type: ignore[attr-defined]

    def clean_country(self) -> str:
        """Return the country. Raises ValidationError if the shop does not deliver to it now."""
        country = str(self.cleaned_data["country"])
        if self.ordered is None and country not in list_delivery_countries():
            raise forms.ValidationError(
                _("We don’t deliver to %(country)s at the moment. Choose another country.")
                % {"country": country_name(country)}
            )
        return country

    def limit_weight(self, grams: int) -> None:
        """Offer only the delivery methods for an order of this weight. Another choice becomes an error of the form."""
        taken = [method for method in self.delivery_methods if method.takes(grams)]
        if not taken:
            self.add_error(
                "delivery",
                _(
                    "This order is too heavy to be sent there. Remove something, or order it in two."
                ),
            )
            return
        if not self.delivery_method.takes(grams) and "delivery" not in self.errors:
            self.add_error("delivery", _("Your order is too heavy for this one. Choose another."))
        self.delivery_methods = taken

    @property
    def shipping_country(self) -> str:
        """The country that was chosen, or the default one."""
        chosen = self["country"].value()
        return chosen if chosen in list_delivery_countries() else get_default_country()

    @property
    def delivery_method(self) -> DeliveryMethod:
        """The chosen delivery method, or the default."""
        chosen = self["delivery"].value()
        known = self.delivery_methods
        return next((method for method in known if method.code == chosen), known[0])

    @property
    def payment_method(self) -> gateways.PaymentMethod | None:
        """The chosen payment method, or the default; None if the shop has none."""
        chosen = self["payment"].value()
        known = self.payment_methods
        return next(
            (method for method in known if method.code == chosen), known[0] if known else None
        )

    @property
    def has_billing_address(self) -> bool:
        """Whether the billing address differs from the delivery address."""
        return not self["same_billing"].value()

    def is_wrong(self, step: str) -> bool:
        """Return whether a field of a step is missing or wrong."""
        return any(self._step_of(name) == step for name in self.errors)

    def drop_errors_of_other_steps(self, step: str) -> None:
        """Remove the errors of all steps but the one that was submitted."""
        for name in list(self.errors):
            if self._step_of(name) != step:
                del self.errors[name]

    def _step_of(self, name: str) -> str:
        return DELIVERY if name in self.DELIVERY_FIELDS else DETAILS


class BillingForm(AddressFields):
    """The form for the billing address, if it differs from the delivery address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, section="billing", prefix="billing", **kwargs)
        del self.fields["phone"]
        self.fields["name"].error_messages["required"] = _("Enter the name for the invoice")
        self.fields["name"].label = _("Name on the invoice")


def checkout_fingerprint(
    form: CheckoutForm, billing: BillingForm | None, snapshot_content: object
) -> str:
    """Return a fingerprint of a checkout's content: its clean values and the content of its snapshot."""
    content = json.dumps(
        [form.cleaned_data, billing.cleaned_data if billing else None, snapshot_content],
        sort_keys=True,
    )
    return hashlib.sha256(content.encode()).hexdigest()
