"""The filters of a list's page: what its address asks for, and what the page shows beside the list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.conf import settings
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from moneyed import Money

from catalogue import filters
from catalogue.colours import FAMILY_HEXES, FAMILY_LABELS
from catalogue.facets import Facet, FacetValue, FoundFacets
from catalogue.filter_settings import FilterName, list_keys
from catalogue.filter_tokens import fold_name
from catalogue.filters import NOTHING_CHOSEN, PriceRange, Selection, parse_filters, parse_price
from pricing.templatetags.money import format_money
from storefront.card_lists import list_url
from web.text import clean_text
from web.types import StrOrPromise

# The parameters of an address by which a list is filtered.
FILTER_PARAMETERS = ("filter", "price", "from", "to", "all")
OWN_LABELS: dict[str, StrOrPromise] = {
    filters.CATEGORY: gettext_lazy("Category"),
    filters.COLOUR: gettext_lazy("Colour"),
    filters.BRAND: gettext_lazy("Brand"),
    filters.RATING: gettext_lazy("Rating"),
    filters.STOCK: gettext_lazy("In stock"),
    filters.SALE: gettext_lazy("On sale"),
    filters.NEW: gettext_lazy("New"),
    filters.BESTSELLER: gettext_lazy("Bestsellers"),
}


@dataclass(frozen=True)
class AskedFilters:
    """The filters that an address asks for. `low` and `high` are the typed prices, which stay if they are no prices."""

    selection: Selection = NOTHING_CHOSEN
    low: str = ""
    high: str = ""
    price_error: str = ""
    is_cut: bool = False  # some were too many
    opened: str = ""  # the filter that shows all its values
    is_typed: bool = False  # the prices came from the form's two fields


def read_filters(request: HttpRequest, names: Sequence[FilterName]) -> AskedFilters:
    """Return the filters that a request asks for. Unknown ones are left out."""
    given = request.GET
    is_typed = "from" in given or "to" in given
    if is_typed:
        low, high = (clean_text(given.get(each, ""))[:20].strip() for each in ("from", "to"))
    else:
        low, _dash, high = clean_text(given.get("price", ""))[:40].partition("-")
    error, price = "", None
    try:
        price = parse_price(f"{low}-{high}") if low or high else None
    except ValueError:
        error = _("Enter prices such as 20 or 19.99.")
    else:
        low, high = _ends(price)
    written = [clean_text(each[: filters.MAX_LENGTH]) for each in given.getlist("filter")]
    selection, is_cut = parse_filters(written, list_keys(names), price)
    return AskedFilters(
        selection,
        low,
        high,
        error,
        is_cut,
        fold_name(clean_text(given.get("all", "")[: filters.MAX_LENGTH])),
        is_typed,
    )


def _ends(price: PriceRange | None) -> tuple[str, str]:
    low, _dash, high = str(price or "-").partition("-")
    return low, high


@dataclass(frozen=True)
class FilterValue:
    """A value of a filter as the page shows it. `hex` is a colour's, or ""."""

    value: str
    label: str
    count: int
    is_chosen: bool
    hex: str


@dataclass(frozen=True)
class FilterGroup:
    """A filter as the page shows it. `kind` is a kind of catalogue.filter_settings, or the name of an own filter."""

    name: str
    label: StrOrPromise
    kind: str
    values: tuple[FilterValue, ...]
    more_url: str  # the page with more of its values, or ""
    is_opened: bool  # shows more values than at first

    @property
    def slug(self) -> str:
        """The filter's name as a part of an element's id. No other filter has the same."""
        return re.sub(r"[^a-z0-9-]", lambda found: f"_{ord(found[0]):x}_", self.name)


@dataclass(frozen=True)
class Chip:
    """A chosen value, and the address of the list without it."""

    label: str
    url: str


