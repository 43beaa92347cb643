"""The forms on a customer's page: add a note, block or unblock the customer, delete the account."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import note_field
from jobs.minutes import parse_moment
from mail.addresses import email_key
from mail.forms import email_field
from web.forms import Form

MAX_REASON = 500


class CustomerNoteForm(Form):
    """The form of a note on a customer. The page makes the note's id: a form that is sent twice adds one note."""

    note_id = forms.UUIDField(widget=forms.HiddenInput)
    customer_note = note_field(
        help_text=gettext_lazy("Only staff can see this, but a download of the data has it.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"note_id": uuid4()})
        super().__init__(*args, auto_id="note-%s", **kwargs)


class BlockForm(Form):
    """The form that blocks a customer from placing orders. It asks for the reason."""

    block_reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea({"rows": 2}),
        help_text=gettext_lazy("The customer isn’t told, but a download of the data has it."),
        error_messages={
            "required": gettext_lazy("Enter a reason for your colleagues"),
            "max_length": gettext_lazy(
                "Enter a reason of at most %(limit_value)d characters; this one has %(show_value)d"
            ),
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="block-%s", **kwargs)


class UnblockForm(Form):
    """The form that ends a customer's block. It ends only the block that the page showed."""

    seen = forms.CharField(max_length=40, widget=forms.HiddenInput)

    def clean_seen(self) -> datetime:
        """Return the time when the shown block began, in UTC."""
        seen = parse_moment(self.cleaned_data["seen"])
        if seen is None:
            raise forms.ValidationError(_("Reload the page and try again"))
        return seen


class EraseForm(Form):
    """The form that deletes a customer's account. Staff type the customer's email address to confirm."""

    email = email_field("off")

    def __init__(self, *args: Any, customer_email: str, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="erase-%s", **kwargs)
        self.customer_email = customer_email
        self.fields["email"].label = _("Type the customer’s email address")

    def clean_email(self) -> str:
        """Return the typed address. Raises ValidationError if it is not the customer's address."""
        email: str = self.cleaned_data["email"]
        if email_key(email) != email_key(self.customer_email):
            raise forms.ValidationError(_("Enter this customer’s email address as shown above"))
        return email
