"""What a shopper may send to a cart: a variant, a quantity, the id of the press. Never a price."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.utils.datastructures import MultiValueDict

from web.forms import Form

MAX_QUANTITY = 999
LONGEST_SKU = 64
_WHOLE = re.compile(r"[0-9]{1,4}")  # int() would take "٣", "1_0" and " 3" as well


class _OneValue(forms.TextInput):
    """A text field that tells when it was sent more than once."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        self.sent_twice = isinstance(data, MultiValueDict) and len(data.getlist(name)) > 1
        return super().value_from_datadict(data, files, name)


class QuantityField(forms.CharField):
    """A whole number from 1 to 999, written in plain digits."""

    widget = _OneValue

    def __init__(self) -> None:
        super().__init__(label="Quantity", error_messages={"required": "Enter a quantity."})

    def clean(self, value: Any) -> int:
        """Return the number. Raises ValidationError with a sentence for the shopper."""
        text = super().clean(value)
        if getattr(self.widget, "sent_twice", False):
            raise forms.ValidationError("Enter one quantity.")
        if not _WHOLE.fullmatch(text) or int(text) > MAX_QUANTITY:
            raise forms.ValidationError(f"Enter a whole number from 1 to {MAX_QUANTITY}.")
        if int(text) == 0:
            raise forms.ValidationError("Enter 1 or more. To take it out of your cart, press Remove.")
        return int(text)


class OperationField(forms.CharField):
    """The id of one press on a button, so that a repeat counts once. A missing or broken one makes this press its own."""

    widget = forms.HiddenInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def clean(self, value: Any) -> UUID:
        """Return the id."""
        try:
            return UUID(str(value))
        except ValueError:
            return uuid4()


class AddForm(Form):
    """Puts a variant into the active cart. Made by `add_form` for a page that offers one."""

    variant = forms.CharField(widget=forms.HiddenInput, max_length=LONGEST_SKU)
    quantity = QuantityField()
    operation = OperationField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The answer to a press renews the fields by these ids, wherever the form stands.
        super().__init__(*args, auto_id="%s", **kwargs)


def add_form(sku: str) -> AddForm:
    """Return a form that adds this variant, with the id of a press to come."""
    return AddForm(initial={"variant": sku, "quantity": 1, "operation": uuid4()})


class LineForm(Form):
    """Names a line of a cart."""

    cart = forms.UUIDField(widget=forms.HiddenInput)
    line = forms.UUIDField(widget=forms.HiddenInput)


class ChangeForm(LineForm):
    """Sets a line's quantity."""

    quantity = QuantityField()

    def __init__(self, data: Mapping[str, Any]) -> None:
        # One page shows many of these forms: the line's key keeps their ids apart. Django fills in the `%s`, so that
        # nothing else with a percent sign may get in here.
        try:
            key = str(UUID(str(data.get("line"))))
        except ValueError:
            key = "unknown"
        super().__init__(data, auto_id=f"%s-{key}")


class RestoreForm(Form):
    """Puts back what was removed."""

    removed = forms.CharField(widget=forms.HiddenInput, max_length=2000)
