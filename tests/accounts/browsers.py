"""What the tests of accounts know of a browser."""

from uuid import uuid4

from django.conf import settings
from django.test import Client
from django.urls import reverse


def fresh_email(name: str = "alice") -> str:
    return f"{name}-{uuid4().hex}@example.com"


def is_in(client: Client) -> bool:
    return bool(client.get(reverse("accounts:profile")).status_code == 200)


def key_of(client: Client) -> str:
    """Return the key of the browser's session."""
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def path(link: str) -> str:
    """Return the path of a mailed link."""
    return link.removeprefix(settings.PUBLIC_URL)
