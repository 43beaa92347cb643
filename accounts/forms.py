"""Untrusted input of accounts -> clean values."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from accounts import addresses
from accounts.models import User
from web.forms import Form

EMAIL_WRONG = "Enter an e-mail address like name@example.com"


class OneLine(forms.CharField):
    """Text in one line: runs of white space and control characters count as one space."""

    def to_python(self, value: Any) -> str:
        """Return the text as it is kept."""
        text = super().to_python(value) or ""
        return " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text).split())


def email_field(autocomplete: str = "email") -> forms.EmailField:
    """Return the field for an e-mail address."""
    return forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput({"autocomplete": autocomplete, "spellcheck": "false", "autocapitalize": "none"}),
        error_messages={"required": EMAIL_WRONG, "invalid": EMAIL_WRONG},
    )


def password_field(label: str, autocomplete: str, help_text: str = "", required: str = "") -> forms.CharField:
    """Return a password's field: taken as typed, no letter trimmed, never shown again."""
    return forms.CharField(
        label=label,
        strip=False,
        help_text=help_text,
        widget=forms.PasswordInput({"autocomplete": autocomplete, "data-reveal": ""}),
        error_messages={"required": required},
    )


class RegisterForm(Form):
    email = email_field()


class FinishForm(Form):
    """Name and password of a new member, whose e-mail address the mailed link has proved."""

    name = OneLine(
        label="Your name",
        max_length=100,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter your name"},
    )
    password = password_field(
        "Password",
        "new-password",
        "At least 8 characters. Several words in a row are easy to remember and hard to guess.",
        "Choose a password",
    )

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean_password(self) -> str:
        """Return the password. Raises ValidationError if it is too short, too long, common or easily guessed."""
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email))
        return password


class LoginForm(Form):
    email = email_field("username")
    password = password_field("Password", "current-password", required="Enter your password")
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class ProfileForm(Form):
    name = OneLine(
        label="Your name",
        max_length=100,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter your name"},
    )


class AddressFields(Form):
    """The fields of an address, here and at the checkout. Draw them by `accounts/_address_fields.html`.

    `section` goes before the autocomplete tokens: `shipping` or `billing`.
    """

    name = OneLine(
        label="Full name",
        max_length=100,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter the name on the parcel"},
    )
    street = OneLine(
        label="Street and number",
        max_length=100,
        widget=forms.TextInput({"autocomplete": "address-line1"}),
        error_messages={"required": "Enter street and number"},
    )
    street2 = OneLine(
        label="Second address line",
        max_length=100,
        required=False,
        help_text="Company, flat or floor",
        widget=forms.TextInput({"autocomplete": "address-line2"}),
    )
    postal_code = OneLine(
        label="Postcode",
        max_length=20,
        widget=forms.TextInput(
            {"autocomplete": "postal-code", "class": "input--short", "autocapitalize": "characters"}
        ),
        error_messages={"required": "Enter the postcode"},
    )
    city = OneLine(
        label="Town or city",
        max_length=80,
        widget=forms.TextInput({"autocomplete": "address-level2"}),
        error_messages={"required": "Enter the town or city"},
    )
    country = forms.ChoiceField(
        label="Country",
        choices=list(addresses.COUNTRIES.items()),
        widget=forms.Select({"autocomplete": "country"}),
        error_messages={
            "required": "Choose the country",
            "invalid_choice": "We deliver to Germany, France and Ireland: choose one of these",
        },
    )
    phone = OneLine(
        label="Telephone",
        max_length=30,
        required=False,
        help_text="Only for the carrier, should the parcel not find you",
        widget=forms.TextInput({"autocomplete": "tel", "type": "tel"}),
    )

    def __init__(self, *args: Any, section: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if section:
            for name in addresses.FIELDS:
                attributes = self.fields[name].widget.attrs
                attributes["autocomplete"] = f"{section} {attributes['autocomplete']}"
        # Ireland delivers without an Eircode.
        self.fields["postal_code"].required = self["country"].value() not in addresses.POSTCODE_OPTIONAL
        if not self.fields["postal_code"].required:
            self.fields["postal_code"].help_text = "The Eircode, if you know it"

    def clean(self) -> dict[str, Any]:
        """Return the values, postcode and telephone as they are written where the parcel goes."""
        cleaned = super().clean() or self.cleaned_data
        if "postal_code" in cleaned and cleaned.get("country"):
            self._tidied(cleaned, "postal_code", lambda typed: addresses.postcode(typed, cleaned["country"]))
        if "phone" in cleaned:
            self._tidied(cleaned, "phone", addresses.phone)
        return cleaned

    def _tidied(self, cleaned: dict[str, Any], name: str, tidy: Callable[[str], str]) -> None:
        try:
            cleaned[name] = tidy(cleaned[name])
        except ValueError as error:
            self.add_error(name, ValidationError(str(error)))

    def address(self) -> addresses.Address:
        """Return the address of a valid form."""
        return addresses.address(self.cleaned_data)


class AddressForm(AddressFields):
    """An address of a member's address book."""

    default = forms.BooleanField(label="Use this address by default", required=False)

    @classmethod
    def of(cls, address: addresses.Address) -> "AddressForm":
        """Return the form that shows an address."""
        initial: Mapping[str, Any] = address.fields() | {"default": address.default}
        return cls(initial=initial)
