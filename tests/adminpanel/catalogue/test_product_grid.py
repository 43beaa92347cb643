"""A product with its variants and stock is saved by one form: all or nothing of the product, each unit of stock once."""

import re
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from catalogue import queries
from catalogue.entities import Product
from consistency.findings import Scope
from inventory.operations import adjust_stock, copy_stock
from inventory.queries import get_stock_numbers, list_ledger_entries
from tests.adminpanel.catalogue.product_page import NEW, address, stored, typed, typed_new
from tests.adminpanel.test_page_costs import read_cost
from tests.catalogue.photo_files import make_file
from tests.clock import now
from tests.consistency.test_check_consistency import found
from tests.factories import make_product, make_stock
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes


def units(product: Product, number: int = 0, warehouse: str = "berlin") -> int:
    return get_stock_numbers(product.variants[number].variant_id, warehouse).available


def corrections(product: Product, warehouse: str = "berlin") -> list[int]:
    """The corrections of a product's stock that its ledger has."""
    return [
        row.units
        for variant in product.variants
        for row in list_ledger_entries(variant.variant_id, warehouse)
        if row.kind == "adjusted"
    ]


def wrong_in(*products: Product, more: tuple[str, ...] = ()) -> list[str]:
    """What the consistency check says of products, what they have claimed and where they are listed, and of their stock."""
    variants = frozenset(each.variant_id for product in products for each in product.variants)
    only = Scope(products=frozenset(each.product_id for each in products), variants=variants)
    return found(only, "I1", "I13", "I14", "I16", "I18", "I20", *more)


def errors_in(content: bytes) -> dict[str, str]:
    """The errors of a page's cells, keyed by the name of the input."""
    page = html.fromstring(content)
    return {
        each.get("id").removesuffix("-error"): each.text_content()
        for each in page.xpath("//p[contains(@class, 'field__error')]")
    }


def book(product: Product, more: int, warehouse: str = "berlin") -> None:
    """Stock that a colleague corrects elsewhere."""
    variant_id = product.variants[0].variant_id
    adjust_stock(
        variant_id, warehouse, more, adjustment_id=uuid4(), actor="Ben", reason="Broken", now=now()
    )
    copy_stock(product.product_id)


# ---- Saved


def test_x501_one_save_changes_a_product_its_variants_and_their_stock(cleo: Client) -> None:
    product = make_product("Tea", options={"Size": ["S", "L"]}, listed=True, stock=5)
    cells = {
        "variant-0-price": "4.00",
        "variant-0-content": "250",
        "variant-0-stock-berlin": "7",
        "variant-0-stock-cork": "3",
        "variant-1-sku": f"n-{uuid4().hex[:10]}",
        "variant-1-barcode": "4006381333931",
        "variant-1-weight_grams": "900",
        "variant-1-stock-berlin": "2",
    }
    sent = typed(product, cells, name="Green tea", unit="g")
    answer = cleo.post(address(product), sent)
    assert (answer.status_code, answer["Location"]) == (303, address(product))
    small, large = stored(product.product_id).variants
    assert (small.price, small.content) == (Money("4.00", EUR), Decimal(250))
    assert (large.barcode, large.weight_grams) == ("4006381333931", 900)
    assert large.sku == cells["variant-1-sku"].upper()
    assert [units(product), units(product, 0, "cork"), units(product, 1)] == [7, 3, 2]
    page = cleo.get(address(product)).content.decode()
    assert "Saved: Name, Unit of the content, S, Price" in page
    assert 'name="variant-0-stock-cork" value="3"' in re.sub(r"\s+", " ", page)
    # X503: shoppers see the unit price of the variant, and cards that of the cheapest one.
    shop = Client().get(reverse("product", args=(product.slug,)), {"variant": small.sku})
    assert "€1.60 / 100 g" in shop.content.decode()
    assert queries.product_card(stored(product.product_id)).unit_price == Money("1.60", EUR)
    assert wrong_in(stored(product.product_id)) == []


