"""The tokens of forms: Django's, masked with a fortieth of the calls. Django makes the secret and checks the token (decision 121).

Each page masks the secret anew, so that compression tells nothing about it. Django draws and looks up each letter by functions of
Python, which was an eighth of a page from memory.
"""

from os import urandom

from django.http import HttpRequest
from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH, rotate_token
from django.utils.functional import SimpleLazyObject

_COUNT = len(CSRF_ALLOWED_CHARS)
_LETTERS = CSRF_ALLOWED_CHARS.encode()
# The letter for each byte. The last bytes are dropped: with them, some letters would be more frequent.
_LETTER_BY_BYTE = bytes(_LETTERS[byte % _COUNT] for byte in range(256))
_DROPPED = bytes(range(256 - 256 % _COUNT, 256))
_PLACE_BY_LETTER = bytes.maketrans(_LETTERS, bytes(range(_COUNT)))


def get_form_token(request: HttpRequest) -> str:
    """Return a token for a page's forms, as Django's `get_token` does; the response sets the cookie with its secret."""
    if "CSRF_COOKIE" not in request.META:
        rotate_token(request)
    request.META["CSRF_COOKIE_NEEDS_UPDATE"] = True
    return mask_secret(request.META["CSRF_COOKIE"])


def mask_secret(secret: str) -> str:
    """Return a mask and the secret moved by it, each as long as the secret, in Django's letters."""
    mask = b""
    while len(mask) < CSRF_SECRET_LENGTH:
        mask += urandom(CSRF_SECRET_LENGTH + 16).translate(None, _DROPPED)
    mask = mask[:CSRF_SECRET_LENGTH]
    places = secret.encode().translate(_PLACE_BY_LETTER)
    moved = bytes([_LETTERS[(place + by) % _COUNT] for place, by in zip(places, mask, strict=True)])
    return (mask.translate(_LETTER_BY_BYTE) + moved).decode()


def form_token(request: HttpRequest) -> dict[str, object]:
    """Return `csrf_token`, which is made when a template uses it, in place of the one that Django gives to every template."""
    return {"csrf_token": SimpleLazyObject(lambda: get_form_token(request))}
