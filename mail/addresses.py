"""E-mail addresses as the apps compare them."""

import unicodedata
from zlib import crc32

from django.core.exceptions import ValidationError
from django.core.mail.message import sanitize_address
from django.utils.translation import gettext as _


def email_key(email: str) -> str:
    """Return an e-mail address as it is compared: one mailbox, one account, however it is typed (S109).

    An international domain counts in letters, whether it was typed so or as "xn--…".
    """
    key = unicodedata.normalize("NFKC", email).strip().casefold()
    name, at, domain = key.rpartition("@")
    return f"{name}{at}{_domain_in_letters(domain)}"


def _domain_in_letters(domain: str) -> str:
    if domain.isascii() and "xn--" not in domain:
        return domain
    try:
        return domain.encode("idna").decode("idna").casefold()
    except UnicodeError:  # no such domain can be: mail to it fails as typed
        return domain


def email_keys(email: str) -> tuple[str, ...]:
    """Return an address's key, then the key that an earlier version made of its domain typed as "xn--…" (S109).

    A row whose key is a hash of an address cannot be moved to another one. So it is looked for under both.
    """
    key = email_key(email)
    name, at, domain = key.rpartition("@")
    try:
        typed = f"{name}{at}{domain.encode('idna').decode()}"
    except UnicodeError:  # no such domain can be
        return (key,)
    return tuple(dict.fromkeys((key, typed)))


# In so many partitions stand the addresses that get no mail.
ADDRESS_BUCKETS = range(16)


def address_bucket(email: str) -> int:
    """Return the partition in which an address stands, however it is typed."""
    return crc32(email_key(email).encode()) % len(ADDRESS_BUCKETS)


def validate_reachable(email: str) -> None:
    """Raise ValidationError for an e-mail address that no mail can be sent to, or that mail reaches elsewhere than its key.

    Some letters are other ones in a domain's name than where addresses are compared: the owner of the one domain could
    pass for a user of the other.
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
