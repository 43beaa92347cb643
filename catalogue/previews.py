"""Signed links that show a product before it is on sale."""

from datetime import timedelta
from uuid import UUID

from django.core import signing

PREVIEW_DURATION = timedelta(days=7)
_SALT = "catalogue.preview"


def make_preview_token(product_id: UUID) -> str:
    """Return the token of a link to a product's preview; it is valid for a week."""
    return signing.dumps(product_id.hex, salt=_SALT)


def is_preview_token(token: str, product_id: UUID) -> bool:
    """Return whether a token opens this product's preview."""
    try:
        named = signing.loads(token, salt=_SALT, max_age=PREVIEW_DURATION) if token else ""
    except signing.BadSignature:
        return False
    return bool(named == product_id.hex)
