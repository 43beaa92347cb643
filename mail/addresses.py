"""E-mail addresses: the keys that identify their mailboxes, their partitions, and the check that mail can reach them."""

import unicodedata
from zlib import crc32

from django.core.exceptions import ValidationError
from django.core.mail.message import sanitize_address
from django.utils.translation import gettext as _


def email_key(email: str) -> str:
    """Return the key by which an e-mail address is compared (S109). Each spelling of a mailbox's address has the same key.

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
    except UnicodeError:  # no such domain is possible, so mail to it fails
        return domain


def email_keys(email: str) -> tuple[str, ...]:
    """Return an address's key, then the key that earlier versions made if the domain was typed as "xn--…" (S109).

    A row under a hash of the earlier key cannot be moved, so readers look under both keys.
    """
    key = email_key(email)
    name, at, domain = key.rpartition("@")
    try:
        typed = f"{name}{at}{domain.encode('idna').decode()}"
    except UnicodeError:  # no such domain is possible
        return (key,)
    return tuple(dict.fromkeys((key, typed)))


# The partitions of the undeliverable addresses.
ADDRESS_BUCKETS = range(16)


def address_bucket(email: str) -> int:
    """Return the partition of an undeliverable address. Each spelling of the address has the same partition."""
    return crc32(email_key(email).encode()) % len(ADDRESS_BUCKETS)


def validate_reachable(email: str) -> None:
    """Raise ValidationError if mail cannot reach an address, or would go to another domain than the domain in its key.

    `email_key` treats some letters differently than domain names do. Without this check the owner of one domain could pass
    for a user of another domain.
    """
    try:
        is_reachable = (
            sanitize_address(email, "utf-8").casefold()
            == sanitize_address(email_key(email), "utf-8").casefold()
        )
    except ValueError as error:  # `send` would raise the same error
        raise ValidationError(_("Enter an email address in the format name@example.com")) from error
    if not is_reachable:
        raise ValidationError(_("Enter an email address in the format name@example.com"))
