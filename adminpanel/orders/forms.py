"""The staff's forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from orders.lifecycle.errors import InvalidTag
from orders.lifecycle.states import STAFF_TRANSITIONS
from orders.tags import MAX_TAG_LENGTH, MAX_TAGS, parse_tags
from web.forms import Form

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_NOTE = 1000


def _note(label: StrOrPromise, *, required: bool) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=required,
        max_length=MAX_NOTE,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("Only staff can see this."),
        error_messages={
            "required": gettext_lazy("Enter a note"),
            "max_length": gettext_lazy(
                "Enter a note of at most %(limit_value)d characters; this one has %(show_value)d"
            ),
        },
    )


class TransitionForm(Form):
    """One submit of a button of an order's page, which was drawn when the order had this version."""

    event = forms.ChoiceField(choices=[(move.kind, move.label) for move in STAFF_TRANSITIONS])
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    note = _note(gettext_lazy("Note on this step"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="move-%s", **kwargs)


class NoteForm(Form):
    """A note among the staff."""

    note = _note(gettext_lazy("Note"), required=True)
    # The last event that the page knew: the same words sent from a later page are another note (orders.submits).
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="note-%s", **kwargs)


class MailAgainForm(Form):
    """Sends a mail about an order again."""

    # The last event that the page knew: pressed on a later page, it is sent once more (orders.submits).
    seen = forms.CharField(required=False, widget=forms.HiddenInput)


class TagForm(Form):
    """Tags for an order, with commas between them; or one to take off, by the button beside it."""

    add = forms.CharField(
        label=gettext_lazy("Add tags"),
        required=False,
        max_length=MAX_TAGS * (MAX_TAG_LENGTH + 2),
        help_text=gettext_lazy("With commas between them. Customers never see tags."),
        widget=forms.TextInput({"list": "known-tags", "autocomplete": "off"}),
    )
    remove = forms.CharField(required=False, widget=forms.HiddenInput)
    # The last event that the page knew: the same words sent from a later page are sent anew (orders.submits).
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="tags-%s", **kwargs)

    def clean_add(self) -> tuple[str, ...]:
        try:
            return parse_tags(self.cleaned_data["add"])
        except InvalidTag as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> None:
        if not self.errors and not self.cleaned_data["add"] and not self.cleaned_data["remove"]:
            self.add_error("add", _("Enter a tag, for example gift"))