def test_x501_a_new_product_has_its_variants_stock_and_pictures_by_one_save(cleo: Client) -> None:
    cells = {
        "option-0-name": "Size",
        "option-0-values": "S, M",
        "option-1-name": "Colour",
        "option-1-values": 'Oat, "Blue, pale"',
    }
    for n, values in enumerate(('["S", "Oat"]', '["S", "Blue, pale"]', '["M", "Oat"]')):
        cells |= {f"variant-{n}-id": "", f"variant-{n}-values": values, f"variant-{n}-sold": "on"}
        cells |= {f"variant-{n}-price": f"1{n}.00", f"variant-{n}-stock-berlin": str(n + 1)}
    sent = typed_new(cells)
    sent["pictures"] = SimpleUploadedFile("oak.jpg", make_file())
    answer = cleo.post(NEW, sent)
    made = stored(UUID(sent["product_id"]))
    assert (answer.status_code, answer["Location"]) == (303, address(made))
    # The fourth combination had no row: it costs what the first one does.
    assert [(each.label, int(each.price.amount)) for each in made.variants] == [
        *(("Oat, S", 10), ("Blue, pale, S", 11), ("Oat, M", 12), ("Blue, pale, M", 10))
    ]
    assert [units(made, n) for n in range(4)] == [1, 2, 3, 0]
    assert len({each.sku for each in made.variants}) == 4
    assert [each.file_name for each in queries.list_uploads(made.product_id)] == ["oak.jpg"]
    assert wrong_in(made, more=("I26",)) == []


def test_x501_changed_options_make_variants_and_keep_what_was_typed(cleo: Client) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True)
    cells = {
        "option-0-values": "Oat, Moss",
        "option-1-name": "Size",
        "option-1-values": "S, L",
        "variant-0-price": "15.00",
    }
    # Without scripts a look at the new rows comes first; it saves nothing.
    look = cleo.post(address(product), typed(product, cells, act="variants"))
    form = html.fromstring(look.content).get_element_by_id("product-form")
    shown = dict(form.form_values())
    assert look.status_code == 200
    assert stored(product.product_id).version == 1
    labels = [each for name, each in shown.items() if name.endswith("-values")]
    assert '["Moss", "L"]' in labels
    new = next(
        name for name, each in shown.items() if each == '["Moss", "L"]' and "variant" in name
    )
    shown |= {new.replace("values", "stock-cork"): "4", new.replace("values", "price"): "21.00"}
    assert cleo.post(address(product), shown).status_code == 303
    saved = stored(product.product_id)
    assert saved.option_names == ("Colour", "Size")
    sold = {each.label: each for each in saved.variants if each.sold}
    assert list(sold) == ["Oat, S", "Oat, L", "Moss, S", "Moss, L"]
    assert [int(each.price.amount) for each in sold.values()] == [15, 15, 15, 21]
    assert get_stock_numbers(sold["Moss, L"].variant_id, "cork").available == 4
    assert wrong_in(saved) == []


def test_x501_a_saved_row_goes_on_as_the_combination_that_it_names(cleo: Client) -> None:
    product = make_product("Bowl", options={"Size": ["S"]}, listed=True, stock=5)
    cells = {
        "option-1-name": "Colour",
        "option-1-values": "Oat, Slate",
        "variant-0-values": '["S", "Slate"]',
        "variant-0-stock-berlin": "6",
    }
    assert cleo.post(address(product), typed(product, cells)).status_code == 303
    labels = {each.label: each.variant_id for each in stored(product.product_id).variants}
    assert labels.keys() == {"Oat, S", "Slate, S"}
    assert labels["Slate, S"] == product.variants[0].variant_id
    assert units(product) == 6


