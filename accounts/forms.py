"""The forms of accounts: they turn untrusted input into clean values."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.hashers import check_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts import addresses
from accounts.models import User
from accounts.validators import is_too_long
from mail.forms import email_field
from notifications.entities import CHOICE_LABELS, GROUPS
from notifications.kinds import get_kinds
from web.forms import Form
from web.types import StrOrPromise


class SingleLineField(forms.CharField):
    """A field for text in one line. White space and control characters become single spaces."""

    def to_python(self, value: Any) -> str:
        """Return the text in one line, with single spaces."""
        text = super().to_python(value) or ""
        return " ".join(
            "".join(
                " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text
            ).split()
        )


def name_field() -> SingleLineField:
    """Return the field for a person's name."""
    return SingleLineField(
        label=_("Your name"),
        max_length=100,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Enter your name")},
    )


def password_field(
    label: StrOrPromise,
    autocomplete: str,
    help_text: StrOrPromise = "",
    required: StrOrPromise = "",
) -> forms.CharField:
    """Return the field for a password, which is not trimmed and never shown again."""
    return forms.CharField(
        label=label,
        strip=False,
        help_text=help_text,
        widget=forms.PasswordInput({"autocomplete": autocomplete, "data-reveal": ""}),
        error_messages={"required": required},
    )


class RegisterForm(Form):
    email = email_field()


def new_password_field(label: StrOrPromise) -> forms.CharField:
    """Return the field for a new password (see NewPasswordForm)."""
    return password_field(
        label,
        "new-password",
        _(
            "Use at least 8 characters. Several words in a row are easy to remember and hard to guess."
        ),
        _("Choose a password"),
    )


class NewPasswordForm(Form):
    """A form with a new password. The constructor gets the account's e-mail address, which the password must not resemble."""

    password = new_password_field(_("Password"))

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean_password(self) -> str:
        """Return the password. Raises ValidationError if it is too short, too long, common or easily guessed."""
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email))
        return password


class FinishRegistrationForm(NewPasswordForm):
    """The form with the name and password of a new member, whose e-mail address the mailed link has proved."""

    field_order = ("name", "password")
    name = name_field()


class PasswordResetForm(Form):
    email = email_field("username")


class PasswordChangeForm(NewPasswordForm):
    """The form that changes a password; it also asks for the present one."""

    field_order = ("current", "password")
    current = password_field(
        _("Current password"), "current-password", required=_("Enter your current password")
    )
    password = new_password_field(_("New password"))


