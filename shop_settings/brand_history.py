"""The brands that staff have saved. Each save keeps the brand a second time, under its moment and the member of staff."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from shop_settings.brand import BRAND, KEY, Brand
from shop_settings.errors import SettingChanged
from shop_settings.kinds import SettingsSnapshot
from shop_settings.operations import change_settings

MAX_SAVED_BRANDS = 20
# The key of the brand from the environment. It is the oldest one, and the staff have not saved it.
FIRST = "0"


@dataclass(frozen=True)
class SavedBrand:
    """A brand with the moment of its save and the member of staff who saved it; both are None for the environment's."""

    key: str
    brand: Brand
    saved_at: datetime | None
    user_id: UUID | None


def save_brand(brand: Brand, seen: str, user_id: UUID, now: datetime) -> SettingsSnapshot:
    """Save the brand and add it to the history, in one write. `seen` is the fingerprint of the brand that the editor has read.

    A repeat changes nothing. Raises SettingChanged, SettingsBusy, CassandraUnavailable.
    """

    def change(values: Mapping[str, Brand]) -> Mapping[str, Brand]:
        before = values[KEY]
        if before == brand:
            return values
        if BRAND.fingerprint(before) != seen:
            raise SettingChanged
        saved = {key: each for key, each in values.items() if key != KEY} or {FIRST: before}
        saved[f"{now.isoformat(timespec='milliseconds')} {user_id}"] = brand
        kept = sorted(saved)[-MAX_SAVED_BRANDS:]
        return {KEY: brand, **{key: saved[key] for key in kept}}

    return change_settings(BRAND, change, now)


def list_saved_brands(snapshot: SettingsSnapshot) -> list[SavedBrand]:
    """Return the saved brands, the newest first. Without a save there is none."""
    values = snapshot.get_values(BRAND)
    return [_read(key, values[key]) for key in sorted(values, reverse=True) if key != KEY]


def _read(key: str, brand: Brand) -> SavedBrand:
    moment, _, user = key.partition(" ")
    if key == FIRST:
        return SavedBrand(key, brand, None, None)
    return SavedBrand(key, brand, datetime.fromisoformat(moment), UUID(user))
