"""Checkout, payment and an order's page, as a shopper sees them."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from io import BytesIO
from itertools import product as combinations
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money
from pypdf import PdfReader

from accounts.addresses import Address
from accounts.operations import register_user, save_address, save_profile
from benchmarks import buyers
from cart import queries as cart_queries
from catalogue.entities import Product
from catalogue.operations import save_product
from checkout.steps import STEPS
from demo.testbank import cards
from demo.testbank import gateway as bank_gateway
from demo.testbank import operations as bank
from demo.testbank import queries as bank_queries
from inventory import operations as inventory
from inventory.entities import PREORDER, WantedLine
from mail.queries import list_recipient_mails
from orders import links, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from pricing.templatetags.money import format_money
from promotions.operations import PromotionTerms, create_promotion
from promotions.rules import PERCENTAGE
from tests.factories import make_order, make_product, make_user, sign_in_staff
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent, assert_stock_adds_up
from tests.payments.bank import make_webhook

HTMX = {"HX-Request": "true"}
TYPED = buyers.CHECKOUT_DETAILS | {"email": "ada@example.com"}


class Shopper:
    """A visitor with a browser, and products in the cart."""

    def __init__(self, *wanted: tuple[Product, int], client: Client | None = None) -> None:
        self.client = client or Client()
        for product, quantity in wanted:
            self.add(product, quantity)

    def add(self, product: Product, quantity: int = 1) -> None:
        sent = {
            "variant": product.variants[0].sku,
            "quantity": str(quantity),
            "operation": str(uuid4()),
        }
        assert self.client.post(reverse("cart:add"), sent).status_code in (200, 303)

    def details(self, query: str = "") -> Any:
        """Open the checkout at its first step."""
        return html.fromstring(self.client.get(reverse("checkout:details") + query).content)

    def typed(self, step: str = "delivery", headers: Any = None, **fields: str) -> Any:
        """Submit a step's form with all its fields; for the second step with the first's as well."""
        later = ("delivery", "payment", "same_billing") if step == "details" else ()
        sent = {name: value for name, value in TYPED.items() if name not in later}
        return self.client.post(reverse(f"checkout:{step}"), sent | fields, headers=headers)

    def ways(self, **fields: str) -> Any:
        """Continue to the second step."""
        return html.fromstring(self.client.get(self.typed("details", **fields)["Location"]).content)

    def look(self, **fields: str) -> Any:
        """Continue to the last step."""
        return html.fromstring(self.client.get(self.typed(**fields)["Location"]).content)

    def token(self, **fields: str) -> str:
        return token_in(self.look(**fields))

    def send(self, token: str | None = None, headers: Any = None, **fields: str) -> Any:
        """Order, by default what was reviewed."""
        sent = TYPED | {"checkout": token if token is not None else self.token()} | fields
        return self.client.post(reverse("checkout:review"), sent, headers=headers)

    def place(self, **fields: str) -> tuple[Order, str]:
        """Order, and return the order and the address of the bank's page."""
        answer = self.send(self.token(**fields), **fields)
        assert answer.status_code == 303, text(answer)
        payment_id = UUID(answer["Location"].rstrip("/").rpartition("/")[2])
        row = bank_queries.get_payment(payment_id)
        assert row
        order = queries.get_order_by_number(row.reference)
        assert order
        return order, answer["Location"]

    def pay(self, at: str, card: str = cards.APPROVED) -> Any:
        answer = self.client.post(at, {"card": card})
        return self.client.get(answer["Location"], follow=True)


def token_in(page: Any) -> str:
    page = page if hasattr(page, "xpath") else html.fromstring(page.content)
    return str(page.xpath("//input[@name='checkout']/@value")[0])


def make_stocked_product(units: int = 20, price: str = "12.00", name: str = "Mug") -> Product:
    product = make_product(name, price=price, stock=units)
    return product


def text(answer: Any) -> str:
    root = answer if hasattr(answer, "text_content") else html.fromstring(answer.content)
    return " ".join(unescape(root.text_content()).split())


def count_reserved(product: Product) -> int:
    return assert_stock_adds_up(product.variants[0].variant_id)["reserved"]


@pytest.fixture
def mug() -> Product:
    return make_stocked_product()


