"""Files of other shops are asked about once, converted by the worker, and then imported like our own."""

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time
from django.core.files.base import ContentFile

import spreadsheets.queries
from catalogue.entities import CategoryNode, Product
from catalogue.queries import (
    get_category_tree_at_quorum,
    prefetch_product_id_at_quorum,
    product_from_rows,
)
from catalogue.queries import prefetch_product_at_quorum as prefetch_product
from spreadsheets import entities, operations
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.errors import FileRefused
from spreadsheets.foreign.categories import MAX_ANSWERS, CategoryFinder
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.questions import Question, hash_head, take_samples, unpack_question
from spreadsheets.operations import conversions
from tests.factories import make_category, make_product
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.reads import existing
from tests.spreadsheets.files import apply, csv_of, faults_of, go_on, read, rows_of, start, stored

TARGETS = {
    "Model": "sku",
    "Title": "name",
    "Text": "description",
    "Group": "category",
    "Colour": "option",
    "Gross": "price",
}


def unique() -> str:
    return uuid4().hex[:8]


def shop_file(name: str, group: str, junk: str = "") -> bytes:
    """A product with two variants, which are not next to each other, and another product. `junk` is a column that is skipped.

    What is answered is remembered for files with the same columns, so each test has its own.
    """
    return csv_of(
        [
            [*TARGETS, junk or f"Junk {name}"],
            [f"{name}-1", f"Jug {name}", "<p>A <b>tall</b> one.</p>", group, "Olive", "12,50 €", 1],
            [f"{name}-3", f"Tub {name}", "Round.", group, "Grey", "8.00", 2],
            [f"{name}-2", f"Jug {name}", "", group, "Cream", "13.00", 3],
        ]
    )


def answer(task: SpreadsheetTask, categories: Mapping[str, str] | None = None) -> SpreadsheetTask:
    """Answer what is asked about a file, and let the worker go on."""
    question = unpack_question(task.question)
    given = dict.fromkeys(question.unknown, "") | dict(categories or {})
    targets = {name: TARGETS.get(name, "") for name in question.targets}
    assert operations.answer_question(task, targets, given, datetime.now(UTC))
    return go_on(task)


def product_of(slug: str) -> Product:
    product_id = existing(prefetch_product_id_at_quorum(slug).one()).product_id
    return existing(product_from_rows(prefetch_product(product_id).rows(), datetime.now(UTC)))


def children(node: CategoryNode) -> list[str]:
    found = get_category_tree_at_quorum().by_id[node.category_id].children
    return [each.name for each in found]


def test_x530_a_foreign_file_is_asked_about_and_then_imported_like_our_own() -> None:
    name, shelf = unique(), make_category("Shelves")
    task = read(shop_file(name, shelf.slug), "products")
    assert (task.state, task.total) == (entities.ASKING, 0)
    question = unpack_question(task.question)
    assert question.samples["Gross"] == ["12,50 €", "8.00", "13.00"]
    assert (question.preset, question.unknown) == ("", [])
    task = answer(task)
    assert (task.state, task.source, task.notes) == (entities.READ, "other", {"html": 1})
    assert faults_of(task) == []
    assert task.counts == {"new": 2}
    assert [each.line for each in rows_of(task)] == [2, 3]
    assert apply(task).results == {"done": 2}
    jug = product_of(f"jug-{name}")
    assert jug.description == "A **tall** one."
    assert jug.category_id == shelf.category_id
    assert [
        (each.sku, dict(each.options), f"{each.price.amount:.2f}") for each in jug.variants
    ] == [
        (f"{name}-1".upper(), {"Colour": "Olive"}, "12.50"),
        (f"{name}-2".upper(), {"Colour": "Cream"}, "13.00"),
    ]
    # The same file again: what was chosen is remembered, and nothing is made twice.
    again = read(shop_file(name, shelf.slug), "products")
    assert unpack_question(again.question).targets == {**TARGETS, f"Junk {name}": ""}
    assert answer(again).counts == {"unchanged": 2}


