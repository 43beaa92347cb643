"""The page of a product's stock: units that arrive and what was counted, each booked once."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from consistency.findings import Scope
from inventory import operations
from inventory.entities import WantedLine
from inventory.queries import get_stock_numbers, make_reservation_id
from tests.consistency.test_check_consistency import found
from tests.factories import make_product, make_stock, make_user, sign_in_staff


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
    product = make_product(listed=True)
    variant_id = product.variants[0].variant_id
    make_stock(10, product_id=product.product_id, variant_id=variant_id)
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
    assert "Meanwhile 7 lie there." in page
    assert 'value="9"' in page
    assert 'name="seen" value="7"' in page
    refused = staff.post(address(product), sent(product, 2, "count", reason="gone"))
    assert "Orders have reserved 4 of these." in refused.content.decode()
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
    for forms, text in ((late, "12 received"), ([counted], ""), ([counted | {"units": "8"}, sent(product, 3, "receive", key=counted["key"])], "corrected by -3")):  # fmt: skip
        for form in forms:
            answer = staff.post(address(product), form)
            page = answer.content.decode()
            assert answer.status_code == (422 if text else 303), form
            if text:
                assert f"This form was already booked: {text}." in page
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
    product = make_product()
    variant_id = product.variants[0].variant_id
    make_stock(10, product_id=product.product_id, variant_id=variant_id)
    adjust = operations.adjust_stock

    def come_late(*args: Any, **more: Any) -> bool:
        operations.receive_stock(
            product.product_id, variant_id, "berlin", 5, 3, uuid4(), current_time()
        )
        return adjust(*args, **more)

    monkeypatch.setattr(operations, "adjust_stock", come_late)
    answer = staff.post(address(product), sent(product, 8, "count", reason="stocktaking"))
    page = answer.content.decode()
    assert (answer.status_code, "Meanwhile 15 lie there." in page) == (409, True)
    assert 'value="8"' in page
    assert free(product) == 15, "five have come, and nobody has counted them"


def test_x111_bad_input_is_said_beside_its_field(staff: Client) -> None:
    product = make_product()
    violations = []
    for form, sentence in (
        *((sent(product, bad, "receive"), "Enter a whole number") for bad in ("-1", "1.5", "1e9", "", "x", 1_000_001)),
        (sent(product, 0, "receive"), "Enter how many have arrived"),
        (sent(product, 5, "count"), "Say why the number changes"),
        (sent(product, 5, "count", reason="found"), "Nothing has arrived here yet."),
    ):  # fmt: skip
        answer = staff.post(address(product), form)
        if answer.status_code != 422 or sentence not in answer.content.decode():
            violations.append((form["units"], sentence, answer.status_code))
    assert violations == []
    assert free(product) == 0
    nowhere = [
        sent(product, 1, "receive", warehouse="ahead"),
        sent(product, 1, "receive", variant="x"),
    ]
    assert [staff.post(address(product), each).status_code for each in nowhere] == [404, 404]
    assert staff.get(reverse("adminpanel:product_stock", args=(UUID(int=7),))).status_code == 404
