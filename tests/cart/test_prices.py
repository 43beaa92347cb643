"""What a line costs: the price it was added at, the message when today's is another, and the consent to a rise."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from cart import operations
from cart.errors import NoSuchCart, PriceChanged
from cart.operations import sharing
from cart.priced_cart import PriceConsent
from catalogue.entities import Product
from catalogue.operations import save_product
from catalogue.queries import get_product_at_quorum
from inventory import products_with_stock as stocked
from inventory.products_with_stock import get_products_with_stock
from tests.cart.guests import cart_of, get_active_cart, owner
from tests.cart.products import add_all
from tests.cart.products import make_mug as loose_mug
from tests.factories import make_product

HTMX = {"HX-Request": "true"}
NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)


def make_stocked_product(
    name: str = "Mug", price: str = "35.00", *, units: int = 20, tax_class: str = "standard"
) -> Product:
    return make_product(name, price=price, tax_class=tax_class, stock=units)


def save_at(product: Product, price: str) -> None:
    present = get_product_at_quorum(product.product_id) or product
    variants = tuple(replace(variant, price=Money(price, EUR)) for variant in present.variants)
    save_product(replace(present, variants=variants), datetime.now(UTC))


def put(client: Client, product: Product, quantity: int = 1) -> None:
    sent = {
        "variant": product.variants[0].sku,
        "quantity": str(quantity),
        "operation": str(uuid4()),
    }
    assert client.post(reverse("cart:add"), sent).status_code == 303


def load_cart_page(client: Client, query: str = "") -> Any:
    response = client.get(reverse("cart:show") + query)
    assert response.status_code == 200
    return html.fromstring(response.content)


def text(page: Any) -> str:
    return " ".join(page.text_content().split())


def agreements(page: Any) -> list[dict[str, str]]:
    """Return the fields of the page's consent forms, the one for all lines first."""
    return [
        {each.name: each.value for each in form.xpath(".//input[@name='cart' or @name='agreed']")}
        for form in page.xpath(f"//form[@action='{reverse('cart:agree')}']")
    ]


def agree(client: Client, fields: dict[str, str], headers: dict[str, str] | None = None) -> Any:
    return client.post(reverse("cart:agree"), fields, headers=headers)


# ---- A line's price


def test_x48_a_line_keeps_the_price_it_was_added_at(client: Client) -> None:
    mug = make_stocked_product()
    put(client, mug, 2)
    save_at(mug, "40.00")
    line = cart_of(client).lines[0]
    client.post(
        reverse("cart:change"), {"cart": cart_of(client).cart_id, "line": line.key, "quantity": "3"}
    )
    line = cart_of(client).lines[0]
    assert (line.quantity, line.price, cart_of(client).subtotal) == (
        3,
        Money(35, EUR),
        Money(105, EUR),
    )


def test_a_line_that_was_taken_out_comes_back_at_its_price() -> None:
    owner_id, product = uuid4(), loose_mug(3500)
    cart_id = operations.add_line(owner_id, product, product.variants[0], 2, uuid4(), NOW).cart_id
    removed = operations.remove_line(owner_id, cart_id, str(product.variants[0].variant_id), NOW)
    dearer = replace(product.variants[0], price=Money(40, EUR))
    operations.restore_line(owner_id, removed, product, dearer, NOW)
    found = get_active_cart(owner_id)
    assert found
    assert (found.lines[0].price, found.subtotal) == (Money(35, EUR), Money(70, EUR))


def test_units_that_come_back_onto_a_line_take_its_price() -> None:
    owner_id, product = uuid4(), loose_mug(3500)
    cart_id = operations.add_line(owner_id, product, product.variants[0], 2, uuid4(), NOW).cart_id
    removed = operations.remove_line(owner_id, cart_id, str(product.variants[0].variant_id), NOW)
    dearer = replace(product.variants[0], price=Money(40, EUR))
    operations.add_line(owner_id, product, dearer, 1, uuid4(), NOW)
    operations.restore_line(owner_id, removed, product, dearer, NOW)
    found = get_active_cart(owner_id)
    assert found
    assert (found.lines[0].quantity, found.subtotal) == (3, Money(120, EUR))


