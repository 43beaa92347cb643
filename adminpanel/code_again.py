"""Asks staff for a code of their second factor before the most harmful acts.

The submitted form gets a field for the code, and keeps the typed values.
"""

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.access import current_member
from accounts.models import User
from accounts.reauthentication import verify_code
from accounts.second_factor import get_demo_code, has_fresh_code
from adminpanel.forms import short_input
from cassandra_db import current_time
from web.errors import TooManyAttempts
from web.forms import Form

ENTER_CODE = gettext_lazy(
    "Nothing was changed yet. Enter the code that your app shows now: your last one is more than five minutes old."
)


def confirm_by_code(request: HttpRequest, form: Form) -> bool:
    """Return whether the user entered a code within the last five minutes, or enters one with this form.

    If not, the form gets a code field with an error. A wrong code counts as an attempt. Raises CassandraUnavailable.
    """
    if has_fresh_code(request.session):
        return True
    user, code = current_member(request), request.POST.get("code", "").strip()
    form.fields["code"] = TotpCodeForm().fields["code"]
    form.fields["code"].help_text += _demo_help(user)
    try:
        if code and verify_code(request, user, code):
            return True
        form.add_error("code", WRONG_CODE if code else ENTER_CODE)
    except TooManyAttempts as error:
        form.add_error("code", str(error))
    return False


def _demo_help(user: User) -> str:
    code, wait = get_demo_code(user, current_time())
    if not code:
        return ""
    words = _(" This is a demo shop: the code is %(code)s.")
    if wait:
        words = _(" This is a demo shop: the code is %(code)s, valid in %(seconds)s seconds.")
    return words % {"code": code, "seconds": wait}


WRONG_CODE = gettext_lazy(
    "This code is wrong, or was already used. Wait for your app to show the next one and enter that."
)


class TotpCodeForm(Form):
    """The form for the six digits that an authenticator app shows."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=20,
        help_text=gettext_lazy("The six digits that your authenticator app shows for this shop."),
        widget=short_input(autocomplete="one-time-code", inputmode="numeric", spellcheck="false"),
        error_messages={"required": gettext_lazy("Enter the six digits that your app shows")},
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)