# ---- The page


def test_an_empty_cart_has_nothing_to_check_out(client: Client) -> None:
    for step in STEPS:
        assert client.get(reverse(f"checkout:{step}"))["Location"] == reverse("cart:show")
        assert client.post(reverse(f"checkout:{step}"), TYPED)["Location"] == reverse("cart:show")


def test_x53_a_guest_is_asked_for_no_account(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    assert "You can also check out as a guest" in text(page)
    assert not page.xpath("//main//input[@type='password']")


def test_x53_the_account_is_offered_once_it_is_paid(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    _, url = shopper.place()
    assert "Create an account" in text(shopper.pay(url))


def test_x54_there_are_few_fields(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    details, ways = shopper.details(), shopper.ways()
    for page in (details, ways, shopper.look()):
        fields = page.xpath(
            "//form[@data-checkout]//*[self::input or self::select or self::textarea][not(@type='hidden')]"
        )
        visible = [field for field in fields if not field.xpath("ancestor::details[not(@open)]")]
        assert len(visible) <= 11, [field.get("name") for field in visible]
    assert (
        len(details.xpath("//form[@data-checkout]//details[not(@open)]//input[@name='street2']"))
        == 1
    )
    assert ways.xpath("//input[@name='same_billing'][@checked]")


def test_x55_each_field_has_a_visible_label_and_says_whether_it_is_needed(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    for field in page.xpath(
        "//form[@data-checkout]//input[@type='text' or @type='email' or @type='tel']"
    ):
        (label,) = page.xpath(f"//label[@for='{field.get('id')}']")
        assert "required" in label.text_content() or "optional" in label.text_content()
        assert not field.get("placeholder")
    assert page.xpath("//input[@name='email']/@type") == ["email"]
    assert page.xpath("//input[@name='phone']/@type") == ["tel"]


def test_x56_the_browser_can_fill_it_in(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    found = [
        *page.xpath("//form//*[@autocomplete]"),
        *Shopper((mug, 1)).ways().xpath("//form//*[@autocomplete]"),
    ]
    tokens = {each.get("name"): each.get("autocomplete") for each in found}
    assert tokens["email"] == "email"
    assert tokens["name"] == "shipping name"
    assert tokens["postal_code"] == "shipping postal-code"
    assert tokens["country"] == "shipping country"
    assert tokens["phone"] == "shipping tel"
    assert tokens["billing-street"] == "billing address-line1"


def test_x57_spaces_dashes_and_case_do_not_matter(mug: Product) -> None:
    order, _ = Shopper((mug, 1)).place(
        country="IE",
        postal_code="d02-x285",
        city="Dublin",
        phone="+353 (1) 234-5678",
        email=" Ada@Example.com ",
    )
    assert (order.delivery_address.postal_code, order.delivery_address.phone) == (
        "D02 X285",
        "+35312345678",
    )
    assert order.email == "Ada@Example.com"


def test_x58_the_telephone_is_optional_and_says_what_for(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    (field,) = page.xpath("//input[@name='phone']")
    assert "carrier" in text(page.get_element_by_id(field.get("aria-describedby").split()[0]))
    assert Shopper((mug, 1)).place(phone="")


def test_x59_errors_are_listed_with_links_to_their_fields(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    for answer in (
        shopper.typed("details", email="ada", postal_code="1"),
        shopper.send(email="ada", postal_code="1"),
    ):
        assert answer.status_code == 422
        page = html.fromstring(answer.content)
        assert page.xpath("//title/text()")[0].startswith("Error: ")
        hrefs = page.xpath("//*[@data-error-summary]//a/@href")
        assert set(hrefs) == {"#id_email", "#id_postal_code"}
        for href in hrefs:
            field = page.get_element_by_id(href[1:])
            assert field.get("aria-invalid") == "true"
            assert any(name.endswith("_error") for name in field.get("aria-describedby").split())


def test_x60_what_was_typed_is_kept(mug: Product) -> None:
    page = html.fromstring(
        Shopper((mug, 1)).typed("details", email="ada", city="Köln", postal_code="1").content
    )
    assert page.xpath("//input[@name='email']/@value") == ["ada"]
    assert page.xpath("//input[@name='city']/@value") == ["Köln"]
    assert page.xpath("//input[@name='postal_code']/@value") == ["1"]


def test_x61_the_browser_does_not_interrupt_while_one_types(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    for page in (shopper.details(), shopper.ways()):
        (form,) = page.xpath("//form[@data-checkout]")
        assert form.get("novalidate") is not None
        assert not form.xpath(".//*[@required or @pattern]")
        assert not [
            each for each in form.xpath(".//@hx-trigger") if "blur" in each or "input" in each
        ]


def test_x62_nothing_is_asked_twice(mug: Product) -> None:
    user_id, member = uuid4(), Client()
    user = register_user(
        f"{user_id.hex}@example.com",
        "Ada L.",
        "correct horse battery",
        datetime.now(UTC),
        user_id=user_id,
    )
    first = save_address(
        user_id, Address("Ada L.", "Rue de la Paix 1", "75002", "Paris", "FR"), default=True
    )
    other = save_address(user_id, Address("Ada at work", "Torstraße 9", "10115", "Berlin", "DE"))
    member.force_login(user)
    shopper = Shopper((mug, 1), client=member)
    page = shopper.details()
    values = {
        each.get("name"): each.get("value") for each in page.xpath("//form[@data-checkout]//input")
    }
    assert (values["email"], values["name"], values["street"]) == (
        f"{user_id.hex}@example.com",
        "Ada L.",
        "Rue de la Paix 1",
    )
    assert page.xpath("//select[@name='country']/option[@selected]/@value") == ["FR"]
    save_profile(user_id, "Ada L.", "+49 30 1234567")
    # All of the first step is known, so the visit begins with the second.
    begins = html.fromstring(member.get(reverse("checkout:review"), follow=True).content)
    assert "Colissimo" in text(begins.get_element_by_id("ways"))
    assert "Rue de la Paix 1" in text(begins)
    page = shopper.details(f"?address={other}")
    assert page.xpath("//input[@name='street']/@value") == ["Torstraße 9"]
    # An address without a number has the member's own, or the one that was typed.
    assert page.xpath("//input[@name='phone']/@value") == ["+49 30 1234567"]
    shopper.ways(phone="+49 30 7654321")
    page = shopper.details(f"?address={other}")
    assert page.xpath("//input[@name='phone']/@value") == ["+49 30 7654321"]
    assert first != other
    _, url = shopper.place(email=values["email"])
    assert [
        each.get("name")
        for each in html.fromstring(member.get(url).content).xpath(
            "//main//input[not(@type='hidden')]"
        )
    ] == ["card"]


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


def test_enter_in_a_field_goes_on(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    for step, page in {"details": shopper.details(), "delivery": shopper.ways()}.items():
        (form,) = page.xpath("//form[@data-checkout]")
        assert form.action == reverse(f"checkout:{step}")
        assert form.xpath(".//button[@type='submit']")[0].get("name") is None, (
            "the buttons with names do something else"
        )


def test_the_invoice_can_go_elsewhere(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    elsewhere = {name: value for name, value in TYPED.items() if name != "same_billing"}
    refused = shopper.client.post(reverse("checkout:delivery"), elsewhere)
    assert refused.status_code == 422
    page = html.fromstring(refused.content)
    assert "Enter the name for the invoice" in text(page)
    assert page.xpath("//details[@open]//input[@name='billing-name']")
    billing = {
        "name": "Works Ltd",
        "street": "Quay 2",
        "street2": "",
        "postal_code": "",
        "city": "Cork",
        "country": "IE",
    }
    elsewhere |= {f"billing-{name}": value for name, value in billing.items()}
    at = shopper.client.post(reverse("checkout:delivery"), elsewhere)["Location"]
    review = shopper.client.get(at)
    assert "Works Ltd" in text(review)
    sent = elsewhere | {"checkout": token_in(review)}
    assert shopper.client.post(reverse("checkout:review"), sent).status_code == 303
    (order_id,) = remembered(shopper.client)
    order = queries.get_order(order_id)
    assert order
    assert (order.billing_address.name, order.delivery_address.name) == (
        "Works Ltd",
        "Ada Lovelace",
    )


def remembered(client: Client) -> list[UUID]:
    return [
        UUID(hex=each)
        for each, _ in signing.loads(
            client.cookies[settings.ORDER_COOKIE_NAME].value, salt="orders.cookie"
        )
    ]


# ---- What a page showed is what is charged


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


def test_bad_input_is_explained_at_its_place(mug: Product, subtests: pytest.Subtests) -> None:
    shopper = Shopper((mug, 1))
    token = shopper.token()
    for name, typed in (
        ("country", "US"),
        ("country", ""),
        ("delivery", "drone"),
        ("delivery", ""),
        ("email", "a" * 300 + "@example.com"),
        ("name", "\x00"),
        ("street", "x" * 5000),
        ("postal_code", "١٠١١٥"),
    ):
        with subtests.test(name, typed=typed):
            answer = shopper.send(token, **{name: typed})
            assert answer.status_code == 422
            assert html.fromstring(answer.content).xpath("//*[@data-error-summary]//a")
            assert count_reserved(mug) == 0


# ---- Twice


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
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda each: each.send(token), clients))
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


# ---- Paying


def test_a_guests_whole_visit(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    order, url = shopper.place()
    answer = shopper.pay(url, "4242 4242-4242 4242")
    assert answer.redirect_chain[-1][0] == reverse("orders:detail", args=[order.number])
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    owner_id = UUID(
        hex=signing.loads(
            shopper.client.cookies[settings.CART_COOKIE_NAME].value, salt="cart.owner"
        )[0]
    )
    cart = cart_queries.get_active_cart(owner_id)
    assert cart
    assert not cart.lines


def test_the_bank_is_another_website(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    _, url = shopper.place()
    page = html.fromstring(shopper.client.get(url).content)
    assert page.xpath("//title/text()") == ["Pay €16.90 · Test bank"]
    assert not page.xpath("//link[contains(@href, 'stoa.css')]")
    assert "4242 4242 4242 4242" in text(page)


def test_a_declined_card_can_be_tried_again(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    answer = shopper.pay(url, cards.DECLINED)
    assert text(answer).count("reserved") == 1  # until when, is said once
    assert "Your payment didn’t go through. Nothing was charged." in text(answer)
    assert "Try again: pay €16.90" in text(answer)
    again = shopper.client.post(reverse("orders:pay", args=[order.number]))
    assert again.status_code == 303
    assert again["Location"] != url
    shopper.pay(again["Location"])
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_leaving_the_bank_charges_nothing(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    back = shopper.client.post(url, {"leave": "yes"})
    assert "Nothing was charged" in text(shopper.client.get(back["Location"], follow=True))
    assert assert_order_consistent(order.order_id).payment == "failed"


def test_a_late_answer_is_waited_for(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    answer = shopper.pay(url, cards.LATE)
    assert "waiting for your bank" in text(answer)
    (attempt,) = list_attempts(order.order_id)
    row = bank_queries.get_payment(attempt.payment_id)
    assert row
    assert bank.change_payment(row, answers_at=datetime.now(UTC) - timedelta(seconds=1))
    part = shopper.client.get(reverse("orders:detail", args=[order.number]), headers=HTMX)
    assert "Thank you, Ada Lovelace" in text(part)
    assert b"<html" not in part.content
    assert_order_consistent(order.order_id)


def test_a_wrong_card_number_is_explained(mug: Product, subtests: pytest.Subtests) -> None:
    shopper = Shopper((mug, 1))
    _, url = shopper.place()
    for card in ("", "12", "4242 4242 4242 424x", "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢"):
        with subtests.test(card=card):
            assert shopper.client.post(url, {"card": card}).status_code == 422


def test_coming_back_without_paying_believes_the_bank_alone(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    payment_id = url.rstrip("/").rpartition("/")[2]
    back = reverse("orders:return_from_payment", args=[order.number, payment_id])
    answer = shopper.client.get(back + "?state=paid&outcome=paid&amount=0", follow=True)
    assert "Waiting for payment" in text(answer)
    assert assert_order_consistent(order.order_id).state == "pending_payment"


def test_too_late_to_pay_is_explained() -> None:
    order = make_order(now=datetime.now(UTC) - timedelta(minutes=30))
    visitor = Client()
    visitor.get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
    answer = visitor.post(reverse("orders:pay", args=[order.number]), follow=True)
    assert "time to pay for this order has run out" in text(answer)


def test_outside_a_demo_shop_nobody_orders_what_cannot_be_paid_and_the_test_bank_is_not_there(
    mug: Product, subtests: pytest.Subtests
) -> None:
    order, url = Shopper((mug, 1)).place()
    payment_id = UUID(url.rstrip("/").rpartition("/")[2])
    body, signature = make_webhook(payment_id, order.number)
    for named in ("", "none", "testbank"):
        with (
            subtests.test(named=named),
            override_settings(DEMO=False, PAYMENT_GATEWAY=named, PAYMENT_METHODS=["card"]),
        ):
            shopper = Shopper((mug, 1))
            page = shopper.send() if named == "testbank" else shopper.typed()
            assert page.status_code in (409, 422)
            assert "can’t take payments yet" in text(page)
            assert count_reserved(mug) == 1
            assert shopper.client.get(url).status_code == 404
            at = reverse("orders:payment_webhook", args=["testbank"])
            response = shopper.client.post(
                at, body, "application/json", headers={"X-Signature": signature}
            )
            assert response.status_code == 404


# ---- An order's page


def test_x67_the_confirmation_says_all_that_one_wants_to_know(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    shopper.pay(url)
    # opened again from a bookmark
    answer = shopper.client.get(reverse("orders:detail", args=[order.number]))
    page = html.fromstring(answer.content)
    for expected in (
        order.number,
        "We’ll pack it next",
        "It should arrive between",
        "email you when it leaves",
        "ada@example.com",
        "contact us",
    ):
        assert expected in text(page), expected
    assert page.xpath("//button[@data-print]")
    assert page.xpath("//time[@datetime]")
    assert "no-store" in answer["Cache-Control"]


def test_s86_delivery_notes_are_shown_to_their_shopper_and_to_staff_alone(mug: Product) -> None:
    shopper, said = Shopper((mug, 1)), "Ring twice, then <b>leave it</b> in the shed"
    typed = said.replace(", ", ",\r\n")
    assert said in text(
        shopper.look(notes=typed).get_element_by_id("ways-title").getparent().getparent()
    )
    order, url = shopper.place(notes=typed)
    assert order.customer_notes == said
    shopper.pay(url)
    page = reverse("orders:detail", args=[order.number])
    assert said in text(shopper.client.get(page))
    assert Client().get(page).status_code == 404
    staff = sign_in_staff(Client(), make_user("Wim", role="admin"))
    seen = html.fromstring(staff.get(reverse("adminpanel:order", args=[order.number])).content)
    # Beside the address, and where parcels are packed.
    assert said in text(seen.xpath("//section[@aria-labelledby='who']")[0])
    assert said in text(seen.xpath("//section[@aria-labelledby='parcels']")[0])
    refused = Shopper((mug, 1)).typed(notes="x" * 251)
    assert refused.status_code == 422
    (field,) = html.fromstring(refused.content).xpath("//textarea[@name='notes']")
    assert (field.text.strip(), field.get("aria-invalid")) == ("x" * 251, "true")


def test_x124_the_rows_of_a_sum_are_the_same_from_the_cart_to_the_invoice(mug: Product) -> None:
    code, email = f"TEN-{uuid4().hex[:8].upper()}", f"{uuid4().hex}@example.com"
    terms = PromotionTerms("Ten per cent off", PERCENTAGE, code, percent=Decimal(10))
    create_promotion(terms, datetime.now(UTC))
    shopper = Shopper((mug, 2))
    cart_id = shopper.client.get(reverse("cart:show")).context["cart"].cart_id
    shopper.client.post(reverse("cart:voucher"), {"cart": str(cart_id), "code": code})
    wanted = ["Subtotal", "Ten per cent off", "Delivery, Standard", "Total"]

    def labels(page: Any) -> list[str]:
        (sums, *_) = page.xpath("//dl[@class='sums']")
        for dt in sums.xpath("dt[starts-with(normalize-space(), 'Delivery')]"):
            # The days are the cart's alone; below it stands no rest of them.
            days = " ".join(" ".join(dt.xpath("span//text()")).split())
            assert not days or re.search(r"\d", days), days
        rows = [each.text.strip() for each in sums.xpath("dt")]
        rows = [each for each in rows if not each.startswith("or ")]
        return rows[: rows.index("Total") + 1]

    cart_page = html.fromstring(shopper.client.get(reverse("cart:show")).content)
    review = shopper.look(email=email)
    order, url = shopper.place(email=email)
    shopper.pay(url)
    staff = sign_in_staff(Client(), make_user("Wim", role="admin"))
    pages = {
        "cart": cart_page,
        "checkout": review,
        "order": html.fromstring(visit(order).content),
        "staff": html.fromstring(
            staff.get(reverse("adminpanel:order", args=[order.number])).content
        ),
    }
    assert {name: labels(page) for name, page in pages.items()} == dict.fromkeys(pages, wanted)
    (mail,) = [row for row in list_recipient_mails(email) if "Subtotal" in row.text]
    invoice = shopper.client.get(reverse("orders:invoice", args=[order.number]))
    (printed,) = [page.extract_text() for page in PdfReader(BytesIO(invoice.getvalue())).pages]
    # "Total" stands above the invoice's lines, too.
    sums_printed = printed[printed.index("Subtotal") :]
    for written in (mail.text, text(html.fromstring(mail.html)), sums_printed):
        places = [written.index(each) for each in wanted]
        assert places == sorted(places), written


def test_x15_the_print_has_lines_tax_and_addresses(mug: Product) -> None:
    order = make_order(quantity=2, paid=True)
    page = html.fromstring(visit(order).content)
    for part in page.xpath("//*[contains(@class, 'no-print')]"):
        part.getparent().remove(part)
    for expected in ("2 × €12.00", "€24.00", "19%", "Torstraße 1", "10115 Berlin", order.number):
        assert expected in text(page), expected


def visit(order: Order, client: Client | None = None) -> Any:
    client = client or Client()
    answer = client.get(
        reverse("orders:track", args=[links.order_access_token(order.order_id)]), follow=True
    )
    assert answer.status_code == 200
    return answer


def test_the_history_is_shown_without_what_is_for_staff_only() -> None:
    order = make_order(paid=True)
    operations.add_note(order, "looks like fraud?", actor="Ann", now=datetime.now(UTC))
    order = operations.transition_order(
        order,
        Transition(
            "shipped", actor="staff:1:Ann", at=datetime.now(UTC), note="Knows the fraud desk"
        ),
    )
    page = text(visit(order))
    assert "fraud" not in page
    assert "Ann" not in page
    page = page[page.index("Order history") :]
    assert page.index("On its way") < page.index("Payment received") < page.index("Ordered")


def test_staffs_move_is_seen_by_the_shopper_without_reloading() -> None:
    order, visitor = make_order(paid=True), Client()
    page = html.fromstring(visit(order, visitor).content)
    (again,) = page.xpath("//a[@id='refresh']")
    assert "every" in again.get("hx-trigger")
    operations.transition_order(order, Transition("shipped", actor="Ann", at=datetime.now(UTC)))
    part = visitor.get(again.get("hx-get"), headers=HTMX)
    assert "Your parcel is on its way" in text(part)


def test_each_state_has_a_page(subtests: pytest.Subtests) -> None:
    for kinds in (("cancelled",), ("held",), ("shipped", "delivered"), ("packed",)):
        with subtests.test(kinds=kinds):
            order = make_order(paid=True)
            for kind in kinds:
                order = operations.transition_order(
                    order, Transition(kind, actor="Ann", at=datetime.now(UTC))
                )
            fresh = queries.get_order(order.order_id)
            assert fresh
            assert fresh.customer_label in text(visit(order))


def not_there(number: str) -> list[tuple[str, str]]:
    return [
        ("get", reverse("orders:detail", args=[number])),
        ("post", reverse("orders:pay", args=[number])),
        ("get", reverse("orders:return_from_payment", args=[number, uuid4()])),
    ]


def test_s22_anothers_order_is_the_same_404_as_none(subtests: pytest.Subtests) -> None:
    order = make_order(user_id=uuid4(), paid=True)
    stranger = Client()
    visit(make_order(), stranger)  # a visitor with an order of their own
    member = Client()
    member.force_login(
        register_user(
            f"{uuid4().hex}@example.com", "Eve", "correct horse battery", datetime.now(UTC)
        )
    )
    requests = zip(not_there(order.number), not_there("ZZZZ-ZZZZ"), strict=True)
    for (who, client), ((method, theirs), (_, none)), headers in combinations(
        {"nobody": Client(), "stranger": stranger, "member": member}.items(), requests, ({}, HTMX)
    ):
        with subtests.test(who, method=method, address=none, headers=headers):
            real = getattr(client, method)(theirs, headers=headers)
            made_up = getattr(client, method)(none, headers=headers)
            assert real.status_code == made_up.status_code == 404
            assert scrubbed(real, order.number) == scrubbed(made_up, "ZZZZ-ZZZZ")


def scrubbed(answer: Any, number: str) -> str:
    # The header contains the requested address.
    changing = r'"x-csrftoken": "\w+"|value="\w{64}"|name="next" value="[^"]*"'
    return re.sub(changing, "", answer.content.decode()).replace(number, "")


def test_a_made_up_cookie_opens_nothing(subtests: pytest.Subtests) -> None:
    order = make_order()
    signed = (signing.dumps(made_up, salt="orders.cookie") for made_up in (["x"], [["x", 3]], 3))
    for cookie in ("", "x", "a:b:c", *signed):
        with subtests.test(cookie=cookie):
            client = Client()
            client.cookies[settings.ORDER_COOKIE_NAME] = cookie
            assert client.get(reverse("orders:detail", args=[order.number])).status_code == 404


def test_x71_the_mailed_link_opens_the_order_in_this_browser() -> None:
    order, client = make_order(paid=True), Client()
    answer = client.get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
    assert answer["Location"] == reverse("orders:detail", args=[order.number])
    assert client.get(answer["Location"]).status_code == 200
    cookie = client.cookies[settings.ORDER_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_x71_a_made_up_link_opens_nothing(client: Client, subtests: pytest.Subtests) -> None:
    signed = (signing.dumps(made_up, salt="orders.track") for made_up in ("x", uuid4().hex))
    for token in ("x", "a:b:c", *signed):
        with subtests.test(token=token):
            assert client.get(reverse("orders:track", args=[token])).status_code == 404


def test_x71_number_and_address_open_it_too(client: Client) -> None:
    order = make_order(email="Ada@Example.com")
    typed = {"number": order.number.lower().replace("-", " "), "email": "ada@example.COM "}
    answer = client.post(reverse("orders:lookup"), typed)
    assert answer.status_code == 303
    assert client.get(answer["Location"]).status_code == 200


def test_x71_one_sentence_for_both_errors(client: Client) -> None:
    order = make_order(email="ada@example.com")

    def error_text(**typed: str) -> str:
        answer = client.post(reverse("orders:lookup"), typed)
        assert answer.status_code == 422
        return str(html.fromstring(answer.content).xpath("string(//*[@data-error-summary])"))

    wrong_address = error_text(number=order.number, email="eve@example.com")
    wrong_number = error_text(number="ZZZZ-ZZZZ", email="ada@example.com")
    assert wrong_address == wrong_number
    assert "couldn’t find an order with this number and email address" in wrong_address
    assert settings.ORDER_COOKIE_NAME not in client.cookies


def test_a_browser_remembers_its_last_orders() -> None:
    client, made = Client(), [make_order() for _ in range(3)]
    for order in made:
        visit(order, client)
    assert remembered(client) == [order.order_id for order in reversed(made)]


def test_one_cart_makes_one_order_that_waits_for_its_payment() -> None:
    last_two = make_stocked_product(2)
    shopper = Shopper((last_two, 2))
    token = shopper.token()
    order, url = shopper.place()
    at = reverse("orders:detail", args=[order.number])
    assert shopper.client.get(reverse("checkout:details"))["Location"] == at
    assert shopper.send(token)["Location"] == url
    assert count_reserved(last_two) == 2
    page = html.fromstring(shopper.client.get(at).content)
    (give_up,) = page.xpath("//form[button[contains(., 'Cancel this order')]]/@action")
    assert shopper.client.post(give_up)["Location"] == reverse("cart:show")
    cancelled = assert_order_consistent(order.order_id)
    assert (cancelled.customer_label, cancelled.events[0].actor, count_reserved(last_two)) == (
        "Cancelled",
        "shopper",
        0,
    )
    assert shopper.place()[0].number != order.number
    # A paid order cannot be given up this way.
    paid, url = make_order(paid=True), reverse("orders:give_up", args=[order.number])
    visit(paid, shopper.client)
    shopper.client.post(reverse("orders:give_up", args=[paid.number]))
    assert assert_order_consistent(paid.order_id).customer_label == "Confirmed"
    assert shopper.client.get(url)["Location"] == at


def test_with_the_bank_away_the_order_is_shown_as_it_is(
    mug: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> None:
        raise ConnectionError("no bank")

    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    payment_id = UUID(url.rstrip("/").rpartition("/")[2])
    for name in ("start", "get_outcome"):
        monkeypatch.setattr(bank_gateway.TestBank, name, away)
    answer = shopper.client.post(reverse("orders:pay", args=[order.number]), follow=True)
    assert "We can’t reach the bank" in text(answer)
    back = reverse("orders:return_from_payment", args=[order.number, payment_id])
    assert "Waiting for payment" in text(shopper.client.get(back, follow=True))
    body, signature = make_webhook(payment_id, order.number)
    webhook_url = reverse("orders:payment_webhook", args=["testbank"])
    response = shopper.client.post(
        webhook_url, body, "application/json", headers={"X-Signature": signature}
    )
    assert response.status_code == 503


def test_a_members_order_closes_with_the_session(mug: Product, member: tuple[Client, UUID]) -> None:
    client, user_id = member
    order, _ = Shopper((mug, 1), client=client).place(email="ada@example.com")
    assert order.user_id == user_id
    at = reverse("orders:detail", args=[order.number])
    assert client.get(at).status_code == 200
    assert client.get(reverse("checkout:details"))["Location"] == at
    client.post(reverse("accounts:logout"))
    assert client.get(at).status_code == 404


# ---- A member's list


@pytest.fixture
def member(client: Client) -> tuple[Client, UUID]:
    user_id = uuid4()
    client.force_login(
        register_user(
            f"{user_id.hex}@example.com",
            "Ada",
            "correct horse battery",
            datetime.now(UTC),
            user_id=user_id,
        )
    )
    return client, user_id


def test_q11_a_members_orders_stand_in_a_list_the_newest_first(member: tuple[Client, UUID]) -> None:
    client, user_id = member
    now = datetime.now(UTC)
    old = make_order(user_id=user_id, paid=True, now=now - timedelta(days=370))
    new = make_order(user_id=user_id)
    page = text(client.get(reverse("orders:history")))
    assert page.index(new.number) < page.index(old.number)
    assert "Waiting for payment" in page
    assert "Confirmed" in page
    assert client.get(reverse("orders:detail", args=[old.number])).status_code == 200


def test_x16_no_orders_yet_has_a_next_step(member: tuple[Client, UUID]) -> None:
    assert "No orders yet" in text(member[0].get(reverse("orders:history")))


def test_the_list_is_for_members(client: Client) -> None:
    assert reverse("accounts:login") in client.get(reverse("orders:history"))["Location"]


def test_s20_looking_changes_nothing(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    before = shopper.details()
    assert before is not None
    assert count_reserved(mug) == 0
    assert (
        shopper.client.get(reverse("orders:payment_webhook", args=["testbank"])).status_code == 405
    )
    answer = shopper.client.get(reverse("orders:pay", args=["ZZZZ-ZZZZ"]))
    assert answer["Location"] == reverse("orders:detail", args=["ZZZZ-ZZZZ"])
    assert shopper.client.delete(reverse("orders:lookup")).status_code == 405


def test_s19_a_form_without_its_token_is_refused(mug: Product) -> None:
    strict = Client(enforce_csrf_checks=True)
    for url in (
        reverse("checkout:details"),
        reverse("orders:lookup"),
        reverse("orders:pay", args=["ZZZZ-ZZZZ"]),
    ):
        assert strict.post(url, TYPED).status_code == 403
