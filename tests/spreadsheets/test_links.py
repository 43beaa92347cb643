"""Pictures, related products and successors that a file names: they come to the products once, in order, whatever hosts do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.test import override_settings

from cassandra_db import count_statements, current_time
from catalogue.entities import Product, ProductPicture
from catalogue.operations import change_product
from catalogue.photos import parse_photo
from catalogue.queries import find_product_id_by_slug, get_product_at_quorum
from jobs.rows import collect_failed_rows
from spreadsheets import operations
from spreadsheets.entities import PlannedRow, SpreadsheetTask
from spreadsheets.links import address_of, list_names, read_links, split_pictures
from spreadsheets.operations import links
from tests.catalogue.photo_files import make_file, make_moving_file, make_zip
from tests.factories import make_category, make_product
from tests.orders.crashes import Write, first_and_last_writes, kill_at_write, record_writes
from tests.reads import existing
from tests.remote_host import RemoteHost, run_remote_host, send, send_status
from tests.spreadsheets.files import (
    apply,
    csv_of,
    export,
    faults_of,
    follow,
    go_on,
    read,
    rows_of,
    stored,
)

HEAD = ["product", "name", "category", "sku", "options", "price", "pictures", "picture"]
RELATED = ["product", "name", "category", "sku", "price", "related", "successor"]


@pytest.fixture
def host() -> Iterator[RemoteHost]:
    with run_remote_host() as host, override_settings(FETCH_TEST_HOSTS=[host.name]):
        yield host


def make_slug() -> str:
    return f"vase-{uuid4().hex[:10]}"


def find(slug: str) -> Product:
    return existing(get_product_at_quorum(existing(find_product_id_by_slug(slug))))


def the_row(task: SpreadsheetTask) -> PlannedRow:
    (row,) = rows_of(task)
    return row


def fetched(*urls: str) -> list[str]:
    """The pictures of these addresses."""
    known = read_links((), (("picture", each) for each in urls)).pictures
    return [known[each] for each in urls]


def vase_lines(host: RemoteHost, slug: str) -> list[list[str]]:
    """Two variants; three pictures, one of them only of a variant, one named twice."""
    host.answers |= {f"/{number}": send(make_file(shade=60 * number)) for number in (1, 2, 3)}
    pictures = f"{host.url('/1')} A red vase\n{host.url('/2')}, {host.url('/1')}"
    shelf = make_category().slug
    return [
        HEAD,
        [slug, "Vase", shelf, f"{slug}-s", "Size: S", "9.00", pictures, host.url("/3")],
        [slug, "", "", f"{slug}-l", "Size: L", "9.00", "", host.url("/2")],
    ]


def test_x536_pictures_come_to_their_product_in_the_order_of_the_file(host: RemoteHost) -> None:
    slug = make_slug()
    content = csv_of(vase_lines(host, slug))
    task = apply(read(content, "products"))
    assert (task.state, task.results) == ("linking", {"done": 1})
    assert (the_row(task).links, find(slug).pictures, host.asked) == ("waiting", (), [])
    assert follow(task) == 1
    first, second, third = fetched(*map(host.url, ("/1", "/2", "/3")))
    product = find(slug)
    assert [(each.picture, each.alt) for each in product.pictures] == [
        (first, "A red vase"),
        (second, ""),
        (third, ""),
    ]
    assert [each.picture for each in product.variants] == [third, second]
    for each in (first, second, third):
        assert all(map(default_storage.exists, existing(parse_photo(each)).list_file_names()))
    assert (the_row(task).links, the_row(task).link_faults) == ("", ())
    assert stored(task).state == "finished"
    assert sorted(host.asked) == ["/1", "/2", "/3"]
    # The worker has nothing left, and the same file changes and fetches nothing.
    assert follow(task) == 0
    assert read(content, "products").counts == {"unchanged": 1}
    assert len(host.asked) == 3


def test_x536_what_comes_out_goes_back_in_and_changes_order_and_texts(host: RemoteHost) -> None:
    slug = make_slug()
    task = apply(read(csv_of(vase_lines(host, slug)), "products"))
    follow(task)
    written = export("products", products=[find(slug)])
    assert read(written, "products").counts == {"unchanged": 1}
    first, second, third = (each.picture for each in find(slug).pictures)
    cell = f"{address_of(second)} In front\n{address_of(first)}"
    lines = [["product", "sku", "pictures"], [slug, f"{slug}-s", cell]]
    task = apply(read(csv_of(lines), "products"))
    follow(task)
    # The picture that only a variant shows stays, and a picture without an alt text keeps its own.
    assert [(each.picture, each.alt) for each in find(slug).pictures] == [
        (second, "In front"),
        (first, "A red vase"),
        (third, ""),
    ]
    assert len(host.asked) == 3
    # Another product can name the pictures of this one.
    other = make_slug()
    lines = [HEAD, [other, "Jug", make_category().slug, other, "", "1.00", cell, ""]]
    task = apply(read(csv_of(lines), "products"))
    assert [each.picture for each in find(other).pictures] == [second, first]
    assert len(host.asked) == 3


def test_x536_new_pictures_replace_the_present_ones_once_all_are_there(host: RemoteHost) -> None:
    slug = make_slug()
    follow(apply(read(csv_of(vase_lines(host, slug)), "products")))
    before = find(slug).pictures
    host.answers |= {"/4": send(make_file(shade=90)), "/5": send_status(503)}
    cell = f"{host.url('/4')}\n{host.url('/5')}"
    head = ["product", "sku", "pictures", "picture"]
    lines = [head, [slug, f"{slug}-s", cell, ""], [slug, f"{slug}-l", "", ""]]
    task = apply(read(csv_of(lines), "products"))
    assert find(slug).pictures == before
    follow(task)
    (fourth,) = fetched(host.url("/4"))
    assert [each.picture for each in find(slug).pictures] == [fourth, *(p.picture for p in before)]
    assert (the_row(task).links, stored(task).state) == ("failed", "finished")
    host.answers["/5"] = send(make_file(shade=200))
    follow(apply(read(csv_of(lines), "products")))
    new = fetched(*map(host.url, ("/4", "/5")))
    assert [each.picture for each in find(slug).pictures] == new


def test_x536_what_staff_change_before_the_pictures_come_stays(host: RemoteHost) -> None:
    shelf, slugs = make_category().slug, [make_slug() for _change in range(5)]
    host.answers |= {f"/{n}": send(make_file(shade=30 * n)) for n in (1, 2)}
    head = [*HEAD, "related", "successor"]
    cells = [f"{host.url('/1')} One", host.url("/2"), f"gone-{slugs[0]}", f"gone-{slugs[0]}"]
    lines = [[each, "Vase", shelf, each, "", "9.00", *cells] for each in slugs]
    # These pictures are known then, so the import itself puts them on the products.
    follow(apply(read(csv_of([HEAD, *(each[:8] for each in lines)]), "products")))
    cells[:2] = [f"{host.url('/1')} Two", host.url("/1")]
    content = csv_of([head, *([*each[:6], *cells] for each in lines)])
    task = apply(read(content, "products"))
    other = make_product("Bowl").product_id
    added = ProductPicture("mug/4f6d7a-e8d9c5", "")
    changes: list[Callable[[Product], Product]] = [
        lambda it: replace(it, related_ids=(other,)),
        lambda it: replace(it, successor_id=other),
        lambda it: replace(it, pictures=(replace(it.pictures[0], alt="Three"), *it.pictures[1:])),
        lambda it: replace(it, pictures=(*it.pictures, added)),
        lambda it: replace(it, variants=(replace(it.variants[0], picture=added.picture),)),
    ]
    for slug, change in zip(slugs, changes, strict=True):
        change_product(find(slug).product_id, change, current_time())
    before = list(map(find, slugs))
    follow(task)
    assert list(map(find, slugs)) == before
    named = [row.link_faults[-1].text.split(" ", 1) for row in rows_of(task)]
    assert [name for name, _text in named] == [
        *("related", "successor", "pictures", "pictures", "picture")
    ]
    assert {text for _name, text in named} == {
        "was changed after the import. Import the row again."
    }


def test_x536_failures_are_named_and_the_same_file_tries_them_again(host: RemoteHost) -> None:
    slug = make_slug()
    host.answers |= {
        "/good": send(make_file(shade=7)),
        "/busy": send_status(503),
        "/page": send(b"<html>Not found</html>"),
        "/zip": send(make_file() + make_zip()),
        "/moving": send(make_moving_file()),
    }
    paths = ("/good", "/busy", "/gone", "/page", "/zip", "/moving")
    cell = "\n".join(map(host.url, paths))
    lines = [HEAD, [slug, "Vase", make_category().slug, slug, "", "9.00", cell, ""]]
    task = apply(read(csv_of(lines), "products"))
    follow(task)
    assert (the_row(task).links, stored(task).state) == ("failed", "finished")
    said = {each.text.partition(": ")[0]: each.text for each in the_row(task).link_faults}
    assert [each in said for each in map(host.url, paths)] == [False, *[True] * 5]
    assert said[host.url("/busy")].endswith("The host answered with status 503.")
    assert said[host.url("/page")].endswith("This isn’t a JPEG, PNG, WebP or AVIF picture.")
    assert [each.picture for each in find(slug).pictures] == fetched(host.url("/good"))
    assert follow(task) == 0
    host.answers["/busy"] = send(make_file(shade=8))
    follow(apply(read(csv_of(lines), "products")))
    assert [each.picture for each in find(slug).pictures] == fetched(*map(host.url, paths[:2]))
    assert [host.asked.count(each) for each in paths[:2]] == [1, 2]


def test_x536_rows_for_which_a_run_has_no_time_are_those_of_the_next_run(
    host: RemoteHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, slugs = make_category().slug, [make_slug() for _row in range(3)]
    host.answers |= {f"/{slug}": send(make_file(shade=20)) for slug in slugs}
    lines = [[each, "Vase", shelf, each, "", "9.00", host.url(f"/{each}"), ""] for each in slugs]
    task = apply(read(csv_of([HEAD, *lines]), "products"))
    monkeypatch.setattr(links, "ROWS_AT_ONCE", 1)
    for number in (1, 2, 3):
        assert stored(task).state == "linking"
        # The time at which the run begins, and then each row.
        monkeypatch.setattr(links, "monotonic", Mock(side_effect=[0.0, 1.0, *[100.0] * 2]))
        assert operations.follow_links(stored(task)) == 1
        assert [each.links for each in rows_of(task)] == [
            *[""] * number,
            *["waiting"] * (3 - number),
        ]
    assert stored(task).state == "finished"
    assert [len(find(each).pictures) for each in slugs] == [1, 1, 1]
    assert len(host.asked) == 3


def test_s119_a_host_that_does_not_answer_is_left_alone_in_the_run(host: RemoteHost) -> None:
    paths = [f"/{number}" for number in range(20)]
    host.answers |= {each: send_status(500) for each in paths}
    slug = make_slug()
    cell = "\n".join(map(host.url, paths))
    lines = [HEAD, [slug, "Vase", make_category().slug, slug, "", "9.00", cell, ""]]
    follow(apply(read(csv_of(lines), "products")))
    most = links.MAX_FAILURES_A_HOST + links.FILES_A_HOST - 1
    assert links.MAX_FAILURES_A_HOST <= len(host.asked) <= most


def test_s118_a_cell_with_an_address_that_is_not_fetched_is_a_fault() -> None:
    shelf, slug = make_category().slug, make_slug()
    bad = ["http://shop.example:80/a.jpg", "https://user@shop.example/", "javascript:alert(1)"]
    cells = [
        *bad,
        "\n".join(f"https://shop.example/{number}.jpg" for number in range(51)),
        f"https://shop.example/a.jpg {'x' * 251}",
    ]
    lines = [
        HEAD,
        *(
            [f"{slug}-{number}", "Vase", shelf, f"{slug}-{number}", "", "1.00", cell, ""]
            for number, cell in enumerate(cells)
        ),
        [f"{slug}-v", "Vase", shelf, f"{slug}-v", "", "1.00", "", "file:///etc/passwd"],
    ]
    found = [(line, column) for line, column, _text in faults_of(read(csv_of(lines), "products"))]
    expected = [(line, "pictures") for line in range(2, 2 + len(cells))]
    assert found == [*expected, (2 + len(cells), "picture")]
    lines = [HEAD, [slug, "Vase", shelf, slug, "", "1.00", "http://shop.example/a.jpg", ""]]
    (row,) = rows_of(read(csv_of(lines), "products"))
    (cell,) = [each.after for each in row.changes if each.column == "pictures"]
    assert list_names("pictures", cell) == ["https://shop.example/a.jpg"]
    assert split_pictures("https://a/1.jpg,https://b/2.jpg  Two\n\nhttps://a/1.jpg Again") == [
        ("https://a/1.jpg", ""),
        ("https://b/2.jpg", "Two"),
    ]
    assert (
        len(split_pictures("https://a/1.jpg|https://a/2.jpg ,  https://a/3.jpg http://a/4.jpg"))
        == 4
    )
    assert split_pictures(f"https://a/1.jpg{' ' * 100_000}x") == [("https://a/1.jpg", "x")]


def test_x538_related_products_and_successors_may_come_later_in_the_file() -> None:
    shelf, one, two, three = make_category().slug, make_slug(), make_slug(), make_slug()
    present = make_product("Bowl")
    lines = [
        RELATED,
        [one, "One", shelf, one, "1.00", f"{two}, {present.slug}", three],
        [two, "Two", shelf, two, "1.00", f"{one}, gone-{one}", ""],
    ]
    task = apply(read(csv_of(lines), "products"))
    assert find(one).related_ids == (present.product_id,)
    follow(task)
    assert find(one).related_ids == (find(two).product_id, present.product_id)
    assert find(two).related_ids == (find(one).product_id,)
    assert [each.links for each in rows_of(task)] == ["failed", "failed"]
    # The same file again finds what has come since.
    apply(read(csv_of([RELATED, [three, "Three", shelf, three, "1.00", "", ""]]), "products"))
    task = apply(read(csv_of(lines), "products"))
    follow(task)
    assert find(one).successor_id == find(three).product_id
    first, second = rows_of(task)
    assert (first.links, second.links) == ("", "failed")
    assert [each.text for each in second.link_faults] == [
        f"There is no product with the address “gone-{one}”."
    ]
    lines = [["product", "sku", "related"], [one, one, ""], [two, two, present.slug]]
    assert apply(read(csv_of(lines), "products")).results == {"done": 2}
    assert (find(one).related_ids, find(two).related_ids) == ((), (present.product_id,))
    # It comes out as it went in, and a product is not related to itself.
    written = export("products", products=[find(one), find(two)])
    assert read(written, "products").counts == {"unchanged": 2}
    task = read(csv_of([RELATED, [one, "One", shelf, one, "1.00", one, one]]), "products")
    assert [column for _line, column, _text in faults_of(task)] == ["related", "successor"]


def test_s119_huge_cells_are_faults_and_cost_few_reads() -> None:
    shelf, slug = make_category().slug, make_slug()
    huge = [
        f"https://a.example/{'x' * 100_000}",
        "\n".join(f"a://{n}" for n in range(10_000)),
        "\0",
    ]
    head, many = [*HEAD, "related"], ", ".join(f"a{n}" for n in range(2000))
    lines = [
        [f"{slug}-{n}", "Vase", shelf, f"{slug}-{n}", "", "1.00", cell, cell, many]
        for n, cell in enumerate(huge)
    ]
    lines.append([f"{slug}-r", "Vase", shelf, f"{slug}-r", "", "1.00", "", "", "a" * 100_000])
    with count_statements() as meter:
        found = faults_of(read(csv_of([head, *lines]), "products"))
    assert {(line, column) for line, column, _text in found} >= {
        *((line, column) for line in (2, 3) for column in ("pictures", "picture", "related")),
        (5, "related"),
    }
    assert meter.read_count < 500


def is_ours(write: Write) -> bool:
    return "fetched_pictures" in write.tables or any(
        name in text for text in write.texts for name in ("links = ", "results = ", "save_id")
    )


def test_x537_a_worker_that_is_killed_at_any_write_fetches_and_puts_a_picture_once(
    host: RemoteHost,
) -> None:
    answer, shelf = send(make_file(width=120, height=100, shade=9)), make_category().slug

    def start_one() -> tuple[str, SpreadsheetTask]:
        slug = make_slug()
        host.answers[f"/{slug}"], url = answer, host.url(f"/{slug}")
        lines = [HEAD, [slug, "Vase", shelf, slug, "", "9.00", url, url]]
        task = read(csv_of(lines), "products")
        assert operations.start_applying(task, current_time())
        return slug, task

    def run(task: SpreadsheetTask) -> None:
        go_on(task)
        follow(task)

    _slug, recorded = start_one()
    targets = list(filter(is_ours, first_and_last_writes(record_writes(lambda: run(recorded)))))
    assert len(targets) >= 6
    for target in targets:
        slug, task = start_one()
        kill_at_write(target, lambda task=task: run(task))  # type: ignore[misc]
        run(task)
        product = find(slug)
        (picture,) = (each.picture for each in product.pictures)
        assert [each.picture for each in product.variants] == [picture], target
        assert (the_row(task).links, stored(task).state) == ("", "finished"), target


def test_x537_a_row_that_fails_holds_up_no_other(
    host: RemoteHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.answers["/1"] = send(make_file(shade=11))
    shelf, slugs = make_category().slug, [make_slug(), make_slug()]
    lines = [[each, "Vase", shelf, each, "", "9.00", host.url("/1"), ""] for each in slugs]
    task = apply(read(csv_of([HEAD, *lines]), "products"))
    finish = links._finish_row

    def fail(task: SpreadsheetTask, row: PlannedRow, found: Any) -> None:
        if row.position == 0:
            raise ValueError(row.key)
        finish(task, row, found)

    monkeypatch.setattr(links, "_finish_row", fail)
    with collect_failed_rows() as failed:
        follow(task)
    assert f"0 of import {task.task_id}" in str(failed)
    assert [each.links for each in rows_of(task)] == ["failed", ""]
    assert "because of an error" in rows_of(task)[0].link_faults[0].text
    assert stored(task).state == "finished"
    monkeypatch.setattr(links, "_finish_row", finish)
    follow(apply(read(csv_of([HEAD, *lines]), "products")))
    assert [len(find(each).pictures) for each in slugs] == [1, 1]
