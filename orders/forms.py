"""The forms that find an order, filter orders, buy an order again, and withdraw from a contract."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from cart.forms import IdempotencyKeyField
from mail.forms import email_field
from orders import numbers
from web.days import validate_shop_day
from web.forms import Form


class HistoryForm(Form):
    """The form that filters a member's orders by a year or a range of days."""

    year = forms.ChoiceField(
        label=_("Year"),
        required=False,
        error_messages={"invalid_choice": _("Choose one of these years")},
    )
    since = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    until = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )

    def __init__(self, *args: Any, years: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("All years")), *((str(year), str(year)) for year in years)]
        self.fields["year"].choices = choices  # type: ignore[attr-defined]
        for name in ("since", "until"):
            self.fields[name].validators.append(validate_shop_day)

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError if the last day is before the first."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("since") and cleaned.get("until") and cleaned["until"] < cleaned["since"]:
            self.add_error("until", _("The end date must be the same as or after the start date"))
        return cleaned


class ReorderForm(Form):
    """The form that selects the cart to which an order's lines are added; None for a new cart."""

    NEW = "new"

    cart = forms.TypedChoiceField(
        label=_("Add to which cart?"),
        coerce=lambda chosen: None if chosen == ReorderForm.NEW else UUID(chosen),
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a cart"),
            "invalid_choice": _("Choose one of these carts"),
        },
    )
    operation = IdempotencyKeyField()

    def __init__(self, *args: Any, carts: Sequence[tuple[UUID, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [*((str(cart_id), name) for cart_id, name in carts), (self.NEW, _("New cart"))]
        self.fields["cart"].choices = choices  # type: ignore[attr-defined]
        self.fields["cart"].initial = choices[0][0]


def _order_number_field() -> forms.CharField:
    return forms.CharField(
        label=_("Order number"),
        max_length=40,
        help_text=_("You can find it in your confirmation email, for example 7KQF-3M9X"),
        widget=forms.TextInput(
            {"autocomplete": "off", "class": "input--short", "autocapitalize": "characters"}
        ),
        error_messages={"required": _("Enter your order number")},
    )


class LookupForm(Form):
    number = _order_number_field()
    email = email_field()

    def clean_number(self) -> str:
        """Return the number as it is stored."""
        return numbers.normalize_order_number(self.cleaned_data["number"])


class WithdrawalForm(Form):
    """The form for a consumer's withdrawal from a contract: name, order number, and the address for the acknowledgement."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=100,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Enter your name")},
    )
    number = _order_number_field()
    email = email_field()

    def clean_number(self) -> str:
        """Return the number as it is stored. Raises ValidationError if no order can have it."""
        number = numbers.normalize_order_number(self.cleaned_data["number"])
        if not numbers.is_order_number(number):
            raise forms.ValidationError(
                _("Enter the eight letters and digits of your order number, for example 7KQF-3M9X")
            )
        return number
