"""The forms of carts: they turn untrusted input into clean values. Prices are never input."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from cart.access import ROLE_DESCRIPTIONS, ROLE_NAMES
from cart.limits import MAX_QUANTITY
from cart.priced_cart import PriceConsent
from catalogue.queries import MAX_SKU_LENGTH
from mail.forms import email_field
from web.forms import Form

_WHOLE = re.compile(r"[0-9]{1,4}")  # int() would also accept "٣", "1_0" and " 3"


class _OneValue(forms.TextInput):
    """A widget for text that detects that its field was sent more than once."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        self.sent_twice = isinstance(data, MultiValueDict) and len(data.getlist(name)) > 1
        return super().value_from_datadict(data, files, name)


class QuantityField(forms.CharField):
    """A field for a whole number from 1 to 999 in plain digits. `none` is the error text for 0."""

    widget = _OneValue

    default_error_messages = {"required": _("Enter a quantity."), "none": _("Enter 1 or more.")}

    def __init__(self, **messages: Any) -> None:
        super().__init__(label=_("Quantity"), error_messages=messages)

    def clean(self, value: Any) -> int:
        """Return the number. Raises ValidationError with an error text for the shopper."""
        text = super().clean(value)
        if getattr(self.widget, "sent_twice", False):
            raise forms.ValidationError(_("Enter one quantity."))
        if not _WHOLE.fullmatch(text) or int(text) > MAX_QUANTITY:
            raise forms.ValidationError(
                _("Enter a whole number from 1 to %(most)s.") % {"most": MAX_QUANTITY}
            )
        if int(text) == 0:
            raise forms.ValidationError(self.error_messages["none"])
        return int(text)


class IdempotencyKeyField(forms.CharField):
    """The field for the idempotency key of a submit, by which a repeat counts once. A missing or invalid key becomes a new one."""

    widget = forms.HiddenInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def clean(self, value: Any) -> UUID:
        """Return the key."""
        try:
            return UUID(str(value))
        except ValueError:
            return uuid4()


class CartNameForm(Form):
    """The form with the name of a cart (cart.names has the rules)."""

    name = forms.CharField(
        label=_("Cart name"),
        help_text=_("For example, Birthday, Kitchen or Gifts."),
        error_messages={"required": _("Enter a name for the cart.")},
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    operation = IdempotencyKeyField()


class TargetCartForm(Form):
    """The form that chooses the target cart of a merge, move or copy."""

    into = forms.UUIDField(
        error_messages={"required": _("Choose a cart."), "invalid": _("Choose a cart.")}
    )
    operation = IdempotencyKeyField()


class AddForm(Form):
    """The form that puts a variant into the active cart. `build_add_form` makes it for a page."""

    variant = forms.CharField(widget=forms.HiddenInput, max_length=MAX_SKU_LENGTH)
    # This id saves the search for the variant's product; a missing or wrong id does no harm.
    product = forms.CharField(widget=forms.HiddenInput({"id": "add-product"}), required=False)
    quantity = QuantityField()
    operation = IdempotencyKeyField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The response finds the fields to replace by these ids, anywhere on the page.
        super().__init__(*args, auto_id="%s", **kwargs)

    @property
    def product_id(self) -> UUID | None:
        """The id of the product that the form names, or None."""
        try:
            return UUID(str(self["product"].value()))
        except ValueError:
            return None


def build_add_form(product_id: UUID, sku: str) -> AddForm:
    """Return a form that adds this variant, with a new idempotency key."""
    initial = {"variant": sku, "product": product_id, "quantity": 1, "operation": uuid4()}
    return AddForm(initial=initial)


class LineForm(Form):
    """The form that names a line of a cart."""

    cart = forms.UUIDField(widget=forms.HiddenInput)
    line = forms.UUIDField(widget=forms.HiddenInput)


class LineQuantityForm(LineForm):
    """The form that sets a line's quantity."""

    quantity = QuantityField(
        none=_("Enter 1 or more. To remove the item from your cart, select Remove.")
    )

    def __init__(self, data: Mapping[str, Any]) -> None:
        # A page has many of these forms: the line's key keeps their ids apart. Django fills in the `%s`, so the key must have
        # no percent sign.
        try:
            key = str(UUID(str(data.get("line"))))
        except ValueError:
            key = "unknown"
        super().__init__(data, auto_id=f"%s-{key}")


class PriceConsentField(forms.CharField):
    """The field for lines whose new prices are accepted, as the page showed them: `key:quantity:old:new`, between commas."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        super().__init__(max_length=100_000)

    def clean(self, value: Any) -> list[PriceConsent]:
        """Return the consents. Raises ValidationError if the text has another format."""
        try:
            return [
                _parse_price_consent(*each.split(":")) for each in super().clean(value).split(",")
            ]
        except (TypeError, ValueError) as error:
            raise forms.ValidationError(_("No prices were accepted. Try again.")) from error


def _parse_price_consent(key: str, quantity: str, old_price: str, new_price: str) -> PriceConsent:
    return PriceConsent(str(UUID(key)), int(quantity[:9]), int(old_price[:15]), int(new_price[:15]))


class PriceConsentForm(Form):
    """The form that accepts risen prices."""

    cart = forms.UUIDField(widget=forms.HiddenInput)
    agreed = PriceConsentField()


class VoucherForm(Form):
    """The form that puts a voucher's code into a cart, or removes it."""

    cart = forms.UUIDField(widget=forms.HiddenInput)
    code = forms.CharField(
        label=_("Code"),
        max_length=80,
        widget=forms.TextInput(
            {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "characters"}
        ),
        error_messages={"required": _("Enter a code.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="voucher-%s", **kwargs)


class RestoreForm(Form):
    """The form that restores a removed line."""

    removed = forms.CharField(widget=forms.HiddenInput, max_length=2000)


_ROLES = [
    (role, format_lazy("{}: {}", ROLE_NAMES[role], description))
    for role, description in ROLE_DESCRIPTIONS.items()
]


class InviteForm(Form):
    """The form that invites a person into a cart."""

    email = email_field("off")
    role = forms.ChoiceField(
        label=_("What they can do"),
        choices=_ROLES,
        initial="viewer",
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose what they can do"),
            "invalid_choice": _("Choose what they can do"),
        },
    )


class CartPersonForm(Form):
    """The form that names a person with whom a cart is shared."""

    person = forms.UUIDField(widget=forms.HiddenInput)


class CartRoleForm(CartPersonForm):
    """The form that gives a person another role in a cart."""

    role = forms.ChoiceField(label=_("Role"), choices=list(ROLE_NAMES.items()))


class InvitationOrLinkForm(Form):
    """The form that names an invitation or a link of a cart."""

    key = forms.UUIDField(widget=forms.HiddenInput)


class IdempotencyForm(Form):
    """The form that has only an idempotency key."""

    operation = IdempotencyKeyField()