def test_x501_a_variant_is_not_available_and_is_again(cleo: Client) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True)
    sent = typed(product)
    del sent["variant-0-sold"]
    assert cleo.post(address(product), sent).status_code == 303
    off = stored(product.product_id)
    assert [each.sold for each in off.variants] == [False, True]
    # Another value for the option does not sell it again.
    more = typed(off, {"option-0-values": "Slate, Moss"})
    assert cleo.post(address(product), more).status_code == 303
    both = {each.label: each.sold for each in stored(product.product_id).variants}
    assert both == {"Slate": True, "Moss": True, "Oat": False}
    again = typed(stored(product.product_id))
    row = next(name for name, each in again.items() if each == '["Oat"]')
    assert cleo.post(address(product), again | {row.replace("values", "sold"): "on"})
    assert all(each.sold for each in stored(product.product_id).variants)


# ---- Refused


def test_x502_bad_cells_are_marked_one_by_one_and_nothing_is_saved(cleo: Client) -> None:
    taken = make_product(listed=True).variants[0].sku
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True, stock=5)
    before = stored(product.product_id)
    cells = {
        "variant-0-price": "cheap",
        "variant-0-stock-berlin": "x",
        "variant-1-barcode": "4006381333931",
        "variant-1-weight_grams": "1.5",
        "variant-1-sku": "",
        "variant-1-content": "-1",
    }
    answer = cleo.post(address(product), typed(product, cells, name="Not saved"))
    assert answer.status_code == 422
    said = errors_in(answer.content)
    assert said.keys() == cells.keys() - {"variant-1-barcode"}
    assert 'value="cheap"' in answer.content.decode()
    # What the catalogue refuses is marked in its cells, too.
    cells = {
        "variant-0-compare_at": "1.00",
        "variant-0-sku": taken,
        "variant-1-barcode": "4006381333932",
        "variant-1-stock-berlin": "9",
    }
    answer = cleo.post(address(product), typed(product, cells))
    assert answer.status_code == 422
    assert errors_in(answer.content).keys() >= {"variant-0-compare_at", "variant-1-barcode"}
    only_taken = cleo.post(address(product), typed(product, {"variant-0-sku": taken}))
    assert "Another variant has the SKU" in errors_in(only_taken.content)["variant-0-sku"]
    for options, sentence in (
        ({"option-0-values": ""}, "Enter the values"),
        ({"option-1-values": "S"}, "Enter a name"),
        ({"option-1-name": "Colour", "option-1-values": "S"}, "different name"),
        ({"option-0-values": ", ".join(map(str, range(201)))}, "more than 200"),
    ):
        refused = cleo.post(address(product), typed(product, options))
        assert refused.status_code == 422
        assert sentence in " ".join(errors_in(refused.content).values())
    assert stored(product.product_id) == before
    assert (units(product), units(product, 1)) == (5, 0)


def test_x502_stock_that_has_moved_is_refused_in_its_cell_and_the_rest_is_saved(
    cleo: Client,
) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True, stock=5)
    make_stock(8, product_id=product.product_id, variant_id=product.variants[1].variant_id)
    cells = {
        "variant-0-stock-berlin": "9",
        "variant-1-stock-berlin": "6",
        "variant-1-price": "20.00",
    }
    sent = typed(product, cells)
    book(product, -2)
    answer = cleo.post(address(product), sent)
    assert answer.status_code == 409
    said = errors_in(answer.content)
    assert list(said) == ["variant-0-stock-berlin"]
    assert "it’s 3 now" in said["variant-0-stock-berlin"]
    assert (units(product), units(product, 1)) == (3, 6)
    assert stored(product.product_id).variants[1].price.amount == 20
    # The page keeps the number that was typed beside the one that there is. Sent again it counts.
    form = html.fromstring(answer.content).get_element_by_id("product-form")
    again = dict(form.form_values())
    assert again["variant-0-stock-berlin"] == "9"
    assert cleo.post(address(product), again).status_code == 303
    assert (units(product), units(product, 1)) == (9, 6)
    assert wrong_in(stored(product.product_id)) == []


