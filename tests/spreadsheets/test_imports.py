"""Files of products, prices and stock: what is wrong with them is said, what they change is shown, and what is applied is applied once."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from cassandra.cqlengine import connection
from django.core.files.storage import default_storage
from moneyed import EUR, Money

import catalogue.operations
import spreadsheets.queries
from catalogue import queries
from catalogue.bulk_changes import has_mark
from catalogue.entities import Product, Variant
from catalogue.operations.claims import Claim, take_claims
from inventory import operations as inventory
from inventory.entities import WantedLine
from inventory.operations import receive_stock
from inventory.queries import get_stock, get_stock_numbers
from jobs.months import list_months, month_of
from jobs.rows import MAX_FAILURES, collect_failed_rows
from spreadsheets import operations
from spreadsheets.entities import FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.jobs import go_on_with_spreadsheets
from spreadsheets.layouts import LAYOUTS, Layout
from spreadsheets.operations import exports, imports
from spreadsheets.products import apply_changes
from tests.catalogue.reads import stored as now_of
from tests.factories import make_category, make_product, make_stock, unreadable_product
from tests.reads import existing
from tests.spreadsheets.files import (
    Lines,
    apply,
    csv_of,
    export,
    faults_of,
    go_on,
    read,
    rows_of,
    start,
    stored,
    xlsx_of,
)
from tests.stock import ship_stock

PRICES = ["sku", "price", "compare_at"]
NAUGHTY = [
    "=1+1",
    "'=1",
    "@x",
    "a,b",
    'say "x"',
    " ends ",
    "a\r\nb",
    "_x0041_",
    "\x07bell",
    "‮",
    "日本",
    "-1",
    "\t",
]


def sku(product: Product) -> str:
    return product.variants[0].sku


def price(product: Product) -> Decimal:
    amount: Decimal = now_of(product).variants[0].price.amount
    return amount


def make_kinds() -> list[Product]:
    """Products of all kinds, with all that may stand in a cell."""
    now = datetime.now(UTC)
    plain = make_product("Quill", listed=True)
    choice = make_product(
        "Vase", options={"Size": ["S", "L, tall"], "Colour": ["Olive"]}, listed=True
    )
    reduced = make_product("Lamp", price="8.00", compare_at="12.00", listed=True)
    other = make_category("Other, with a comma")
    naughty = make_product("Ordinary", listed=True)
    first = naughty.variants[0]
    naughty = replace(
        naughty,
        name="=HYPERLINK(1)",
        brand="'+49",
        description="\n".join(NAUGHTY),
        details=dict(zip(NAUGHTY[:6], reversed(NAUGHTY), strict=False)),
        tags=frozenset(NAUGHTY[:7]),
        category_ids=frozenset({other.category_id}),
        option_names=("Colour: all", "Ätt"),
        maker="Kilnbrook\n@home",
        safety="-\nHot.",
        length_mm=12,
        status="draft",
        active_from=now + timedelta(days=3),
        search_title="+1",
        variants=(
            replace(
                first, options={"Ätt": "a, b", "Colour: all": '"red"'}, barcode="4006381333931"
            ),
            Variant(
                uuid4(),
                f"N-{first.sku}",
                {"Was": "else"},
                Money(1, EUR),
                None,
                "",
                0,
                sold=False,
                position=1,
            ),
        ),
    )
    return [plain, choice, reduced, catalogue.operations.save_product(naughty, now)]


def as_lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_x105_what_comes_out_goes_back_in_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = make_kinds()
    for each in kinds:
        make_stock(5, cork=2, product_id=each.product_id, variant_id=each.variants[0].variant_id)
    counts = {"products": 4, "prices": 6, "stock": 8}
    for layout, count in counts.items():
        for file_format in ("csv", "xlsx"):
            task = read(export(layout, file_format, kinds), layout)
            assert (task.counts, faults_of(task)) == ({"unchanged": count}, []), (
                layout,
                [each.changes for each in rows_of(task)],
            )
    listed = as_lines(export("products", products=kinds))
    assert len(listed) == 1 + 6
    assert not any(cell.startswith(("=", "+", "@")) for line in listed for cell in line)
    # Without a list of products it is all of the shop, part by part.
    monkeypatch.setattr(exports, "PARTS", 4)
    whole = {line[0] for line in as_lines(export("prices"))}
    assert {each.sku for product in kinds for each in product.variants} <= whole


def test_x105_prices_go_out_come_in_and_change_what_they_say() -> None:
    mug, bowl = make_product("Mug", price="12.00"), make_product("Bowl", price="20.00")
    task = read(export("prices", products=[mug, bowl]).replace(b"12.00", b"11.50"))
    assert task.counts == {"changed": 1, "unchanged": 1}
    assert price(mug) == Decimal(12), "nothing changes before somebody has said so"
    assert not default_storage.exists(task.stored_as)
    done = apply(task)
    assert (done.state, done.results) == ("finished", {"done": 1})
    assert (price(mug), price(bowl)) == (Decimal("11.5"), Decimal(20))


def test_x105_products_and_variants_are_made_and_changed_by_a_file() -> None:
    category = make_category("Mugs")
    vase = make_product("Vase", options={"Size": ["S"]}, listed=True)
    name = f"mug-{uuid4().hex[:8]}"
    head = ["product", "name", "category", "tags", "details", "sku", "options", "price", "sold"]
    lines: Lines = [
        head,
        [
            name,
            "Breakfast mug",
            category.slug,
            "gift, blue",
            "Material: clay",
            f"{name}-1",
            "Colour: blue",
            "12.5",
            "",
        ],
        [name, "", "", "", "", f"{name}-2", "Colour: red", "13", "yes"],
        [vase.slug, "Tall vase", vase_category(vase), "", "", sku(vase), "Size: S", "12.00", "yes"],
        [vase.slug, "", "", "", "", f"{name}-3", "Size: L", "14.00", "yes"],
    ]
    for write in (csv_of, xlsx_of):
        task = read(write(lines), "products")
        assert faults_of(task) == []
    assert task.counts == {"new": 1, "changed": 1}
    assert apply(task).results == {"done": 2}
    found = existing(queries.find_product_id_by_slug(name))
    mug = existing(queries.get_product_at_quorum(found))
    assert (mug.status, set(mug.tags), mug.details) == (
        "draft",
        {"gift", "blue"},
        {"Material": "clay"},
    )
    assert [(each.sku, each.label, each.price.amount) for each in mug.variants] == [
        (f"{name}-1".upper(), "Blue", Decimal("12.5")),
        (f"{name}-2".upper(), "Red", Decimal(13)),
    ]
    assert [each.label for each in now_of(vase).variants] == ["S", "L"]
    assert now_of(vase).name == "Tall vase"
    # What a file does not name stays: the details of the vase were empty in it, and so they are.
    assert now_of(vase).brand == "Kilnbrook"


def vase_category(vase: Product) -> str:
    node = queries.get_category_tree().by_id[vase.category_id]
    return node.slug


def test_x106_each_fault_is_named_with_its_line_and_column() -> None:
    mug, bowl = make_product("Mug", price="12.00", listed=True), make_product("Bowl", price="20.00")
    reduced = make_product("Lamp", price="8.00", compare_at="12.00", listed=True)
    vase = make_product("Vase")
    lines: Lines = [
        PRICES,
        [sku(mug), "-1", ""],
        [sku(bowl), "1e9", ""],
        ["NOBODYS", "1.00", ""],
        [sku(reduced), "8.00", "99.00"],
        [sku(mug), "13.00", ""],
        ["", "", ""],
        [sku(bowl)],
        [sku(vase), "1.000", "1,000"],
    ]
    task = read(csv_of(lines))
    assert task.counts == {"faulty": 7}
    assert [(line, column) for line, column, _text in faults_of(task)] == [
        (2, "price"),
        (3, "price"),
        (4, "sku"),
        (5, "compare_at"),
        (6, "sku"),
        (8, ""),
        (8, "sku"),
        (8, "price"),
        (9, "price"),
        (9, "compare_at"),
    ]
    assert {each.line for each in rows_of(task)} == {2, 3, 4, 5, 6, 8, 9}
    head = ["product", "sku", "price", "name", "category", "barcode", "weight_grams", "sold"]
    new = f"new-{uuid4().hex[:8]}"
    lines = [
        head,
        [mug.slug, sku(bowl), "12.00", "Mug", vase_category(mug), "", "", "yes"],
        [new, f"{new}-1", "", "", "nowhere", "123", "-4", "perhaps"],
        ["Not An Address", f"{new}-2", "1", "Name", vase_category(mug), "", "", "yes"],
        [new, f"{new}-4", "1", "", "", "", "", "yes"],
    ]
    task = read(csv_of(lines), "products")
    found = {(line, column) for line, column, _text in faults_of(task)}
    assert found == {
        (2, "sku"),
        *((3, each) for each in ("name", "category", "price", "barcode", "weight_grams", "sold")),
        (4, "product"),
        *((5, each) for each in ("product", "name", "category")),
    }
    assert task.counts == {"faulty": 4}


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (["sku", "price", "price"], "there twice"),
        (["sku", "compare_at"], "“price” is missing"),
        (["sku", "price"], "no lines below"),
    ],
)
def test_x106_a_head_that_is_not_understood_is_refused_whole(head: list[str], said: str) -> None:
    lines = [head, ["A", "1", "2"][: len(head)]] if "no lines" not in said else [head]
    task = read(csv_of(lines))
    assert task.state == "refused"
    assert said in task.problem


def test_x107_a_hundred_faults_in_an_encoding_of_windows_are_found_and_the_rest_is_applied() -> (
    None
):
    product = make_product("Mug", price="12.00", listed=True)
    lines = [
        PRICES,
        *([f"GRÖSSE-{n}", "1.00", ""] for n in range(300)),
        [sku(product), "11.00", ""],
    ]
    task = start(csv_of(lines, "cp1252", ";"))
    operations.run_task(task, 60)
    assert stored(task).handled in range(60, 100), "and the next run goes on there"
    task = go_on(task, 60)
    assert (task.encoding, task.counts) == ("cp1252", {"faulty": 300, "changed": 1})
    assert faults_of(task)[299] == (301, "sku", "No variant has the SKU GRÖSSE-299.")
    assert apply(task).results == {"done": 1}
    assert price(product) == Decimal(11)


def test_x108_what_others_have_changed_since_is_said_and_stays() -> None:
    mug, bowl = (make_product(name, price="12.00", listed=True) for name in ("Mug", "Bowl"))
    task = read(csv_of([PRICES, [sku(mug), "11.00", ""], [sku(bowl), "11.00", ""]]))
    others = replace(now_of(mug).variants[0], price=Money("13.00", EUR))
    catalogue.operations.save_product(replace(now_of(mug), variants=(others,)), datetime.now(UTC))
    # Whatever else of a product has changed is no conflict.
    catalogue.operations.save_product(replace(now_of(bowl), name="Deep bowl"), datetime.now(UTC))
    assert apply(task).results == {"changed": 1, "done": 1}
    assert (price(mug), price(bowl)) == (Decimal(13), Decimal(11))
    reasons = [each.reason for each in rows_of(task)]
    assert "13.00" in reasons[0]
    # Sent twice it is applied once, and again it changes nothing.
    catalogue.operations.save_product(
        replace(now_of(bowl), variants=(replace(now_of(bowl).variants[0], price=Money(12, EUR)),)),
        datetime.now(UTC),
    )
    assert operations.start_applying(task, datetime.now(UTC))
    go_on(task)
    assert price(bowl) == Decimal(12)


def units(product: Product, warehouse: str = "berlin") -> int:
    return get_stock_numbers(product.variants[0].variant_id, warehouse).available


def test_x105_stock_is_corrected_to_what_was_counted() -> None:
    mug, bowl, vase = (make_product(name, listed=True) for name in ("Mug", "Bowl", "Vase"))
    for each in (mug, bowl):
        make_stock(5, product_id=each.product_id, variant_id=each.variants[0].variant_id)
    lines: Lines = [
        ["sku", "warehouse", "units"],
        [sku(mug), "berlin", "9"],
        [sku(bowl), "Berlin", "2"],
        [sku(vase), "cork", "4"],
        [sku(mug), "paris", "1"],
        [sku(mug), "cork", "-1"],
        [sku(mug), "cork", "9999999"],
    ]
    task = read(xlsx_of(lines), "stock")
    assert task.counts == {"changed": 2, "new": 1, "faulty": 3}
    assert [(line, column) for line, column, _text in faults_of(task)] == [
        (5, "warehouse"),
        (6, "units"),
        (7, "sku"),
        (7, "units"),
    ]
    # More of one has come since it was counted.
    receive_stock(
        bowl.product_id, bowl.variants[0].variant_id, "berlin", 10, 3, uuid4(), datetime.now(UTC)
    )
    assert apply(task).results == {"changed": 1, "done": 2}
    assert (units(mug), units(bowl), units(vase, "cork")) == (9, 15, 4)
    assert get_stock(vase.product_id)[vase.variants[0].variant_id].by_warehouse == {"cork": 4}
    go_on(task)
    assert units(mug) == 9


def test_x105_what_was_shipped_since_a_file_of_stock_was_written_does_not_come_back() -> None:
    mug = make_product("Mug", listed=True, stock=10)
    variant_id = mug.variants[0].variant_id
    written = export("stock", products=[mug])
    wanted = [WantedLine(1, mug.product_id, variant_id, 4)]
    ship_stock(inventory.reserve_stock(uuid4(), wanted, datetime.now(UTC), 9))
    assert units(mug) == 6
    assert read(written, "stock").counts == {"unchanged": 1}
    # Two were broken when it was written, and four have left since.
    task = apply(read(written.replace(b",10,", b",8,"), "stock"))
    assert (task.results, units(mug)) == ({"done": 1}, 4)
    task = read(written.replace(b",10,", b",3,"), "stock")
    assert [(line, column) for line, column, _text in faults_of(task)] == [(2, "units")]
    # What says nothing of that was counted when it is read.
    for head in (["sku", "warehouse", "units"], ["sku", "warehouse", "units", "shipped"]):
        lines = [head, [sku(mug), "berlin", "5", ""][: len(head)]]
        apply(read(csv_of(lines), "stock"))
        assert units(mug) == 5
    apply(read(csv_of([head, [sku(mug), "cork", "2", "7"]]), "stock"))
    assert units(mug, "cork") == 2


def test_x105_the_order_of_the_columns_loses_no_category() -> None:
    mug, other = make_product("Mug"), make_category("Other")
    main = vase_category(mug)
    head = ["product", "other_categories", "category", "sku"]
    swapped = [mug.slug, main, other.slug, sku(mug)]
    assert apply(read(csv_of([head, swapped]), "products")).results == {"done": 1}
    found = now_of(mug)
    assert found.category_id == other.category_id
    assert found.category_ids == {mug.category_id}


def test_x108_prices_of_one_product_are_one_row_and_leave_one_mark() -> None:
    vase = make_product("Vase", options={"Size": ["S", "M", "L"]}, price="10.00")
    other = make_product("Other")
    lines = [PRICES, *([each.sku, "9.00", ""] for each in vase.variants), ["NO", "1", ""]]
    # A bucket whose last positions have no row of their own is no end.
    lines[1:1] = [[f"NO-{n}", "1", ""] for n in range(spreadsheets.queries.BUCKET_LENGTH - 3)]
    task = read(csv_of([*lines, [sku(other), "7.00", ""]]))
    assert task.counts == {"changed": 2, "faulty": 98}
    assert apply(task).results == {"done": 2}
    assert {each.price.amount for each in now_of(vase).variants} == {Decimal(9)}
    marks = [operations.mark_of(task.task_id, each) for each in range(task.total)]
    assert sum(has_mark(vase.product_id, each) for each in marks) == 1


def test_x108_a_file_that_fails_holds_up_no_other_and_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mug, now, unreadable = make_product("Mug"), datetime.now(UTC), uuid4()
    bad, good = (start(csv_of([PRICES, [each, "9.00", ""]])) for each in ("NO", sku(mug)))
    monkeypatch.setattr(
        spreadsheets.queries, "list_unfinished", lambda _: [unreadable, bad.task_id, good.task_id]
    )
    get_task = spreadsheets.queries.get_task

    def get_readable(task_id: UUID) -> SpreadsheetTask | None:
        if task_id == unreadable:
            raise ValueError(task_id)
        return get_task(task_id)

    monkeypatch.setattr(spreadsheets.queries, "get_task", get_readable)
    run_task = operations.run_task

    def fail(task: SpreadsheetTask, most: int) -> int:
        if task.task_id == bad.task_id:
            raise UnicodeEncodeError("utf-8", "x", 0, 1, "no")
        return run_task(task, most)

    monkeypatch.setattr(operations, "run_task", fail)
    for number in range(MAX_FAILURES):
        assert stored(bad).failures == number
        with collect_failed_rows() as failed, pytest.raises(UnicodeEncodeError):
            go_on_with_spreadsheets(now)
        assert str(unreadable) in str(failed)
    assert (stored(bad).state, stored(good).state) == ("refused", "read")
    monkeypatch.undo()
    assert bad.task_id not in spreadsheets.queries.list_unfinished(list_months(now))
    assert not default_storage.exists(bad.stored_as)


def test_x108_a_row_that_always_fails_is_refused_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    products = [make_product(name) for name in ("Mug", "Vase")]
    task = read(csv_of([PRICES, *([sku(each), "9.00", ""] for each in products)]))

    def fail(row: PlannedRow, task_id: UUID, mark: UUID) -> tuple[str, str]:
        if row.position == 0:
            raise ValueError(row.key)
        return apply_changes(row, task_id, mark)

    monkeypatch.setattr(imports, "apply_changes", fail)
    assert operations.start_applying(task, datetime.now(UTC))
    for number in range(MAX_FAILURES):
        found = rows_of(task)
        assert (stored(task).state, found[0].result) == ("applying", ""), number
        with collect_failed_rows() as failed:
            operations.run_task(stored(task), 100)
        assert "row 0 of import" in str(failed)
    assert stored(task).results == {"refused": 1, "done": 1}
    assert f"The change failed {MAX_FAILURES} times" in rows_of(task)[0].reason
    assert [now_of(each).variants[0].price.amount for each in products][1] == Decimal(9)


def test_x107_what_is_written_down_at_once_is_bounded_by_its_letters_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(imports, "MAX_CHUNK_LETTERS", 5000)
    sizes = []
    plan = imports.plan_rows

    def count(task: SpreadsheetTask, layout: Layout, rows: Sequence[FileRow]) -> None:
        sizes.append(len(rows))
        plan(task, layout, rows)

    monkeypatch.setattr(imports, "plan_rows", count)
    head = ["product", "name", "description", "sku"]
    lines = [[f"p-{n}", "Ä", "x" * 2000, f"{uuid4().hex}"] for n in range(7)]
    task = read(csv_of([head, *lines]), "products")
    assert (sizes, task.counts, len(rows_of(task))) == ([2, 2, 2, 1], {"faulty": 7}, 7)


def test_x105_an_import_whose_first_cells_have_expired_is_gone() -> None:
    now = datetime.now(UTC)
    task = read(csv_of([PRICES, ["NOBODYS", "1", ""]]))
    columns = ("layout", "file_name", "stored_as", "started_by", "started_at")
    connection.get_session().execute(
        f"DELETE {', '.join(columns)} FROM spreadsheet_tasks WHERE month = %s AND task_id = %s",
        (month_of(task.task_id), task.task_id),
    )
    assert spreadsheets.queries.get_task(task.task_id) is None
    assert task.task_id not in {
        each.task_id for each in spreadsheets.queries.list_tasks(now, LAYOUTS)
    }
    month = month_of(task.task_id)
    assert task.task_id not in {each.task_id for each in spreadsheets.queries.iterate_tasks(month)}


NEW_HEAD = ["product", "name", "category", "sku", "options", "price", "compare_at", "weight_grams"]


def test_x272_the_preview_reports_all_that_applying_would_refuse() -> None:
    """What is not reported is applied: nothing in a file that was looked at is refused afterwards."""
    mug, other = make_product("Mug", price="12.00", listed=True), make_product("Bowl", listed=True)
    slug, name = vase_category(mug), f"new-{uuid4().hex[:8]}"
    # A SKU that a variant of the same product had before is claimed by that one.
    former = sku(mug)
    renamed = replace(now_of(mug).variants[0], sku=f"{former}-B")
    catalogue.operations.save_product(replace(now_of(mug), variants=(renamed,)), datetime.now(UTC))
    # An address without a product, as a save that was cut off has left it.
    claimed = f"claimed-{uuid4().hex[:8]}"
    take_claims([Claim(claimed, uuid4())])
    vase = make_product("Vase", listed=True)
    lines: Lines = [
        NEW_HEAD,
        [f"{name}-1", "One", slug, f"{name}-x", "", "1.00", "", ""],
        [f"{name}-2", "Two", slug, f"{name}-x", "", "1.00", "", ""],
        [mug.slug, "Mug", slug, f"{former}-B", "", "12.00", "", "350"],
        [mug.slug, "", "", former, "", "13.00", "", ""],
        [claimed, "Claimed", slug, f"{name}-y", "", "1.00", "", ""],
        [f"{name}-3", "Three", slug, f"{name}-z", "", "1.00", "2.00", ""],
        [f"{name}-4", "Four", slug, sku(vase), "", "1.00", "", ""],
        [vase.slug, "Vase", slug, sku(vase), "", "12.00", "", "9"],
    ]
    task = read(csv_of(lines), "products")
    assert faults_of(task) == [
        (3, "sku", f"A product further up in this file has the SKU {name.upper()}-X."),
        (5, "sku", f"Another variant has the SKU {former}."),
        (6, "product", "Another product has this address."),
        (
            7,
            "compare_at",
            "There is no former price yet: this variant was never sold at another price.",
        ),
        (8, "sku", f"The SKU {sku(vase)} belongs to another product."),
    ]
    assert apply(task).results == {"done": 2}, "the first one with the SKU, and the vase"
    # Of stock, what orders have reserved cannot be counted away.
    variant_id = other.variants[0].variant_id
    make_stock(5, product_id=other.product_id, variant_id=variant_id)
    wanted = [WantedLine(1, other.product_id, variant_id, 4)]
    inventory.reserve_stock(uuid4(), wanted, datetime.now(UTC), 9)
    head = ["sku", "warehouse", "units", "shipped"]
    task = read(csv_of([head, [sku(other), "berlin", "3", ""]]), "stock")
    assert faults_of(task) == [(2, "units", "Only 1 are available. Orders hold the others.")]
    task = read(csv_of([head, [sku(other), "berlin", "3", "999999999"]]), "stock")
    assert [(line, column) for line, column, _text in faults_of(task)] == [(2, "units")]
    assert apply(read(csv_of([head, [sku(other), "berlin", "4", ""]]), "stock")).results == {
        "done": 1
    }


def test_x272_all_faults_of_a_row_are_shown_at_once_each_in_its_own_words() -> None:
    category = vase_category(make_product("Mug", listed=True))
    name = f"new-{uuid4().hex[:8]}"
    head = [*NEW_HEAD, "barcode", "active_from", "active_until", "tags", "search_title"]
    rest = ["2027-03-28T01:30", "2027-02-31", "x" * 101, "y" * 101]
    lines: Lines = [
        head,
        [name, "", "nowhere", "bad!", "Colour", "0", "1.005", "1.5", "123", *rest],
        [name, "", "", f"{name}-2", "Size: S", "1000001", "x", "-1", "", "", "", "", ""],
        [name, "Other", "", f"{name}-3", "Size: M", "", "", "", "4006381333931", "", "", "", ""],
        [
            name,
            "",
            "",
            f"{name}-4",
            "Size: L",
            "12.00",
            "11.00",
            "",
            "4006381333931",
            "",
            "",
            "",
            "",
        ],
        [f"{name}-b", "B", category, "#1", "", "1.00", "", "1000001", "", "", "", "", ""],
    ]
    faults = faults_of(read(csv_of(lines), "products"))
    prices = [text for _line, column, text in faults if column in ("price", "compare_at")]
    assert len(set(prices)) == len(prices) == 6
    assert [(line, column) for line, column, _text in faults] == [
        *((2, each) for each in ("category", "active_from", "active_until", "options", "price")),
        *((2, each) for each in ("compare_at", "weight_grams")),
        *((3, each) for each in ("price", "compare_at", "weight_grams")),
        (4, "name"),
        (2, "name"),
        (4, "price"),
        (2, "search_title"),
        (2, "tags"),
        (2, "sku"),
        (2, "barcode"),
        (5, "compare_at"),
        (5, "barcode"),
        (6, "weight_grams"),
        (6, "sku"),
    ]


def test_s110_a_product_that_cannot_be_read_costs_a_file_its_own_rows_only() -> None:
    broken, mug = make_product("Vase", listed=True), make_product("Mug", listed=True)
    prices = csv_of([PRICES, [sku(broken), "9.00", ""], [sku(mug), "9.00", ""]])
    names = [[each.slug, "Renamed", sku(each)] for each in (broken, mug)]
    slugs = csv_of([["product", "name", "sku"], *names])
    stock = csv_of(
        [["sku", "warehouse", "units"], [sku(broken), "berlin", "3"], [sku(mug), "berlin", "3"]]
    )
    with unreadable_product(broken.product_id):
        read_prices, read_products = read(prices), read(slugs, "products")
        with collect_failed_rows() as failed:
            read_stock = read(stock, "stock")
            exported = export("prices", products=[broken, mug]).decode()
    text = "This product can’t be read."
    assert faults_of(read_prices) == [(2, "sku", text)]
    assert faults_of(read_products) == [(2, "product", text)]
    assert faults_of(read_stock) == []
    assert [len(rows_of(each)) for each in (read_prices, read_products, read_stock)] == [2, 2, 2]
    assert sku(mug) in exported
    assert sku(broken) not in exported
    assert len(failed.failures) == 2


def test_x275_options_of_a_new_product_keep_the_order_of_the_file() -> None:
    category, name = vase_category(make_product("Mug", listed=True)), f"new-{uuid4().hex[:8]}"
    lines: Lines = [
        NEW_HEAD,
        [name, "Shelf", category, f"{name}-1", "Wood: oak, Size: S", "9.00", "", ""],
        [name, "", "", f"{name}-2", "Size: L, Wood: oak", "9.00", "", ""],
    ]
    assert apply(read(csv_of(lines), "products")).results == {"done": 1}
    found = existing(queries.find_product_id_by_slug(name))
    shelf = existing(queries.get_product_at_quorum(found))
    assert shelf.option_names == ("Wood", "Size")
    written = export("products", products=[shelf])
    place = LAYOUTS["products"].head.index("options")
    assert [line[place] for line in as_lines(written)[1:]] == [
        "Wood: oak, Size: S",
        "Wood: oak, Size: L",
    ]
    assert read(written, "products").counts == {"unchanged": 1}