@dataclass(frozen=True)
class ListFilters:
    """The filters beside a list. `parameters` are the other parameters of the list's address, such as its order."""

    url: str
    parameters: tuple[tuple[str, str], ...]
    asked: AskedFilters
    found: FoundFacets
    names: tuple[FilterName, ...]

    @cached_property
    def groups(self) -> list[FilterGroup]:
        """The filters with several values."""
        return [
            _make_group(self, each) for each in self.found.facets if each.name not in filters.MARKS
        ]

    def marks(self) -> list[FilterGroup]:
        """The filters that are on or off."""
        return [_make_group(self, each) for each in self.found.facets if each.name in filters.MARKS]

    def chips(self) -> list[Chip]:
        """The chosen values, each with the address of the list without it."""
        if not (selection := self.asked.selection):
            return []
        chips = [
            Chip(str(each.label), _address(self, selection.toggle(group.name, each.value)))
            for group in (*self.groups, *self.marks())
            for each in group.values
            if each.is_chosen
        ]
        if selection.price:
            chips.append(
                Chip(describe_price(selection.price), _address(self, selection.with_price(None)))
            )
        return chips

    @property
    def total_label(self) -> str:
        """What the button says that leads back to the list."""
        total = self.found.total
        text = ngettext("Show %(count)s product", "Show %(count)s products", total)
        return text % {"count": number_format(total, 0, force_grouping=True)}

    @property
    def is_common(self) -> bool:
        """Whether other visitors probably ask for these filters, too. Others have too many forms to be kept."""
        return not (self.asked.selection or self.asked.price_error or self.asked.opened)

    @property
    def clear_url(self) -> str:
        return _address(self, NOTHING_CHOSEN)


@dataclass(frozen=True)
class ListTools:
    """What stands above a list: how many products it has (None if unknown), and its orders. `parameters` are those of its filters."""

    url: str
    total: int | None
    sorts: tuple[tuple[str, StrOrPromise], ...]  # with their labels
    sort: str
    query: str
    parameters: tuple[tuple[str, str], ...]

    def hidden_fields(self) -> list[tuple[str, str]]:
        """The parameters that stay when the order changes."""
        query = [("q", self.query)] if self.query else []
        return [*query, *self.parameters]


def _address(shown: ListFilters, selection: Selection, **more: str) -> str:
    return list_url(shown.url, selection, **dict(shown.parameters), **more)


def _make_group(shown: ListFilters, facet: Facet) -> FilterGroup:
    kinds = {each.key: each for each in shown.names}
    own, is_opened = kinds.get(facet.name), shown.asked.opened == facet.name
    values = tuple(
        FilterValue(
            each.value,
            label_of(facet.name, each),
            each.count,
            each.is_chosen,
            FAMILY_HEXES.get(each.value, "") if facet.name == filters.COLOUR else "",
        )
        for each in facet.values
    )
    return FilterGroup(
        facet.name,
        OWN_LABELS.get(facet.name) or (own.name if own else facet.name),
        own.kind if own else facet.name,
        values,
        _address(shown, shown.asked.selection, all=facet.name)
        if facet.has_more and not is_opened
        else "",
        is_opened,
    )


def label_of(name: str, value: FacetValue) -> str:
    """Return a value of a filter in words."""
    if name in filters.MARKS:
        return str(OWN_LABELS[name])
    if name == filters.COLOUR:
        return str(FAMILY_LABELS.get(value.value, value.label))
    if name == filters.RATING:
        return _("%(stars)s stars and more") % {"stars": value.label}
    return value.label


def describe_price(price: PriceRange) -> str:
    """Return a range of prices in words, such as "€20.00 to €40.00" or "Up to €40.00"."""
    low, high = (
        format_money(Money(each, settings.CURRENCY) if each is not None else None)
        for each in (price.low, price.high)
    )
    if not low:
        return _("Up to %(price)s") % {"price": high}
    if not high:
        return _("From %(price)s") % {"price": low}
    return _("%(low)s to %(high)s") % {"low": low, "high": high}
