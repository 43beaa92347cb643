"""A product with its variants and stock is saved by one form: all or nothing of the product, each unit of stock once."""

import re
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from adminpanel.catalogue import stock_cells, variant_rows
from adminpanel.catalogue.variant_grid import VariantGrid
from adminpanel.catalogue.views import products
from catalogue import queries, rules
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
from tests.orders.crashes import first_and_last_writes, kill_at_write, kill_in, record_writes


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
    return found(only, "I1", "I13", "I14", "I18", "I20", *more)


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
    # Without scripts a look at the new rows comes first; it saves nothing, and a variant whose value went is not sold.
    fewer = cleo.post(address(product), typed(product, {"option-0-values": "Oat"}, act="variants"))
    rows = dict(html.fromstring(fewer.content).get_element_by_id("product-form").form_values())
    assert [name for name in rows if name.endswith("-sold")] == ["variant-0-sold"]
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
    options = {"Colour": ["Oat", "Slate"], "Size": ["S", "L"]}
    product = make_product("Bowl", options=options, listed=True)
    sent = typed(product)
    del sent["variant-1-sold"]
    assert cleo.post(address(product), sent).status_code == 303
    off = stored(product.product_id)
    assert [each.sold for each in off.variants] == [True, False, True, True]
    # Another value of an option does not sell it again.
    more = typed(off, {"option-1-values": "S, L, M"})
    assert cleo.post(address(product), more).status_code == 303
    sold = {each.label: each.sold for each in stored(product.product_id).variants}
    assert (len(sold), [label for label, is_sold in sold.items() if not is_sold]) == (6, ["Oat, L"])
    again = typed(stored(product.product_id))
    row = next(name for name, each in again.items() if each == '["Oat", "L"]')
    again |= {row.replace("values", "sold"): "on"}
    assert cleo.post(address(product), again).status_code == 303
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
    chosen = SimpleUploadedFile("oak.jpg", make_file())
    answer = cleo.post(address(product), typed(product, cells, name="Not saved", pictures=chosen))
    assert answer.status_code == 422
    assert "Choose the pictures again" in answer.content.decode()
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
    sent = typed(product, cells, stock_reason="Counted anew")
    book(product, -2)
    answer = cleo.post(address(product), sent)
    assert answer.status_code == 409
    assert 'value="Counted anew"' in answer.content.decode()
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


def test_x502_stock_of_a_warehouse_that_was_closed_meanwhile_is_refused_in_its_cell(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = make_product("Bowl", listed=True)
    sent = typed(product, {"variant-0-stock-berlin": "4"})
    for module in (stock_cells, variant_rows):
        monkeypatch.setattr(module, "list_open_warehouses", lambda: ())
    refused = cleo.post(address(product), sent)
    assert refused.status_code == 409
    assert "closed" in errors_in(refused.content)["variant-0-stock-berlin"]


def test_x502_what_no_page_sends_is_refused_or_ignored(cleo: Client) -> None:
    product = make_product("Bowl", listed=True, stock=5)
    for seen in ("[" * 100_000, '{"stock-berlin": "%s"}' % ("9" * 5000), '{"\\ud800": "\\ud800"}'):
        cells = {"variant-0-seen": seen, "variant-0-values": seen, "variant-0-price": "cheap"}
        assert cleo.post(address(product), typed(product, cells)).status_code == 422
        cells |= {"variant-0-price": "12.00", "variant-0-stock-berlin": "9"}
        sent = typed(stored(product.product_id), cells | {"variant-0-picture": ""})
        refused = cleo.post(address(product), sent)
        assert list(errors_in(refused.content)) == ["variant-0-stock-berlin"]
    assert units(product) == 5
    rows = {f"variant-{number}-id": "" for number in range(rules.MAX_VARIANT_ROWS + 5)}
    assert len(VariantGrid.sent(product, rows).rows) == rules.MAX_VARIANT_ROWS


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


def test_x502_a_new_product_that_is_killed_before_its_stock_gets_the_stock_of_all_its_variants(
    cleo: Client,
) -> None:
    """Also that of a variant which is not available. What is typed anew before it is sent again is no repeat, but kept."""
    cells = {"option-0-name": "Size", "option-0-values": "S, M"}
    cells |= {"option-1-name": "Colour", "option-1-values": "Oat, Moss"}
    cells |= {"variant-0-values": '["S", "Oat"]', "variant-0-stock-berlin": "3"}
    cells |= {"variant-1-id": "", "variant-1-values": '["M", "Moss"]', "variant-1-price": "9.50"}
    cells |= {"variant-1-stock-berlin": "4"}
    for more in ({}, {"variant-0-stock-cork": "2", "name": "Elm stool"}):
        sent = typed_new(cells)
        kill_in(products, "book_stock", lambda: cleo.post(NEW, sent))  # noqa: B023
        made = stored(UUID(sent["product_id"]))
        assert [each.sold for each in made.variants] == [True, True, True, False]
        answer = cleo.post(NEW, sent | more)
        if more:
            assert answer.status_code == 409
            shown = html.fromstring(answer.content)
            again = dict(shown.get_element_by_id("product-form").form_values())
            again["overwrite"] = shown.get_element_by_id("overwrite").get("value")
            assert "Elm stool" in answer.content.decode()
            answer = cleo.post(address(made), again)
        assert answer.status_code == 303
        assert (units(made), units(made, 3)) == (3, 4)
    made = stored(made.product_id)
    assert (made.name, units(made, 0, "cork"), made.variants[3].sold) == ("Elm stool", 2, False)


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
    assert answer.status_code == 400, "only the address that the page has signed takes as much"
    form = html.fromstring(page.content).get_element_by_id("product-form")
    answer = cleo.post(form.action, sent)
    assert answer.status_code == 303
    statements, rounds = read_cost(answer)
    assert statements <= 800 + 40 * 10
    assert rounds <= 400
    assert [units(product, n) for n in (0, 100, 195)] == [2, 102, 197]
