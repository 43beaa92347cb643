"""Which options and details of products are filters, in which order, and which of them are colours or sizes."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalogue.colour_settings import CURRENT_COLOURS, find_current_colour
from catalogue.filter_tokens import fold_name, value_token
from catalogue.filters import OWN_FILTERS
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import get_settings

MAX_FILTERS = 50
COLOUR, SIZE, PLAIN, OFF = "colour", "size", "plain", "off"
KIND_LABELS = {
    OFF: gettext_lazy("No filter"),
    COLOUR: gettext_lazy("Colours"),
    SIZE: gettext_lazy("Sizes"),
    PLAIN: gettext_lazy("List of values"),
}


@dataclass(frozen=True)
class FilterName:
    """An option or a detail by which shoppers may filter. `key` is its folded name, as the index has it (`fold_name`)."""

    key: str
    name: str  # what shoppers read
    kind: str = PLAIN
    position: int = 0


# How the index's terms for families of colours begin.
COLOUR_TERM = value_token(COLOUR, "")
# The filters of a new shop.
FIRST_FILTERS = (
    FilterName("colour", "Colour", COLOUR, 1),
    FilterName("color", "Color", COLOUR, 2),
    FilterName("size", "Size", SIZE, 3),
)


def _check(snapshot: SettingsSnapshot, _today: date) -> None:
    for each in _sort_filter_names(snapshot):
        if each.key in OWN_FILTERS and (each.key != COLOUR or each.kind != COLOUR):
            text = _("Every list has its own filter “%(name)s”. Rename the option to filter by it.")
            raise SettingRefused(text % {"name": each.key}, "filter_kind")
    if len(_sort_filter_names(snapshot)) > MAX_FILTERS:
        raise SettingRefused(
            _("At most %(most)d filters can be on.") % {"most": MAX_FILTERS}, "filter_kind"
        )


FILTERS = SettingKind(
    "filters",
    lambda key, value: FilterName(**pick_fields(FilterName, value) | {"key": key}),
    asdict,
    lambda: {each.key: each for each in FIRST_FILTERS},
    _check,
)


def make_option_token(name: str, value: str) -> str:
    """Return the index's term for an option of a variant: the colour's family for an option that is a colour.

    Raises CassandraUnavailable.
    """
    key = fold_name(name)
    if any(each.key == key and each.kind == COLOUR for each in list_filter_names()):
        return value_token(COLOUR, find_current_colour(value)[1])
    return value_token(name, value)


def list_keys(names: Iterable[FilterName]) -> frozenset[str]:
    """Return what selections call these filters and those that every list has. All colours are one filter."""
    keys = {COLOUR if each.kind == COLOUR else each.key for each in names}
    return frozenset(OWN_FILTERS - {COLOUR} | keys)


def find_colour_state() -> str:
    """Return a text that changes with the settings of colours. Raises CassandraUnavailable."""
    names = sorted(each.key for each in list_filter_names() if each.kind == COLOUR)
    return f"{CURRENT_COLOURS.get().revision} {' '.join(names)}"


def _sort_filter_names(snapshot: SettingsSnapshot) -> tuple[FilterName, ...]:
    on = [each for each in snapshot.get_values(FILTERS).values() if each.kind != OFF]
    return tuple(sorted(on, key=lambda each: (each.position, each.key)))


def list_filter_names() -> tuple[FilterName, ...]:
    """Return the filters that are on, in their order, at most five seconds old. Raises CassandraUnavailable."""
    snapshot = get_settings()
    return snapshot.compute("filter names", lambda: _sort_filter_names(snapshot))
