"""What a shopper sees of an order on its way, and changes of it: parcels, fewer units, another delivery address, returns."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localdate
from lxml import html

from orders import operations, queries
from orders.lifecycle.entities import Order
from pricing.money import to_minor_units
from tests.checkout.shopper import text
from tests.factories import make_draft, make_payment, make_product, make_stock, make_user
from tests.orders.reads import fresh, open_browser
from web.days import end_of_day

HTMX = {"HX-Request": "true"}
NEW_ADDRESS = {
    "name": "Ada Lovelace",
    "street": "Lindenallee 5",
    "postal_code": "10117",
    "city": "Berlin",
    "country": "DE",
}


def place_paid_order(*quantities: int, user_id: Any = None, cork: bool = False) -> Order:
    """A paid order of cups and, with a second quantity, of plates; with `cork` these are in another warehouse."""
    lines = []
    for name, price, quantity in zip(("Cup", "Plate"), ("12.00", "8.00"), quantities, strict=False):
        product = make_product(name, price=price)
        is_in_cork = cork and name == "Plate"
        make_stock(
            0 if is_in_cork else 20,
            cork=20 if is_in_cork else 0,
            product_id=product.product_id,
            variant_id=product.variants[0].variant_id,
        )
        lines.append((product, quantity))
    email = f"ada-{uuid4().hex}@example.com"
    return make_payment(
        operations.place_order(make_draft(*lines, user_id=user_id, email=email), datetime.now(UTC))
    )


def pack_parcel(
    order: Order, warehouse: str = "berlin", *, at: datetime | None = None, **lines: int
) -> Order:
    units = {int(name.removeprefix("line")): count for name, count in lines.items()}
    units = units or fresh(order).units_to_pack[warehouse]
    return operations.pack_parcel(
        fresh(order), warehouse, units, actor="staff:1:Ann", now=at or datetime.now(UTC)
    )


def sent(
    order: Order, *, tracking: str = "", carrier: str = "", at: datetime | None = None
) -> Order:
    parcel = order.parcels()[-1].parcel_id
    return operations.ship_parcel(
        order, parcel, carrier, tracking, actor="staff:1:Ann", now=at or datetime.now(UTC)
    )


def deliver_parcel(order: Order, *, at: datetime | None = None) -> Order:
    order = sent(pack_parcel(order, at=at), at=at)
    return operations.mark_parcel_delivered(
        order, order.parcels()[-1].parcel_id, actor="system", now=at or datetime.now(UTC)
    )


def fill_form(client: Client, address: str, **typed: str) -> dict[str, str]:
    """The fields that the page's form would send, with those that are typed into it."""
    page = html.fromstring(client.get(address).content)
    (form,) = page.xpath(f"//main//form[@action='{address}']")
    sent: dict[str, str] = {
        name: value or "" for name, value in form.form_values() if name != "csrfmiddlewaretoken"
    }
    return sent | typed


def at(name: str, order: Order) -> str:
    return reverse(f"orders:{name}", args=[order.number])


# ---- Parcels


def test_x70_each_parcel_stands_with_what_is_in_it_its_carrier_number_and_days() -> None:
    order = place_paid_order(2, 1)
    client = open_browser(order)
    order = sent(pack_parcel(order, line1=2), tracking="00340434 1/2")
    page = html.fromstring(client.get(at("detail", order)).content)
    (first,) = page.xpath("//section[@aria-labelledby='parcel-1']")
    page_text = " ".join(first.text_content().split())
    for words in (
        "Parcel 1",
        "On its way",
        "Track with DHL",
        "00340434 1/2",
        "Shipped on",
        "should arrive",
        "2 × Cup",
    ):
        assert words in page_text
    assert first.xpath(".//a/@href") == [
        "https://www.dhl.de/en/privatkunden/pakete-empfangen/verfolgen.html?piececode=00340434%201%2F2"
    ]
    assert "1 × Plate" in page.xpath("//section[@aria-labelledby='to-come']")[0].text_content()
    assert "Partly sent" in text(client.get(at("detail", order)))
    order = sent(pack_parcel(order), tracking="X9", carrier="Cargo <b>bike</b>")
    order = operations.mark_parcel_delivered(order, "1", actor="system", now=datetime.now(UTC))
    answer = client.get(at("detail", order), headers=HTMX)
    for words in (
        "Parcel 1 of 2",
        "Delivered on",
        "Parcel 2 of 2",
        "Carrier: Cargo <b>bike</b>",
        "X9",
    ):
        assert words in text(answer)
    assert b"<b>bike" not in answer.content  # S27
    assert "Not shipped yet" not in text(answer)
    order = operations.mark_parcel_lost(order, "2", actor="staff:1:Ann", now=datetime.now(UTC))
    assert "Lost by the carrier" in text(client.get(at("detail", order)))