def test_x532_unknown_categories_are_asked_for_once_and_created() -> None:
    junk, group = unique(), f"Jugs {unique()}"
    parent = make_category(f"Kitchen {unique()}")
    task = read(shop_file(unique(), f"Old > {group}", junk), "products")
    # Which column has the categories is not known before it is chosen.
    task = answer(task)
    assert (task.state, unpack_question(task.question).unknown) == (
        entities.ASKING,
        [f"Old > {group}"],
    )
    task = answer(task, {f"Old > {group}": f"{parent.name} > {group}"})
    assert (task.state, task.counts) == (entities.READ, {"new": 2})
    assert children(parent) == [group]
    again = read(shop_file(unique(), f"Old > {group}", junk), "products")
    assert not unpack_question(again.question).unknown
    assert answer(again).counts == {"new": 2}
    # It is known by its name, its path and its address, too.
    (child,) = get_category_tree_at_quorum().by_id[parent.category_id].children
    finder = CategoryFinder({})
    for text in (group.upper(), f"{parent.name}>{group}", child.slug):
        line = finder.resolve(ConvertedLine(2, {"category": text, "other_categories": ""}))
        assert line.cells == {"category": child.slug, "other_categories": ""}
    # One that is left out is missing, and one that cannot be created refuses the file.
    task = read(shop_file(unique(), f"No {group}", junk), "products")
    assert unpack_question(task.question).unknown == [f"No {group}"]
    task = answer(task)
    assert {each[1] for each in faults_of(task)} == {"category"}
    finder = finder_of({"x": f"{parent.name} > {group} > c > d"}, "x")
    with pytest.raises(FileRefused, match=r"d: Categories can have at most 3 levels"):
        finder.create(uuid4())


def finder_of(
    answers: Mapping[str, str], *texts: str, are_remembered: bool = False
) -> CategoryFinder:
    """A finder that was asked for these texts."""
    finder = CategoryFinder(answers, are_remembered=are_remembered)
    for text in texts:
        finder.resolve(ConvertedLine(2, {"category": text}))
    return finder


def test_x532_a_category_that_is_gone_is_asked_for_again_and_never_comes_back_by_itself() -> None:
    junk, group, gone = unique(), f"Jugs {unique()}", f"Gone {unique()}"
    left_out, deleted, kept, other = (f"{each} {junk}" for each in ("out", "gone", "kept", "other"))
    answers = {left_out: "", deleted: gone, kept: make_category().slug, other: gone}
    finder = finder_of(answers, left_out, deleted, kept, are_remembered=True)
    assert finder.used == {left_out: "", kept: answers[kept]}
    assert list(finder.unknown) == [deleted]
    # Only what the file has is created.
    finder_of(answers, left_out, kept).create(uuid4())
    assert CategoryFinder({}).find(gone) is None
    # A file with the same columns is asked for its own categories, however many others had.
    task = answer(read(shop_file(unique(), group, junk), "products"))
    task = answer(task, {group: make_category().slug})
    many = {f"Old {n}": "" for n in range(MAX_ANSWERS)}
    question = unpack_question(read(shop_file(unique(), group, junk), "products").question)
    assert [*question.categories] == [group]
    hash_of_head = hash_head("products", question.targets)
    conversions.REMEMBER.run(
        head_hash=hash_of_head, targets=json.dumps(question.targets), categories=json.dumps(many)
    )
    asked = read(shop_file(unique(), group, junk), "products")
    question = unpack_question(asked.question)
    assert (question.categories, question.unknown) == ({}, [group])
    answer(asked, {group: ""})
    row = existing(conversions.REMEMBERED.one(head_hash=hash_of_head))
    assert json.loads(row.categories) == {group: ""} | dict([*many.items()][:-1])


def test_x530_a_file_is_asked_about_before_its_texts_and_prices_are_converted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = f"Old > Jugs {unique()}"
    head = ["Handle", "Title", "Body (HTML)", "Type", "Option1 Value", "Variant Price", unique()]
    content = csv_of([head, ["jug", "Jug", "<p>Tall.</p>", group, "Olive", "12", ""]])
    monkeypatch.setattr(conversions, "convert_product_line", Mock(side_effect=AssertionError))
    task = read(content, "products")
    assert (task.state, unpack_question(task.question).unknown) == (entities.ASKING, [group])


def test_x530_a_conversion_that_is_killed_at_any_write_is_done_once() -> None:
    now, parent = datetime.now(UTC), make_category(f"Stove {unique()}")

    def path_of(group: str) -> dict[str, str]:
        return {group: f"{parent.name} > {group}"}

    def convert_all(name: str, group: str, task_id: UUID) -> None:
        file = ContentFile(shop_file(name, group), "a")
        task = operations.start_import(task_id, "products", file, "a.csv", uuid4(), now)
        answer(answer(go_on(task)), path_of(group))

    name, group = unique(), f"Pots {unique()}"
    writes = record_writes(lambda: convert_all(name, group, uuid_from_time(now)))
    targets = [
        each
        for each in first_and_last_writes(writes)
        if {"spreadsheet_tasks", "categories", "remembered_mappings"} & set(each.tables.split(", "))
    ]
    assert len(targets) >= 8
    states = set()
    for target in targets:
        name, group, task_id = unique(), f"Pots {unique()}", uuid_from_time(now)
        assert kill_at_write(
            target,
            lambda name=name, group=group, task_id=task_id: convert_all(name, group, task_id),  # type: ignore[misc]
        )
        task = spreadsheets.queries.get_task(task_id)
        if task is None:
            continue
        states.add(task.state)
        task = go_on(task)
        while task.state == entities.ASKING:
            task = answer(task, path_of(group))
        assert task.counts == {"new": 2}, target
        assert children(parent).count(group) == 1, target
    assert {entities.ASKING, entities.READING} <= states


