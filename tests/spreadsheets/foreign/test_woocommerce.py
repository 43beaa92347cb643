"""An export of WooCommerce becomes lines in our layout. The file beside this one is ours; its columns are those of the sample."""

import csv
import io
import tracemalloc
from collections.abc import Iterator
from functools import partial
from hashlib import sha256

import pytest

from spreadsheets.errors import FileRefused
from spreadsheets.foreign.entities import ConvertedLine, Lines
from spreadsheets.foreign.presets import find_preset
from spreadsheets.foreign.woocommerce import PRESET
from spreadsheets.operations import conversions
from tests.spreadsheets.files import csv_of
from tests.spreadsheets.foreign.reading import FOLDER, convert_file

# Read on 27 November 2026. The checksums are those of the whole file, and of the names of its columns.
SAMPLE = (
    "https://github.com/stw0201/woocommerce/blob/0f4ccb836ed55031d8a0b7a7476b906461c2d2c4/sample-data/sample_products.csv",
    "7227e8ecc7d338e19e2c0fecdd7f33baaa4e4a63463e8c50fd766460cadc19e7",
    "61217e756b3931bd933a060e81d81239475d64cf5d3b894a5f2943f1c9630150",
)
# The columns of a German shop differ in their units.
HEAD = [
    "ID",
    "Type",
    "SKU",
    "Name",
    "Published",
    "Visibility in catalog",
    "Regular price",
    "Parent",
]
HEAD += ["Sale price", "Date sale price starts", "Date sale price ends", "Weight (kg)"]
HEAD += ["Height (cm)", "Attribute 1 name", "Attribute 1 value(s)", "Meta: _yoast_wpseo_metadesc"]


def convert_lines(*records: dict[str, str]) -> list[ConvertedLine]:
    made = ([record.get(name, "") for name in HEAD] for record in records)
    return convert_file(csv_of([HEAD, *made]))[0]


def test_x535_the_file_has_the_columns_of_the_public_sample() -> None:
    text = (FOLDER / "woocommerce.csv").read_text("utf-8-sig")
    head = next(csv.reader(io.StringIO(text)))
    assert sha256("\n".join(head).encode()).hexdigest() == SAMPLE[2]
    assert find_preset("products", head) == "woocommerce"


def test_x535_variations_find_their_parent_wherever_it_is() -> None:
    lines, notes = convert_file((FOLDER / "woocommerce.csv").read_bytes())
    red, red_small, blue, blue_small, cap, felt, belt, group, flag, lost = lines
    assert notes == {"html": 1, "sales": 2}
    tees = (red, red_small, blue, blue_small)
    assert {each.cells["product"] for each in tees} == {"linen-tee"}
    # A variation for any size is a variant for each size of its parent.
    assert [(each.cells["sku"], each.cells["options"]) for each in tees] == [
        ("tee-red-1", "Color: Red, Size: Large"),
        ("tee-red-2", "Color: Red, Size: Small"),
        ("tee-blue-l", "Color: Blue, Size: Large"),
        ("LINEN-TEE-79", "Color: Blue, Size: Small"),
    ]
    # The parent's weight counts for those without one; pounds and inches are converted.
    assert [each.cells["weight_grams"] for each in tees] == ["318", "318", "227", "227"]
    assert [each.cells["sold"] for each in tees] == ["yes", "yes", "no", "yes"]
    assert [(each.cells["price"], each.cells.get("compare_at")) for each in tees] == [
        ("20.00", None),
        ("20.00", None),
        ("15.00", "20.00"),
        ("20.00", None),
    ]
    expected = {
        "name": "Linen tee",
        "description": 'Cool in summer.\n\n**Linen** from "Flanders".\nWashed.\n\n- soft',
        "featured": "1",
        "category": "Clothing > T-shirts",
        "other_categories": '"Home, Garden"',
        "tags": 'linen, "summer, sun"',
        "status": "active",
        "length_mm": "254",
        "width_mm": "38",
        "height_mm": "13",
        "pictures": "https://cdn.example/tee.jpg\nhttps://cdn.example/tee-2.jpg",
        "picture": "https://cdn.example/red.jpg",
    }
    assert expected.items() <= red.cells.items()
    assert "details" not in red.cells
    assert {
        "product": "cap",
        "sku": "CAP-60",
        "price": "16.00",
        "compare_at": "18.50",
        "status": "draft",
        "tax_class": "reduced",
        "details": "Material: Wool, Felt",
        "options": "",
    }.items() <= cap.cells.items()
    assert (felt.cells["product"], felt.cells["status"]) == ("cap-2", "draft")
    assert (belt.cells["weight_grams"], belt.faults) == ("544", ())
    faults = [(each.line, each.column) for line in (group, flag, lost) for each in line.faults]
    assert faults == [(9, "Type"), (10, "Type"), (11, "Parent")]


