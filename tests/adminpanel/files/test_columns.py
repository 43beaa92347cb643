"""The page on which staff match the columns of another shop's file, and the file with faulty rows."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from accounts.audit_log import STAFF
from catalogue.operations.picture_uploads import RAW_DURATION
from spreadsheets import entities, jobs, queries
from tests.adminpanel.files.test_spreadsheets import send, task_of
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_category, make_user, sign_in_staff
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


def test_x531_an_import_whose_columns_nobody_matches_ends_with_its_file(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = send(cleo, shop_file("x"), "products")
    task = go_on(task_of(answer))
    assert "kept for a day" in cleo.get(answer["Location"]).content.decode()
    monkeypatch.setattr(queries, "iterate_tasks", lambda _month: [stored(task)])
    for waited, state in (
        (RAW_DURATION, entities.ASKING),
        (RAW_DURATION + timedelta(seconds=1), "refused"),
    ):
        jobs.remove_old_exports(task.started_at + waited)
        assert stored(task).state == state
    assert not default_storage.exists(task.stored_as)
    assert cleo.get(columns_of(answer["Location"]))["Location"] == answer["Location"]
    assert "within a day. Upload it again" in cleo.get(answer["Location"]).content.decode()


def test_x531_matched_columns_and_created_categories_are_in_the_audit_log(client: Client) -> None:
    user, shelf, junk = make_user("Cleo", role="catalogue"), make_category(uuid4().hex), uuid4().hex
    cleo = sign_in_staff(client, user)
    groups = [f"Jugs {n} {'of the old shop ' * 3}".strip() for n in range(5)]
    lines = [[f"jug-{n}", "Jug", "", group, "", "", "", "1", "x"] for n, group in enumerate(groups)]
    answer = send(cleo, csv_of([[*HEAD, junk], *lines]), "products")
    task = go_on(task_of(answer))
    page = cleo.get(columns_of(answer["Location"]))
    fields = {each.label: each for each in page.context["form"]}
    sent = {each.html_name: each.value() or "" for each in page.context["form"]}
    paths = [shelf.slug, *(f"{shelf.name} > {group}" for group in groups[1:])]
    sent |= {fields[group].html_name: path for group, path in zip(groups, paths, strict=True)}
    sent[fields["Note"].html_name] = "detail"
    assert cleo.post(page.context["action"], sent).status_code == 303
    go_on(task)
    entry = list_entries_this_month(user, STAFF)[0]
    assert entry.changes == {
        "file": " → =list.csv",
        **{f"category {n}": f" → {path}" for n, path in enumerate(paths[1:], start=1)},
        "column Note": " → detail",
    }


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
    file = cleo.post(f"{answer['Location']}errors.csv")
    assert "products-errors-" in file["Content-Disposition"]
    lines = b"".join(file.streaming_content).decode("utf-8-sig").splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith("errors,product,name,")
    assert len(lines) == 2
    assert "price: Enter a price" in lines[1]
    assert will.post(f"{answer['Location']}errors.csv").status_code == 404
    task_id = UUID(int=1, version=1)
    assert cleo.post(reverse("adminpanel:faulty_rows", args=(task_id,))).status_code == 404
