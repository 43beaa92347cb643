"""Form fields and widgets that several of the staff's packages use."""

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy

from mail.forms import email_field
from web.forms import Form
from web.types import StrOrPromise

MAX_NOTE = 1000
# The codes of Django's errors about numbers. A field uses the same message for all of them.
NUMBER_ERRORS = ("invalid", "min_value", "max_value", "max_decimal_places", "max_digits")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without surrounding spaces. Empty lines are left out."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def text_input(**attributes: StrOrPromise) -> forms.TextInput:
    """Return a widget for one line of text. Browsers do not fill it in."""
    return forms.TextInput({"autocomplete": "off", **attributes})


def short_input(css_class: str = "input--short", **attributes: str) -> forms.TextInput:
    """Return a widget for a text of a few characters."""
    return forms.TextInput({"class": css_class, "autocomplete": "off", **attributes})


def day_input() -> forms.DateInput:
    """Return a widget for a date."""
    return forms.DateInput({"type": "date"}, format="%Y-%m-%d")


def choice_errors(text: StrOrPromise) -> dict[str, StrOrPromise]:
    """Return the error messages of a choice field: a missing and an unknown value get the same message."""
    return dict.fromkeys(("required", "invalid_choice"), text)


def decimal_field(
    label: StrOrPromise,
    complaint: StrOrPromise = "",
    *,
    least: str,
    most: int,
    places: int = 2,
    required: bool = False,
    hint: StrOrPromise = "",
    css_class: str = "input--short",
) -> forms.DecimalField:
    """Return a field for a number from `least` to `most`. `complaint` replaces Django's error messages about numbers."""
    return forms.DecimalField(
        label=label,
        required=required,
        min_value=Decimal(least),
        max_value=Decimal(most),
        decimal_places=places,
        help_text=hint,
        widget=short_input(css_class, inputmode="decimal"),
        error_messages=dict.fromkeys(NUMBER_ERRORS, complaint) if complaint else None,
    )


def note_field(
    label: StrOrPromise = "", help_text: StrOrPromise = "", *, required: bool = True
) -> forms.CharField:
    """Return a field for a note that only staff can see."""
    return forms.CharField(
        label=label or gettext_lazy("Note"),
        required=required,
        max_length=MAX_NOTE,
        widget=forms.Textarea({"rows": 3}),
        help_text=help_text or gettext_lazy("Only staff can see this."),
        error_messages={
            "required": gettext_lazy("Enter a note"),
            "max_length": gettext_lazy(
                "Enter a note of at most %(limit_value)d characters; this one has %(show_value)d"
            ),
        },
    )


class EmailForm(Form):
    """A form for another person's email address."""

    email = email_field("off")