def test_x48_a_fall_is_shown_and_passes_through(client: Client) -> None:
    mug = make_stocked_product(price="40.00")
    put(client, mug, 2)
    save_at(mug, "35.00")
    page = load_cart_page(client)
    assert "Price drop: was €40.00, now €35.00. You pay the new price." in text(page)
    assert "Subtotal €70.00" in text(page.get_element_by_id("sums")).replace(
        "Subtotal€", "Subtotal €"
    )
    assert not agreements(page)
    assert page.xpath("//a[@id='checkout']")
    assert cart_of(client).lines[0].price == Money(40, EUR)


def test_x48_a_rise_is_shown_and_has_to_be_agreed_to_before_the_checkout(client: Client) -> None:
    mug = make_stocked_product(price="35.00")
    put(client, mug, 2)
    save_at(mug, "40.00")
    page = load_cart_page(client)
    assert "The price has gone up from €35.00 to €40.00." in text(page)
    assert not page.xpath("//a[@id='checkout']")
    (fields,) = agreements(page)
    assert agree(client, fields).status_code == 303
    page = load_cart_page(client)
    assert "New price accepted." in text(page)
    assert page.xpath("//a[@id='checkout']")
    assert (cart_of(client).lines[0].price, cart_of(client).subtotal) == (
        Money(40, EUR),
        Money(80, EUR),
    )


def test_one_submit_agrees_to_all(client: Client) -> None:
    mug, lamp, tea = (
        make_stocked_product(),
        make_stocked_product("Lamp"),
        make_stocked_product("Tea"),
    )
    for each in (mug, lamp, tea):
        put(client, each, 2)
    save_at(mug, "40.00")
    save_at(lamp, "36.00")
    page = load_cart_page(client)
    everything, *_ = agreements(page)
    assert "2 prices have gone up" in text(page)
    response = agree(client, everything, HTMX)
    assert response.status_code == 200
    assert cart_of(client).subtotal == Money(2 * (40 + 36 + 35), EUR)
    assert agree(client, everything).status_code == 303  # a second submit changes nothing
    assert cart_of(client).subtotal == Money(2 * (40 + 36 + 35), EUR)


def test_an_agreement_counts_only_for_what_was_shown(client: Client) -> None:
    mug = make_stocked_product()
    put(client, mug, 2)
    save_at(mug, "40.00")
    (fields,) = agreements(load_cart_page(client))
    save_at(mug, "45.00")
    for headers in ({}, HTMX):
        response = agree(client, fields, headers)
        assert response.status_code == 422
        assert "no prices were accepted" in response.content.decode()
    (fields,) = agreements(load_cart_page(client))
    line = cart_of(client).lines[0]
    client.post(reverse("cart:change"), {"cart": fields["cart"], "line": line.key, "quantity": "5"})
    assert agree(client, fields).status_code == 422
    assert cart_of(client).subtotal == Money(5 * 35, EUR)


def test_an_agreement_that_no_page_made_changes_nothing(
    client: Client, subtests: pytest.Subtests
) -> None:
    put(client, make_stocked_product())
    before = cart_of(client)
    assert before.subtotal == Money(35, EUR)
    for agreed in ("", "x", "a:b:c:d", f"{uuid4()}:1:2", f"{uuid4()}:1:2:3", ",,,", "1" * 120_000):
        with subtests.test(agreed[:50]):
            response = agree(client, {"cart": str(before.cart_id), "agreed": agreed})
            assert response.status_code == 422
            assert cart_of(client) == before


def test_nobody_agrees_for_another(client: Client) -> None:
    mug = make_stocked_product()
    put(client, mug)
    save_at(mug, "40.00")
    (fields,) = agreements(load_cart_page(client))
    stranger = Client()
    put(stranger, mug)
    assert agree(stranger, fields).status_code == 422
    assert cart_of(client).subtotal == Money(35, EUR)
    with pytest.raises(NoSuchCart):
        operations.accept_prices(uuid4(), cart_of(client).cart_id, [], NOW)


