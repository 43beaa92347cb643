"""Files of products, prices and stock on the staff's pages: sent, looked at, applied, fetched, each by its role."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from catalogue.search_index import build_index
from spreadsheets import jobs, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations import iterate_export
from tests.factories import make_product
from tests.remote_host import run_remote_host
from tests.spreadsheets.files import csv_of, follow, go_on, stored

NEW, EXPORT = reverse("adminpanel:import_new"), reverse("adminpanel:export_new")
LIST = reverse("adminpanel:spreadsheets")


def send(client: Client, content: bytes, layout: str = "prices", **more: Any) -> Any:
    page = client.get(NEW)
    fields = {"task_id": page.context["form"]["task_id"].value(), "layout": layout} | more
    fields["file"] = SimpleUploadedFile("../=list.csv", content)
    return client.post(page.context["action"], fields)


def polled(client: Client, address: str) -> str:
    """Return what a page that looks how far an import is gets."""
    return client.get(address, headers={"X-Refreshes-Itself": "1"}).content.decode()


def task_of(answer: Any) -> SpreadsheetTask:
    assert answer.status_code == 303, answer.content
    found = queries.get_task(UUID(answer["Location"].strip("/").split("/")[-1]))
    assert found
    return found


def test_x105_a_file_is_sent_looked_at_and_applied(cleo: Client) -> None:
    mug = make_product("Mug", price="12.00", listed=True)
    lines = [["sku", "price"], [mug.variants[0].sku, "11.00"], ["NOBODYS", "1.00"]]
    answer = send(cleo, csv_of(lines, "utf-8"))
    task = task_of(answer)
    waiting = cleo.get(answer["Location"]).content.decode()
    assert "You can leave this page" in waiting
    task = go_on(task)
    page = cleo.get(answer["Location"]).content.decode()
    assert "Apply one change" in page
    assert "One row with errors is skipped" in page
    assert "No variant has the SKU NOBODYS." in page
    assert ">11.00<" in page
    assert "NOBODYS" not in polled(cleo, answer["Location"])
    only = cleo.get(f"{answer['Location']}?plan=faulty").content.decode()
    assert "NOBODYS" in only
    assert mug.variants[0].sku not in only
    for _ in range(2):
        applied = cleo.post(f"{answer['Location']}apply/")
        assert applied["Location"] == answer["Location"]
    assert go_on(task).results == {"done": 1}
    page = cleo.get(answer["Location"]).content.decode()
    assert "Finished" in page
    listed = cleo.get(LIST).content.decode()
    assert "Import: Prices" in listed
    assert "=list.csv" in listed
    assert "../" not in listed
    assert "Cleo" in listed


def test_x105_what_is_no_file_is_said_beside_its_field(cleo: Client) -> None:
    page = cleo.get(NEW)
    assert "multipart/form-data" in page.content.decode()
    for content, said in ((b"", "The file is empty"), (None, "Choose a file")):
        fields = {"task_id": page.context["form"]["task_id"].value(), "layout": "prices"}
        if content is not None:
            fields["file"] = SimpleUploadedFile("a.csv", content)
        answer = cleo.post(NEW, fields)
        assert answer.status_code == 422
        assert said in answer.content.decode()
    # What is no table is refused by the worker, who says why.
    task = go_on(task_of(send(cleo, b"\x89PNG\r\n\x1a\n" + bytes(range(256)))))
    assert task.state == "refused"
    page = cleo.get(reverse("adminpanel:spreadsheet", args=(task.task_id,)))
    assert task.problem in page.content.decode()
    assert "Apply" not in page.content.decode()


def test_x536_the_page_says_which_pictures_are_pending_and_missing(cleo: Client) -> None:
    mug = make_product("Mug", price="12.00", listed=True)
    with run_remote_host() as host, override_settings(FETCH_TEST_HOSTS=[host.name]):
        lines = [["product", "sku", "pictures"], [mug.slug, mug.variants[0].sku, host.url("/gone")]]
        answer = send(cleo, csv_of(lines), "products")
        address, task = answer["Location"], go_on(task_of(answer))
        assert "links=failed" not in cleo.get(address).content.decode()
        cleo.post(f"{address}apply/")
        go_on(task)
        assert "Pictures pending" in cleo.get(address).content.decode()
        follow(task)
    page = cleo.get(f"{address}?links=failed").content.decode()
    assert "Pictures missing" in page
    assert "/gone: The host answered with status 404." in page
    assert cleo.get(f"{address}?links=x").status_code == 404


def test_x108_a_form_that_is_sent_twice_is_one_import(cleo: Client) -> None:
    page = cleo.get(NEW)
    fields = {"task_id": str(page.context["form"]["task_id"].value()), "layout": "prices"}
    sent = [
        cleo.post(NEW, fields | {"file": SimpleUploadedFile("a.csv", b"sku,price\nA,1")})
        for _ in range(2)
    ]
    assert sent[0]["Location"] == sent[1]["Location"]


def test_x105_what_the_list_shows_is_written_and_fetched_for_an_hour(cleo: Client) -> None:
    lamps = [make_product(f"Zeppelin {n}", listed=True) for n in range(2)]
    make_product("Something else", listed=True)
    build_index(lamps)
    page = cleo.get(EXPORT, {"q": "zeppelin"})
    assert "Products that match your filter." in page.content.decode()
    fields = {"task_id": page.context["form"]["task_id"].value(), "q": "zeppelin"}
    nothing = cleo.post(EXPORT, fields | {"layout": "prices", "format": "csv", "q": "nothing"})
    assert nothing.status_code == 422
    answer = cleo.post(EXPORT, fields | {"layout": "prices", "format": "csv"})
    file = f"{answer['Location']}file/"
    assert cleo.get(file).status_code == 404, "it is not written yet"
    task = go_on(task_of(answer))
    assert "Download the file" in cleo.get(answer["Location"]).content.decode()
    sent = cleo.get(file)
    assert sent["Content-Disposition"].startswith('attachment; filename="prices-')
    text = b"".join(sent.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    head, *lines, end = [line.split(",")[0] for line in text.split("\r\n")]
    assert (head, end) == ("sku", "")
    assert sorted(lines) == sorted(each.variants[0].sku for each in lamps)
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=2), tick=True):
        jobs.remove_old_exports(datetime.now(UTC))
        assert stored(task).state == "expired"
        # What is being fetched then is cut off; it does not end as if that were all.
        folder = f"exports/{task.task_id.hex}"
        default_storage.delete(f"{folder}/000000")
        with pytest.raises(FileNotFoundError):
            b"".join(iterate_export(task))
        jobs.remove_old_exports(datetime.now(UTC))
        assert not default_storage.exists(folder)
        assert not stored(task).has_old_files
    assert cleo.get(file).status_code == 404


def test_x105_each_role_has_its_own_files(cleo: Client, will: Client) -> None:
    mug = make_product("Mug", listed=True, stock=5)
    lines = [["sku", "warehouse", "units"], [mug.variants[0].sku, "berlin", "7"]]
    stock = send(will, csv_of(lines), "stock")
    go_on(task_of(stock))
    assert will.get(stock["Location"]).status_code == 200
    for address in (stock["Location"], f"{stock['Location']}apply/"):
        assert cleo.get(stock["Location"]).status_code == 404
        assert cleo.post(address).status_code in (404, 405)
    assert stored(task_of(stock)).state == "read"
    assert send(cleo, csv_of(lines), "stock").status_code == 422
    assert send(will, csv_of(lines), "products").status_code == 422
    helped = {client: client.get(reverse("adminpanel:spreadsheet_help")) for client in (cleo, will)}
    assert "<code>compare_at</code>" in helped[cleo].content.decode()
    assert "<code>compare_at</code>" not in helped[will].content.decode()
    example = reverse("adminpanel:spreadsheet_example", args=("stock",))
    assert cleo.get(example).status_code == 404
    assert will.get(example).content.startswith(
        b"sku,warehouse,units,shipped\r\nMUG-OLIVE,berlin,12,"
    )
