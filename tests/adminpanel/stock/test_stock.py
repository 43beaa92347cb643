"""The pages of stock: units that arrive, what was counted, what goes to another warehouse, each booked once; who did it, and what is low."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from cassandra_db import count_statements, current_time
from catalogue import queries
from catalogue.entities import Product
from consistency.findings import Scope
from inventory import operations
from inventory.entities import WantedLine, make_reservation_id
from inventory.queries import get_stock_numbers, list_stock_history, prefetch_open_transfers
from tests.consistency.test_check_consistency import found
from tests.factories import make_product, make_user, sign_in_staff
from tests.rules import assert_explained
from tests.stock import commit_stock


@pytest.fixture
def staff(client: Client) -> Client:
    return sign_in_staff(client, make_user("Wim", role="warehouse"))


def address(product: Product) -> str:
    return reverse("adminpanel:product_stock", args=(product.product_id,))


def sent(product: Product, units: object, act: str, **fields: Any) -> dict[str, Any]:
    variant_id = product.variants[0].variant_id
    on_hand = get_stock_numbers(variant_id, "berlin").on_hand
    return {
        "variant": str(variant_id),
        "warehouse": "berlin",
        "key": str(uuid4()),
        "seen": str(on_hand),
        "units": str(units),
        act: "1",
    } | fields


def free(product: Product, warehouse: str = "berlin") -> int:
    return get_stock_numbers(product.variants[0].variant_id, warehouse).available


def scope(product: Product) -> Scope:
    return Scope(
        products=frozenset((product.product_id,)),
        variants=frozenset(each.variant_id for each in product.variants),
    )


def test_x111_units_arrive_in_a_shop_that_has_none_and_a_form_sent_twice_books_once(
    staff: Client,
) -> None:
    product = make_product(availability="out", listed=True)
    page = staff.get(address(product)).content.decode()
    assert "Berlin" in page
    assert "Cork" in page
    form = sent(product, 12, "receive")
    answers = [staff.post(address(product), form) for _ in range(2)]
    row = f"{address(product)}#stock-{product.variants[0].variant_id}-berlin"
    assert [(each.status_code, each["Location"]) for each in answers] == [(303, row)] * 2
    assert free(product) == 12
    page = staff.get(address(product)).content.decode()
    assert f"{product.variants[0].sku}, Berlin: 12 received." in page
    stored = queries.get_product_at_quorum(product.product_id)
    assert stored
    assert stored.availability == "in", "shoppers can buy it"
    part = staff.post(address(product), sent(product, 1, "receive"), HTTP_HX_REQUEST="true")
    assert part.content.decode().lstrip().startswith("<tr id=")
    assert free(product) == 13
    assert found(scope(product), "I1", "I13", "I14") == []


def test_x111_a_count_sets_what_lies_there_and_says_why(staff: Client) -> None:
    product = make_product(listed=True, stock=10)
    variant_id = product.variants[0].variant_id
    order_id = uuid4()
    wanted = [WantedLine(1, product.product_id, variant_id, 4)]
    operations.reserve_stock(order_id, wanted, current_time())
    form = sent(product, 7, "count", reason="three broken")
    for _ in range(2):
        assert staff.post(address(product), form).status_code == 303
    assert (free(product), get_stock_numbers(variant_id, "berlin").on_hand) == (3, 7)
    late = staff.post(address(product), sent(product, 9, "count", reason="again", seen="10"))
    assert late.status_code == 409
    page = late.content.decode()
    assert "It’s 7 now." in page
    assert 'value="9"' in page
    assert 'name="seen" value="7"' in page
    refused = staff.post(address(product), sent(product, 2, "count", reason="gone"))
    assert "Orders hold 4 of these." in refused.content.decode()
    assert free(product) == 3
    assert found(scope(product), "I1", "I13") == []
    # The key is the form's own: an order's reservation is not what it booked.
    held = make_reservation_id(order_id, 1, variant_id, "berlin")
    assert staff.post(address(product), sent(product, 2, "receive", key=held)).status_code == 303
    assert free(product) == 5


def test_x111_a_form_that_was_booked_is_not_said_to_have_booked_something_else(
    staff: Client,
) -> None:
    product = make_product(listed=True)
    variant_id = product.variants[0].variant_id
    received = sent(product, 12, "receive")
    staff.post(address(product), received)
    # The answer was lost, and the row has kept its key.
    late = [
        received | {"units": "13"},
        sent(product, 13, "count", reason="again", key=received["key"]),
    ]
    counted = sent(product, 9, "count", reason="three broken")
    for forms, text in ((late, "12 received"), ([counted], ""), ([counted | {"units": "8"}, sent(product, 3, "receive", key=counted["key"])], "adjusted by -3")):  # fmt: skip
        for form in forms:
            answer = staff.post(address(product), form)
            page = answer.content.decode()
            assert answer.status_code == (422 if text else 303), form
            if text:
                assert f"This form was already saved: {text}." in page
                assert form["key"] not in page, "it can be sent as another one"
                on_hand = get_stock_numbers(variant_id, "berlin").on_hand
                assert f'name="seen" value="{on_hand}"' in page
    assert free(product) == 9
    # Also where nothing is left it can be counted, and what was found again.
    for units in (0, 4):
        form = sent(product, units, "count", reason="looked again")
        assert staff.post(address(product), form).status_code == 303
        assert free(product) == units
    assert found(scope(product), "I1", "I13", "I14") == []


def test_x111_of_two_who_count_at_once_one_is_asked_to_look_again(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = make_product(stock=10)
    variant_id = product.variants[0].variant_id
    adjust = operations.adjust_stock

    def come_late(*args: Any, **more: Any) -> bool:
        operations.receive_stock(
            product.product_id, variant_id, "berlin", 5, 3, uuid4(), current_time()
        )
        return adjust(*args, **more)

    monkeypatch.setattr(operations, "adjust_stock", come_late)
    answer = staff.post(address(product), sent(product, 8, "count", reason="stocktaking"))
    page = answer.content.decode()
    assert (answer.status_code, "It’s 15 now." in page) == (409, True)
    assert 'value="8"' in page
    assert free(product) == 15, "five have come, and nobody has counted them"


def test_x111_bad_input_is_said_beside_its_field(staff: Client) -> None:
    product = make_product()
    assert_explained(
        lambda form: staff.post(address(product), form),
        (
            *((sent(product, bad, "receive"), "Enter a whole number") for bad in ("-1", "1.5", "1e9", "", "x", 1_000_001)),
            (sent(product, 0, "receive"), "Enter how many have arrived"),
            (sent(product, 5, "count"), "Enter a reason, such as"),
            (sent(product, 5, "count", reason="found"), "No stock here yet."),
        ),
    )  # fmt: skip
    assert free(product) == 0
    nowhere = [
        sent(product, 1, "receive", warehouse="ahead"),
        sent(product, 1, "receive", variant="x"),
    ]
    assert [staff.post(address(product), each).status_code for each in nowhere] == [404, 404]
    assert staff.get(reverse("adminpanel:product_stock", args=(UUID(int=7),))).status_code == 404


STOCK, TRANSFERS = reverse("adminpanel:stock"), reverse("adminpanel:stock_transfers")


def make_stocked(units: int = 10) -> Product:
    """A product whose only variant is in stock in Berlin, as its staff have received it."""
    product = make_product(listed=True)
    receipt = (product.product_id, product.variants[0].variant_id, "berlin", units, 3, uuid4())
    operations.receive_stock(*receipt, current_time())
    operations.copy_stock(product.product_id)
    return product


def item(product: Product, name: str = "stock_item") -> str:
    args = (product.product_id, product.variants[0].variant_id)
    return reverse(f"adminpanel:{name}", args=args)


def rows_of(answer: Any) -> dict[str, list[str]]:
    """The rows of a list of stock: by SKU its warehouse and its numbers."""
    table = html.fromstring(answer.content).cssselect("tbody tr[data-row]")
    cells = [[cell.text_content().split() for cell in row.cssselect("th, td")] for row in table]
    return {row[0][0].rstrip(","): [each[0] for each in row[1:6]] for row in cells}


def test_x149_x150_the_stock_of_a_warehouse_is_found_by_sku_and_booked_there(staff: Client) -> None:
    product = make_stocked()
    (variant,) = product.variants
    order_id = uuid4()
    wanted = [WantedLine(1, product.product_id, variant.variant_id, 4)]
    commit_stock(operations.reserve_stock(order_id, wanted, current_time()))
    operations.reserve_stock(uuid4(), [replace(wanted[0], quantity=3)], current_time())
    operations.copy_stock(product.product_id)
    part = variant.sku[:-2].lower()
    with count_statements() as meter:
        page = staff.get(STOCK, {"q": part})
    assert meter.round_count <= 3
    assert rows_of(page) == {variant.sku: ["Berlin", "10", "3", "4", "3"]}
    for show, found_there in (("low", True), ("out", False)):
        shown = rows_of(staff.get(STOCK, {"q": part, "show": show}))
        assert (variant.sku in shown) == found_there, show
    assert rows_of(staff.get(STOCK, {"q": part, "warehouse": "cork"})) == {}
    # Where it never was, its whole SKU finds it, and a form sent there is answered there.
    cork = {"q": variant.sku, "warehouse": "cork"}
    assert rows_of(staff.get(STOCK, cork)) == {variant.sku: ["Cork", "0", "0", "0", "0"]}
    form = sent(product, 2, "receive", warehouse="cork")
    here = f"{address(product)}?list=1&warehouse=cork&show=all&q={variant.sku}"
    answers = [staff.post(here, form) for _ in range(2)]
    row = f"#stock-{variant.variant_id}-cork"
    query = f"warehouse=cork&show=all&q={variant.sku}"
    assert [(each.status_code, each["Location"]) for each in answers] == [(303, f"{STOCK}?{query}{row}")] * 2  # fmt: skip
    assert rows_of(staff.get(STOCK, cork))[variant.sku] == ["Cork", "2", "0", "0", "2"]
    counted = sent(product, 9, "count", reason="one broken")
    assert staff.post(here, counted).status_code == 303
    assert free(product) == 2
    assert staff.get(STOCK, {"after": "x"}).status_code == 302
    assert staff.get(STOCK, {"q": "zzzz"}).status_code == 200
    assert found(scope(product), "I1", "I13", "I26", "I28") == []


def test_x152_a_threshold_is_set_once_and_a_stale_one_is_asked_about(staff: Client) -> None:
    product = make_stocked(6)
    sku = product.variants[0].sku
    here = item(product, "stock_threshold")
    form = {"warehouse": "berlin", "threshold": "6", "seen": "3"}
    assert sku not in rows_of(staff.get(STOCK, {"q": sku, "show": "low"}))
    for _ in range(2):
        answer = staff.post(here, form)
        assert (answer.status_code, answer["Location"]) == (303, item(product))
    assert sku in rows_of(staff.get(STOCK, {"q": sku, "show": "low"}))
    violations = []
    for wrong, words in (
        ({"threshold": "5"}, "It’s 6 now."),
        ({"threshold": "-1"}, "Enter a whole number from 0"),
        ({"threshold": ""}, "Enter a whole number from 0"),
        ({"warehouse": "cork"}, "No stock here yet."),
    ):
        answer = staff.post(here, form | wrong)
        page = answer.content.decode()
        typed = f'value="{wrong.get("threshold", "6")}"'
        if (
            answer.status_code != (409 if "now" in words else 422)
            or words not in page
            or (typed not in page and wrong.get("threshold"))
        ):
            violations.append((wrong, answer.status_code))
    assert violations == []
    assert staff.post(here, form | {"warehouse": "ahead"}).status_code == 404
    for forged in (2**31, -(2**31) - 1, 10**30):
        assert staff.post(here, form | {"seen": str(forged)}).status_code == 422
    assert found(scope(product), "I13", "I26") == []


def test_x151_x153_s90_a_transfer_is_sent_and_ended_by_form_and_the_history_says_by_whom(
    staff: Client,
) -> None:
    product = make_stocked()
    (variant,) = product.variants
    here = item(product, "stock_transfer_new")
    form = {"key": str(uuid4()), "source": "berlin", "destination": "cork", "units": "4", "reason": "for the window"}  # fmt: skip
    for wrong, words in (
        ({"units": "0"}, "Enter a whole number from 1"),
        ({"units": "x"}, "Enter a whole number from 1"),
        ({"destination": "berlin"}, "Choose another warehouse"),
        ({"destination": "ahead"}, "Choose a warehouse"),
        ({"units": "11", "key": str(uuid4())}, "Available there: 10."),
        ({"source": "cork", "destination": "berlin"}, "No stock there yet."),
    ):
        answer = staff.post(here, form | wrong)
        assert (answer.status_code, words in answer.content.decode()) == (422, True), wrong
        assert "for the window" in answer.content.decode(), "nothing typed is lost"
    for _ in range(2):
        assert staff.post(here, form)["Location"] == item(product)
    again = staff.post(here, form | {"units": "5"}).content.decode()
    assert "This form was already saved: 4 from Berlin to Cork." in again
    assert form["key"] not in again
    assert f"4 units of {variant.sku} are on their way from Berlin to Cork." in again
    assert free(product) == 6
    page = staff.get(TRANSFERS).content.decode()
    (row,) = (
        each for each in prefetch_open_transfers().rows() if each.variant_id == variant.variant_id
    )
    end = reverse("adminpanel:stock_transfer_end", args=(row.transfer_id,))
    assert end in page
    assert (
        "4 on the way" in staff.get(STOCK, {"warehouse": "cork", "q": variant.sku}).content.decode()
    )
    # Others find neither the list nor the transfer.
    for role, status in (("support", 403), ("analyst", 403), ("", 404)):
        other, user = Client(), make_user("Eve", role=role)
        other.force_login(user)
        if role:
            sign_in_staff(other, user)
        for url in (STOCK, TRANSFERS, item(product)):
            assert other.get(url).status_code == status, (role, url)
        for url in (end, here, item(product, "stock_threshold"), reverse("adminpanel:stock_mail")):
            assert other.post(url, form).status_code == status, (role, url)
    assert get_stock_numbers(variant.variant_id, "cork").on_hand == 0
    for _ in range(2):
        assert staff.post(end, {"back": "item"})["Location"] == item(product)
    late = staff.post(end, {"call_off": "1"})
    assert (late.status_code, "already arrived in Cork" in late.content.decode()) == (409, True)
    assert free(product, "cork") == 4
    nowhere = reverse("adminpanel:stock_transfer_end", args=(uuid4(),))
    assert staff.post(nowhere).status_code == 404
    others = make_product()
    elsewhere = reverse("adminpanel:stock_item", args=(others.product_id, variant.variant_id))
    assert staff.get(elsewhere).status_code == 404
    with count_statements() as meter:
        page = staff.get(item(product)).content.decode()
    assert meter.round_count <= 3
    history = html.fromstring(page).cssselect("section[aria-labelledby=history] tbody tr")
    lines = [[each.text_content().strip() for each in row.cssselect("td")] for row in history]
    assert lines == [
        ["Transfer", "Cork", "+4", "Wim", "for the window"],
        ["Transfer", "Berlin", "-4", "Wim", "for the window"],
        ["Received", "Berlin", "+10", "–", "–"],
    ]
    rows, token = list_stock_history(variant.variant_id, most=2)
    assert (len(rows), bool(token)) == (2, True)
    older = staff.get(item(product), {"after": token}).content.decode()
    assert older.count("<time") == 1 + older.split("<table")[0].count("<time")
    assert staff.get(item(product), {"after": "x"}).status_code == 302
    assert found(scope(product), "I1", "I13", "I26", "I28") == []
