"""The form that has an address get mail again."""

from __future__ import annotations

from accounts.forms import email_field
from web.forms import Form


class AllowAddressForm(Form):
    """Has an address get mail again."""

    email = email_field("off")
