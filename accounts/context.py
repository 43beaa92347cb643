"""The context processors that give `user` and `new_notifications` to every template."""

from functools import partial

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from accounts.bell import count_new


def user(request: HttpRequest) -> dict[str, AbstractBaseUser | AnonymousUser]:
    """Return `user`, which is read when a template uses it. If a middleware refused the request earlier, `user` is a guest."""
    # No `or`: that would wait for the user here.
    return {"user": request.user if hasattr(request, "user") else AnonymousUser()}


def bell(request: HttpRequest) -> dict[str, object]:
    """Return `new_notifications`, the bell's number, which is read when a template uses it."""
    return {"new_notifications": partial(count_new, request)}
