"""A product goes through its forms and through files unchanged, whichever of the two it was typed in."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import uuid4

import pytest
from django import forms
from django.http import QueryDict
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from moneyed import EUR, Money

from adminpanel.catalogue.product_forms import ProductForm
from adminpanel.catalogue.variant_forms import PlannedPriceForm
from adminpanel.catalogue.variant_grid import VariantGrid
from adminpanel.catalogue.variant_rows import VALUES
from catalogue.entities import CategoryNode, Product
from catalogue.queries import get_category_tree_at_quorum
from catalogue.rules import list_refusals
from catalogue.variants import list_used_options
from spreadsheets.cells import join_list
from spreadsheets.columns import (
    VARIANT_COLUMNS,
    Column,
    blank_product,
    blank_variant,
    order_options,
    product_columns,
    with_options_in_order,
)
from spreadsheets.errors import CellRefused
from spreadsheets.files import csv_line, open_table
from spreadsheets.layouts import LAYOUTS
from spreadsheets.products import product_lines
from tests.adminpanel.catalogue.product_page import sent_grid
from tests.factories import make_category
from web.text import clean_text

NOW, FIRST = datetime(2026, 7, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)

# ---- What may be typed

LETTERS = st.sampled_from(
    [*"aB1 ,:;\"'\n\r\t=-\\", "\r\n", "ä", "日", "😀", "\u00a0", "\u202e", "\x07"]
)
WORDS = st.lists(LETTERS, max_size=12).map("".join)
LINES = st.lists(st.one_of(WORDS, st.sampled_from(["Care: warm", '"a: b": c', "x: "])), max_size=4)
MOMENTS = st.one_of(
    st.sampled_from(
        [
            # In Dublin 01:30 comes twice on that day.
            *("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T01:30"),
            *("2026-10-25T00:59:59.999Z", "2026-03-29T01:30", "2000-01-01T00:00:00Z"),
            *("2100-12-31T23:59:59.999999Z", "2101-01-01T00:00:00Z", "", "soon"),
            # Days alone: an end on one is the day's end, also where the clocks change.
            *("2026-10-25", "2026-03-29", "2027-03-01", "2100-12-31", "9999-12-31"),
        ]
    ),
    st.integers(-1, 36_900).map(lambda day: (FIRST + timedelta(days=day, hours=9.5)).isoformat()),
)
NUMBERS = st.sampled_from(
    ["", "0", "250.0", "250,00", "1.5", "100000", "1000000", "1000001", "-1", "x"]
)
PRICES = st.sampled_from(
    ["", "0", "0.01", "12", "12,5", "123.30000000000001", "1000000", "1000000.01", "1.000", "99.90"]
)
TYPED: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("details", "options"), LINES.map("\n".join)),
    "tags": st.lists(WORDS, max_size=4).map(",".join),
    **dict.fromkeys(("active_from", "active_until"), MOMENTS),
    **dict.fromkeys(("length_mm", "width_mm", "height_mm", "weight_grams"), NUMBERS),
    **dict.fromkeys(("price", "compare_at", "cost_price"), PRICES),
    "barcode": st.sampled_from(["", "4006381333931", "400-6381 333931", "4006381333931.0", "1"]),
    "status": st.sampled_from(["draft", "active", "Archived", "gone"]),
    "tax_class": st.sampled_from(["standard", "REDUCED", "none"]),
    **dict.fromkeys(("featured", "sold"), st.sampled_from(["yes", "no", "true", "0", "maybe"])),
}


@cache
def shelves() -> list[CategoryNode]:
    return [make_category(name) for name in ("First", "Second", "Third")]


def typed_in(name: str) -> st.SearchStrategy[str]:
    if name == "category":
        return st.sampled_from([each.slug for each in shelves()])
    if name == "other_categories":
        return st.lists(st.sampled_from([each.slug for each in shelves()])).map(", ".join)
    return TYPED.get(name, WORDS)


# ---- The two ways


def blank() -> Product:
    variant = replace(blank_variant(uuid4(), "A 1/B+#2"), price=Money(20, EUR))
    product = replace(blank_product(uuid4(), "a-mug"), name="Mug", variants=(variant,))
    return replace(product, category_id=shelves()[0].category_id)


def write(product: Product, column: Column[Any], text: str) -> Product:
    """The product with what a file's cell says, if that can be saved."""
    try:
        if column in VARIANT_COLUMNS:
            after = replace(product, variants=(column.write(product.variants[0], text),))
        else:
            after = column.write(product, text)
    except CellRefused:
        return product
    after = order_options(with_options_in_order(after))
    return product if any(list_refusals(after, NOW)) else after


def through_file(product: Product) -> Product:
    """What becomes of a product that goes out and comes in as a new one."""
    content = b"".join(map(csv_line, [LAYOUTS["products"].head, *product_lines(product)]))
    table = open_table(io.BytesIO(content), LAYOUTS["products"].head)
    cells = dict(zip(table.head, next(table.lines)[1], strict=True))
    variant = blank_variant(product.variants[0].variant_id, cells["sku"])
    found = replace(blank_product(product.product_id, cells["product"]), variants=())
    for whole in product_columns(get_category_tree_at_quorum()):
        found = whole.write(found, cells[whole.name])
    for own in VARIANT_COLUMNS:
        variant = own.write(variant, cells[own.name])
    return order_options(with_options_in_order(replace(found, variants=(variant,))))


