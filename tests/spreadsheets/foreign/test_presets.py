"""Files of other shops are recognised by their columns, and become lines in our layout.

The files beside this one are ours. Their columns and quirks are those of the samples below, whose first lines were read on
27 November 2026; the checksum is that of the first line.
"""

import io
from hashlib import sha256

import pytest

from spreadsheets.entities import Fault
from spreadsheets.errors import FileRefused
from spreadsheets.files import normalize_name
from spreadsheets.foreign import magento
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.groups import group_lines, pack_line, read_converted
from spreadsheets.foreign.presets import PRESETS, find_preset, list_first_targets
from spreadsheets.foreign.values import Slugs
from spreadsheets.links import split_pictures
from tests.spreadsheets.files import csv_of
from tests.spreadsheets.foreign.reading import FOLDER, convert_file

SAMPLES = {
    "magento.csv": (
        "https://github.com/magento/magento2/blob/7a1ab4bce29ff459623b27ef2fe30e55a8cebc5e"
        "/app/code/Magento/ImportExport/Files/Sample/catalog_product.csv",
        "1a42d36740c028125679d1a89b4746ab41a2d2c0bf8e57e7d9dabe0716adb0e1",
        74,
    ),
    "prestashop.csv": (
        "https://github.com/PrestaShop/PrestaShop/blob/063fc9f4fa0aae8a6e8763523589e80dda14591a"
        "/docs/csv_import/products_import.csv",
        "daa9f2c8208f6ba0059fcf6399d20eebbc83b53f406d7ecc4dbaff33cf58bf73",
        67,
    ),
}
# Google's columns are those of
# https://github.com/kanenas/til/blob/f9aa95a481c1f659e1040ec9f282559c011767bb/Google-Shopping-Merchant-Center/product-data-xml-feed-example.md
# and values are written as https://support.google.com/merchants/answer/7052112 describes it.
SAMPLE_COLUMNS = frozenset(
    [
        "id",
        "title",
        "description",
        "link",
        "price",
        "condition",
        "availability",
        "image_link",
        "tax",
        "shipping_weight",
        "shipping",
        "google_product_category",
        "product_type",
        "item_group_id",
        "color",
        "size",
        "gender",
        "age_group",
        "pattern",
        "brand",
        "gtin",
        "mpn",
    ]
)


def lines_of(name: str) -> tuple[list[ConvertedLine], dict[str, int]]:
    return convert_file((FOLDER / name).read_bytes())


def test_x530_the_files_have_the_columns_of_public_samples() -> None:
    for name, (_address, checksum, count) in SAMPLES.items():
        head = (FOLDER / name).read_text().partition("\n")[0]
        separator = max(",;", key=head.count)
        # Exports of Magento have two more columns at the end, which its sample for imports leaves out.
        of_sample = separator.join(head.split(separator)[:count])
        assert sha256(of_sample.encode()).hexdigest() == checksum, name
    google = (FOLDER / "google.tsv").read_text().partition("\n")[0]
    assert {normalize_name(each) for each in google.split("\t")} >= SAMPLE_COLUMNS


def test_x530_the_presets_are_recognised_by_the_columns_and_choose_only_columns_that_are_there() -> (
    None
):
    heads = {
        "magento": ["SKU", "attribute_set_code", "product_type", "name"],
        "prestashop": ["Product ID", "Active (0/1)", "Name *", "Categories (x,y,z...)"],
        "google": ["id", "title", "link", "image link", "price"],
    }
    assert heads.keys() <= PRESETS.keys()
    for name, head in heads.items():
        assert find_preset("products", head) == find_preset("stock", head) == name
        assert find_preset("prices", head) == ""
        assert any(list_first_targets("products", head).values())
    assert find_preset("products", ["sku", "name", "price"]) == ""
    # Of two columns that fit, only the first can be the SKU.
    assert list_first_targets("products", ["SKU", "Compare at", "Foo", "sku (2)", "sku"]) == {
        "SKU": "sku",
        "Compare at": "compare_at",
        "Foo": "",
        "sku (2)": "",
        "sku": "",
    }


