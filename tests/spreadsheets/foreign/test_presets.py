"""Files of other shops are recognised by their columns, and become lines in our layout.

The files beside this one are ours. Their columns and quirks are those of the samples below, whose first lines were read on
27 November 2026; the checksum is that of the first line.
"""

import io
from collections.abc import Iterator
from hashlib import sha256

import pytest

from spreadsheets.entities import Fault
from spreadsheets.errors import FileRefused
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.feeds import open_feed
from spreadsheets.foreign.groups import group_lines, pack_line, read_converted
from spreadsheets.foreign.presets import PRESETS, find_preset, list_first_targets
from spreadsheets.foreign.values import Slugs, is_between, plain_price
from tests.spreadsheets.foreign.reading import FOLDER, NOW, convert_file

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
# Of Google's feeds the names of the elements are those of
# https://github.com/kanenas/til/blob/f9aa95a481c1f659e1040ec9f282559c011767bb/Google-Shopping-Merchant-Center/product-data-xml-feed-example.md
# and sale prices and further pictures are as https://support.google.com/merchants/answer/7052112 describes them.
SAMPLE_ELEMENTS = frozenset(
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
    lines, notes = convert_file((FOLDER / name).read_bytes())
    return lines, dict(notes)


def test_x530_the_files_have_the_columns_of_public_samples() -> None:
    for name, (_address, checksum, count) in SAMPLES.items():
        head = (FOLDER / name).read_text().partition("\n")[0]
        separator = max(",;", key=head.count)
        # Exports of Magento have two more columns at the end, which its sample for imports leaves out.
        of_sample = separator.join(head.split(separator)[:count])
        assert sha256(of_sample.encode()).hexdigest() == checksum, name
    elements = set(open_feed(io.BytesIO((FOLDER / "google.xml").read_bytes())).head)
    assert elements >= SAMPLE_ELEMENTS


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
        preset = find_preset("products", head)
        assert preset
        assert preset.name == name
        assert find_preset("prices", head) is None
        assert any(list_first_targets("products", head).values())
    assert find_preset("products", ["sku", "name", "price"]) is None
    assert list_first_targets("products", ["SKU", "Compare at", "Foo"]) == {
        "SKU": "sku",
        "Compare at": "compare_at",
        "Foo": "",
    }


def test_x531_items_of_a_google_feed_become_variants_of_their_group() -> None:
    (olive, cream, clock), notes = lines_of("google.xml")
    assert notes == {"html": 1, "sale_not_on": 1}
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
    assert olive.cells["pictures"].split("\n") == [
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
    assert notes == {"html": 1, "sale_not_on": 1, "translations": 1}
    assert (black.line, red.line) == (2, 7)
    assert black.cells["product"] == red.cells["product"] == "shirt"
    assert (black.cells["name"], black.cells["category"]) == ("Shirt", "Gear > Shirts")
    assert black.cells["options"] == "Colour: Black"
    assert red.cells["options"] == '"Colour: Red, dark"'
    assert (black.cells["price"], black.cells["compare_at"]) == ("19.0000", "24.0000")
    assert red.cells["price"] == "24.0000"
    assert (strap.cells["category"], strap.cells["other_categories"]) == ("Gear > Fitness", "")
    assert strap.cells["status"] == "draft"
    assert strap.cells["weight_grams"] == "1230"
    assert strap.cells["details"].split("\n") == [
        "Country of manufacture: Portugal",
        "Care: Wash cold, do not bleach",
        "Fair trade: Yes",
    ]
    assert [(each.line, each.column) for each in bundle.faults] == [(6, "product_type")]


def test_x531_prestashop_prices_get_the_tax_and_measures_are_converted() -> None:
    (player, folio), notes = lines_of("prestashop.csv")
    assert notes == {"html": 1, "sale_not_on": 1, "tax_added": 2}
    assert player.cells["product"] == "pocket-player"
    assert (player.cells["price"], player.cells["compare_at"]) == ("112.46", "119.00")
    assert player.cells["cost_price"] == "80"
    assert player.cells["category"] == "Players > Small"
    sizes = [player.cells[f"{name}_mm"] for name in ("length", "width", "height")]
    assert (sizes, player.cells["weight_grams"]) == (["4", "6", "2"], "68")
    assert player.cells["details"] == "Colour: Red\nCase: Steel"
    assert player.cells["pictures"].split("\n") == [
        "http://old.example/15.jpg Front",
        "http://old.example/23.jpg Back",
    ]
    assert (folio.cells["status"], folio.cells["price"]) == ("draft", "29.75")


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


def test_x530_prices_are_read_however_they_are_written_unless_that_is_unclear() -> None:
    for typed, plain in (
        ("1,234.50", "1234.50"),
        ("1.234,50 €", "1234.50"),
        ("EUR 12,5", "12.5"),
        ("1 234,00", "1234.00"),
        ("1.234.567", "1234567"),
        ("1,234", "1,234"),
        ("12.50 USD", "12.50 USD"),
        ("free", "free"),
        ("9" * 100_000, "9" * 100_000),
    ):
        assert plain_price(typed) == plain


def test_x531_a_sale_is_on_from_its_first_to_its_last_day() -> None:
    for start, end, is_on in (
        ("", "", True),
        ("2026-11-27", "2026-11-27", True),
        ("11/27/26, 1:06 AM", "", True),
        ("2026-11-27T13:00+0000", "", False),
        ("", "2026-11-26", False),
        ("soon", "", False),
        ("", "9999-12-31", False),
    ):
        assert is_between(NOW, start, end) == is_on, (start, end)


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


def hostile_feeds() -> Iterator[tuple[bytes, str]]:
    item = b"<rss><channel><item>%s</item></channel></rss>"
    yield b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><rss/>', "too large, or no product"
    yield item % (b"<id>" + b"x" * 300_000 + b"</id>"), "too large"
    yield item % b"".join(b"<a%d/>" % number for number in range(300)), "too large"
    yield item % (b"<a>" * 20 + b"</a>" * 20), "too large"
    yield b"<rss x='" + b"9" * 3_000_000, "too large"
    yield b"<rss>" + b"<item><id>1</id></item>" * 100_001 + b"</rss>", "too large"
    yield b"<rss><item><id>1", "can’t be read"
    yield b"<?xml version='1.0' encoding='none'?><rss/>", "can’t be read"
    yield b"<rss><channel/></rss>", "no items"
    heads = (b"<item><f%d>1</f%d></item>" % (number, number) for number in range(300))
    yield b"<rss>" + b"".join(heads) + b"</rss>", "256 columns"


def test_x530_a_feed_is_bounded_and_read_without_entities() -> None:
    for content, text in hostile_feeds():
        with pytest.raises(FileRefused, match=text):
            list(open_feed(io.BytesIO(content)).lines)
