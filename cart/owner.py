"""The owner of a request's carts: a member, or a guest with a signed cookie.

The cookie also has the id of the last active cart. This id is only a guess. With the guess the cart page reads the lines in
parallel with the owner's list of carts, which confirms it.
"""

from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from cart.request_cart import get_request_cart
from web.cookies import set_cookie

_SALT = "cart.owner"
GUEST_SECONDS = 400 * 24 * 3600  # the longest time that browsers keep a cookie


def get_owner_id(request: HttpRequest) -> UUID | None:
    """Return the owner's id, or None for a guest without a cart. For a POST the user is checked; other requests trust the session."""
    if request.method in ("GET", "HEAD"):
        if request.session.session_key and (user_id := request.session.get(SESSION_KEY)):
            return UUID(user_id)
        return get_guest_id(request)
    return get_checked_owner_id(request)


def get_checked_owner_id(request: HttpRequest) -> UUID | None:
    """Return the owner's id, as `get_owner_id` does, after a check that the session's user may still sign in."""
    return request.user.pk if request.user.is_authenticated else get_guest_id(request)


def get_guest_id(request: HttpRequest) -> UUID | None:
    """Return the id in the guest's cookie, or None. A forged cookie is ignored."""
    return get_request_cart(request).new_guest_id or _read_cookie(request)[0]


def get_or_create_owner_id(request: HttpRequest) -> UUID:
    """Return the owner's id. A new guest gets an id, and the cookie is set on the response."""
    owner_id = get_owner_id(request)
    if owner_id is None:
        owner_id = get_request_cart(request).new_guest_id = find_next_guest_id(request) or uuid4()
    return owner_id


def is_guest(request: HttpRequest) -> bool:
    """Return whether the owner is a guest, whose carts live for 30 days after their last change."""
    return not request.user.is_authenticated


def get_last_active_cart_id(request: HttpRequest) -> UUID | None:
    """Return the id of this browser's last active cart: a guess that the owner's list of carts must confirm."""
    return _read_cookie(request)[1]


def remember_active_cart(request: HttpRequest, cart_id: UUID | None) -> None:
    """Store the id of the active cart, which will be the next request's guess."""
    get_request_cart(request).active_cart_id = cart_id


def set_cart_cookie(request: HttpRequest, response: HttpResponse) -> None:
    """Set the guest's cookie if its content has changed."""
    if settings.CART_COOKIE_NAME in response.cookies:  # a login has just removed it
        return
    known = _read_cookie(request)
    now = (get_guest_id(request), get_request_cart(request).active_cart_id or known[1])
    if now != known:
        value = signing.dumps([part.hex if part else "" for part in now], salt=_SALT)
        set_cookie(response, settings.CART_COOKIE_NAME, value, GUEST_SECONDS)


def delete_cart_cookie(response: HttpResponse) -> None:
    """Remove the guest's cookie, after the carts were given to a member."""
    response.delete_cookie(settings.CART_COOKIE_NAME, samesite="Lax")


def _read_cookie(request: HttpRequest) -> tuple[UUID | None, UUID | None]:
    """Return the guest's id and the last active cart's id in the cookie, each or None. A request parses the cookie only once."""
    known = get_request_cart(request)
    if known.cookie is None:
        known.cookie = _parse_cookie(request)
    return known.cookie


def _parse_cookie(request: HttpRequest) -> tuple[UUID | None, UUID | None]:
    cookie = request.COOKIES.get(settings.CART_COOKIE_NAME)
    if not cookie:
        return None, None
    try:
        guest, cart = (
            UUID(hex=part) if part else None for part in signing.loads(cookie, salt=_SALT)
        )
    except (signing.BadSignature, ValueError, TypeError, AttributeError):
        return None, None
    return guest, cart


def find_next_guest_id(request: HttpRequest) -> UUID | None:
    """Return the id that a new guest will get, so that reads by it can begin before; None if it will be a random one.

    Two tabs that add their first lines at once share only the CSRF cookie. An id made from it gives both the same cart; otherwise
    one tab's cart would be lost.
    """
    shared = request.COOKIES.get(settings.CSRF_COOKIE_NAME)
    if not shared:
        return None
    return UUID(bytes=salted_hmac(_SALT, shared, algorithm="sha256").digest()[:16], version=4)