def test_an_agreement_that_names_a_line_twice_does_not_count_twice(client: Client) -> None:
    product = make_stocked_product()
    put(client, product, 2)
    save_at(product, "40.00")
    (fields,) = agreements(load_cart_page(client))
    assert (
        agree(client, fields | {"agreed": f"{fields['agreed']},{fields['agreed']}"}).status_code
        == 422
    )
    cart = cart_of(client)
    assert (
        cart.subtotal
        == sum((line.total for line in cart.lines), Money(0, EUR))
        == Money("70.00", EUR)
    )


def test_all_of_an_agreement_counts_or_none(client: Client) -> None:
    mug, lamp = make_stocked_product(), make_stocked_product("Lamp")
    put(client, mug)
    put(client, lamp)
    save_at(mug, "40.00")
    cart = cart_of(client)
    lines = {line.name: line for line in cart.lines}
    agreed = [
        PriceConsent(lines["Mug"].key, 1, 3500, 4000),
        PriceConsent(lines["Lamp"].key, 1, 3500, 4000),
    ]
    with pytest.raises(PriceChanged):
        operations.accept_prices(owner(client), cart.cart_id, agreed, NOW)
    assert cart_of(client).subtotal == Money(70, EUR)


def test_x49_what_is_gone_or_sold_out_does_not_count(client: Client) -> None:
    mug, lamp, tea = (
        make_stocked_product(),
        make_stocked_product("Lamp", units=1),
        make_stocked_product("Tea"),
    )
    for each in (mug, lamp, tea):
        put(client, each)
    save_product(replace(mug, status="archived"), datetime.now(UTC))
    make_nothing_left(lamp)
    page = load_cart_page(client)
    assert "This is no longer sold. It isn’t included in your total" in text(page)
    assert "Sold out. It isn’t included in your total." in text(page)
    assert page.xpath("//dl[@class='sums']/dd")[0].text_content() == "€35.00"


def make_nothing_left(product: Product, units: int | None = None) -> None:
    """Let another order reserve all units, or so many."""
    from inventory.entities import WantedLine
    from inventory.operations import copy_stock, reserve_stock
    from inventory.queries import get_stock

    variant_id = product.variants[0].variant_id
    left = units or get_stock(product.product_id)[variant_id].available
    reserve_stock(uuid4(), [WantedLine(1, product.product_id, variant_id, left)], datetime.now(UTC))
    copy_stock(product.product_id)


# ---- What it comes to


