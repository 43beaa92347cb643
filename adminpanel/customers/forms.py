"""The filter of the list of customers, and the forms on a customer's page: note, block, unblock, delete the account."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.forms import day_input, decimal_field, note_field, short_input
from jobs.minutes import parse_moment
from mail.addresses import email_key
from mail.forms import email_field
from orders.customers import CustomerFilter
from pricing.delivery import list_delivery_countries
from pricing.delivery_settings import country_name
from pricing.money import to_minor_units
from web.days import validate_shop_day
from web.forms import FilterForm, Form
from web.types import StrOrPromise

MAX_REASON = 500
MAX_SPENT, MAX_ORDERS = 10**9, 10**6


def _count_field(label: StrOrPromise) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=0,
        max_value=MAX_ORDERS,
        widget=short_input(inputmode="numeric"),
    )


def _day_field(label: StrOrPromise) -> forms.DateField:
    return forms.DateField(
        label=label, required=False, widget=day_input(), validators=[validate_shop_day]
    )


class CustomerFilterForm(FilterForm):
    """The form that filters the list of customers."""

    country = forms.ChoiceField(label=gettext_lazy("Country"), required=False)
    tag = forms.CharField(label=gettext_lazy("Order tag"), required=False, max_length=40)
    spent_from = decimal_field(gettext_lazy("Spent from"), least="0", most=MAX_SPENT)
    spent_to = decimal_field(gettext_lazy("Spent up to"), least="0", most=MAX_SPENT)
    orders_from = _count_field(gettext_lazy("Orders from"))
    orders_to = _count_field(gettext_lazy("Orders up to"))
    first_day = _day_field(gettext_lazy("Last order from"))
    last_day = _day_field(gettext_lazy("Last order until"))

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, auto_id="filter-%s")
        self.fields["country"].choices = [  # type: ignore[attr-defined]
            ("", _("All")),
            *((code, country_name(code)) for code in list_delivery_countries()),
        ]

    def clean(self) -> dict[str, Any]:
        """Return the values. Refuses ranges that run backwards, and days in the future."""
        clean: dict[str, Any] = super().clean() or {}
        for first, last, text in (
            ("spent_from", "spent_to", _("Enter an amount that is not below the first")),
            ("orders_from", "orders_to", _("Enter a number that is not below the first")),
            ("first_day", "last_day", _("Enter a day that is not before the first")),
        ):
            low, high = clean.get(first), clean.get(last)
            if low is not None and high is not None and high < low:
                self.add_error(last, text)
        for name in ("first_day", "last_day"):
            if (day := clean.get(name)) and day > localdate():
                self.add_error(name, _("Enter a day that is not in the future"))
        return clean

    def build_filter(self) -> CustomerFilter:
        """Return the filter. Do not call this if the form `is_refused`."""
        self.is_valid()
        values = {name: value for name, value in self.cleaned_data.items() if value is not None}
        for name in ("spent_from", "spent_to"):
            if name in values:
                values[name] = to_minor_units(Money(values[name], settings.CURRENCY))
        return CustomerFilter(**values)


class CustomerFileForm(Form):
    """The form that starts a file of the listed customers. The page makes its id: a file is made only once."""

    file_id = forms.UUIDField(widget=forms.HiddenInput)


class CustomerNoteForm(Form):
    """The form of a note on a customer. The page makes the note's id: a form that is sent twice adds one note."""

    note_id = forms.UUIDField(widget=forms.HiddenInput)
    customer_note = note_field(
        help_text=gettext_lazy("Only staff can see this, but a download of the data has it.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"note_id": uuid4()})
        super().__init__(*args, auto_id="note-%s", **kwargs)


class BlockForm(Form):
    """The form that blocks a customer from placing orders. It asks for the reason."""

    block_reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea({"rows": 2}),
        help_text=gettext_lazy("The customer isn’t told, but a download of the data has it."),
        error_messages={
            "required": gettext_lazy("Enter a reason for your colleagues"),
            "max_length": gettext_lazy(
                "Enter a reason of at most %(limit_value)d characters; this one has %(show_value)d"
            ),
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="block-%s", **kwargs)


class UnblockForm(Form):
    """The form that ends a customer's block. It ends only the block that the page showed."""

    seen = forms.CharField(max_length=40, widget=forms.HiddenInput)

    def clean_seen(self) -> datetime:
        """Return the time when the shown block began, in UTC."""
        seen = parse_moment(self.cleaned_data["seen"])
        if seen is None:
            raise forms.ValidationError(_("Reload the page and try again"))
        return seen


class EraseForm(Form):
    """The form that deletes a customer's account. Staff type the customer's email address to confirm."""

    email = email_field("off")

    def __init__(self, *args: Any, customer_email: str, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="erase-%s", **kwargs)
        self.customer_email = customer_email
        self.fields["email"].label = _("Type the customer’s email address")

    def clean_email(self) -> str:
        """Return the typed address. Raises ValidationError if it is not the customer's address."""
        email: str = self.cleaned_data["email"]
        if email_key(email) != email_key(self.customer_email):
            raise forms.ValidationError(_("Enter this customer’s email address as shown above"))
        return email
