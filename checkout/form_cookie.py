"""Keeps a checkout's typed fields in a cookie of the visitor's browser, so that Back, Reload and Change lose nothing.

The fields are never part of a URL, and the shop stores none of them before there is an order.
"""

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from checkout.forms import BillingForm, CheckoutForm
from checkout.steps import DETAILS
from web.cookies import set_cookie

_SALT = "orders.typed"
COOKIE_SECONDS = 24 * 3600
# Browsers accept cookies of up to 4,096 characters, including the name and the attributes.
MAX_COOKIE_LENGTH = 3800
FIELD_NAMES = (
    *CheckoutForm.base_fields,
    *(f"billing-{name}" for name in BillingForm.base_fields if name != "phone"),
)


def get_typed_fields(request: HttpRequest, owner_id: UUID) -> dict[str, str]:
    """Return the typed fields in this browser's cookie; none if the cookie is older than a day or belongs to another owner."""
    try:
        owner, fields = signing.loads(
            request.COOKIES.get(settings.CHECKOUT_COOKIE_NAME, ""),
            salt=_SALT,
            max_age=COOKIE_SECONDS,
        )
        return (
            {name: str(fields[name]) for name in FIELD_NAMES if name in fields}
            if owner == owner_id.hex
            else {}
        )
    except (signing.BadSignature, ValueError, TypeError):
        return {}


def merge_typed_fields(
    posted: Mapping[str, str], before: Mapping[str, str], step: str
) -> dict[str, str]:
    """Return the typed fields, updated by a step's submit. Browsers do not send an unticked box: it is stored as ""."""
    sent = {name: posted[name] for name in FIELD_NAMES if name in posted}
    if step != DETAILS:
        sent["same_billing"] = posted.get("same_billing", "")
    return {**before, **sent}


def save_typed_fields(
    response: HttpResponse, owner_id: UUID, typed_fields: Mapping[str, str]
) -> bool:
    """Store the typed fields in the browser, until it is closed; return whether they fit in the cookie."""
    cookie = signing.dumps([owner_id.hex, dict(typed_fields)], salt=_SALT, compress=True)
    if len(cookie) > MAX_COOKIE_LENGTH:
        return False
    set_cookie(response, settings.CHECKOUT_COOKIE_NAME, cookie)
    return True