def test_x502_two_people_on_one_product_lose_nothing(cleo: Client) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True, stock=5)
    shown = typed(product)
    first = shown | {"variant-0-price": "13.00", "save_id": str(uuid4())}
    assert cleo.post(address(product), first).status_code == 303
    second = shown | {"variant-1-price": "14.00", "variant-0-stock-berlin": "8"}
    answer = cleo.post(address(product), second)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Oat, Price" in text
    assert 'value="14.00"' in text
    assert 'value="8"' in text
    assert [each.price.amount for each in stored(product.product_id).variants] == [13, 12]
    assert units(product) == 5
    found = re.search(r'name="overwrite"\s+value="(\w+)"', text)
    assert found
    assert cleo.post(address(product), second | {"overwrite": found[1]}).status_code == 303
    assert [each.price.amount for each in stored(product.product_id).variants] == [12, 14]
    assert units(product) == 8


# ---- Sent again


def test_x502_a_form_that_is_sent_twice_books_once(cleo: Client) -> None:
    product = make_product("Bowl", listed=True, stock=5)
    sent = typed(product, {"variant-0-stock-berlin": "9", "variant-0-price": "13.00"})
    assert [cleo.post(address(product), sent).status_code for _ in range(2)] == [303, 303]
    assert (units(product), corrections(product)) == (9, [4])
    # Sold since, and sent once more: the correction is not made again.
    book(product, -3)
    assert cleo.post(address(product), sent).status_code == 303
    assert (units(product), sorted(corrections(product))) == (6, [-3, 4])
    # The same page with another number is another save, from a stale page.
    assert cleo.post(address(product), sent | {"variant-0-stock-berlin": "20"}).status_code == 409
    assert units(product) == 6


def test_x502_a_save_that_is_killed_at_any_write_is_finished_by_sending_it_again(
    cleo: Client,
) -> None:
    def make() -> tuple[Product, dict[str, Any]]:
        product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True, stock=5)
        cells = {
            "variant-0-stock-berlin": "9",
            "variant-1-stock-cork": "2",
            "variant-0-price": "13.00",
        }
        return product, typed(product, cells)

    product, sent = make()
    writes = first_and_last_writes(record_writes(lambda: cleo.post(address(product), sent)))
    own = [each for each in writes if "stock" in each.tables or "inventory" in each.tables]
    product_write = next(each for each in writes if each.tables == "products")
    assert len(own) >= 6
    for target in (product_write, *own):
        product, sent = make()
        assert kill_at_write(target, lambda: cleo.post(address(product), sent)), target  # noqa: B023
        assert cleo.post(address(product), sent).status_code == 303, target
        assert (units(product), units(product, 1, "cork")) == (9, 2), target
        assert (corrections(product), corrections(product, "cork")) == ([4], [2]), target
        assert stored(product.product_id).variants[0].price.amount == 13
        assert wrong_in(stored(product.product_id)) == [], target


# ---- Large


def test_x501_two_hundred_variants_are_saved_at_once_within_bounds(cleo: Client) -> None:
    options = {"Size": [str(n) for n in range(20)], "Colour": [f"No. {n}" for n in range(10)]}
    product = make_product("Bowl", options=options, stock=1)
    page = cleo.get(address(product))
    assert read_cost(page) <= (9, 4)
    assert len(page.content) < 1_500_000
    cells = {f"variant-{n}-price": "12.50" for n in range(200)}
    cells |= {f"variant-{n}-stock-berlin": str(n + 2) for n in range(0, 200, 5)}
    sent = typed(product, cells)
    names, size = len(sent), sum(len(f"{name}={value}&") for name, value in sent.items())
    assert names < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS / 3
    assert size < settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 3
    answer = cleo.post(address(product), sent)
    assert answer.status_code == 303
    statements, rounds = read_cost(answer)
    assert statements <= 800 + 40 * 10
    assert rounds <= 400
    assert [units(product, n) for n in (0, 100, 195)] == [2, 102, 197]
