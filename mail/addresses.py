"""E-mail addresses: their keys for comparison, their partitions, and whether mail can reach them."""

import unicodedata
from zlib import crc32

from django.core.exceptions import ValidationError
from django.core.mail.message import sanitize_address
from django.utils.translation import gettext as _


def email_key(email: str) -> str:
    """Return the key by which an e-mail address is compared (S109): the same for each spelling of one mailbox.

    An international domain is written in letters, even if it was typed as "xn--…".
    """
    key = unicodedata.normalize("NFKC", email).strip().casefold()
    name, at, domain = key.rpartition("@")
    return f"{name}{at}{_domain_in_letters(domain)}"


def _domain_in_letters(domain: str) -> str:
    if domain.isascii() and "xn--" not in domain:
        return domain
    try:
        return domain.encode("idna").decode("idna").casefold()
    except UnicodeError:  # an impossible domain: mail to it fails as typed
        return domain


def email_keys(email: str) -> tuple[str, ...]:
    """Return an address's key, then the key that earlier versions made of its domain typed as "xn--…" (S109).

    Rows under a hash of the earlier key cannot be moved, so readers look under both.
    """
    key = email_key(email)
    name, at, domain = key.rpartition("@")
    try:
        typed = f"{name}{at}{domain.encode('idna').decode()}"
    except UnicodeError:  # an impossible domain
        return (key,)
    return tuple(dict.fromkeys((key, typed)))


# The partitions of the undeliverable addresses.
ADDRESS_BUCKETS = range(16)


def address_bucket(email: str) -> int:
    """Return the partition of an address; the same for each spelling."""
    return crc32(email_key(email).encode()) % len(ADDRESS_BUCKETS)


def validate_reachable(email: str) -> None:
    """Raise ValidationError for an address that cannot be mailed, or whose mail goes to another domain than its key's.

    Domain names treat some letters differently than `email_key`. Otherwise the owner of one domain could pass for a user of
    the other.
    """
    try:
        is_reachable = (
            sanitize_address(email, "utf-8").casefold()
            == sanitize_address(email_key(email), "utf-8").casefold()
        )
    except ValueError as error:  # what `send` would raise
        raise ValidationError(_("Enter an email address in the format name@example.com")) from error
    if not is_reachable:
        raise ValidationError(_("Enter an email address in the format name@example.com"))
