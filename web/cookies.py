"""Cookies that the shop sets itself."""

from django.conf import settings
from django.http import HttpResponse


def set_cookie(response: HttpResponse, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie that scripts and other sites cannot use. Without `seconds` it ends with the browser's session."""
    response.set_cookie(
        name, value, max_age=seconds, secure=settings.HTTPS, httponly=True, samesite="Lax"
    )
