"""Format and parse the values of a product, both for cells of files and for form fields.

Each parser accepts the text of its formatter. For an impossible text it raises CellRefused, with a sentence to show beside the
cell or field.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from moneyed import Money

from cassandra_db import truncate_to_milliseconds
from catalogue.columns import (
    CHOICE,
    DETAILS,
    END,
    LINES,
    MOMENT,
    NUMBER,
    TAGS,
    TEXT,
    UNIT,
    YES_NO,
    Kind,
)
from catalogue.rules import EARLIEST, LATEST, MAX_CONTENT, find_price_fault
from spreadsheets.cells import join_list, join_pairs, split_list, split_pairs
from spreadsheets.errors import CellRefused
from web.days import end_of_day
from web.text import clean_text

# A comma before the decimals is accepted, too, as spreadsheets in Berlin write it.
_NUMBER = re.compile(r"(-?[0-9]{1,12})(?:[.,]([0-9]{1,20}))?", re.ASCII)
# Spreadsheets use binary fractions, so 123.30 may arrive as 123.30000000000001.
_NOISE = Decimal("1e-8")
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def _parse_number(text: str, places: int, no_number: str, no_fraction: str) -> Decimal:
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        raise CellRefused(no_number)
    whole, fraction = found[1], found[2] or "0"
    number = Decimal(f"{whole}.{fraction}")
    rounded = round(number, places)
    # Refused, because 1,000 and 1.000 may mean a thousand.
    if len(fraction) == 3 or abs(number - rounded) > _NOISE:
        raise CellRefused(no_fraction)
    return rounded


def parse_whole_number(text: str, most: int, empty: int | None = None) -> int:
    """Return a whole number from 0 to `most`, or `empty` for no text. Raises CellRefused."""
    if not text.strip() and empty is not None:
        return empty
    number = _parse_number(
        text,
        0,
        _("Enter a whole number."),
        _("Enter a whole number, without thousands separators."),
    )
    if number < 0:
        raise CellRefused(_("Enter a number from 0."))
    if number > most:
        raise CellRefused(_("Enter a number of %(most)d at most.") % {"most": most})
    return int(number)


def format_whole_number(number: int) -> str:
    """Return a whole number as text; "" for 0, which means that the number is unknown."""
    return str(number or "")


def parse_content(text: str) -> Decimal:
    """Return a variant's content from 0 to MAX_CONTENT, to two decimals; 0 for no text. Raises CellRefused."""
    if not text.strip():
        return Decimal(0)
    content = _parse_number(
        text,
        2,
        _("Enter a number, such as 0.75."),
        _("Enter a number with at most two decimals and no thousands separators."),
    )
    if not 0 <= content <= MAX_CONTENT:
        raise CellRefused(_("Enter a number from 0 to %(most)d.") % {"most": MAX_CONTENT})
    return content


def format_content(content: Decimal) -> str:
    """Return a variant's content as text; "" for 0, which means that it is unknown."""
    return f"{content:.2f}".removesuffix("0").removesuffix(".0") if content else ""


def parse_price(text: str) -> Money:
    """Return a price in the shop's currency. Raises CellRefused."""
    if not text.strip():
        raise CellRefused(_("Enter a price."))
    price = _parse_money(text)
    if fault := find_price_fault(price):
        raise CellRefused(fault)
    return price


def parse_amount(text: str, places: int = 2) -> Money:
    """Return an amount in the shop's currency, which may be 0, to so many decimals. Raises CellRefused."""
    amount = _parse_money(text, places)
    if amount.amount < 0:
        raise CellRefused(_("Enter a number from 0."))
    return amount


def _parse_money(text: str, places: int = 2) -> Money:
    amount = _parse_number(
        text,
        places,
        _("Enter a price, such as 12.50."),
        _("Enter a price with at most two decimals and no thousands separators, such as 1000.50."),
    )
    return Money(amount, settings.CURRENCY)


def format_price(price: Money | None) -> str:
    """Return a price as a plain number; "" for no price."""
    return f"{price.amount:.2f}" if price is not None else ""


def parse_moment(text: str) -> datetime | None:
    """Return a moment in UTC, in whole milliseconds, or None for no text. Raises CellRefused.

    A text without an offset is in the shop's time. If its hour occurs twice, because clocks go back, the first hour is meant.
    """
    if not text.strip():
        return None
    try:
        typed = datetime.fromisoformat(text.strip())
        moment = typed if typed.tzinfo else typed.replace(tzinfo=timezone.get_default_timezone())
        found = truncate_to_milliseconds(moment.astimezone(UTC))
        is_skipped = not typed.tzinfo and _to_shop_time(found) != truncate_to_milliseconds(typed)
    except OverflowError:
        found, is_skipped = None, False
    except ValueError as error:
        raise CellRefused(_("Enter a day and a time, such as 2027-03-01 09:00.")) from error
    if found is None or not EARLIEST <= found < LATEST:
        raise _refuse_year()
    if is_skipped:
        raise CellRefused(
            _("This time is skipped when the clocks go forward. Enter an earlier or later one.")
        )
    return found


def parse_end(text: str) -> datetime | None:
    """Return the moment of an end, parsed by `parse_moment`. A day without a time means the day's end. Raises CellRefused."""
    try:
        found = end_of_day(date.fromisoformat(text.strip()))
    except OverflowError as error:
        raise _refuse_year() from error
    except ValueError:  # a day with a time
        return parse_moment(text)
    if not EARLIEST <= found < LATEST:
        raise _refuse_year()
    return found


