"""The context processor that gives `user` to every template."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest


def user(request: HttpRequest) -> dict[str, AbstractBaseUser | AnonymousUser]:
    """Return `user`, which is read when a template uses it. If a middleware refused the request earlier, `user` is a guest."""
    # No `or`: that would wait for the user here.
    return {"user": request.user if hasattr(request, "user") else AnonymousUser()}
