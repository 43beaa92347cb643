"""Fields and widgets that forms of several of the staff's packages share."""

from django import forms
from django.utils.translation import gettext_lazy

from accounts.forms import email_field
from web.forms import Form
from web.types import StrOrPromise

MAX_NOTE = 1000
# The codes of all that Django finds wrong with a number. A field has one sentence for all of them.
NUMBER_ERRORS = ("invalid", "min_value", "max_value", "max_decimal_places", "max_digits")


def short_input(css_class: str = "input--short", **attributes: str) -> forms.TextInput:
    """Return the widget of a field for a few characters."""
    return forms.TextInput({"class": css_class, "autocomplete": "off", **attributes})


def day_input() -> forms.DateInput:
    """Return the widget of a field for a day."""
    return forms.DateInput({"type": "date"}, format="%Y-%m-%d")


def note_field(
    label: StrOrPromise = "", help_text: StrOrPromise = "", *, required: bool = True
) -> forms.CharField:
    """Return a field for a note among the staff."""
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
    """An email address of somebody else: whom to find, or whom to send mail again."""

    email = email_field("off")
