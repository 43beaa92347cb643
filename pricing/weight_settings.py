"""The staff's settings of parcels: the surcharges by weight, and the heaviest parcel."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot

# The key of the only setting of this type.
PARCEL = "parcel"


@dataclass(frozen=True)
class WeightBand:
    """The surcharge for a parcel of up to `max_grams`, compared with the lightest band, in the shop's currency."""

    max_grams: int
    surcharge: Decimal


@dataclass(frozen=True)
class ParcelWeights:
    """The weight bands of parcels, lightest first. An order above the last band goes in several parcels."""

    bands: tuple[WeightBand, ...]


def _parse(key: str, value: Mapping[str, Any]) -> ParcelWeights:
    return ParcelWeights(
        tuple(WeightBand(int(grams), Decimal(surcharge)) for grams, surcharge in value["bands"])
    )


def _dump(weights: ParcelWeights) -> dict[str, Any]:
    return {"bands": [[each.max_grams, f"{each.surcharge:.2f}"] for each in weights.bands]}


def _first_weights() -> dict[str, ParcelWeights]:
    bands = ((5_000, "0"), (10_000, "2.50"), (20_000, "6.00"), (31_500, "12.00"))
    return {PARCEL: ParcelWeights(tuple(WeightBand(up_to, Decimal(more)) for up_to, more in bands))}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that the lightest band has no surcharge, and that no heavier band has a lower surcharge."""
    bands = get_bands(snapshot)
    if not bands:
        raise SettingRefused(_("Enter at least the weight limit of a parcel."), "kg_0")
    if bands[0].surcharge:
        raise SettingRefused(_("The lightest parcels have no surcharge. Enter 0."), "surcharge_0")
    for number, (lighter, heavier) in enumerate(pairwise(bands), 1):
        if heavier.max_grams <= lighter.max_grams:
            raise SettingRefused(_("Enter each weight only once."), f"kg_{number}")
        if heavier.surcharge < lighter.surcharge:
            raise SettingRefused(
                _("A heavier parcel can’t cost less than a lighter one."), f"surcharge_{number}"
            )


WEIGHTS = SettingKind("weights", _parse, _dump, _first_weights, _check)


def get_bands(snapshot: SettingsSnapshot) -> tuple[WeightBand, ...]:
    """Return the bands of these settings, lightest first."""
    return snapshot.get_values(WEIGHTS)[PARCEL].bands
