"""How staff change the lines and the address of a placed order."""

from datetime import UTC, datetime

from django.test import Client
from moneyed import Money

from accounts import audit_log
from accounts.models import User
from orders import operations
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.orders.submits import seen, submit, text_of, url
from tests.orders.reads import fresh
from tests.rules import assert_explained


def test_something_is_taken_out_and_its_money_goes_back(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert submit(support_client, "lines", order, line_1="1") == 303
    done = fresh(order)
    assert (done.item_count, done.total, done.refunded) == (
        1,
        order.total - Money(12, "EUR"),
        Money(12, "EUR"),
    )
    text = text_of(support_client, done)
    assert "1 × €12.00" in text
    assert "1 item<" in text


def test_a_change_that_is_none_is_explained(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    assert_explained(
        lambda typed: staff_client.post(url("lines", order), seen(order, line_1=typed)),
        (("0", "Keep at least one item"), ("2", "Enter a smaller number"), ("3", "from 0 to 2")),
    )
    assert fresh(order) == order


def test_what_is_packed_stays(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    order = operations.pack_parcel(
        order, next(iter(order.units_to_pack)), {1: 1}, actor="Ben", now=datetime.now(UTC)
    )
    answer = staff_client.post(url("lines", order), seen(order, line_1="0"))
    assert (
        answer.status_code,
        "Enter at least 1: that many are already packed" in answer.content.decode(),
    ) == (422, True)


def test_an_order_goes_to_another_address(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    address = {
        "country": "DE",
        "name": "Sam Shopper",
        "street": "Hof 2",
        "postal_code": "10115",
        "city": "Berlin",
    }
    assert submit(staff_client, "door", order, **address) == 303
    assert fresh(order).delivery_address.street == "Hof 2"
    wrong = staff_client.post(
        url("door", order), seen(fresh(order), **(address | {"postal_code": "1"}))
    )
    assert (wrong.status_code, "Enter a German postcode" in wrong.content.decode()) == (422, True)
    abroad = staff_client.post(
        url("door", order), seen(fresh(order), **(address | {"country": "FR"}))
    )
    assert abroad.status_code == 422


def test_the_history_shows_what_each_step_was_about(staff_client: Client) -> None:
    order = make_order_with_events("paid", "packed")
    staff_client.post(
        url("parcel", order, "1"), seen(order, event="shipped", carrier="DHL", tracking="JD 7")
    )
    assert "parcel 1, DHL, JD 7" in text_of(staff_client, order)


def test_s50_a_form_of_many_lines_is_one_field_in_the_log(staff_client: Client, ann: User) -> None:
    order = make_order_with_events("paid")
    sent = {f"line_{line}": str(line % 2) for line in range(1, 200)}
    answer = staff_client.post(
        url("pack", order, next(iter(order.units_to_pack))), seen(order, **sent)
    )
    assert answer.status_code == 303
    entries, _ = audit_log.list_actor_entries(
        ann.pk, datetime.now(UTC).date().replace(day=1), "", 20
    )
    assert entries[0].fields["lines"].startswith("1: 1, 2: 0, 3: 1")
    assert len(entries[0].fields) == 2
