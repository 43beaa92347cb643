"""Form fields that several forms of settings use."""

from datetime import date

from django import forms
from django.core.validators import MaxValueValidator
from django.utils.translation import gettext_lazy

from adminpanel.forms import day_input, decimal_field, short_input
from web.types import StrOrPromise

# The latest day in a field. The rules add a day to it, and Python's calendar ends in the year 9999.
LAST_DAY = date(2999, 12, 31)


def amount_field(
    label: StrOrPromise, hint: StrOrPromise = "", *, required: bool
) -> forms.DecimalField:
    """Return a field for a sum of money in the shop's currency."""
    words = gettext_lazy("Enter an amount from 0 to 10,000, such as 4.90")
    return decimal_field(label, words, least="0", most=10_000, required=required, hint=hint)


def count_field(
    label: StrOrPromise, hint: StrOrPromise = "", *, most: int, least: int = 0
) -> forms.IntegerField:
    """Return a field for a whole number from `least` to `most`."""
    complaint = gettext_lazy("Enter a whole number from %(least)d to %(most)s")
    return forms.IntegerField(
        label=label,
        min_value=least,
        max_value=most,
        help_text=hint,
        widget=short_input(inputmode="numeric"),
        error_messages={
            name: complaint % {"least": least, "most": f"{most:,}"}
            for name in ("required", "invalid", "min_value", "max_value")
        },
    )


def day_field(label: StrOrPromise, hint: StrOrPromise = "") -> forms.DateField:
    """Return a field for a date that may be empty."""
    return forms.DateField(
        label=label,
        required=False,
        help_text=hint,
        widget=day_input(),
        validators=[MaxValueValidator(LAST_DAY, gettext_lazy("Enter a day before the year 3000"))],
        error_messages={"invalid": gettext_lazy("Enter a day, such as 2027-01-01")},
    )