def test_a_parcel_that_was_taken_apart_is_not_shown() -> None:
    order = pack_parcel(place_paid_order(1))
    client = open_browser(order)
    assert "ships next" in text(client.get(at("detail", order)))
    operations.unpack_parcel(order, "1", actor="staff:1:Ann", now=datetime.now(UTC))
    assert "Packed on" not in text(client.get(at("detail", order)))


# ---- Fewer units of a line


def test_x72_things_are_taken_out_before_they_are_packed_and_their_money_goes_back() -> None:
    order = place_paid_order(3, 1)
    client, address = open_browser(order), at("change", order)
    assert "Remove items" in text(client.get(at("detail", order)))
    answer = client.post(address, fill_form(client, address, line_1="1", line_2="0"))
    assert answer["Location"] == at("detail", order)
    then = fresh(order)
    assert (then.quantities[1], then.quantities[2], then.item_count) == (1, 0, 1)
    assert to_minor_units(order.total - then.total) == 2 * 1200 + 800
    assert to_minor_units(then.refunded) == 2 * 1200 + 800
    page = text(client.get(at("detail", order)))
    for words in ("Your order was updated.", "Refunded", "−€32.00", "Order changed", "1 × €12.00"):
        assert words in page
    assert "Plate" not in page[page.index("What you ordered") :]
    # One unit is left: such an order can only be cancelled as a whole.
    assert "Remove items" not in page
    assert "cancel the order" in text(client.get(address))
    assert client.post(address, {"line_1": "0"}).status_code == 409


def test_x59_x60_a_wrong_number_is_explained_beside_its_field(subtests: pytest.Subtests) -> None:
    order = place_paid_order(3)
    client, address = open_browser(order), at("change", order)
    for typed, words in (
        ("3", "Choose a smaller quantity for at least one item."),
        ("0", "Keep at least one item. To remove everything, cancel the order."),
        ("4", "Choose a quantity from 0 to 3"),
        ("-1", "Choose a quantity from 0 to 3"),
        ("1.5", "Choose a quantity from 0 to 3"),
        ("٣", "Choose a quantity from 0 to 3"),
        ("", "Choose a quantity from 0 to 3"),
        ("1e9", "Choose a quantity from 0 to 3"),
    ):
        with subtests.test(typed=typed):
            answer = client.post(address, fill_form(client, address, line_1=typed))
            assert answer.status_code == 422
            assert words in text(answer)
            assert "Error: " in html.fromstring(answer.content).xpath("//title")[0].text
            assert fresh(order).version == order.version


def test_only_what_is_not_packed_is_taken_out() -> None:
    order = pack_parcel(place_paid_order(3), line1=2)
    client, address = open_browser(order), at("change", order)
    page = html.fromstring(client.get(address).content)
    assert page.xpath("//select[@name='line_1']/option/@value") == ["2", "3"]
    assert client.post(address, fill_form(client, address, line_1="1")).status_code == 422
    assert client.post(address, fill_form(client, address, line_1="2")).status_code == 303
    assert fresh(order).quantities == {1: 2}
    # All of it is packed now.
    answer = client.get(address)
    assert "Items can no longer be removed" in text(answer)
    assert "It’s packed and about to leave" in text(answer)


def test_a_page_from_before_it_was_packed_is_answered_by_what_has_happened(
    subtests: pytest.Subtests,
) -> None:
    order = place_paid_order(3)
    client, typed = (
        open_browser(order),
        {"change": {"line_1": "1"}, "change_address": NEW_ADDRESS, "cancel": {}},
    )
    sent = {
        address: fill_form(client, address, **typed[name])
        for name in typed
        if (address := at(name, order))
    }
    pack_parcel(order)
    for address, fields in sent.items():
        with subtests.test(address):
            answer = client.post(address, fields)
            assert answer.status_code == 409
            for words in ("This order has changed", "Packed,", "Nothing was changed."):
                assert words in text(answer)
            assert "It’s packed and about to leave" in text(answer)
            then = fresh(order)
            assert (then.state, then.quantities, then.delivery_address.street) == (
                "confirmed",
                {1: 3},
                "Torstraße 1",
            )


def test_a_page_from_before_another_change_keeps_what_was_chosen() -> None:
    order = place_paid_order(5)
    client, address = open_browser(order), at("change", order)
    typed = fill_form(client, address, line_1="2")
    operations.change_order(fresh(order), {1: 4}, actor="staff:1:Ann", now=datetime.now(UTC))
    answer = client.post(address, typed)
    assert answer.status_code == 409
    assert "Order changed," in text(answer)
    (form,) = html.fromstring(answer.content).xpath(f"//form[@action='{address}']")
    again = dict(form.form_values())
    assert again["line_1"] == "2"
    assert client.post(address, again).status_code == 303
    assert fresh(order).quantities == {1: 2}


