"""The links to offers in mails."""

from uuid import UUID

from django.conf import settings
from django.urls import reverse

from drafts.entities import DraftOrder
from web.encryption import DecryptionError, decrypt_token, encrypt_token

_PURPOSE = "drafts.offer"


def offer_url(draft: DraftOrder) -> str:
    """Return the address of the page on which the customer orders an offer. It is valid only for this version of the draft."""
    token = encrypt_token([draft.draft_id.hex, str(draft.version)], _PURPOSE)
    return f"{settings.PUBLIC_URL}{reverse('drafts:offer', args=[token])}"


def is_offer_link_expired(token: str) -> bool:
    """Return whether a token of `offer_url` is too old to open the order of its offer (ORDER_LINK_DAYS)."""
    try:
        decrypt_token(token, _PURPOSE, max_age=settings.ORDER_LINK_SECONDS)
    except DecryptionError:
        return True
    return False


def parse_offer_token(token: str) -> tuple[UUID, int] | None:
    """Return the draft's id and version in a token of `offer_url`; None if the shop has not made the token."""
    try:
        draft_id, version = decrypt_token(token, _PURPOSE)
        return UUID(hex=draft_id), int(version)
    except (DecryptionError, ValueError):
        return None
