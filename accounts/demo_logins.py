"""The public logins of a demo, from the module that the setting DEMO_LOGINS names. Outside a demo there are none."""

from collections.abc import Sequence
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.models import User


class DemoLogin(Protocol):
    """A login with which anybody can try out the demo. Its password and secret are public."""

    @property
    def label(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def password(self) -> str: ...
    @property
    def totp(self) -> str: ...  # the second factor's secret, base 32; '' for a shopper
    @property
    def user_id(self) -> UUID: ...


def list_demo_logins() -> Sequence[DemoLogin]:
    """Return the public demo logins; none outside a demo, whatever the setting names."""
    if not (settings.DEMO and settings.DEMO_LOGINS):
        return ()
    return cast("Sequence[DemoLogin]", import_string(settings.DEMO_LOGINS))


def demo_totp_secret(user: User) -> str:
    """Return the public secret of a demo login's second factor; "" for all other users."""
    if not user.demo:
        return ""
    return next((login.totp for login in list_demo_logins() if login.user_id == user.pk), "")