def test_x123_a_carts_sum_is_one_number_on_every_page(client: Client) -> None:
    mug, lamp, tea, gone = (
        make_stocked_product("Mug", "40.00"),
        make_stocked_product("Lamp", "35.00", units=3),
        make_stocked_product("Tea", "5.00"),
        make_stocked_product("Gone", "99.00"),
    )
    for product, quantity in ((mug, 1), (lamp, 3), (gone, 1)):
        put(client, product, quantity)
    # One costs less by now, of one fewer are left, and one is not sold any more: 30 + 2 × 35.
    save_at(mug, "30.00")
    make_nothing_left(lamp, 1)
    save_product(replace(gone, status="archived"), datetime.now(UTC))
    assert "Subtotal€100.00" in text(load_cart_page(client).get_element_by_id("sums"))
    cart_id = cart_of(client).cart_id
    link = sharing.create_link(owner(client), cart_id, "", datetime.now(UTC))
    carts_page, shared = client.get(reverse("cart:carts")), Client().get(urlsplit(link.url).path)
    for answer in (carts_page, shared):
        page_text = text(html.fromstring(answer.content).xpath("//main")[0])
        assert re.findall("Subtotal ?€([0-9.]+)", page_text) == ["100.00"]
    sent = {"variant": tea.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
    added = client.post(reverse("cart:add"), sent, headers=HTMX).content.decode()
    assert "6 items, €105.00" in " ".join(added.split())
    summary = html.fromstring(client.get(reverse("checkout:details")).content)
    assert "Subtotal€105.00" in text(summary.get_element_by_id("summary"))
    # What two carts come to in one.
    client.post(reverse("cart:make"), {"name": "Second", "operation": str(uuid4())})
    put(client, lamp, 1)
    merged = client.get(
        reverse("cart:merge", args=[cart_id]), {"into": str(cart_of(client).cart_id)}
    )
    sums = html.fromstring(merged.content).xpath("//dl[@class='sums']//dd/text()")
    assert [each for each in sums if "€" in each] == ["€35.00", "€105.00", "€105.00"]


def test_x50_subtotal_delivery_and_tax_are_shown_by_country_before_any_question(
    client: Client,
) -> None:
    put(client, make_stocked_product(price="20.00"))
    put(client, make_stocked_product("Tea", "5.35", tax_class="reduced"), 2)
    sums = load_cart_page(client).get_element_by_id("sums")
    assert "Standard" not in text(sums.xpath(".//form")[0])
    sums_text = text(sums)
    for each in ("€30.70", "€4.90", "€9.90", "€35.60", "€3.98 tax at 19%", "€0.70 tax at 7%"):
        assert each in sums_text
    assert sums.xpath(".//select/option[@selected]/@value") == ["DE"]
    sums_text = text(load_cart_page(client, "?country=IE").get_element_by_id("sums"))
    for each in ("€5.90", "€12.90", "€36.60", "tax at 23%", "tax at 13.5%"):
        assert each in sums_text


def test_x50_the_country_is_named_in_the_address_and_remembered(client: Client) -> None:
    put(client, make_stocked_product())
    assert settings.COUNTRY_COOKIE_NAME not in client.cookies
    load_cart_page(client, "?country=FR")
    assert client.cookies[settings.COUNTRY_COOKIE_NAME]["httponly"]
    for query, country in (("", "FR"), ("?country=IE", "IE"), ("", "IE"), ("?country=XX", "IE")):
        assert load_cart_page(client, query).xpath(
            "//select[@name='country']/option[@selected]/@value"
        ) == [country]
    checkout = html.fromstring(client.get(reverse("checkout:details"), follow=True).content)
    assert checkout.xpath("//select[@name='country']/option[@selected]/@value") == ["IE"]
    client.cookies[settings.COUNTRY_COOKIE_NAME] = '"><b>'
    assert load_cart_page(client).xpath("//select[@name='country']/option[@selected]/@value") == [
        "DE"
    ]


def test_x50_htmx_gets_the_sums_alone(client: Client) -> None:
    put(client, make_stocked_product())
    response = client.get(reverse("cart:show") + "?country=FR", headers=HTMX)
    part = response.content.decode()
    assert part.lstrip().startswith('<section class="box sticky stack" id="sums"')
    assert "data-row" not in part
    assert "tax at 20%" in part


def test_x50_free_delivery_is_shown(client: Client) -> None:
    put(client, make_stocked_product(price="70.00"))
    assert "Free" in text(load_cart_page(client).get_element_by_id("sums"))


# ---- Many lines


def test_a_cart_of_many_lines_draws_the_first_hundred_and_counts_all(client: Client) -> None:
    put(client, make_stocked_product(price="1.00"))
    others = [loose_mug(100 + place, sizes=("250 ml",)) for place in range(120)]
    add_all(cart_of(client).cart_id, ((each, each.variants[0]) for each in others))
    page = load_cart_page(client)
    assert len(page.xpath("//li[@data-row]")) == 100
    assert "first 100 of 121 items" in text(page)
    assert len(load_cart_page(client, "?all=1").xpath("//li[@data-row]")) == 121


def test_many_products_are_read_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stocked, "AT_ONCE", 2)
    products = [make_product(f"Thing {number}") for number in range(5)]
    found = get_products_with_stock(each.product_id for each in products)
    names = [found[each.product_id].product.name for each in products]  # type: ignore[union-attr]
    assert names == [each.name for each in products]


def test_x52_the_badge_is_right_after_every_answer(client: Client) -> None:
    mug = make_stocked_product()
    put(client, mug, 2)
    assert re.search(
        r'class="count">\s*2<span class="vh"> items', client.get(reverse("home")).content.decode()
    )
    put(client, mug)
    panel = client.get(reverse("cart:panel"), headers=HTMX).content.decode()
    assert re.search(r'class="count">\s*3<span class="vh"> items', panel)