def test_a_double_submit_changes_it_once() -> None:
    order = place_paid_order(5)
    client, address = open_browser(order), at("change", order)
    typed = fill_form(client, address, line_1="4")
    assert client.post(address, typed).status_code == 303
    assert client.post(address, typed).status_code == 303
    assert to_minor_units(fresh(order).refunded) == 1200


# ---- Another delivery address


def test_x72_it_is_sent_to_another_address_in_the_same_country_before_it_is_packed() -> None:
    order = place_paid_order(1)
    client, address = open_browser(order), at("change_address", order)
    page = html.fromstring(client.get(address).content)
    assert page.xpath("//input[@name='street']/@value") == ["Torstraße 1"]
    assert client.post(address, fill_form(client, address, **NEW_ADDRESS))["Location"] == at(
        "detail", order
    )
    then = fresh(order)
    assert then.delivery_address.lines == (
        "Ada Lovelace",
        "Lindenallee 5",
        "10117 Berlin",
        "Germany",
    )
    assert then.billing_address.street == "Torstraße 1"
    assert then.total == order.total
    assert "Lindenallee 5" in text(client.get(at("detail", order)))
    pack_parcel(order)
    assert "Change the delivery address" not in text(client.get(at("detail", order)))
    assert "can no longer be changed" in text(client.get(address))


def test_x60_an_address_that_is_none_is_explained_and_kept(subtests: pytest.Subtests) -> None:
    order = place_paid_order(1)
    client, address = open_browser(order), at("change_address", order)
    for typed, words in (
        ({"street": ""}, "Enter the street and number"),
        ({"postal_code": "1"}, "Enter a German postcode"),
        ({"country": "IE"}, "You can’t change the country"),
        (
            {"street": "Torstraße 1", "postal_code": "10115"},
            "This is already the delivery address.",
        ),
    ):
        with subtests.test(typed=typed):
            answer = client.post(address, fill_form(client, address, **(NEW_ADDRESS | typed)))
            assert answer.status_code == 422
            assert words in text(answer)
            assert 'value="Ada Lovelace"' in answer.content.decode()
            assert fresh(order).version == order.version


# ---- Returns


def test_x256_after_the_last_day_no_page_says_that_items_may_be_returned() -> None:
    order = deliver_parcel(place_paid_order(1))
    client, now = open_browser(order), datetime.now(UTC)
    last_day = localdate(now) + timedelta(days=settings.RETURN_DAYS)
    pages = ("detail", "cancel", "change", "change_address", "request_return")
    with time_machine.travel(end_of_day(last_day) + timedelta(minutes=1), tick=True):
        seen = {name: text(client.get(at(name, order))) for name in pages}
    ended = f"The return period ended on {date_format(last_day, 'l j F Y')}."
    wrong = [name for name, page in seen.items() if ended not in page or "eturn items." in page]
    assert not wrong


def test_x72_what_has_arrived_is_sent_back_by_its_shopper_and_its_way_is_shown() -> None:
    order = deliver_parcel(place_paid_order(2, 1))
    client, address = open_browser(order), at("request_return", order)
    assert "You can return items until" in text(client.get(at("detail", order)))
    typed = fill_form(
        client,
        address,
        line_1="1",
        line_2="0",
        reason="damaged",
        words="The handle\r\nis <b>off</b>",
    )
    assert client.post(address, typed)["Location"] == at("detail", order)
    (back,) = fresh(order).returns
    assert (back.lines, back.reason, back.state) == (
        {1: 1},
        "It’s damaged or doesn’t work: The handle\nis <b>off</b>",
        "requested",
    )
    page = client.get(at("detail", order))
    for words in ("Returns", "1 × Cup", "Under review", "is <b>off</b>"):
        assert words in text(page)
    assert b"<b>off" not in page.content  # S27
    # Another tab, opened before.
    answer = client.post(address, typed | {"words": "Both are"})
    assert answer.status_code == 409
    assert "Return requested," in text(answer)
    now = datetime.now(UTC)
    operations.approve_return(fresh(order), "1", actor="staff:1:Ann", now=now)
    slip = f"Put a note with {order.number} / 1 in the parcel and send it to Stoa, 1 Example Street"
    assert slip in text(client.get(at("detail", order)))
    operations.receive_return(fresh(order), "1", {1: 0}, actor="staff:1:Ann", now=now)
    assert "We’ll refund you within a few days" in text(client.get(at("detail", order)))
    then = fresh(order)
    cup = queries.list_items(then)[0]
    operations.decide_refund(
        then,
        cup.units_total(1),
        {1: 1},
        "Returned: 1 × Cup",
        actor="staff:1:Ann",
        now=now,
        return_id="1",
    )
    page_text = text(client.get(at("detail", order)))
    for words in ("Refund sent", "Refunded", "Returned: 1 × Cup", "−€12.00"):
        assert words in page_text
    # The remaining units may still come back; what has come back does not come twice.
    left = html.fromstring(client.get(address).content)
    assert [len(each) for each in left.xpath("//select")] == [2, 2]


