"""The forms about accounts, roles and the audit log."""

from datetime import date
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.audit_log import ACCOUNTS, RETENTION, STAFF
from accounts.roles import ROLE_DUTIES
from adminpanel.forms import choice_errors, day_input, text_input
from adminpanel.templatetags.roles import role_label
from web.forms import FilterForm, Form


class RecoveryCodeForm(Form):
    """The form for a recovery code, which a user needs after the loss of a phone."""

    code = forms.CharField(
        label=gettext_lazy("Recovery code"),
        max_length=40,
        help_text=gettext_lazy(
            "One of your ten codes, for example ABCD-EFGH-JKLM. Each works once."
        ),
        widget=text_input(autocapitalize="characters", spellcheck="false"),
        error_messages={"required": gettext_lazy("Enter one of your recovery codes")},
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


def _role_choices() -> list[tuple[str, str]]:
    duties = [(role, f"{role_label(role)}: {_(may)}") for role, may in ROLE_DUTIES.items()]
    return [("shopper", _("Shopper: no staff pages")), *duties]


class StaffRoleForm(Form):
    """The form that gives a user a role, or takes it away."""

    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=_role_choices,
        widget=forms.RadioSelect,
        error_messages=choice_errors(gettext_lazy("Choose a role")),
    )

    # The role that the page showed when it was opened.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_role(self) -> str:
        """Return the role as accounts store it. A shopper has the role ''."""
        return "" if self.cleaned_data["role"] == "shopper" else str(self.cleaned_data["role"])


class AuditLogForm(FilterForm):
    """The form that selects a page of the audit log. The default is the acts of all staff today."""

    PLACES = frozenset({"after"})

    book = forms.ChoiceField(
        label=gettext_lazy("Show"),
        choices=[(STAFF, gettext_lazy("Staff activity")), (ACCOUNTS, gettext_lazy("Accounts"))],
        required=False,
    )
    day = forms.DateField(label=gettext_lazy("Day"), required=False, widget=day_input())
    who = forms.UUIDField(required=False)
    after = forms.CharField(required=False, max_length=500)

    def parse_selection(self, today: date) -> tuple[str, date, UUID | None, str]:
        """Return the validated book of the log, day within the retention, user (or None) and page token."""
        self.is_valid()
        clean = self.cleaned_data
        day = min(max(clean.get("day") or today, today - RETENTION), today)
        return clean.get("book") or STAFF, day, clean.get("who"), clean.get("after", "")
