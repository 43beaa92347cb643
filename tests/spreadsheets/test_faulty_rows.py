"""The rows with errors of an import, as a file that staff correct and send again."""

import csv
import io
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from adminpanel.files.views import IMPORT_LOOK
from spreadsheets import operations
from spreadsheets.entities import SpreadsheetTask
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_category, make_user, sign_in_staff
from tests.spreadsheets.files import csv_of, read

HEAD = ["product", "sku", "name", "description", "category", "price"]


def faulty_file(task: SpreadsheetTask) -> list[list[str]]:
    content = b"".join(operations.iterate_faulty_rows(task)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(content, newline="")))


def test_x532_a_row_with_an_error_keeps_all_its_lines_and_only_the_columns_of_its_file() -> None:
    shelf, slug = make_category().slug, f"vase-{uuid4().hex[:10]}"
    lines = [
        HEAD,
        [slug, f"{slug}-1".upper(), "=Vase", "", shelf, "9.00"],
        [slug, f"{slug}-2".upper(), "", "", "", "many"],
        [f"{slug}-b", f"{slug}-3", "Jug", "", shelf, "1.00"],
    ]
    task = read(csv_of(lines), "products")
    assert task.counts == {"faulty": 1, "new": 1}
    head, *found = faulty_file(task)
    # A column that the file does not have would be empty, and clear what the product has.
    assert sorted(head) == sorted([*HEAD, "errors"])
    cells = [dict(zip(head, line, strict=True)) for line in found]
    assert [[each[name] for name in HEAD] for each in cells] == [
        [slug, lines[1][1], "'=Vase", "", shelf, "9.00"],
        lines[2],
    ]
    assert [each["errors"] for each in cells] == ["", "price: Enter a price, such as 12.50."]


def test_x532_a_row_that_is_too_large_for_a_batch_is_a_fault_without_cells() -> None:
    lines = [["vase", f"V{n}", *["x" * 60_000] * 4] for n in range(3)]
    task = read(csv_of([HEAD, *lines]), "products")
    assert task.counts == {"faulty": 1}
    assert faulty_file(task) == [["errors"]]


def test_s120_the_file_of_rows_about_people_is_a_look_in_the_log(client: Client) -> None:
    bea = make_user("Bea", role="support")
    desk = sign_in_staff(client, bea)
    task = read(csv_of([["email", "name"], ["no address", "Ada"]]), "customer-accounts")
    answer = desk.get(reverse("adminpanel:faulty_rows", args=[task.task_id]))
    assert b"Ada,no address,email:" in b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    entries = [(each.act, each.subject) for each in list_entries_this_month(bea)]
    assert (IMPORT_LOOK, str(task.task_id)) in entries
