"""Checks the DNS records by which mail servers recognise the shop's mails: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489)."""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key
from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

GOOD, ADVICE, WRONG = "good", "advice", "wrong"
# Receivers give up an SPF record that needs more lookups.
MAX_SPF_LOOKUPS = 10
# Large receivers ignore shorter keys.
MIN_KEY_BITS = 1024
_LOOKUP = re.compile(r"(?:include|redirect|a|mx|ptr|exists)(?=[:=/]|$)")
_POLICIES = ("none", "quarantine", "reject")
_SECONDS = 10.0


class NoDnsAnswer(Exception):
    """No DNS server has answered. The text names the record."""


@dataclass(frozen=True)
class MailFinding:
    """What a record says (GOOD), what would be better (ADVICE), or why mails are refused or taken for spam (WRONG)."""

    level: str
    text: str


def check_mail_domain(
    sender: str, bounce: str, selectors: Sequence[str], resolver: Resolver
) -> Iterator[MailFinding]:
    """Yield findings about the domain of the shop's mails, `sender`, and that of their envelope, `bounce`. Raises NoDnsAnswer."""
    yield from _check_spf(bounce, resolver)
    for selector in selectors:
        yield _check_dkim(f"{selector}._domainkey.{sender}", resolver)
    yield from _check_dmarc(sender, bounce, resolver)


def _list_texts(name: str, start: str, resolver: Resolver) -> list[str]:
    """Return the TXT records of a name that begin with `start`. Raises NoDnsAnswer."""
    try:
        answer = resolver.resolve(name, "TXT", lifetime=_SECONDS)
    except (NXDOMAIN, NoAnswer):
        return []
    except DNSException as error:
        raise NoDnsAnswer(f"{name}: {error}") from error
    texts = [b"".join(each.strings).decode(errors="replace") for each in answer]
    return [each for each in texts if each.lower().startswith(start)]


def _check_spf(domain: str, resolver: Resolver) -> Iterator[MailFinding]:
    records = _list_texts(domain, "v=spf1", resolver)
    if len(records) != 1:
        yield MailFinding(WRONG, f"SPF: {domain} has {len(records)} SPF records, it needs one")
        return
    (record,) = records
    terms = record.lower().split()[1:]
    if {"+all", "all"} & set(terms):
        yield MailFinding(WRONG, f"SPF: everybody may send mails as {domain}: {record}")
    elif not {"-all", "~all"} & set(terms) and "redirect=" not in record.lower():
        yield MailFinding(WRONG, f"SPF: {domain} refuses nobody; end it with -all: {record}")
    elif problem := _find_lookup_problem(record, resolver):
        yield MailFinding(WRONG, f"SPF: {domain} {problem}")
    else:
        yield MailFinding(GOOD, f"SPF: {domain} says {record}")


def _find_lookup_problem(record: str, resolver: Resolver) -> str:
    """Return why receivers cannot evaluate an SPF record, or ""."""
    left, count = [record], 0
    while left:
        for term in left.pop().lower().split()[1:]:
            mechanism = term.lstrip("+-~?")
            found = _LOOKUP.match(mechanism)
            count += bool(found)
            if count > MAX_SPF_LOOKUPS:
                return f"needs more than {MAX_SPF_LOOKUPS} lookups; receivers give up"
            if found and found[0] in ("include", "redirect"):
                target = mechanism[found.end() + 1 :]
                records = _list_texts(target, "v=spf1", resolver)
                if len(records) != 1:
                    return f"includes {target}, which has {len(records)} SPF records"
                left += records
    return ""


def _tags(record: str) -> dict[str, str]:
    """Return the tags of a DKIM or DMARC record."""
    pairs = [part.partition("=") for part in record.split(";")]
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _check_dkim(name: str, resolver: Resolver) -> MailFinding:
    keys = [tags for text in _list_texts(name, "", resolver) if "p" in (tags := _tags(text))]
    if len(keys) != 1:
        return MailFinding(WRONG, f"DKIM: {name} has {len(keys)} keys, it needs one")
    (tags,) = keys
    if not tags["p"]:
        return MailFinding(WRONG, f"DKIM: the key {name} is revoked")
    if tags.get("k", "rsa").lower() == "ed25519":
        return MailFinding(GOOD, f"DKIM: {name} has an Ed25519 key")
    try:
        key = load_der_public_key(b64decode("".join(tags["p"].split()), validate=True))
    except (ValueError, UnsupportedAlgorithm) as error:
        return MailFinding(WRONG, f"DKIM: the key {name} cannot be read: {error}")
    bits = key.key_size if isinstance(key, RSAPublicKey) else 0
    if bits < MIN_KEY_BITS:
        return MailFinding(WRONG, f"DKIM: {name} needs an RSA key of {MIN_KEY_BITS} bits or more")
    return MailFinding(GOOD, f"DKIM: {name} has an RSA key of {bits} bits")


def _check_dmarc(sender: str, bounce: str, resolver: Resolver) -> Iterator[MailFinding]:
    labels = sender.split(".")
    for start in range(len(labels) - 1):
        domain = ".".join(labels[start:])
        if records := _list_texts(f"_dmarc.{domain}", "v=dmarc1", resolver):
            break
    if len(records) != 1:
        yield MailFinding(WRONG, f"DMARC: {sender} has {len(records)} DMARC records, it needs one")
        return
    tags = _tags(records[0])
    policy = (tags.get("p", "") if domain == sender else tags.get("sp", tags.get("p", ""))).lower()
    if policy not in _POLICIES:
        yield MailFinding(WRONG, f"DMARC: _dmarc.{domain} has no valid policy: {records[0]}")
    elif policy == "none":
        yield MailFinding(ADVICE, f"DMARC: _dmarc.{domain} refuses no forged mail: {records[0]}")
    else:
        yield MailFinding(GOOD, f"DMARC: _dmarc.{domain} says {records[0]}")
    if tags.get("aspf", "r").lower() == "s":
        is_aligned = bounce == sender
    else:
        is_aligned = f".{bounce}".endswith(f".{sender}") or f".{sender}".endswith(f".{bounce}")
    if not is_aligned:
        text = f"DMARC: mails come from {sender} and bounce to {bounce}: only DKIM vouches for them"
        yield MailFinding(ADVICE, text)