def test_x531_items_of_a_google_feed_become_variants_of_their_group() -> None:
    (olive, cream, clock), notes = lines_of("google.tsv")
    assert notes == {"html": 1, "sales": 2}
    assert (olive.line, cream.line, clock.line) == (2, 4, 3)
    assert olive.cells["product"] == cream.cells["product"] == "breakfast-mug"
    assert olive.cells["old_addresses"] == "/products/breakfast-mug"
    assert (olive.cells["price"], olive.cells["compare_at"]) == ("9.90", "12.50")
    assert cream.cells["price"] == "12.50"
    assert "compare_at" not in cream.cells
    assert olive.cells["options"] == "Color: Olive, Size: 0.3 l"
    assert olive.cells["weight_grams"] == "340"
    assert olive.cells["description"] == "For **slow** mornings."
    # The pictures of all variants are the product's, and the first of each is the variant's.
    assert [address for address, _alt in split_pictures(olive.cells["pictures"])] == [
        f"https://old.example/{each}.jpg" for each in ("olive", "side", "top", "cream")
    ]
    assert cream.cells["picture"] == "https://old.example/cream.jpg"
    assert "name" not in cream.cells
    # Its page shows other products, too; the currency is not the shop's; the sale is over.
    assert clock.cells["product"] == "wall-clock"
    assert "old_addresses" not in clock.cells
    assert clock.cells["price"] == "40.00 USD"
    assert clock.cells["details"] == "Material: oak"


def test_x531_a_magento_variant_belongs_to_its_configurable_product() -> None:
    (black, red, strap, bundle), notes = lines_of("magento.csv")
    assert notes == {"html": 1, "sales": 2, "left_out": 1}
    assert (black.line, red.line) == (2, 7)
    assert black.cells["product"] == red.cells["product"] == "shirt"
    assert (black.cells["name"], black.cells["category"]) == ("Shirt", "Gear > Shirts")
    assert black.cells["options"] == "Colour: Black"
    assert red.cells["options"] == '"Colour: Red, dark"'
    assert (black.cells["price"], black.cells["compare_at"]) == ("19.00", "24.00")
    assert red.cells["price"] == "24.00"
    assert (strap.cells["category"], strap.cells["other_categories"]) == ("Gear > Fitness", "")
    assert strap.cells["status"] == "draft"
    assert strap.cells["weight_grams"] == "1230"
    assert [(each.line, each.column) for each in bundle.faults] == [(6, "product_type")]


def test_x530_variations_that_no_file_has_lines_for_refuse_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(magento, "MAX_LINES", 2)
    assert len(lines_of("magento.csv")[0]) == 4
    monkeypatch.setattr(magento, "MAX_LINES", 1)
    with pytest.raises(FileRefused, match="too many variants"):
        lines_of("magento.csv")


def test_x531_prestashop_prices_get_the_tax_and_measures_are_converted() -> None:
    (player, folio), notes = lines_of("prestashop.csv")
    assert notes == {"html": 1}
    assert player.cells["product"] == "pocket-player"
    assert (player.cells["price"], player.cells["cost_price"]) == ("9.99", "4.35")
    assert player.cells["category"] == "Players > Small"
    sizes = [player.cells[f"{name}_mm"] for name in ("length", "width", "height")]
    assert (sizes, player.cells["weight_grams"]) == (["4", "6", "2"], "68")
    assert split_pictures(player.cells["pictures"]) == [
        ("https://old.example/15.jpg", ""),
        ("https://old.example/23.jpg", ""),
    ]
    # Half a cent is rounded up, as for tax everywhere.
    assert (folio.cells["status"], folio.cells["price"]) == ("draft", "8.93")


def test_x530_columns_of_an_unknown_shop_become_what_was_chosen() -> None:
    targets = {
        "Title": "name",
        "Text": "description",
        "Colour": "option",
        "Stuff": "detail",
        "Gross": "price",
        "Now": "sale_price",
        "Weight (lb)": "weight_grams",
        "Group": "categories",
        "Foo": "",
    }
    head = ",".join(targets)
    first = "Mug,<p>Good</p>,Olive,Clay,€ 12.50,9.50,2,Kitchen>Mugs;x,1"
    second = "Mug,,Cream,Clay,12.50,,2,,1"
    (olive, cream), notes = convert_file(f"{head}\n{first}\n{second}\n".encode(), targets)
    assert notes == {"html": 1}
    assert olive.cells == {
        "product": "mug",
        "name": "Mug",
        "description": "Good",
        "category": "Kitchen > Mugs;x",
        "other_categories": "",
        "details": "Stuff: Clay",
        "options": "Colour: Olive",
        "price": "9.50",
        "compare_at": "12.50",
        "weight_grams": "907",
        "sku": "MUG-1",
    }
    assert cream.cells == {
        "product": "mug",
        "options": "Colour: Cream",
        "price": "12.50",
        "weight_grams": "907",
        "sku": "MUG-2",
    }