def test_x530_of_two_workers_that_convert_a_file_one_changes_nothing() -> None:
    name, shelf = unique(), make_category("Benches")
    begun = start(shop_file(name, shelf.slug), "products")
    for _worker in range(2):
        operations.run_task(begun, 1000)
    asked = stored(begun)
    assert asked.state == entities.ASKING
    assert operations.answer_question(asked, TARGETS, {}, datetime.now(UTC))
    answered = stored(begun)
    for _worker in range(2):
        operations.run_task(answered, 1000)
    assert (stored(begun).state, stored(begun).source) == (entities.READING, "other")
    assert go_on(begun).counts == {"new": 2}


def test_x532_faulty_rows_are_fetched_corrected_and_sent_again() -> None:
    name, shelf = unique(), make_category("Racks")
    mug = make_product("Mug", listed=True)
    content = shop_file(name, shelf.slug) + csv_of(
        [[mug.variants[0].sku, f"Cup {name}", "=1+1", shelf.slug, "Red", "1,234"]]
    )
    task = answer(read(content, "products"))
    assert task.counts == {"new": 2, "faulty": 1}
    file = b"".join(operations.iterate_faulty_rows(task)).decode("utf-8-sig")
    head, line = csv.reader(io.StringIO(file, newline=""))
    cells = dict(zip(head, line, strict=True))
    assert cells["product"] == f"cup-{name}"
    assert cells["description"] == "'=1+1"
    assert "price: Enter a price" in cells["errors"]
    assert "sku: The SKU" in cells["errors"]
    cells |= {"sku": f"{name}-9", "price": "12.34"}
    corrected = read(csv_of([head, [cells[each] for each in head]]), "products")
    assert (corrected.state, corrected.counts) == ("read", {"new": 1})
    assert apply(corrected).results == {"done": 1}
    assert product_of(f"cup-{name}").description == "=1+1"


def test_x530_hostile_files_are_faults_or_refused_and_never_fail() -> None:
    name = unique()
    head = [*TARGETS, f"Junk {name}"]
    texts = ["\0\x07", "=cmd|'/c calc'!A0", "<script>x</script>", "😀" * 300, "‮abc", "x" * 50_000]
    lines = [[f"{name}-{n}", text, text, text, text, text, text] for n, text in enumerate(texts)]
    task = read(csv_of([head, *lines, ["a"] * 20, [""] * 7]), "products")
    task = answer(task, {})
    while task.state == entities.ASKING:
        task = answer(task, {})
    assert (task.state, sum(task.counts.values())) == ("read", 7)
    assert set(task.counts) == {"faulty"}
    assert any("more cells" in text for _line, _column, text in faults_of(task))
    refused = read(csv_of([head, ["x" * 140_000] * 7]), "products")
    assert refused.state == entities.REFUSED
    # Repeated and empty names of columns.
    task = read(csv_of([["a", "a (4)", "", "a", "sku"], ["1", "2", "3", "4", "5"]]), "prices")
    names = ["a", "a (4)", "column 3", "a (4) (4)", "sku"]
    assert list(unpack_question(task.question).samples) == names


def test_x531_an_answer_to_an_old_question_changes_nothing() -> None:
    task = read(shop_file(unique(), "x"), "products")
    first = answer(task)
    assert not operations.answer_question(task, {}, {}, datetime.now(UTC))
    assert stored(task) == first


def test_x531_samples_are_few_and_short_and_none_are_kept_of_people() -> None:
    rows = [[f"{n}" * 100, "\0 "] for n in range(5)]
    samples = take_samples(["a", "b"], rows)
    assert samples == {"a": ["0" * 50, "1" * 50, "2" * 50], "b": []}
    question = Question("", samples, {"a": "name", "b": ""}, {"x": "y"}, ["z"])
    assert unpack_question(question.pack()) == question
    content = csv_of([["E-Mail", "Full name"], ["ada@example.com", "Ada"]])
    task = read(content, "customer-accounts")
    assert set(unpack_question(task.question).samples) == {"E-Mail", "Full name"}
    assert "ada@" not in task.question
