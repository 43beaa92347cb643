"""The staff's forms."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.audit_log import ACCOUNTS, RETENTION, STAFF
from accounts.forms import email_field
from accounts.roles import ROLE_DUTIES
from adminpanel.templatetags.roles import role_label
from orders.errors import InvalidTag
from orders.states import STAFF_TRANSITIONS
from orders.tags import MAX_TAG_LENGTH, MAX_TAGS, parse_tags
from web.forms import FilterForm, Form

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


WRONG_CODE = gettext_lazy(
    "This code is wrong, or was already used. Wait for your app to show the next one and enter that."
)


class TotpCodeForm(Form):
    """The six digits that a telephone shows."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=20,
        help_text=gettext_lazy("The six digits that your authenticator app shows for Stoa."),
        widget=forms.TextInput(
            {
                "class": "input--short",
                "autocomplete": "one-time-code",
                "inputmode": "numeric",
                "spellcheck": "false",
            }
        ),
        error_messages={"required": gettext_lazy("Enter the six digits that your app shows")},
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class RecoveryCodeForm(Form):
    """A recovery code, for the day when the telephone is lost."""

    code = forms.CharField(
        label=gettext_lazy("Recovery code"),
        max_length=40,
        help_text=gettext_lazy(
            "One of your ten codes, for example ABCD-EFGH-JKLM. Each works once."
        ),
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
        error_messages={"required": gettext_lazy("Enter one of your recovery codes")},
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class FindPersonForm(Form):
    """Finds an account."""

    email = email_field("off")


class AllowAddressForm(Form):
    """Has an address get mail again."""

    email = email_field("off")


def _role_choices() -> list[tuple[str, str]]:
    duties = [(role, f"{role_label(role)}: {_(may)}") for role, may in ROLE_DUTIES.items()]
    return [("shopper", _("Shopper: no staff pages")), *duties]


class StaffRoleForm(Form):
    """A user's role."""

    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=_role_choices,
        widget=forms.RadioSelect,
        error_messages={
            "required": gettext_lazy("Choose a role"),
            "invalid_choice": gettext_lazy("Choose a role"),
        },
    )

    # The role that the page showed.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_role(self) -> str:
        """Return the role as accounts carry it: '' for a shopper."""
        return "" if self.cleaned_data["role"] == "shopper" else str(self.cleaned_data["role"])


class AuditLogForm(FilterForm):
    """Which page of the audit log; by itself today's acts of the staff."""

    PLACES = frozenset({"after"})

    book = forms.ChoiceField(
        label=gettext_lazy("Show"),
        choices=[(STAFF, gettext_lazy("What staff did")), (ACCOUNTS, gettext_lazy("Accounts"))],
        required=False,
    )
    day = forms.DateField(
        label=gettext_lazy("Day"),
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    who = forms.UUIDField(required=False)
    after = forms.CharField(required=False, max_length=500)

    def parse_selection(self, today: date) -> tuple[str, date, UUID | None, str]:
        """Return book, day (one that is kept), whose acts alone, and page token, each usable as it is."""
        self.is_valid()
        clean = self.cleaned_data
        day = min(max(clean.get("day") or today, today - RETENTION), today)
        return clean.get("book") or STAFF, day, clean.get("who"), clean.get("after", "")
