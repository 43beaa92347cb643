"""The initial values of the checkout's forms."""

from collections.abc import Mapping

from accounts import queries as accounts
from accounts.addresses import Address
from accounts.models import User
from checkout.form_cookie import FIELD_NAMES


def get_prefill(visitor: User | None, country: str) -> dict[str, str]:
    """Return the initial values of the checkout's forms, keyed by field: the country and, for a member, contact and first address."""
    preset = {"country": country, "same_billing": "on"}
    if visitor is None:
        return preset
    book = accounts.list_addresses(visitor)
    known = {"email": visitor.email, "name": visitor.name} | (_fields(book[0]) if book else {})
    return preset | known | {"phone": known.get("phone") or visitor.phone or ""}


def get_saved_address_fields(
    visitor: User | None, key: str, typed_fields: Mapping[str, str]
) -> dict[str, str]:
    """Return the fields of a member's saved address with this key; none if there is no such address.

    If the address has no telephone number, the typed number or the member's own one is kept.
    """
    found = accounts.get_address(visitor, key) if visitor else None
    if visitor is None or found is None:
        return {}
    phone = found.phone or typed_fields.get("phone", visitor.phone or "")
    return _fields(found) | {"phone": phone}


def _fields(address: Address) -> dict[str, str]:
    return {name: value for name, value in address.stored_fields().items() if name in FIELD_NAMES}