def _refuse_year() -> CellRefused:
    return CellRefused(
        _("Enter a year from %(first)s to %(last)s.")
        % {"first": str(EARLIEST.year), "last": str(LATEST.year - 1)}
    )


def format_moment(moment: datetime | None) -> str:
    """Return a moment as text in UTC, which `parse_moment` accepts."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else ""


def format_shop_time(moment: datetime | None) -> str:
    """Return a moment for a browser's date and time field: in the shop's time, without an offset."""
    if moment is None:
        return ""
    local = _to_shop_time(moment)
    is_whole = not (local.second or local.microsecond)
    detail = "minutes" if is_whole else "milliseconds" if local.microsecond else "seconds"
    return local.isoformat(timespec=detail)


def _to_shop_time(moment: datetime) -> datetime:
    return moment.astimezone(timezone.get_default_timezone()).replace(tzinfo=None, fold=0)


def keep_moment(typed: datetime | None, stored: datetime | None) -> datetime | None:
    """Return the stored moment if the form shows both moments alike, as in an hour that occurs twice. Else return the typed moment."""
    return stored if format_shop_time(typed) == format_shop_time(stored) else typed


def parse_choice(text: str, choices: Sequence[str]) -> str:
    """Return the choice that a text names, in capitals or not. Raises CellRefused."""
    if text.strip().lower() not in choices:
        raise CellRefused(_("Enter one of these: %(choices)s.") % {"choices": ", ".join(choices)})
    return text.strip().lower()


def parse_yes_no(text: str) -> bool:
    """Return whether a text says yes, and not no. Raises CellRefused."""
    answer = text.strip().lower()
    if answer not in (*_YES, *_NO):
        raise CellRefused(_("Enter yes or no."))
    return answer in _YES


def format_yes_no(answer: bool) -> str:
    """Return "yes" or "no", which `parse_yes_no` accepts."""
    return "yes" if answer else "no"


def parse_tags(text: str) -> frozenset[str]:
    """Return the tags in a text, which commas separate."""
    return frozenset(split_values(text))


def format_tags(tags: Iterable[str]) -> str:
    """Return tags as text, which `parse_tags` accepts."""
    return join_list(sorted(tags))


def split_values(text: str) -> tuple[str, ...]:
    """Return the different values in a text, which commas separate, in their order."""
    values = (clean_text(each).strip() for each in split_list(text))
    return tuple(dict.fromkeys(each for each in values if each))


def _parse_pairs(text: str, separator: str, complaint: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for written, label, value in split_pairs(text, separator):
        if not label.strip() or value is None:
            raise CellRefused(complaint % {"line": written.strip()[:200]})
        if label.strip() in found:
            raise CellRefused(_("“%(label)s” is there twice.") % {"label": label.strip()[:100]})
        found[label.strip()] = value.strip()
    return found


def parse_details(text: str) -> dict[str, str]:
    """Return the details of a text by label. Each line has one: "Material: stoneware". Raises CellRefused."""
    complaint = _("Write “%(line)s” with a colon, such as “Material: stoneware”.")
    return _parse_pairs(text, "\n", complaint)


def format_details(details: Mapping[str, str]) -> str:
    """Return details as text, which `parse_details` accepts."""
    return join_pairs(details.items(), "\n")


def parse_options(text: str) -> dict[str, str]:
    """Return a variant's options from a text: "Colour: olive, Size: small". Raises CellRefused."""
    complaint = _("Write “%(line)s” as an option with its value, such as “Colour: olive”.")
    return _parse_pairs(text, ",", complaint)


def format_options(options: Mapping[str, str]) -> str:
    """Return a variant's options as text, which `parse_options` accepts."""
    return join_pairs(options.items(), ",")


def parse_barcode(text: str) -> str:
    """Return a barcode's digits, without blanks and hyphens, and without the fraction that a spreadsheet adds."""
    return re.sub(r"[\s-]", "", text).removesuffix(".0")


@dataclass(frozen=True)
class CellKind:
    """A kind of values: its formatter and its parser. `parse` also gets the largest number and choices; raises CellRefused."""

    format: Callable[[Any], str]
    parse: Callable[[str, int, Sequence[str]], Any]
    is_number: bool = False
    has_lines: bool = False


CELL_KINDS: Mapping[Kind, CellKind] = {
    TEXT: CellKind(str, lambda text, _most, _choices: text),
    LINES: CellKind(str, lambda text, _most, _choices: text, has_lines=True),
    NUMBER: CellKind(
        format_whole_number,
        lambda text, most, _choices: parse_whole_number(text, most, empty=0),
        is_number=True,
    ),
    YES_NO: CellKind(format_yes_no, lambda text, _most, _choices: parse_yes_no(text)),
    CHOICE: CellKind(str, lambda text, _most, choices: parse_choice(text, choices)),
    UNIT: CellKind(str, lambda text, _most, choices: parse_choice(text, choices)),
    MOMENT: CellKind(format_moment, lambda text, _most, _choices: parse_moment(text)),
    END: CellKind(format_moment, lambda text, _most, _choices: parse_end(text)),
    DETAILS: CellKind(
        format_details, lambda text, _most, _choices: parse_details(text), has_lines=True
    ),
    TAGS: CellKind(format_tags, lambda text, _most, _choices: parse_tags(text)),
}
