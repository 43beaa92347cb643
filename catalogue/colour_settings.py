"""The colours of option values: the names that every shop knows, and what staff have set for their shop."""

from dataclasses import asdict, dataclass
from datetime import date

from django.utils.translation import gettext as _

from catalogue.colours import OTHER, family_of_hex, is_hex, iterate_colour_keys, load_colour_names
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import settings_copy

# Pages without filters never read this partition.
PARTITION, MAX_COLOURS = "colours", 2000
CURRENT_COLOURS = settings_copy(PARTITION)
# Starts to read the colours while a page waits for other data.
prefetch_colours = CURRENT_COLOURS.prefetch


@dataclass(frozen=True)
class ColourSetting:
    """What staff have set for a colour. Without a hex the known one counts, and without a family the computed one."""

    key: str  # see `colour_key`
    hex: str = ""
    family: str = ""


def _check(snapshot: SettingsSnapshot, _today: date) -> None:
    if not all(is_hex(each.hex or "000000") for each in snapshot.get_values(COLOURS).values()):
        raise SettingRefused(_("Enter six hexadecimal digits, such as #1f2a4d"), "hex")


COLOURS = SettingKind(
    "colours",
    lambda key, value: ColourSetting(**pick_fields(ColourSetting, value) | {"key": key}),
    asdict,
    dict[str, ColourSetting],
    _check,
    PARTITION,
    MAX_COLOURS,
)


def find_colour(value: str, snapshot: SettingsSnapshot) -> tuple[str, str]:
    """Return the hex and the family of a colour value by these settings: "" and `OTHER` if it is unknown."""
    saved, known = snapshot.get_values(COLOURS), load_colour_names()
    for key in iterate_colour_keys(value):
        own = saved.get(key, ColourSetting(key))
        hex6 = own.hex or known.get(key, "")
        if own.family or hex6:
            return hex6, own.family or family_of_hex(hex6)
    return "", OTHER


def find_current_colour(value: str) -> tuple[str, str]:
    """Return the six hexadecimal digits and the family of a colour value, or ("", OTHER). Raises CassandraUnavailable."""
    return find_colour(value, CURRENT_COLOURS.get())