def test_x530_values_of_other_layouts_than_products_stay_as_they_are() -> None:
    targets = {"Order": "number", "State": "status", "Sum": "total", "Price": "price"}
    content = b"Order,State,Sum,Price\n7,pending,1.234,\n7,,,2\n"
    first, second = convert_file(content, targets, "past-orders")[0]
    assert first.cells == {"number": "7", "status": "pending", "total": "1.234", "price": ""}
    assert (second.line, second.cells["price"]) == (3, "2")


def convert_one(**cells: str) -> ConvertedLine:
    """The line of a file with one line, whose columns are named like their targets."""
    content = csv_of([["Note", "sku", *cells], ["", "A", *cells.values()]])
    ((line,), _notes) = convert_file(content, {name: name for name in cells})
    return line


def test_x530_prices_lose_the_currency_and_others_stay_as_they_are() -> None:
    for typed, plain in (
        ("12,50 €", "12.50"),
        ("EUR 12,5", "12.50"),
        ("1,234", "1,234"),
        ("12.50 USD", "12.50 USD"),
        ("9" * 100_000, "9" * 100_000),
    ):
        line = convert_one(price=typed)
        assert (line.cells["price"], line.faults) == (plain, ())


def test_x530_measures_have_units() -> None:
    for typed, grams in (("350", "350"), (".5 kg", "500"), ("1 stone", "1 stone"), ("-1", "-1")):
        assert convert_one(weight_grams=typed).cells["weight_grams"] == grams
    assert convert_one(length_mm="10,5 in").cells["length_mm"] == "267"


def test_x531_a_sale_is_on_from_its_first_to_its_last_day() -> None:
    for start, end, price in (
        ("", "", "9.00"),
        ("2026-11-27", "2026-11-27", "9.00"),
        ("11/27/26, 1:06 AM", "", "9.00"),
        ("1/5/2026 0:00", "", "9.00"),
        ("2026-11-27T13:00+0000", "", "12.00"),
        ("", "2026-11-26", "12.00"),
    ):
        line = convert_one(price="12", sale_price="9", sale_starts=start, sale_ends=end)
        assert (line.cells["price"], line.faults) == (price, ()), (start, end)
    for wrong in (
        {"sale_price": "9", "sale_starts": "soon"},
        {"sale_price": "9", "sale_ends": "9999-12-31"},
        {"sale_price": "cheap"},
    ):
        (fault,) = convert_one(price="12", **wrong).faults
        assert (fault.line, fault.column) == (2, "price")


def test_x530_the_lines_of_a_product_come_together_wherever_they_are() -> None:
    fault = Fault(4, "tags", "No.")
    given = [
        ConvertedLine(2, {"product": "mug", "name": "Mug", "sku": "A", "price": "1"}),
        ConvertedLine(3, {"product": "vase", "name": "Vase", "price": "2"}),
        ConvertedLine(4, {"product": "mug", "tags": "x", "pictures": "b"}, (fault,)),
        ConvertedLine(5, {"product": "mug", "name": "Cup", "pictures": "a\nb", "price": "3"}),
        ConvertedLine(6, {"name": "日本", "sku": "J", "price": "4"}),
    ]
    found = list(group_lines(given, io.BytesIO()))
    assert found == [
        ConvertedLine(
            2,
            {
                "product": "mug",
                "name": "Mug",
                "tags": "x",
                "pictures": "b\na",
                "sku": "A",
                "price": "1",
            },
            (fault,),
        ),
        ConvertedLine(5, {"product": "mug", "price": "3", "sku": "MUG-2"}),
        ConvertedLine(3, {"product": "vase", "name": "Vase", "price": "2", "sku": "VASE-1"}),
        ConvertedLine(6, {"product": "", "name": "日本", "sku": "J", "price": "4"}),
    ]
    packed = io.BytesIO(b"".join(map(pack_line, found)))
    assert list(read_converted(packed)) == found
    many = (ConvertedLine(n, {"product": "mug", "sku": str(n)}) for n in range(1001))
    with pytest.raises(FileRefused, match="1000 variants"):
        list(group_lines(many, io.BytesIO()))


def test_x530_addresses_are_made_once() -> None:
    slugs = Slugs()
    assert [slugs.get(key, "Mug") for key in ("1", "2", "1", "3")] == [
        "mug",
        "mug-2",
        "mug",
        "mug-3",
    ]
    assert slugs.get("日本", "") == "product"
