"""The review: the sums that it shows are those that are charged, once."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from catalogue.entities import Product
from catalogue.operations import save_product
from checkout.steps import STEPS
from inventory import operations as inventory
from inventory.entities import PREORDER, WantedLine
from orders import queries
from pricing.templatetags.money import format_money
from tests.checkout.shopper import HTMX, TYPED, Shopper, count_reserved, remembered, text, token_in
from tests.factories import make_product, make_stocked_product
from tests.orders.consistency_checks import assert_order_consistent
from tests.threads import map_at_once


def test_an_empty_cart_has_nothing_to_check_out(client: Client) -> None:
    for step in STEPS:
        assert client.get(reverse(f"checkout:{step}"))["Location"] == reverse("cart:show")
        assert client.post(reverse(f"checkout:{step}"), TYPED)["Location"] == reverse("cart:show")


def test_x63_delivery_is_a_range_of_dates(mug: Product) -> None:
    shopper, day = Shopper((mug, 1)), r"(Mon|Tues|Wednes|Thurs|Fri)day \d+ [A-Z][a-z]+"
    for page in (shopper.ways().get_element_by_id("ways"), shopper.look()):
        assert re.search(f"{day} to {day}", text(page))


def test_what_an_order_reserves_is_not_in_the_way_of_its_own_cart(mug: Product) -> None:
    last = make_stocked_product(units=1, name="Vase")
    ann, ben = Shopper((mug, 1), (last, 1)), Shopper((last, 1))
    ann.place()
    assert "Sold out" not in text(ann.client.get(reverse("cart:show")))
    assert "Sold out" in text(ben.client.get(reverse("cart:show")))
    # It counts at an add, too (X126): all of it is hers, and no more.
    sent = {"variant": last.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
    refused = ann.client.post(reverse("cart:add"), sent)
    assert "Only 1 left, and you already have 1 in your cart." in text(refused)
    assert "Vase is sold out." in text(ben.client.post(reverse("cart:add"), sent))


def test_each_step_says_which_lines_wait_for_stock(mug: Product) -> None:
    later, soon = (
        make_stocked_product(units=0, name="Vase"),
        (datetime.now(UTC) + timedelta(days=40)).date(),
    )
    ids = (later.product_id, later.variants[0].variant_id)
    inventory.set_backorder(*ids, PREORDER, 5, soon, actor="Ada", now=datetime.now(UTC))
    shopper = Shopper((mug, 1), (later, 1))
    for page in (shopper.details(), shopper.ways(), shopper.look()):
        lines = [
            " ".join(line.text_content().split()) for line in page.xpath("//*[@id='summary']//li")
        ]
        assert ["Pre-order: ships from" in line for line in lines] == [
            "Vase" in line for line in lines
        ]


def test_x65_the_button_names_act_and_sum(mug: Product) -> None:
    tea = make_product("Tea", price="5.35", tax_class="reduced", stock=5)
    page = Shopper((mug, 2), (tea, 1)).look()
    summary = text(page.get_element_by_id("summary"))
    assert text(page.get_element_by_id("pay")) == "Pay €34.25"
    for expected in (
        "2 × €12.00",
        "Subtotal€29.35",
        "Delivery, StandardFree from €60.00. Add €30.65 more.€4.90",
        "Total€34.25",
        "at 19%",
        "at 7%",
    ):
        assert expected in summary, expected


def test_the_sums_follow_the_country_without_scripts(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    sent = {"update": "yes", "country": "IE", "email": "half typed", "name": ""}
    answer = shopper.client.post(reverse("checkout:details"), TYPED | sent)
    assert answer["Location"] == reverse("checkout:details")
    page = shopper.details()
    assert "Eircode optional" in text(page)
    assert page.xpath("//input[@name='email']/@value") == ["half typed"]
    assert not page.xpath("//*[@data-error-summary]")
    assert "Total€17.90" in text(page.get_element_by_id("summary"))
    shopper.typed(country="FR")
    assert "Chronopost" in text(shopper.ways(country="FR").get_element_by_id("ways"))


def test_the_sums_follow_the_country_by_htmx(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    sent = {"update": "yes", "country": "IE"}
    answer = shopper.client.post(reverse("checkout:details"), TYPED | sent, headers=HTMX)
    part = html.fragments_fromstring(answer.content.decode())
    assert part[0].get("id") == "summary"
    assert b"<html" not in answer.content
    # Two triggers with one event name would shadow each other: one selector names all elements.
    assert shopper.details().xpath("//button[@name='update']/@hx-trigger")[0].count("change") == 1
    assert "Total€17.90" in text(part[0])
    # Ireland delivers without an Eircode, and has counties; what was typed stays.
    drawn_anew = {
        each.get("id"): each
        for each in part[1:]
        if hasattr(each, "get") and each.get("hx-swap-oob")
    }
    address = drawn_anew["address-fields"]
    assert "Eircode optional" in text(address)
    assert address.xpath(".//input[@name='postal_code']/@value") == [TYPED["postal_code"]]
    assert address.xpath(".//select[@name='area']")
    # Where the country stays, no fields are redrawn while the visitor types.
    same = shopper.client.post(
        reverse("checkout:details"), TYPED | sent | {"address-fields-for": "IE"}, headers=HTMX
    ).content.decode()
    assert 'id="address-fields"' not in same
    assert "The total is now €17.90." in answer.content.decode()


def test_s34_s40_prices_and_states_sent_by_the_client_are_ignored(mug: Product) -> None:
    sent = {
        "total": "1",
        "price": "0.01",
        "amount": "1",
        "currency": "XXX",
        "discount": "1200",
        "voucher": "ALL",
        "tax": "0",
    }
    order, _ = Shopper((mug, 1)).place(
        **sent, delivery_price="0", state="confirmed", user_id=str(uuid4())
    )
    assert (
        format_money(order.discount),
        format_money(order.delivery),
        format_money(order.tax),
    ) == ("€0.00", "€4.90", "€2.70")
    assert (order.voucher, order.discounts) == ("", ())
    assert (format_money(order.total), order.state, order.user_id) == (
        "€16.90",
        "pending_payment",
        None,
    )


def test_x66_a_changed_price_is_shown_and_nothing_is_charged(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    token = shopper.token()
    dearer = replace(mug, variants=(replace(mug.variants[0], price=mug.variants[0].price * 2),))
    save_product(dearer, datetime.now(UTC))
    answer = shopper.send(token)
    assert answer.status_code == 409
    page = html.fromstring(answer.content)
    assert f"{mug.name} now costs €24.00. It was €12.00 before." in text(page)
    assert "Nothing was charged" in text(page)
    assert count_reserved(mug) == 0
    assert "The total is now €52.90. It was €28.90 before." in text(page)
    assert shopper.send(token_in(page)).status_code == 303  # one submit accepts what is shown now
    (order_id,) = remembered(shopper.client)
    order = queries.get_order(order_id)
    assert order
    assert format_money(order.subtotal) == "€48.00"


def save_at(product: Product, price: str) -> None:
    save_product(
        replace(product, variants=(replace(product.variants[0], price=Money(price, EUR)),)),
        datetime.now(UTC),
    )


def test_x48_nobody_gets_to_the_checkout_before_a_rise_is_agreed_to(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    save_at(mug, "24.00")
    looks = [shopper.client.get(reverse(f"checkout:{step}")) for step in STEPS]
    # Who has typed nothing is led to the first step, which says so.
    assert {each["Location"] for each in looks[1:]} == {reverse("checkout:details")}
    for answer in (looks[0], shopper.typed("details"), shopper.typed()):
        assert (answer.status_code, answer["Location"]) in [
            (302, reverse("cart:show")),
            (303, reverse("cart:show")),
        ]
    cart = shopper.client.get(reverse("cart:show"))
    assert "A price has gone up." in text(cart)
    fields = html.fromstring(cart.content).xpath(
        "//form[@action='/cart/agree/']//input[@name!='csrfmiddlewaretoken']"
    )
    assert (
        shopper.client.post(
            reverse("cart:agree"), {each.name: each.value for each in fields}
        ).status_code
        == 303
    )
    order, _ = shopper.place()
    assert format_money(order.subtotal) == "€24.00"


def test_x48_a_rise_that_a_page_of_errors_brings_is_shown_before_a_submit_counts(
    mug: Product,
) -> None:
    shopper = Shopper((mug, 1))
    token = shopper.token()
    save_at(mug, "24.00")
    answer = shopper.send(token, email="")
    assert answer.status_code == 422
    assert "Mug now costs €24.00. It was €12.00 before." in text(answer)


def test_x48_a_rise_is_shown_to_whoever_comes_without_a_page_of_ours(
    mug: Product, subtests: pytest.Subtests
) -> None:
    shoppers = [Shopper((mug, 1)) for _ in range(2)]
    save_at(mug, "24.00")
    for shopper, fields in zip(shoppers, ({"email": ""}, {}), strict=True):
        with subtests.test(fields=fields):
            answer = shopper.send("", **fields)
            assert answer.status_code in (409, 422)
            assert "Mug now costs €24.00. It was €12.00 before." in text(answer)
            assert "It was €0.00" not in text(answer)


def test_x48_a_fall_passes_through(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    save_at(mug, "10.00")
    order, _ = shopper.place()
    assert format_money(order.subtotal) == "€20.00"


def test_x66_short_stock_is_shown_and_the_rest_can_be_ordered() -> None:
    mug = make_stocked_product(5)
    variant_id = mug.variants[0].variant_id
    shopper = Shopper((mug, 3))
    token = shopper.token()
    # Another order is faster, and the pages do not have it yet.
    inventory.reserve_stock(
        uuid4(), [WantedLine(1, mug.product_id, variant_id, 3)], datetime.now(UTC)
    )
    answer = shopper.send(token)
    assert answer.status_code == 409
    assert "Only 2 of Mug are left. You wanted 3." in text(answer)
    again = html.fromstring(answer.content).xpath("//input[@name='checkout']/@value")[0]
    inventory.copy_stock(mug.product_id)
    assert shopper.send(again).status_code == 303
    assert count_reserved(mug) == 5


def test_when_all_is_gone_nothing_is_ordered() -> None:
    mug = make_stocked_product(1)
    shopper = Shopper((mug, 1))
    token = shopper.token()
    inventory.reserve_stock(
        uuid4(), [WantedLine(1, mug.product_id, mug.variants[0].variant_id, 1)], datetime.now(UTC)
    )
    answer = shopper.send(token)
    assert answer.status_code == 409
    assert "Mug is sold out" in text(answer)
    assert "nothing was charged" in text(answer)


def test_what_is_no_longer_sold_is_left_out_in_words(mug: Product) -> None:
    plate = make_stocked_product(name="Plate")
    shopper = Shopper((mug, 1), (plate, 1))
    save_product(replace(plate, status="archived"), datetime.now(UTC))
    page = shopper.details()
    assert "Plate is no longer sold and was left out." in text(page)
    assert "Plate" not in text(page.get_element_by_id("summary"))


def test_another_delivery_than_shown_asks_once_more(mug: Product) -> None:
    answer = Shopper((mug, 1)).send(delivery="express")
    assert answer.status_code == 409
    assert "Delivery now costs €9.90. It was €4.90 before." in text(answer)
    assert "The total is now €21.90. It was €16.90 before." in text(answer)


def test_what_another_tab_added_is_mentioned(mug: Product) -> None:
    plate = make_stocked_product(name="Plate")
    shopper = Shopper((mug, 1))
    token = shopper.token()
    shopper.add(plate)
    answer = shopper.send(token)
    assert answer.status_code == 409
    assert "Plate was added to your cart, so it’s now in this order." in text(answer)


def test_a_made_up_checkout_is_shown_again(mug: Product, subtests: pytest.Subtests) -> None:
    shopper = Shopper((mug, 1))
    for token in ("", "x", "a:b:c", "\x00", "9" * 5000):
        with subtests.test(token=token):
            answer = shopper.send(token)
            assert answer.status_code == 409
            assert "Check your order before you place it" in text(answer)


def test_somebody_elses_checkout_is_worth_nothing(mug: Product) -> None:
    theirs = Shopper((mug, 1)).token()
    assert Shopper((mug, 1)).send(theirs).status_code == 409


def test_a_second_submit_returns_the_first_order(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    token = shopper.token()
    first, second = shopper.send(token), shopper.send(token)
    assert first.status_code == second.status_code == 303
    assert first["Location"] == second["Location"]
    assert count_reserved(mug) == 2


def test_a_double_click_makes_one_order(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    token = shopper.token()
    clients = []
    for _ in range(2):
        twin = Client()
        twin.cookies = shopper.client.cookies
        clients.append(Shopper(client=twin))
    answers = map_at_once(lambda each: each.send(token), clients, 2)
    assert [answer.status_code for answer in answers] == [303, 303]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert count_reserved(mug) == 2


def test_a_second_submit_after_paying_leads_to_the_order(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    token = shopper.token()
    url = shopper.send(token)["Location"]
    shopper.pay(url)
    (order_id,) = remembered(shopper.client)
    order = assert_order_consistent(order_id)
    assert shopper.send(token)["Location"] == reverse("orders:detail", args=[order.number])


def test_the_same_checkout_with_another_body_is_refused_in_words(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    token = shopper.token()
    assert shopper.send(token).status_code == 303
    for fields in ({"city": "Potsdam"}, {"email": "broken"}):
        answer = shopper.send(token, **fields)
        assert answer.status_code == 409
        assert "You’ve already placed this order" in text(answer)
    (order_id,) = remembered(shopper.client)
    assert assert_order_consistent(order_id).delivery_address.city == "Berlin"
    assert count_reserved(mug) == 1
