"""What is typed at the bank."""

from typing import Any

from django import forms

from web.forms import Form


class CardForm(Form):
    card = forms.CharField(
        label="Card number",
        max_length=40,
        help_text="One of the numbers below",
        widget=forms.TextInput({"autocomplete": "cc-number", "inputmode": "numeric"}),
        error_messages={"required": "Enter the card number"},
    )

    def clean_card(self) -> str:
        """Return the digits; spaces and dashes do not count. Raises ValidationError."""
        typed: Any = self.cleaned_data["card"]
        digits = "".join(each for each in typed if each not in " -–.\t\u00a0")
        if not (digits.isascii() and digits.isdigit() and 12 <= len(digits) <= 19):
            raise forms.ValidationError("A card number has 16 digits, like 4242 4242 4242 4242")
        return digits


class CodeForm(Form):
    code = forms.CharField(
        label="The code that we have sent you",
        max_length=20,
        help_text="It stands below: this bank sends nothing",
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"}),
        error_messages={"required": "Enter the code"},
    )
