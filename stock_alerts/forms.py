"""The form of a back-in-stock subscription."""

from typing import Any

from django import forms

from catalogue.queries import MAX_SKU_LENGTH
from mail.forms import email_field
from web.forms import Form


class SubscriptionForm(Form):
    """The form that subscribes to a mail when a variant is back in stock. Members need not type their e-mail address."""

    variant = forms.CharField(widget=forms.HiddenInput, max_length=MAX_SKU_LENGTH)
    email = email_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="wait-%s", **kwargs)
