"""What every template knows about the user."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest


def user(request: HttpRequest) -> dict[str, AbstractBaseUser | AnonymousUser]:
    """Return `user`, read when a template looks at it; a request refused before the user was looked up has a guest."""
    # No `or`: that would wait for the user here.
    return {"user": request.user if hasattr(request, "user") else AnonymousUser()}