def as_sent(form: forms.Form, **typed: str) -> QueryDict:
    """What a browser sends of a form as it is shown, with some of its fields typed anew."""
    sent = QueryDict(mutable=True)
    for bound in form:
        widget, value = bound.field.widget, typed.get(bound.name, bound.value())
        if isinstance(widget, forms.CheckboxInput):
            if value and value not in ("no", "0"):
                sent[bound.name] = "on"
        elif isinstance(widget, forms.SelectMultiple):
            sent.setlist(bound.name, value)
        elif value is not None:
            lines = str(value).replace("\r\n", "\n").replace("\r", "\n")
            is_area = isinstance(widget, forms.Textarea)
            sent[bound.name] = lines.replace("\n", "\r\n" if is_area else "")
    return sent


def through_forms(product: Product, **typed: str) -> Product | None:
    """What its page makes of a product, with some fields and cells typed anew; None where it refuses it."""
    form = ProductForm(as_sent(ProductForm.of(product, []), **typed))
    cells = {f"variant-0-{name}": text for name, text in typed.items()}
    sent = sent_grid(VariantGrid.of(product, {})) | cells
    if "sold" in typed and typed["sold"] in ("no", "0"):
        del sent["variant-0-sold"]
    grid = VariantGrid.sent(product, sent)
    if not form.is_valid() or grid.errors:
        return None
    return grid.apply_to(form.apply_to(product, (), None))


def parse_options(options: dict[str, tuple[str, ...]]) -> Any:
    """What the page makes of these options, as it shows them; None where it refuses them."""
    sent: dict[str, str] = {}
    for number, (name, values) in enumerate(options.items()):
        sent |= {f"option-{number}-name": name, f"option-{number}-values": join_list(values)}
    grid = VariantGrid.sent(blank(), sent)
    return None if grid.errors else grid.typed_options


# A failure is shown as it was found: to look for a smaller one takes minutes.
FEW = settings(
    max_examples=80, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
# What names other things, or says how the form was shown.
NOT_TYPED = {"version", "save_id", "product_id", "stock_reason"}
NOT_TYPED |= {"category_id", "category_ids", "related", "successor"}
FIELDS = [*({*ProductForm.base_fields, *(each.name for each in VALUES), "sold"} - NOT_TYPED)]


@FEW
@given(st.data())
def test_x270_what_a_file_accepts_the_forms_and_a_file_return_unchanged(
    data: st.DataObject,
) -> None:
    product = blank()
    columns: list[Column[Any]] = [*product_columns(get_category_tree_at_quorum()), *VARIANT_COLUMNS]
    for column in columns:
        product = write(product, column, data.draw(typed_in(column.name), column.name))
    assert through_forms(product) == product
    assert parse_options(list_used_options(product)) == list_used_options(product)
    assert through_file(product) == product


def test_x270_the_second_of_two_equal_hours_stays() -> None:
    product = replace(blank(), active_from=datetime(2026, 10, 25, 1, 30, tzinfo=UTC))
    assert through_forms(product) == product


@FEW
@given(st.data())
def test_x270_what_the_forms_accept_a_file_and_the_forms_return_unchanged(
    data: st.DataObject,
) -> None:
    product = blank()
    for name in data.draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=6, unique=True)):
        after = through_forms(product, **{name: data.draw(typed_in(name), name)})
        product = product if after is None or any(list_refusals(after, NOW)) else after
    typed = [data.draw(WORDS, "an option") for _ in range(4)]
    options = parse_options({typed[0]: tuple(typed[1:3]), typed[3]: (typed[0],)}) or {}
    variant = replace(
        product.variants[0], options={name: each[0] for name, each in options.items()}
    )
    chosen = replace(product, option_names=tuple(options), variants=(variant,))
    product = product if any(list_refusals(chosen, NOW)) else chosen
    assert parse_options(list_used_options(product)) == list_used_options(product)
    assert through_file(product) == product
    assert through_forms(product) == product


def test_x270_an_end_that_is_typed_as_a_day_is_the_end_of_that_day() -> None:
    product, day = blank(), "2027-07-01"
    columns = {each.name: each for each in product_columns(get_category_tree_at_quorum())}
    both = {"active_from": day, "active_until": day}
    for typed in (
        columns["active_until"].write(columns["active_from"].write(product, day), day),
        through_forms(product, **both),
    ):
        assert typed
        # In Dublin it is summer then.
        assert typed.active_from == datetime(2027, 6, 30, 23, tzinfo=UTC)
        assert typed.active_until == datetime(2027, 7, 1, 23, tzinfo=UTC)
        assert through_file(typed) == through_forms(typed) == typed
    planned = PlannedPriceForm({"price": "1", "starts": day, "ends": day})
    assert planned.is_valid(), planned.errors
    assert planned.cleaned_data["ends"] - planned.cleaned_data["starts"] == timedelta(days=1)
    for far in ("9999-12-31", "0001-01-01"):
        with pytest.raises(CellRefused, match="Enter a year from 2000"):
            columns["active_until"].write(product, far)


def test_x270_a_line_ends_in_one_way_whoever_has_typed_it() -> None:
    assert clean_text("a\rb\r\nc\n\td", keep_lines=True) == "a\nb\nc\n\td"
