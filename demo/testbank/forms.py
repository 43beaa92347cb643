"""The forms of the test bank's page."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from web.forms import Form


class CardForm(Form):
    card = forms.CharField(
        label=_("Card number"),
        max_length=40,
        help_text=_("Use one of the numbers below"),
        widget=forms.TextInput({"autocomplete": "cc-number", "inputmode": "numeric"}),
        error_messages={"required": _("Enter the card number")},
    )

    def clean_card(self) -> str:
        """Return the card number without its spaces and dashes. Raises ValidationError."""
        typed: Any = self.cleaned_data["card"]
        digits = "".join(each for each in typed if each not in " -–.\t\u00a0")
        if not (digits.isascii() and digits.isdigit() and 12 <= len(digits) <= 19):
            raise forms.ValidationError(
                _("Enter a card number with 16 digits, for example 4242 4242 4242 4242")
            )
        return digits


class ChallengeCodeForm(Form):
    code = forms.CharField(
        label=_("Verification code"),
        max_length=20,
        help_text=_("You can find the code below: this bank doesn’t send messages"),
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"}),
        error_messages={"required": _("Enter the code")},
    )
