"""The links to orders in mails."""

from uuid import UUID

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.timezone import localdate

from orders.lifecycle.entities import Order

_SALT = "orders.track"
_CONFIRMATION_SALT = "orders.confirm"


def order_access_token(order_id: UUID) -> str:
    """Return the signed token that opens a guest's order for ORDER_LINK_DAYS."""
    return signing.dumps(order_id.hex, salt=_SALT)


def order_id_from_access_token(token: str) -> UUID | None:
    """Return the order's id in an access token of any age; None if the token is not ours."""
    return _parse_token(token, _SALT)


def confirmation_url(order_id: UUID) -> str:
    """Return the URL of the page that confirms or rejects an order. Only mails contain it, so its visitor reads those mails."""
    token = signing.dumps(order_id.hex, salt=_CONFIRMATION_SALT)
    return f"{settings.PUBLIC_URL}{reverse('orders:confirm', args=[token])}"


def order_id_from_confirmation_token(token: str) -> UUID | None:
    """Return the order's id in a token of `confirmation_url`; None if the token is not ours."""
    return _parse_token(token, _CONFIRMATION_SALT)


def accepted_terms_path(order: Order) -> str:
    """Return the path of the terms that an order's shopper has accepted, as they were on its day, or ""."""
    if order.terms_version is None:
        return ""
    path = reverse("terms_version", args=[order.terms_version])
    return f"{path}?on={localdate(order.placed_at)}"


def _parse_token(token: str, salt: str) -> UUID | None:
    try:
        return UUID(hex=signing.loads(token, salt=salt))
    except (signing.BadSignature, ValueError, TypeError):
        return None


def is_expired(token: str) -> bool:
    """Return whether an access token is too old to open an order (ORDER_LINK_DAYS)."""
    return _is_too_old(token, _SALT)


def is_confirmation_expired(token: str) -> bool:
    """Return whether a token of `confirmation_url` is too old to confirm or reject an order (ORDER_LINK_DAYS)."""
    return _is_too_old(token, _CONFIRMATION_SALT)


def _is_too_old(token: str, salt: str) -> bool:
    try:
        signing.loads(token, salt=salt, max_age=settings.ORDER_LINK_SECONDS)
    except signing.SignatureExpired:
        return True
    return False