def test_a_return_that_is_refused_says_why() -> None:
    order = deliver_parcel(place_paid_order(1))
    order = operations.request_return(
        fresh(order), {1: 1}, "Too small", actor="shopper", now=datetime.now(UTC)
    )
    client = open_browser(order)
    assert "already being returned" in text(client.get(at("request_return", order)))
    operations.reject_return(
        order, "1", actor="staff:1:Ann", now=datetime.now(UTC), note="It was worn."
    )
    page = text(client.get(at("detail", order)))
    assert "Declined" in page
    assert "It was worn." in page


def test_x59_x60_what_is_wrong_with_a_return_is_explained_and_all_is_kept(
    subtests: pytest.Subtests,
) -> None:
    order = deliver_parcel(place_paid_order(2))
    client, address = open_browser(order), at("request_return", order)
    for name, typed, words in (
        ("line_1", "0", "Choose a quantity for at least one item"),
        ("line_1", "3", "Choose a quantity from 0 to 2"),
        ("line_1", "one", "Choose a quantity from 0 to 2"),
        ("reason", "", "Choose a reason"),
        ("reason", "because", "Choose one of these reasons"),
        ("words", "x" * 1001, "Enter 1,000 characters or fewer"),
    ):
        with subtests.test(name, typed=typed):
            whole = {"line_1": "1", "reason": "wrong", "words": "A blue one came"} | {name: typed}
            answer = client.post(address, fill_form(client, address, **whole))
            assert answer.status_code == 422
            assert words in text(answer)
            if name != "words":
                assert "A blue one came" in text(answer)
            assert fresh(order).returns == ()


def test_what_arrived_too_long_ago_or_not_at_all_is_not_sent_back() -> None:
    now = datetime.now(UTC)
    order = place_paid_order(1)
    client, address = open_browser(order), at("request_return", order)
    assert "Nothing has arrived yet" in text(client.get(address))
    assert client.post(address, {"line_1": "1", "reason": "mind"}).status_code == 409
    order = deliver_parcel(order)
    with time_machine.travel(now + timedelta(days=settings.RETURN_DAYS, minutes=-5), tick=True):
        assert "Return items" in text(client.get(at("detail", order)))
        typed = fill_form(client, address, line_1="1", reason="mind")
    with time_machine.travel(now + timedelta(days=settings.RETURN_DAYS + 1), tick=True):
        assert "Return items" not in text(client.get(at("detail", order)))
        assert "The return period ended on" in text(client.get(address))
        assert client.post(address, typed).status_code == 409
    assert fresh(order).returns == ()


# ---- Whose it is


def test_s22_it_is_its_buyers_alone(subtests: pytest.Subtests) -> None:
    alice, owner_client, bob = make_user(), Client(), Client()
    owner_client.force_login(alice)
    bob.force_login(make_user("Bob"))
    typed = {"line_1": "1", "reason": "mind"} | NEW_ADDRESS
    for name in ("change", "change_address", "request_return"):
        with subtests.test(name):
            order = place_paid_order(2, user_id=alice.pk)
            order = deliver_parcel(order) if name == "request_return" else order
            for client in (bob, Client()):
                for number in (order.number, "0000-0000"):
                    address = reverse(f"orders:{name}", args=[number])
                    assert client.get(address).status_code == 404
                    assert client.post(address, typed).status_code == 404
            assert fresh(order).version == order.version
            address = at(name, order)
            assert (
                owner_client.post(address, fill_form(owner_client, address, **typed)).status_code
                == 303
            )


def test_s40_what_the_form_does_not_ask_for_changes_nothing() -> None:
    order = place_paid_order(2)
    client, address = open_browser(order), at("change", order)
    extra = {
        "total": "1",
        "refund": "99999",
        "line_7": "1",
        "state": "cancelled",
        "sums": "{}",
        "actor": "staff:1:Ann",
    }
    assert client.post(address, fill_form(client, address, line_1="1") | extra).status_code == 303
    then = fresh(order)
    assert (then.quantities, then.state, to_minor_units(then.refunded)) == (
        {1: 1},
        "confirmed",
        1200,
    )
    assert next(event.actor for event in then.events if event.kind == "changed") == "shopper"
