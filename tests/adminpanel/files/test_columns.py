"""The page on which staff match the columns of another shop's file, and the file with faulty rows."""

from uuid import UUID

from django.test import Client
from django.urls import reverse

from spreadsheets import entities
from tests.adminpanel.files.test_spreadsheets import send, task_of
from tests.factories import make_category
from tests.spreadsheets.files import csv_of, go_on, stored

HEAD = ["Handle", "Title", "Body (HTML)", "Type", "Option1 Name", "Option1 Value", "Variant SKU", "Variant Price", "Note"]  # fmt: skip


def shop_file(category: str, price: str = "12.00") -> bytes:
    line = ["jug", "Jug", "<p>Tall.</p>", category, "Colour", "Olive", "JUG-1", price, "Fragile"]
    return csv_of([HEAD, line])


def columns_of(address: str) -> str:
    return f"{address}columns/"


def test_x531_each_column_is_shown_with_its_first_values_and_choices(cleo: Client) -> None:
    shelf = make_category("Shelves")
    answer = send(cleo, shop_file(shelf.slug), "products")
    task = go_on(task_of(answer))
    assert task.state == entities.ASKING
    assert "Match columns" in cleo.get(answer["Location"]).content.decode()
    page = cleo.get(columns_of(answer["Location"]))
    text = page.content.decode()
    for shown in ("columns of Shopify", "As in Shopify", "Variant Price", "12.00", "Fragile"):
        assert shown in text
    form = page.context["form"]
    names = {field.label: field.name for field, _samples in form.columns()}
    sent = {each.name: each.value() or "" for each in form}
    # Of two columns only one can be the name.
    wrong = sent | {names["Note"]: "brand", names["Title"]: "brand"}
    refused = cleo.post(page.context["action"], wrong)
    assert refused.status_code == 422
    assert "already becomes brand" in refused.content.decode()
    done = cleo.post(page.context["action"], sent | {names["Note"]: "detail", names["Type"]: ""})
    assert done["Location"] == answer["Location"]
    task = go_on(task)
    # Without the type, the product has no category.
    assert (task.state, task.source, task.counts) == ("read", "shopify", {"faulty": 1})
    answer = send(cleo, shop_file(shelf.slug), "products")
    task = go_on(task_of(answer))
    page = cleo.get(columns_of(answer["Location"]))
    sent = {each.name: each.value() or "" for each in page.context["form"]}
    assert (sent[names["Note"]], sent[names["Type"]]) == ("detail", "")
    # What was skipped can be as in Shopify again.
    cleo.post(page.context["action"], sent | {names["Type"]: "@"})
    task = go_on(task)
    assert (task.state, task.counts) == ("read", {"new": 1})
    text = cleo.get(answer["Location"]).content.decode()
    assert "HTML in 1 description was converted." in text
    assert "Note: Fragile" in text
    assert cleo.get(columns_of(answer["Location"]))["Location"] == answer["Location"]


def test_x531_of_two_who_match_columns_the_later_changes_nothing(cleo: Client) -> None:
    shelf = make_category("Shelves")
    answer = send(cleo, shop_file(shelf.slug), "products")
    task = go_on(task_of(answer))
    page = cleo.get(columns_of(answer["Location"]))
    sent = {each.name: each.value() or "" for each in page.context["form"]}
    assert cleo.post(page.context["action"], sent).status_code == 303
    before = stored(task)
    late = cleo.post(page.context["action"], sent | {"column-1": ""})
    assert late.status_code == 409
    assert "matched already" in late.content.decode()
    assert stored(task) == before


def test_x532_a_category_is_typed_for_an_unknown_one(cleo: Client) -> None:
    answer = send(cleo, shop_file("Jugs of the old shop, 2. choice"), "products")
    task = go_on(task_of(answer))
    page = cleo.get(columns_of(answer["Location"]))
    assert "Unknown categories" in page.content.decode()
    (field,) = page.context["form"].categories()
    sent = {each.name: each.value() or "" for each in page.context["form"]}
    for wrong in ("a > b > c > d", "a > > b"):
        assert cleo.post(page.context["action"], sent | {field.name: wrong}).status_code == 422
    shelf = make_category("Shelves")
    cleo.post(page.context["action"], sent | {field.name: shelf.slug})
    assert go_on(task).counts == {"new": 1}


def test_x532_rows_with_errors_are_fetched_as_a_file(cleo: Client, will: Client) -> None:
    shelf = make_category("Shelves")
    content = csv_of(
        [["product", "sku", "name", "category", "description", "price"],
         ["pan", "PAN-1", "Pan", shelf.slug, "<b>Flat</b>", "many"],
         ["pot", "POT-1", "Pot", shelf.slug, "<b>Deep</b>", "5.00"]]
    )  # fmt: skip
    answer = send(cleo, content, "products")
    go_on(task_of(answer))
    text = cleo.get(answer["Location"]).content.decode()
    assert "Shoppers will see the tags" in text
    assert f"{answer['Location']}errors.csv" in text
    file = cleo.get(f"{answer['Location']}errors.csv")
    assert "products-errors-" in file["Content-Disposition"]
    lines = b"".join(file.streaming_content).decode("utf-8-sig").splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "product,name,description,category,sku,price,errors"
    assert len(lines) == 2
    assert "price: Enter a price" in lines[1]
    assert will.get(f"{answer['Location']}errors.csv").status_code == 404
    task_id = UUID(int=1, version=1)
    assert cleo.get(reverse("adminpanel:faulty_rows", args=(task_id,))).status_code == 404
