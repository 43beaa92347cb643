"""The rows with errors of an import, as a file that staff correct and send again."""

import csv
import io
from unittest.mock import patch
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from accounts.models import User
from cassandra_db import count_statements
from spreadsheets import operations
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.layouts import LAYOUTS
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_category, make_product, make_user, sign_in_staff
from tests.spreadsheets.files import csv_of, read, rows_of

DOWNLOAD = "adminpanel:faulty_rows"
HEAD = ["product", "sku", "name", "description", "category", "price"]


def faulty_file(task: SpreadsheetTask) -> list[list[str]]:
    content = b"".join(operations.iterate_faulty_rows(task)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(content, newline="")))


def list_downloads(staff: User) -> list[str]:
    entries = list_entries_this_month(staff)
    return [it.subject for it in entries if it.act == DOWNLOAD and "list.csv" in str(it)]


def test_x532_a_row_with_an_error_keeps_all_its_lines() -> None:
    shelf, slug = make_category().slug, f"vase-{uuid4().hex[:10]}"
    lines = [
        HEAD,
        [slug, f"{slug}-1".upper(), "=Vase", "", shelf, "9.00"],
        [slug, f"{slug}-2".upper(), "", "", "", "many"],
        [f"{slug}-b", f"{slug}-3", "Jug", "", shelf, "1.00"],
    ]
    task = read(csv_of(lines), "products")
    assert task.counts == {"faulty": 1, "new": 1}
    with count_statements() as meter:
        head, *found = faulty_file(task)
    assert meter.read_count == 2, "the rows' results, and the row"
    assert head == ["errors", *LAYOUTS["products"].head]
    cells = [dict(zip(head, line, strict=True)) for line in found]
    assert [[each[name] for name in HEAD] for each in cells] == [
        [slug, lines[1][1], "'=Vase", "", shelf, "9.00"],
        lines[2],
    ]
    assert [each["errors"] for each in cells] == ["", "price: Enter a price, such as 12.50."]


def test_x532_an_empty_cell_of_a_file_of_faulty_rows_clears_nothing() -> None:
    tray, jug = (make_product(name, description="Of oak.") for name in ("Tray", "Jug"))
    lines = [["product", "sku", "price"], [tray.slug, tray.variants[0].sku, "many"]]
    head, line = faulty_file(read(csv_of(lines), "products"))
    line[head.index("price")] = "12.34"
    task = read(csv_of([head, line]), "products")
    assert [each.column for row in rows_of(task) for each in row.changes] == ["price"]
    # Other files clear what they leave empty.
    lines = [["product", "sku", "description"], [jug.slug, jug.variants[0].sku, ""]]
    task = read(csv_of(lines), "products")
    assert [each.column for row in rows_of(task) for each in row.changes] == ["description"]


def test_x532_a_row_that_is_too_large_for_a_batch_is_a_fault_without_cells() -> None:
    lines = [["vase", f"V{n}", *["x" * 60_000] * 4] for n in range(3)]
    task = read(csv_of([HEAD, *lines]), "products")
    assert task.counts == {"faulty": 1}
    _head, (errors, *cells) = faulty_file(task)
    assert errors.startswith("Line 2 is too long for this file.")
    assert not any(cells)


def test_s120_the_file_of_rows_about_people_needs_a_code_and_is_in_the_log(client: Client) -> None:
    bea = make_user("Bea", role="support")
    desk = sign_in_staff(client, bea)
    task = read(csv_of([["email", "name"], ["no address", "Ada"]]), "customer-accounts")
    address = reverse(DOWNLOAD, args=[task.task_id])
    with patch("adminpanel.code_again.has_fresh_code", return_value=False):
        refused = desk.post(address)
    assert refused.status_code == 422
    assert 'name="code"' in refused.content.decode()
    assert not list_downloads(bea)
    with patch("adminpanel.code_again.has_fresh_code", return_value=True):
        answer = desk.post(address)
    assert b",Ada,,,,,,,no address," in b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert list_downloads(bea) == [str(task.task_id)]