class EmailChangeForm(Form):
    """The form that changes the e-mail address; it also asks for the password."""

    email = email_field()
    current = password_field(
        _("Your password"), "current-password", required=_("Enter your password")
    )

    def __init__(self, *args: Any, current_email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = _("New email address")
        self.current_email = current_email

    def clean_email(self) -> str:
        """Return the new address. Raises ValidationError if the account has this address already."""
        email: str = self.cleaned_data["email"]
        if email == self.current_email:
            raise ValidationError(_("This is already your email address. Enter a different one."))
        return email


class PreferencesForm(Form):
    """The form that changes a member's preferences."""

    country = forms.ChoiceField(
        label=_("Country you usually order to"),
        required=False,
        help_text=_(
            "We use it for the totals in your cart, and at checkout if you have no saved address"
        ),
    )
    plain_mail = forms.BooleanField(
        label=_("Send emails about my orders as plain text"), required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["country"].choices = [  # type: ignore[attr-defined]
            ("", _("No preference")),
            *addresses.COUNTRIES.items(),
        ]


class NotificationChoicesForm(Form):
    """The form in which a member chooses, for each kind of notifications, where they are told."""

    hides_needs = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in get_kinds().values():
            self.fields[kind.name] = forms.ChoiceField(
                label=kind.label,
                choices=[(each, CHOICE_LABELS[each]) for each in kind.choices],
                help_text=_("We always email you this, too") if kind.is_always_mailed else "",
            )

    def list_groups(self) -> list[tuple[str, list[BoundField]]]:
        """Return the fields by the groups of their kinds."""
        kinds = get_kinds().values()
        fields = [
            (group, [self[each.name] for each in kinds if each.group == group]) for group in GROUPS
        ]
        return [(str(group), found) for group, found in fields if found]


class LoginForm(Form):
    email = email_field("username")
    password = password_field(_("Password"), "current-password", required=_("Enter your password"))
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class PasswordConfirmationForm(Form):
    """The form that asks for the password again, so that only the member can start a sensitive action on an open screen."""

    password = password_field(
        _("Your password"), "current-password", required=_("Enter your password")
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        """Return the password. Raises ValidationError if it is not the member's."""
        password: str = self.cleaned_data["password"]
        if is_too_long(password) or not check_password(password, self.user.password):
            raise ValidationError(_("This isn’t your password. Check it and try again."))
        return password


def phone_field(help_text: StrOrPromise) -> SingleLineField:
    """Return the optional field for a telephone number; `help_text` says what the number is for (X58)."""
    return SingleLineField(
        label=_("Phone"),
        max_length=30,
        required=False,
        help_text=help_text,
        widget=forms.TextInput({"autocomplete": "tel", "type": "tel"}),
    )


class ProfileForm(Form):
    name = name_field()
    phone = phone_field(
        _("We fill it in at checkout, where the carrier needs it in case of problems")
    )

    def clean_phone(self) -> str:
        """Return the telephone number as it is stored. Raises ValidationError for an invalid number."""
        try:
            return addresses.normalize_phone(self.cleaned_data["phone"])
        except ValueError as error:
            raise ValidationError(str(error)) from error


class AddressFields(Form):
    """The form fields of an address in the chosen country, for the address book and the checkout.

    Templates draw the fields by `accounts/_country.html` and `accounts/_address_fields.html`. `section` is the first word of
    the autocomplete tokens: `shipping` or `billing`.
    """

    country = forms.ChoiceField(
        label=_("Country"),
        choices=list(addresses.COUNTRIES.items()),
        widget=forms.Select({"autocomplete": "country"}),
        error_messages={
            "required": _("Choose a country"),
            "invalid_choice": _("We don’t deliver there yet. Choose one of these countries."),
        },
    )
    name = SingleLineField(
        label=_("Full name"),
        max_length=100,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Enter the full name")},
    )
    street = SingleLineField(
        label=_("Street and number"),
        max_length=100,
        widget=forms.TextInput({"autocomplete": "address-line1"}),
        error_messages={"required": _("Enter the street and number")},
    )
    street2 = SingleLineField(
        label=_("Second address line"),
        max_length=100,
        required=False,
        help_text=_("Company, flat or floor"),
        widget=forms.TextInput({"autocomplete": "address-line2"}),
    )
    postal_code = SingleLineField(
        label=_("Postcode"),
        max_length=20,
        widget=forms.TextInput(
            {"autocomplete": "postal-code", "class": "input--short", "autocapitalize": "characters"}
        ),
    )
    city = SingleLineField(
        label=_("Town or city"),
        max_length=80,
        widget=forms.TextInput({"autocomplete": "address-level2"}),
    )
    area = SingleLineField(
        label=_("Province"),
        max_length=80,
        required=False,
        widget=forms.Select({"autocomplete": "address-level1"}),
    )
    phone = phone_field(_("For the carrier only, in case of problems with your delivery"))

    def __init__(self, *args: Any, section: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if section:
            for name in addresses.FIELDS:
                attributes = self.fields[name].widget.attrs
                attributes["autocomplete"] = f"{section} {attributes['autocomplete']}"
        self.address_format = addresses.address_format(self["country"].value() or "")
        self._apply_address_format()
        # In the page's order, so that the summary of errors reads from top to bottom.
        block = [
            "country",
            "name",
            *(name for row in self.address_format.rows for name in row),
            "phone",
        ]
        names = list(self.fields)
        self.order_fields([*names[: names.index("country")], *block, *names])

    def _apply_address_format(self) -> None:
        """Give the fields the labels of the country, and require the fields that the country requires."""
        address_format, fields = self.address_format, self.fields
        fields["postal_code"].label, fields["city"].label = (
            gettext(address_format.postcode_label),
            gettext(address_format.city_label),
        )
        for name in ("postal_code", "city"):
            fields[name].error_messages["required"] = gettext("Enter the %(field)s") % {
                "field": str(fields[name].label).lower()
            }
        fields["postal_code"].required = "postal_code" in address_format.required_fields
        if not fields["postal_code"].required:
            fields["postal_code"].help_text = _("The Eircode, if you know it")
        if not address_format.area_label:
            # Keep the area of the former country, in case the visitor chooses it again.
            fields["area"].widget = forms.HiddenInput()
            return
        area_label = gettext(address_format.area_label)
        fields["area"].label, fields["area"].required = (
            area_label,
            "area" in address_format.required_fields,
        )
        fields["area"].error_messages["required"] = gettext("Choose the %(field)s") % {
            "field": area_label.lower()
        }
        # Django writes the field's length into each visible widget, but a select element has no such attribute.
        fields["area"].widget.attrs.pop("maxlength", None)
        fields["area"].widget.choices = [
            ("", gettext("Choose…") if fields["area"].required else ""),
            *address_format.area_choices,
        ]

    @property
    def rows(self) -> list[list[BoundField]]:
        """The fields below the name, in rows as the country writes its addresses, without the second address line."""
        rows = [
            [self[name] for name in row if name != "street2"] for row in self.address_format.rows
        ]
        return [row for row in rows if row]

    def clean(self) -> dict[str, Any]:
        """Return the clean values, with postcode and telephone number as the country writes them."""
        cleaned = super().clean() or self.cleaned_data
        if "postal_code" in cleaned and cleaned.get("country"):
            self._normalize_field(
                cleaned,
                "postal_code",
                lambda typed: addresses.normalize_postcode(typed, cleaned["country"]),
            )
        if not self.address_format.area_label:
            cleaned["area"] = ""
        elif cleaned.get("area") and cleaned["area"] not in dict(self.address_format.area_choices):
            self.add_error(
                "area",
                gettext("Choose the %(field)s from the list")
                % {"field": gettext(self.address_format.area_label).lower()},
            )
        if "phone" in cleaned:
            self._normalize_field(cleaned, "phone", addresses.normalize_phone)
        return cleaned

    def _normalize_field(
        self, cleaned: dict[str, Any], name: str, tidy: Callable[[str], str]
    ) -> None:
        try:
            cleaned[name] = tidy(cleaned[name])
        except ValueError as error:
            self.add_error(name, ValidationError(str(error)))

    def cleaned_address(self) -> addresses.Address:
        """Return the address that a valid form contains."""
        return addresses.address_from_fields(self.cleaned_data)


class AddressForm(AddressFields):
    """The form for an address in a member's address book."""

    default = forms.BooleanField(label=_("Make this my default address"), required=False)

    @classmethod
    def from_input(cls, typed: Mapping[str, str]) -> AddressForm:
        """Return the form with the values typed so far, without errors."""
        return cls(initial={name: typed.get(name, "") for name in cls.base_fields})

    @classmethod
    def from_address(cls, address: addresses.Address) -> AddressForm:
        """Return the form with the values of an address."""
        initial: Mapping[str, Any] = address.stored_fields() | {"default": address.default}
        return cls(initial=initial)
