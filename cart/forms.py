"""Untrusted input about carts -> clean values. Prices are never input."""

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
from mail.addresses import validate_reachable
from web.forms import Form

_WHOLE = re.compile(r"[0-9]{1,4}")  # int() would also accept "٣", "1_0" and " 3"


class _OneValue(forms.TextInput):
    """A text field that notes when it was sent more than once."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        self.sent_twice = isinstance(data, MultiValueDict) and len(data.getlist(name)) > 1
        return super().value_from_datadict(data, files, name)


class QuantityField(forms.CharField):
    """A whole number from 1 to 999 in plain digits; `none` is the error for 0."""

    widget = _OneValue

    default_error_messages = {"required": _("Enter a quantity."), "none": _("Enter 1 or more.")}

    def __init__(self, **messages: Any) -> None:
        super().__init__(label=_("Quantity"), error_messages=messages)

    def clean(self, value: Any) -> int:
        """Return the number. Raises ValidationError with a sentence for the shopper."""
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
    """The idempotency key of one submit, so that a repeat counts once. A missing or broken one gets a new key."""

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
    """Names a cart (cart.names has the rules)."""

    name = forms.CharField(
        label=_("Cart name"),
        help_text=_("For example, Birthday, Kitchen or Gifts."),
        error_messages={"required": _("Enter a name for the cart.")},
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    operation = IdempotencyKeyField()


class TargetCartForm(Form):
    """Chooses the target cart of a merge, move or copy."""

    into = forms.UUIDField(
        error_messages={"required": _("Choose a cart."), "invalid": _("Choose a cart.")}
    )
    operation = IdempotencyKeyField()


class AddForm(Form):
    """Puts a variant into the active cart. Made by `build_add_form` for a page that offers one."""

    variant = forms.CharField(widget=forms.HiddenInput, max_length=MAX_SKU_LENGTH)
    # Saves the look-up of the variant's product; a missing or wrong value does no harm.
    product = forms.CharField(widget=forms.HiddenInput({"id": "add-product"}), required=False)
    quantity = QuantityField()
    operation = IdempotencyKeyField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The response replaces the fields by these ids, anywhere on the page.
        super().__init__(*args, auto_id="%s", **kwargs)

    @property
    def product_id(self) -> UUID | None:
        """The product that the form names, if it names one."""
        try:
            return UUID(str(self["product"].value()))
        except ValueError:
            return None


def build_add_form(product_id: UUID, sku: str) -> AddForm:
    """Return a form that adds this variant, with a new idempotency key."""
    initial = {"variant": sku, "product": product_id, "quantity": 1, "operation": uuid4()}
    return AddForm(initial=initial)


class LineForm(Form):
    """Names a line of a cart."""

    cart = forms.UUIDField(widget=forms.HiddenInput)
    line = forms.UUIDField(widget=forms.HiddenInput)


class LineQuantityForm(LineForm):
    """Sets a line's quantity."""

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
    """Lines with accepted new prices, as the page showed them: `key:quantity:old:new`, between commas."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        super().__init__(max_length=100_000)

    def clean(self, value: Any) -> list[PriceConsent]:
        """Return them. Raises ValidationError if anything else was sent."""
        try:
            return [
                _parse_price_consent(*each.split(":")) for each in super().clean(value).split(",")
            ]
        except (TypeError, ValueError) as error:
            raise forms.ValidationError(_("No prices were accepted. Try again.")) from error


def _parse_price_consent(key: str, quantity: str, old_price: str, new_price: str) -> PriceConsent:
    return PriceConsent(str(UUID(key)), int(quantity[:9]), int(old_price[:15]), int(new_price[:15]))


class PriceConsentForm(Form):
    """Accepts risen prices."""

    cart = forms.UUIDField(widget=forms.HiddenInput)
    agreed = PriceConsentField()


class VoucherForm(Form):
    """Puts a code into a cart, or takes it out."""

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
    """Puts back a removed line."""

    removed = forms.CharField(widget=forms.HiddenInput, max_length=2000)


_ROLES = [
    (role, format_lazy("{}: {}", ROLE_NAMES[role], description))
    for role, description in ROLE_DESCRIPTIONS.items()
]
_EMAIL_WRONG = _("Enter an email address in the format name@example.com")


class InviteForm(Form):
    """Invites a person into a cart."""

    email = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        validators=[validate_reachable],
        widget=forms.EmailInput(
            {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
        error_messages={"required": _EMAIL_WRONG, "invalid": _EMAIL_WRONG},
    )
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
    """Names a person with whom a cart is shared."""

    person = forms.UUIDField(widget=forms.HiddenInput)


class CartRoleForm(CartPersonForm):
    """Gives a person another role."""

    role = forms.ChoiceField(label=_("Role"), choices=list(ROLE_NAMES.items()))


class InvitationOrLinkForm(Form):
    """Names an invitation or a link."""

    key = forms.UUIDField(widget=forms.HiddenInput)


class IdempotencyForm(Form):
    """A submit with only an idempotency key."""

    operation = IdempotencyKeyField()