def test_x535_sales_have_dates_and_measures_have_units() -> None:
    mug = {"ID": "1", "Type": "simple", "Name": "Mug", "Regular price": "12,50", "SKU": "M"}
    sale = {**mug, "Sale price": "9,90", "Weight (kg)": "0,35", "Height (cm)": "10.5"}
    cases = {
        ("", ""): "9.90",
        ("2026-11-27", ""): "9.90",
        ("2026-11-28 00:00:00", ""): "12.50",
        ("", "2026-11-27"): "9.90",
        ("", "2026-11-26 23:59:59"): "12.50",
    }
    for (start, end), price in cases.items():
        dates = {"Date sale price starts": start, "Date sale price ends": end}
        (line,) = convert_lines({**sale, **dates})
        assert line.cells["price"] == price, (start, end)
        assert (line.cells["weight_grams"], line.cells["height_mm"]) == ("350", "105")
    # Of a shop with net prices, both get the tax.
    record = [sale.get(name, "") for name in HEAD]
    net = {"Regular price": "price_without_tax"}
    ((line,), _notes) = convert_file(csv_of([HEAD, record]), net)
    assert (line.cells["price"], line.cells["compare_at"]) == ("11.78", "14.88")
    (line,) = convert_lines({**mug, "Meta: _yoast_wpseo_metadesc": "A mug."})
    assert line.cells["search_description"] == "A mug."


def test_x535_units_are_taken_where_they_are_counted() -> None:
    lines, notes = convert_file((FOLDER / "woocommerce.csv").read_bytes(), layout="stock")
    assert {each.cells["sku"]: each.cells["units"] for each in lines} == {
        "tee-blue-l": "3",
        "LINEN-TEE-79": "0",
        "CAP-60": "7",
    }
    assert notes == {"left_out": 8}


def test_x535_stock_of_a_variation_for_any_value_is_left_out_as_its_variants_share_it() -> None:
    head = [
        "ID",
        "Type",
        "SKU",
        "Name",
        "Stock",
        "Visibility in catalog",
        "Regular price",
        "Parent",
    ]
    head += ["Attribute 1 name", "Attribute 1 value(s)"]
    lines = [
        head,
        ["1", "variable", "tee", "Tee", "", "visible", "", "", "Size", "S, M"],
        ["2", "variation", "tee-any", "Tee", "5", "visible", "9", "tee", "Size", ""],
    ]
    assert convert_file(csv_of(lines), layout="stock") == ([], {"left_out": 3})


def test_x535_hostile_lines_are_lines_with_faults_at_most() -> None:
    size = {"Attribute 1 name": "Size"}
    values = ", ".join(map(str, range(201)))
    lines = convert_lines(
        {"ID": "1", "Type": "variable", "Name": "Tee", **size, "Attribute 1 value(s)": values},
        {"ID": "2", "Type": "variation", "Parent": "id:1", **size},
        {"ID": "3", "Type": "variation", "Parent": "id:3"},
        {"ID": "4", "Type": "variation"},
        {"Type": "\x00𝕊", "Name": "𝕊", "Regular price": "9" * 100_000},
        {"ID": "6", "Type": "simple", "Name": "x" * 129_000, "Weight (kg)": "1," * 60_000},
    )
    faults = {each.line: each.column for line in lines for each in line.faults}
    assert faults == {3: "Attribute 1 value(s)", 4: "Parent", 5: "Parent", 6: "Type"}


def test_x530_variations_that_make_too_many_lines_refuse_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = {"Attribute 1 name": "Size"}
    records = [
        {"ID": "1", "Type": "variable", "Name": "Tee", **size, "Attribute 1 value(s)": "S, M, L"},
        {"ID": "2", "Type": "variation", "Parent": "id:1", **size, "Regular price": "9" * 100},
    ]
    for name, enough in (("MAX_LINES", 4), ("MAX_SHEET_BYTES", 500)):
        with monkeypatch.context() as bounded:
            bounded.setattr(conversions, name, enough)
            assert len(convert_lines(*records)) == 3
            bounded.setattr(conversions, name, enough - 1 if enough == 4 else 300)
            with pytest.raises(FileRefused, match="too many variants"):
                convert_lines(*records)


def test_x535_the_memory_that_a_file_takes_does_not_grow_with_its_texts() -> None:
    count, text = 600, "<p>" + "x" * 5000
    cells = {"sku": "S", "price": "1"}

    def lines_with(**more: str) -> Iterator[ConvertedLine]:
        for n in range(count):
            own = {"id": str(n), "type": "simple", "name": f"Mug {n}", **more}
            yield ConvertedLine(n + 2, cells, (), own | {"description": f"{text}{n}"})

    def measure(lines: Lines) -> int:
        tracemalloc.start()
        assert sum(1 for _line in PRESET.convert(lines)) == count
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert measure(lines_with) < count * len(text) / 3
    values = {"attribute_1_name": "Size", "attribute_1_value(s)": "10," * 1500}
    assert measure(partial(lines_with, type="variable", **values)) < count * len(text) * 2
