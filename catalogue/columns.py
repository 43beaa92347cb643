"""All columns of a product. For each: how the product's row stores it, and how files and the staff's form show it.

This table decides which columns a save writes and reads (catalogue.product_rows), the bounds (catalogue.rules), the columns of
files (spreadsheets.columns) and the fields of the form (adminpanel.catalogue.column_fields). The CQL, the model and `Product` are
written by hand; `tests/catalogue/test_columns.py` compares them with this table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from catalogue.entities import STATUSES, ProductPicture
from catalogue.unit_prices import UNITS
from pricing.tax import TAX_CLASSES
from web.types import StrOrPromise


def _as_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class Kind:
    """How a row stores the values of a column: `encode` writes them, `decode` reads them.

    If people type the values of a kind, spreadsheets.typed_values has a formatter and a parser for it.
    """

    decode: Callable[[Any], Any] = _as_is
    encode: Callable[[Any], Any] = _as_is


def _pack_pictures(pictures: Sequence[ProductPicture]) -> str | None:
    packed = [(each.picture, each.alt) for each in pictures]
    return json.dumps(packed, ensure_ascii=False) if packed else None


TEXT = Kind(lambda stored: stored or "")
LINES = Kind(TEXT.decode)  # a text of several lines
NUMBER = Kind(lambda stored: stored or 0)
YES_NO = Kind(bool)
CHOICE = Kind()
UNIT = Kind(TEXT.decode)  # a choice, or ""
MOMENT = Kind()
END = Kind()  # the moment of an end; a day without a time means the end of that day
DETAILS = Kind(
    lambda stored: json.loads(stored) if stored else {},
    lambda details: json.dumps(details, ensure_ascii=False),
)
TAGS = Kind(lambda stored: frozenset(stored or ()))
IDENTIFIER = Kind()
IDENTIFIERS = Kind(TAGS.decode)
SEQUENCE = Kind(lambda stored: tuple(stored or ()), list)
PICTURES = Kind(
    lambda stored: tuple(ProductPicture(*each) for each in json.loads(stored or "[]")),
    _pack_pictures,
)
COUNT = Kind()  # None until it is counted for the first time
AVAILABILITY = Kind(lambda stored: stored or "out")
# Stored in four bytes, so a value is rounded to the one decimal that product cards show.
RATING = Kind(lambda stored: round(stored, 1) if stored is not None else None)


@dataclass(frozen=True)
class FileColumn:
    """A column in a file of products."""

    help: StrOrPromise
    example: StrOrPromise = ""


@dataclass(frozen=True)
class FormField:
    """A column's field in a product's form. The page lists the fields of each section; it places fields without a section by hand."""

    label: StrOrPromise
    hint: StrOrPromise = ""
    section: str = ""
    rows: int = 0  # the height of a text of several lines
    is_required: bool = False


@dataclass(frozen=True)
class ProductColumn:
    """A column of a product. It has the same name in the product's row, in `Product`, in files and in the form.

    `most` bounds the characters of a text or the size of a number. Columns that are not `is_saved` are computed, and written by
    separate CQL statements.
    """

    name: str
    kind: Kind
    most: int = 0
    choices: tuple[str, ...] = ()
    file: FileColumn | None = None
    form: FormField | None = None
    is_saved: bool = True


MAX_LENGTH_MM = 100_000


def _size(name: str, file: FileColumn, label: StrOrPromise) -> ProductColumn:
    return ProductColumn(
        name, NUMBER, MAX_LENGTH_MM, file=file, form=FormField(label, section="size")
    )


# The columns are in the order of a file.
COLUMNS = (
    ProductColumn(
        "name",
        TEXT,
        200,
        file=FileColumn(_("The name. Required for a new product."), _("Breakfast mug")),
        form=FormField(_("Name"), is_required=True),
    ),
    ProductColumn("slug", TEXT, 100),
    ProductColumn(
        "status",
        CHOICE,
        choices=STATUSES,
        file=FileColumn(_("draft, active or archived. Empty: a new product is a draft."), "draft"),
    ),
    ProductColumn(
        "brand",
        TEXT,
        100,
        file=FileColumn(_("The brand."), _("Kilnbrook")),
        form=FormField(_("Brand")),
    ),
    ProductColumn(
        "description",
        LINES,
        20_000,
        file=FileColumn(
            _("With the same formatting as on the product’s own page."), _("For **slow** mornings.")
        ),
        form=FormField(
            _("Description"),
            _(
                "**bold**, *italic*, “- ” before each line of a list, “# ” before a heading, [a link](https://…)."
            ),
            rows=8,
        ),
    ),
    ProductColumn(
        "details",
        DETAILS,
        file=FileColumn(
            _("One per line in the cell: name, colon, text."), _("Material: stoneware")
        ),
    ),
    ProductColumn("category_id", IDENTIFIER),
    ProductColumn("category_ids", IDENTIFIERS),
    ProductColumn(
        "tags", TAGS, file=FileColumn(_("Search terms, separated by commas."), _("breakfast, gift"))
    ),
    ProductColumn(
        "featured",
        YES_NO,
        file=FileColumn(_("Whether the front page shows it: yes or no."), "no"),
        form=FormField(_("Show it on the front page")),
    ),
    ProductColumn(
        "tax_class",
        CHOICE,
        choices=tuple(TAX_CLASSES),
        file=FileColumn(_("The tax rate."), "standard"),
    ),
    ProductColumn(
        "active_from",
        MOMENT,
        file=FileColumn(_("Start of sale. Empty: as soon as the product is active.")),
        form=FormField(
            _("On sale from"), _("Leave empty to start as soon as it is active."), "sale"
        ),
    ),
    ProductColumn(
        "active_until",
        END,
        file=FileColumn(_("End of sale. A day without a time is the last day. Empty: no end.")),
        form=FormField(_("On sale until"), _("Leave empty for no end."), "sale"),
    ),
    ProductColumn(
        "maker",
        LINES,
        1000,
        file=FileColumn(_("The manufacturer’s name and postal address (GPSR, Article 19).")),
        form=FormField(_("Manufacturer"), _("Name and postal address."), "safety", rows=3),
    ),
    ProductColumn(
        "maker_contact",
        TEXT,
        200,
        file=FileColumn(_("The manufacturer’s email or web address.")),
        form=FormField(_("Manufacturer’s email or web address"), section="safety"),
    ),
    ProductColumn(
        "responsible_person",
        LINES,
        1000,
        file=FileColumn(_("The responsible person in the EU: name, postal and email address.")),
        form=FormField(
            _("Responsible person in the EU"),
            _("Name, postal and email address, if the manufacturer is outside the EU."),
            "safety",
            rows=3,
        ),
    ),
    ProductColumn(
        "safety",
        LINES,
        5000,
        file=FileColumn(_("Warnings and safety notes.")),
        form=FormField(_("Warnings and safety notes"), section="safety", rows=3),
    ),
    ProductColumn(
        "unit",
        UNIT,
        choices=("", *UNITS),
        file=FileColumn(_("The unit of the variants’ content: g, kg, ml, l, m, m2 or piece.")),
    ),
    _size("length_mm", FileColumn(_("Length in millimetres."), "90"), _("Length in mm")),
    _size("width_mm", FileColumn(_("Width in millimetres."), "90"), _("Width in mm")),
    _size("height_mm", FileColumn(_("Height in millimetres."), "105"), _("Height in mm")),
    ProductColumn(
        "search_title",
        TEXT,
        100,
        file=FileColumn(_("The title for search engines, if different.")),
        form=FormField(_("Title for search engines"), _("Defaults to the name."), "search"),
    ),
    ProductColumn(
        "search_description",
        LINES,
        300,
        file=FileColumn(_("The description for search engines.")),
        form=FormField(
            _("Description for search engines"),
            _("Defaults to the beginning of the description."),
            "search",
            rows=2,
        ),
    ),
    ProductColumn(
        "google_category",
        TEXT,
        200,
        file=FileColumn(_("Google’s product category: its number or its path.")),
        form=FormField(
            _("Google product category"),
            _("Its number or path in Google’s taxonomy, such as 2169."),
            "search",
        ),
    ),
    ProductColumn(
        "old_addresses",
        LINES,
        2000,
        file=FileColumn(_("Its addresses in a former shop, one per line in the cell.")),
        form=FormField(
            _("Old addresses"),
            _("In a former shop, one per line, such as /products/mug. They redirect to this page."),
            "search",
            rows=2,
        ),
    ),
    ProductColumn("option_names", SEQUENCE),
    ProductColumn("related_ids", SEQUENCE),
    ProductColumn("pictures", PICTURES),
    ProductColumn("successor_id", IDENTIFIER),
    ProductColumn("created_at", MOMENT),
    ProductColumn("updated_at", MOMENT),
    ProductColumn("availability", AVAILABILITY, is_saved=False),
    ProductColumn("in_stock_ids", IDENTIFIERS, is_saved=False),
    ProductColumn("rating", RATING, is_saved=False),
    ProductColumn("rating_count", NUMBER, is_saved=False),
    ProductColumn("popularity", COUNT, is_saved=False),
    ProductColumn("bestseller", YES_NO, is_saved=False),
)
COLUMNS_BY_NAME = {each.name: each for each in COLUMNS}
