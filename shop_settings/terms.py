"""The shop's terms, each valid from a day on: the seller, the periods for returns, and the limits for refunds and unpaid units."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.utils.timezone import localdate
from django.utils.translation import gettext as _

from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import get_settings


@dataclass(frozen=True)
class Terms:
    """The shop's terms from a day on until the next terms begin. Terms without a first day are valid from the beginning.

    Items can be returned within `return_days` of their arrival. Consumers may withdraw within `withdrawal_days` of the last arrival.
    Staff who refund more than `refund_code_above` (in the shop's currency) within an hour have to enter their code again.
    `unpaid_units_…` limit the ordered but unpaid units of a mailbox and of a network; 0 is no limit.
    """

    key: str
    valid_from: date | None
    seller_name: str
    seller_address: tuple[str, ...]
    vat_id: str
    email: str
    return_days: int
    withdrawal_days: int
    refund_code_above: int
    unpaid_units_of_mailbox: int
    unpaid_units_of_network: int

    @property
    def seller_line(self) -> str:
        """The seller's name and address in one line."""
        return ", ".join([self.seller_name, *self.seller_address])


def _parse(key: str, value: Mapping[str, Any]) -> Terms:
    begins = value["valid_from"]
    return Terms(
        **pick_fields(Terms, value)
        | {
            "key": key,
            "valid_from": date.fromisoformat(begins) if begins else None,
            "seller_address": tuple(value["seller_address"]),
        }
    )


def _dump(terms: Terms) -> dict[str, Any]:
    value = asdict(terms)
    del value["key"]
    return value | {
        "valid_from": None if terms.valid_from is None else str(terms.valid_from),
        "seller_address": list(terms.seller_address),
    }


def list_first_terms() -> dict[str, Terms]:
    """Return the terms of a new shop, from its environment."""
    mailbox, network = settings.UNPAID_UNITS
    first = Terms(
        key="first",
        valid_from=None,
        seller_name=settings.SELLER["name"],
        seller_address=tuple(settings.SELLER["address"]),
        vat_id=settings.SELLER["vat_id"],
        email=settings.SELLER["email"],
        return_days=settings.RETURN_DAYS,
        withdrawal_days=settings.WITHDRAWAL_DAYS,
        refund_code_above=settings.REFUND_CODE_ABOVE,
        unpaid_units_of_mailbox=mailbox,
        unpaid_units_of_network=network,
    )
    return {first.key: first}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that some terms are valid from the beginning, and that no two terms begin on the same day. Raises SettingRefused."""
    days = [each.valid_from for each in snapshot.get_values(TERMS).values()]
    if len(set(days)) != len(days):
        raise SettingRefused(_("Other terms begin on this day already."), "valid_from")
    if None not in days:
        raise SettingRefused(
            _("The first terms hold from the beginning on: leave their day empty."), "valid_from"
        )


TERMS = SettingKind("terms", _parse, _dump, list_first_terms, _check)


def list_terms(snapshot: SettingsSnapshot) -> tuple[Terms, ...]:
    """Return all terms; the terms that begin last come first."""
    return _sort_terms(snapshot.get_values(TERMS).values())


def _sort_terms(terms: Iterable[Terms]) -> tuple[Terms, ...]:
    return tuple(sorted(terms, key=lambda each: each.valid_from or date.min, reverse=True))


def get_terms(day: date | None = None) -> Terms:
    """Return the terms that are valid on a day, by default today. Raises CassandraUnavailable."""
    return find_terms(get_settings(), day or localdate())


def find_terms(snapshot: SettingsSnapshot, day: date) -> Terms:
    """Return the terms in these settings that are valid on a day."""
    return _find(snapshot.compute("terms", lambda: list_terms(snapshot)), day)


def find_terms_among(terms: Iterable[Terms], day: date) -> Terms:
    """Return the terms that are valid on a day, out of several. Some terms must be valid from the beginning."""
    return _find(_sort_terms(terms), day)


def _find(terms: Iterable[Terms], day: date) -> Terms:
    return next(each for each in terms if each.valid_from is None or each.valid_from <= day)
