"""Exports of Shopify become lines in our layout. The files beside this one are ours; their columns are those of the samples."""

import csv
import io
from hashlib import sha256

from spreadsheets.foreign.presets import find_preset
from spreadsheets.typed_values import format_options
from tests.spreadsheets.files import csv_of
from tests.spreadsheets.foreign.reading import FOLDER, convert_file

# The samples were read on 27 November 2026. The checksums are those of the whole file, and of the names of its columns. The first
# one begins with the line of Shopify's own template.
SAMPLES = {
    "shopify.csv": (
        "https://github.com/studiovedelago-ai/stoa/blob/1c247529e5514021e29fb1ae8bd9d1f8168c4532/product_template.csv",
        "b9b8cb21aedb7410e4bd2ad5bd0f3eb60b8567dd743699ab1d9cf566475bf9e2",
        "a72056b2a3c15ecb706b28aa2a533a44c30b8d8caf77f8cd6698a7ab5ac903c7",
    ),
    "shopify_2024.csv": (
        "https://github.com/shopifypartners/product-csvs/blob/045fb432d85dc59d558717208399176d62bf106d/home-and-garden.csv",
        "97ebc4140c67c05b35de78f55f555fc3bd0e5ee70558ae2cd4cc141eaddf8d02",
        "2abe12ae57a730cba460d3725cf615e5b7f97b4792b490062f36c38abfba8ab5",
    ),
}
HEAD = ["URL handle", "Title", "SKU", "Option1 name", "Option1 value", "Price"]


def test_x533_the_files_have_the_columns_of_public_samples() -> None:
    for name, (_address, _checksum, columns) in SAMPLES.items():
        head = next(csv.reader(io.StringIO((FOLDER / name).read_text())))
        assert sha256("\n".join(head).encode()).hexdigest() == columns, name
        assert find_preset("products", head) == "shopify"


def test_x533_the_lines_of_a_handle_are_a_product() -> None:
    lines, notes = convert_file((FOLDER / "shopify.csv").read_bytes())
    olive, oat, large, coffee, vase, gift, cord = lines
    assert notes["html"] == 2
    assert [each.line for each in lines] == [2, 3, 5, 6, 7, 8, 9]
    # The options keep their order; a missing SKU is made of the handle and the variant's number.
    assert [each.cells["options"] for each in (olive, oat, large)] == [
        "Colour: Olive, Size: Small",
        "Colour: Oat, Size: Small",
        "Colour: Oat, Size: Large",
    ]
    assert [each.cells["sku"] for each in (olive, oat, large)] == [
        "MUG-OLIVE-S",
        "BREAKFAST-MUG-2",
        "MUG-OAT-L",
    ]
    assert "name" not in oat.cells
    assert [each.cells["compare_at"] for each in (olive, oat, large)] == ["30.00", "0.00", "28.00"]
    expected = {
        "product": "breakfast-mug",
        "name": "Breakfast mug",
        "description": "For **slow** mornings.\n\n- 350 ml\n- Dishwasher safe",
        "brand": "Kilnbrook",
        "category": "Mugs",
        "tags": "breakfast, gift",
        "status": "active",
        "weight_grams": "421",
        "barcode": "4006381333931",
        "cost_price": "9.50",
        "search_title": "Stoneware mug",
        "search_description": "A mug of stoneware.",
        "google_category": "2169",
        "mpn": "KB-1",
        "picture": "https://cdn.example/olive.jpg?v=1",
    }
    assert expected.items() <= olive.cells.items()
    # The line that has only a picture is no variant.
    assert olive.cells["pictures"].split("\n") == [
        "https://cdn.example/olive.jpg?v=1 Olive mug on a table",
        "https://cdn.example/oat.jpg?v=1",
        "https://cdn.example/shelf.jpg?v=1",
    ]
    assert {
        "product": "cafe-noir",
        "old_addresses": "/products/café_noir",
        "category": "Food, Beverages & Tobacco > Coffee",
        "status": "draft",
        "options": "",
        "sku": "CAFE-NOIR-1",
        "barcode": "4006381333948",
    }.items() <= coffee.cells.items()
    assert (vase.cells["status"], vase.cells["options"]) == ("archived", "")
    assert [(each.line, each.column) for each in gift.faults] == [(8, "Gift card")]
    # The import says that the option has no name, and that this is no price.
    assert (cord.cells["options"], cord.cells["price"]) == (format_options({"": "2 m"}), "nine")


def test_x533_an_export_of_before_2025_is_converted_alike() -> None:
    lines, _notes = convert_file((FOLDER / "shopify_2024.csv").read_bytes())
    regular, large, light = lines
    assert [each.line for each in lines] == [2, 4, 3]
    assert (regular.cells["sku"], large.cells["sku"]) == ("CLAY-POT-1", "CLAY-POT-2")
    assert regular.cells["options"] == "Size: Regular"
    assert regular.cells["pictures"].split("\n") == [
        "https://cdn.example/pot.jpg",
        "https://cdn.example/pot-2.jpg",
    ]
    assert {
        "status": "draft",
        "sku": "light 1",
        "price": "59.99",
        "compare_at": "75.00",
        "cost_price": "20.00",
        "weight_grams": "1500",
    }.items() <= light.cells.items()


def test_x533_units_are_taken_from_products_or_from_inventory() -> None:
    lines, notes = convert_file((FOLDER / "shopify.csv").read_bytes(), layout="stock")
    units = {each.cells["sku"]: each.cells["units"] for each in lines}
    assert units == {"MUG-OLIVE-S": "12", "BREAKFAST-MUG-2": "0", "CAFE-NOIR-1": "0"}
    # Of the others, no units are counted.
    assert notes == {"left_out": 5}
    lines, notes = convert_file((FOLDER / "shopify_inventory.csv").read_bytes(), layout="stock")
    assert [
        (each.cells["sku"], each.cells["warehouse"], each.cells["units"]) for each in lines
    ] == [
        ("MUG-OLIVE-S", "berlin", "12"),
        ("BREAKFAST-MUG-2", "berlin", "5"),
        ("BREAKFAST-MUG-2", "cork", "0"),
    ]
    assert notes == {"left_out": 1}


def test_x533_hostile_lines_are_lines_with_faults_at_most() -> None:
    long, many = "x" * 60_000, [["h", "", "", "", f"v{n}", "1"] for n in range(900)]
    cases = {
        "nothing but a handle": [["h", "", "", "", "", ""]],
        "no handle": [["", "A", "", "", "", "1"], ["", "B", "", "Size", "S", "1"]],
        "unseen letters": [["\x00\u202e𝕊", "𝕊\x00", "\x00", "\x00", "=1+1", "-"]],
        "long cells": [[long, long, long, long, long, "9" * 60_000]],
        "many variants": [["h", "T", "", "Size", "a", "1"], *many],
        "HTML": [["<b>", "<script>alert(1)</script>", "<i>", "<b>", "<b>", "<b>1</b>"]],
    }
    for name, records in cases.items():
        lines, _notes = convert_file(csv_of([HEAD, *records]))
        assert 0 < len(lines) <= len(records), name
        assert all(len(each.cells["product"]) <= 100 for each in lines), name
    # Two handles that make the same address are two products.
    lines, _notes = convert_file(
        csv_of([HEAD, ["a_b", "A", "", "", "", "1"], ["a-b", "B", "", "", "", "1"]])
    )
    assert len({each.cells["product"] for each in lines}) == 2
