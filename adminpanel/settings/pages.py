"""The pages of settings: the settings in words, and sentences about the consequences of a change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import zip_longest

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import Money

from inventory.warehouses import Warehouse
from pricing.delivery_settings import (
    DeliverySetting,
    LostCountry,
    country_name,
    find_coming_gaps,
    find_lost_countries,
)
from pricing.tax import TaxSetting
from shop_settings.terms import Terms, find_terms_among


@dataclass(frozen=True)
class DeliveryLine:
    """A delivery method's row in the list."""

    setting: DeliverySetting
    countries: str
    days: str
    price: Money
    free_from: Money | None
    status: str
    tone: str


def list_delivery_lines(methods: Iterable[DeliverySetting], today: date) -> list[DeliveryLine]:
    """Return the rows of the delivery methods as shoppers see them sorted. Methods with the same name are together."""
    return [
        DeliveryLine(
            each,
            ", ".join(sorted(map(country_name, each.countries))),
            _days_text(each),
            Money(each.price, settings.CURRENCY),
            None if each.free_from is None else Money(each.free_from, settings.CURRENCY),
            *_status(each, today),
        )
        for each in sorted(
            methods, key=lambda each: (each.position, each.name, each.price, each.countries)
        )
    ]


def _days_text(setting: DeliverySetting) -> str:
    """Return in words how many days a delivery method takes: "2 to 3 working days"."""
    if setting.first_day == setting.last_day:
        return ngettext("%(count)s working day", "%(count)s working days", setting.first_day) % {
            "count": setting.first_day
        }
    return _("%(first)s to %(last)s working days") % {
        "first": setting.first_day,
        "last": setting.last_day,
    }


def _status(setting: DeliverySetting, today: date) -> tuple[str, str]:
    if not setting.is_active:
        return _("Off"), "calm"
    if setting.valid_from and setting.valid_from > today:
        return _("From %(day)s") % {"day": _day(setting.valid_from)}, "warn"
    if setting.valid_until and setting.valid_until < today:
        return _("Ended"), "calm"
    if setting.valid_until:
        return _("Until %(day)s") % {"day": _day(setting.valid_until)}, "good"
    return _("Offered"), "good"


def _day(day: date) -> str:
    return str(date_format(day, "j M Y"))


def describe_lost_countries(
    before: Mapping[str, DeliverySetting], after: Mapping[str, DeliverySetting], today: date
) -> list[str]:
    """Return sentences about the countries that no delivery method reaches after a change."""
    return [
        _loss_text(each, today)
        for each in find_lost_countries(before.values(), after.values(), today)
    ]


def describe_coming_gaps(methods: Mapping[str, DeliverySetting], today: date) -> list[str]:
    """Return sentences about the countries that no delivery method reaches after a method ends."""
    return [_loss_text(each, today) for each in find_coming_gaps(methods.values(), today)]


def _loss_text(lost: LostCountry, today: date) -> str:
    words = {"country": country_name(lost.country), "day": _day(lost.since)}
    if lost.max_grams is not None:
        words["kg"] = f"{lost.max_grams / 1000:g}"
        if lost.since <= today:
            return _("Orders of more than %(kg)s kg can’t be sent to %(country)s any more.") % words
        text = _("From %(day)s on, orders of more than %(kg)s kg can’t be sent to %(country)s.")
        return text % words
    if lost.since <= today:
        return (
            _("Shoppers in %(country)s can’t order any more: no delivery method is left.") % words
        )
    return (
        _("From %(day)s, shoppers in %(country)s can’t order: no delivery method is left.") % words
    )


def describe_closed_warehouses(
    before: Mapping[str, Warehouse], after: Mapping[str, Warehouse]
) -> list[str]:
    """Return a sentence about each warehouse that a change closes."""
    return [
        _(
            "%(name)s gets no new stock. Its remaining units are sold last. Transfer them to ship them from elsewhere."
        )
        % {"name": each.name}
        for key, each in after.items()
        if not each.is_open and key in before and before[key].is_open
    ]


def describe_rewritten_terms(
    before: Mapping[str, Terms], after: Mapping[str, Terms], today: date
) -> list[str]:
    """Return sentences about the past days for which a change replaces the terms of invoices and returns."""
    begin = [each.valid_from for each in after.values()]
    if None not in begin or len(set(begin)) < len(begin):
        return []  # saving will refuse it
    begins = {each or date.min for each in (*begin, *(each.valid_from for each in before.values()))}
    days, found = sorted(day for day in begins if day <= today), list[str]()
    for day, next_day in zip_longest(days, days[1:]):
        if day == today:
            break
        was = find_terms_among(before.values(), day)
        becomes = find_terms_among(after.values(), day)
        words = {"time": _time_text(day, next_day), "seller": becomes.seller_line}
        if (was.seller_line, was.vat_id) != (becomes.seller_line, becomes.vat_id):
            words["vat"] = becomes.vat_id
            found.append(
                _("Invoices already issued, %(time)s, will name %(seller)s, VAT %(vat)s.") % words
            )
        if was.return_days != becomes.return_days:
            found.append(
                ngettext(
                    "Orders already placed, %(time)s, can be sent back for %(count)s day instead of %(before)s.",
                    "Orders already placed, %(time)s, can be sent back for %(count)s days instead of %(before)s.",
                    becomes.return_days,
                )
                % (words | {"count": becomes.return_days, "before": was.return_days})
            )
    return found


def _time_text(first: date, next_day: date | None) -> str:
    """Return in words the period from `first` to the day before `next_day`. Without `next_day`, it lasts until now."""
    words = {"first": _day(first), "next": _day(next_day) if next_day else ""}
    if next_day is None:
        return _("from the beginning on") if first == date.min else _("since %(first)s") % words
    if first == date.min:
        return _("before %(next)s") % words
    return _("from %(first)s until before %(next)s") % words


@dataclass(frozen=True)
class TaxLine:
    """The row of a country in the list of tax rates: its rates today, and its future rates."""

    setting: TaxSetting
    country: str
    rates: tuple[str, ...]
    coming: str


def list_tax_lines(taxes: Iterable[TaxSetting], today: date) -> list[TaxLine]:
    """Return one line for each country, sorted by name: its tax rates today, and its future rates."""
    lines = []
    for setting in taxes:
        coming = [
            _("%(rates)s from %(day)s")
            % {"rates": " / ".join(map(_percent, each.rates)), "day": _day(each.valid_from)}
            for each in setting.periods
            if each.valid_from > today
        ]
        rates = tuple(_percent(rate) for rate in setting.get_period(today).rates)
        lines.append(TaxLine(setting, country_name(setting.country), rates, ", ".join(coming)))
    return sorted(lines, key=lambda line: line.country)


def _percent(rate: Decimal) -> str:
    return f"{rate:f} %"
