"""Whose carts a request is about: a member's, or those of a guest whom a signed cookie remembers."""

from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core import signing
from django.http import HttpRequest, HttpResponse

_SALT = "cart.owner"
GUEST_SECONDS = 400 * 24 * 3600  # as long as browsers keep a cookie at most


def owner_of(request: HttpRequest) -> UUID | None:
    """Return the owner's id, or None for a guest who has no cart yet. Writes need a checked user; reads go by the session."""
    if request.method in ("GET", "HEAD"):
        if request.session.session_key and (user_id := request.session.get(SESSION_KEY)):
            return UUID(user_id)
    elif request.user.is_authenticated:
        return request.user.pk  # type: ignore[no-any-return]
    return guest_of(request)


def guest_of(request: HttpRequest) -> UUID | None:
    """Return the id in the guest's cookie, or None. A cookie that we have not signed counts as none."""
    if (made := getattr(request, "new_guest_id", None)) is not None:
        return made  # type: ignore[no-any-return]
    cookie = request.COOKIES.get(settings.CART_COOKIE_NAME)
    if not cookie:
        return None
    try:
        return UUID(hex=signing.loads(cookie, salt=_SALT))
    except (signing.BadSignature, ValueError):
        return None


def owner_for_writing(request: HttpRequest) -> UUID:
    """Return the owner's id; a new guest gets one, and a cookie with the answer."""
    owner_id = owner_of(request)
    if owner_id is None:
        owner_id = request.new_guest_id = uuid4()  # type: ignore[attr-defined]
    return owner_id


def remember_guest(response: HttpResponse, guest_id: UUID) -> None:
    """Set the cookie that leads a guest back to the carts."""
    response.set_cookie(
        settings.CART_COOKIE_NAME,
        signing.dumps(guest_id.hex, salt=_SALT),
        max_age=GUEST_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def forget_guest(response: HttpResponse) -> None:
    """Remove the guest's cookie, once the carts belong to a member."""
    response.delete_cookie(settings.CART_COOKIE_NAME, samesite="Lax")
