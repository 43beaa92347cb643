"""The layouts of other shops that are recognised by their columns."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy

from spreadsheets.files import normalize_name
from spreadsheets.foreign import google, magento, prestashop, shopify, woocommerce
from spreadsheets.foreign.entities import AUTOMATIC, SKIPPED, Convert
from spreadsheets.foreign.mapping import convert, list_targets
from web.types import StrOrPromise


@dataclass(frozen=True)
class Preset:
    """The layout of another shop. A file with all columns in `marks` has it; our `layout` is the one into which it is converted.

    Names of columns are normalised (spreadsheets.files.normalize_name). `targets` are the first choices of the mapping page: our
    columns, or AUTOMATIC if `convert` reads the column. Columns that are not named are skipped. `units` are those of numbers
    without one.
    """

    name: str
    label: StrOrPromise
    marks: frozenset[str]
    targets: Mapping[str, str]
    convert: Convert
    layout: str = "products"
    units: Mapping[str, str] = field(default_factory=dict)


# The first one whose marks are in a file counts.
PRESETS: Mapping[str, Preset] = {
    each.name: each
    for each in (
        *(
            Preset(name, "Shopify", marks, shopify.TARGETS, shopify.convert)
            for name, marks in shopify.MARKS.items()
        ),
        *(
            Preset(
                name, "Shopify", marks, shopify.STOCK_TARGETS, shopify.convert_stock, layout="stock"
            )
            for name, marks in shopify.STOCK_MARKS.items()
        ),
        Preset(
            "woocommerce",
            "WooCommerce",
            woocommerce.MARKS,
            woocommerce.TARGETS,
            woocommerce.convert,
        ),
        Preset(
            "woocommerce-stock",
            "WooCommerce",
            woocommerce.STOCK_MARKS,
            woocommerce.STOCK_TARGETS,
            woocommerce.convert_stock,
            layout="stock",
        ),
        Preset(
            "magento",
            "Magento",
            magento.MARKS,
            magento.TARGETS,
            magento.convert,
            units=magento.UNITS,
        ),
        Preset(
            "prestashop",
            "PrestaShop",
            prestashop.MARKS,
            prestashop.TARGETS,
            prestashop.convert,
            units=prestashop.UNITS,
        ),
        Preset(
            "google",
            gettext_lazy("Google product feed"),
            google.MARKS,
            google.TARGETS,
            google.convert,
        ),
    )
}


def find_preset(layout: str, head: Collection[str]) -> Preset | None:
    """Return the preset that a file's columns have, or None."""
    names = {normalize_name(each) for each in head}
    return next(
        (each for each in PRESETS.values() if each.layout == layout and each.marks <= names), None
    )


def list_first_targets(layout: str, head: Collection[str]) -> dict[str, str]:
    """Return the first choice for each column: by the file's preset, or by the column's name."""
    possible, preset = list_targets(layout), find_preset(layout, head)
    chosen = {}
    for column in head:
        name = normalize_name(column)
        target = preset.targets.get(name, SKIPPED) if preset else name
        chosen[column] = target if target in (*possible, AUTOMATIC) else SKIPPED
    return chosen


def get_convert(preset: str) -> Convert:
    """Return the converter of a preset, or the one for files of unknown shops."""
    return PRESETS[preset].convert if preset else convert
