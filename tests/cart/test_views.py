"""The cart as a shopper meets it: with and without htmx, and with what should not have been sent."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product as combinations
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from accounts.operations import register_user
from cart import queries
from cart.operations import claim_guest_carts
from catalogue.entities import Product
from catalogue.operations import save_product
from inventory.entities import WantedLine
from inventory.operations import copy_stock, reserve_stock
from tests.cart.guests import cart_of, get_active_cart, owner
from tests.factories import make_product, make_stock, make_user

HTMX = {"HX-Request": "true"}
QUANTITY = re.compile(r'<input[^>]*name="quantity"[^>]*>')


@pytest.fixture
def mug() -> Product:
    """A mug in two sizes, 20 of each in stock."""
    product = make_product("Mug", options={"Size": ["Small", "Large"]})
    for variant in product.variants:
        make_stock(20, product_id=product.product_id, variant_id=variant.variant_id)
    return product


def submit_add(
    client: Client,
    product: Product,
    place: int = 0,
    *,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> Any:
    sent = {
        "variant": product.variants[place].sku,
        "quantity": "1",
        "operation": str(uuid4()),
    } | fields
    return client.post(reverse("cart:add"), sent, headers=headers)


def line_fields(client: Client, place: int = 0, **fields: Any) -> dict[str, Any]:
    cart = cart_of(client)
    return {"cart": cart.cart_id, "line": cart.lines[place].key} | fields


def cart_page_text(client: Client, query: str = "") -> str:
    response = client.get(reverse("cart:show") + query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_x16_an_empty_cart_offers_a_next_step(client: Client) -> None:
    text = cart_page_text(client)
    assert "Your cart is empty" in text
    assert f'href="{reverse("home")}">Continue shopping' in text
    assert settings.CART_COOKIE_NAME not in client.cookies


def test_x2_a_plain_add_redirects_by_303_and_a_reload_repeats_nothing(
    client: Client, mug: Product
) -> None:
    response = submit_add(client, mug, quantity="2")
    assert (response.status_code, response["Location"]) == (303, reverse("cart:show"))
    for _ in range(2):
        assert "2 items" in cart_page_text(client)
    assert cart_of(client).item_count == 2


def test_a_submit_sent_again_after_the_active_cart_was_switched_counts_once(
    client: Client, mug: Product
) -> None:
    operation = str(uuid4())
    submit_add(client, mug, operation=operation)
    first = cart_of(client)
    client.post(reverse("cart:make"), {"name": "Second", "operation": str(uuid4())})
    second = cart_of(client)
    assert second.cart_id != first.cart_id, "a new cart is the active one"
    submit_add(client, mug, operation=operation)
    assert (queries.get_cart(first.cart_id).item_count, cart_of(client).item_count) == (1, 0)
    # A page with a refusal has a new key: it goes to the cart that is active when it is submitted.
    refused = html.fromstring(submit_add(client, mug, operation=operation, quantity="0").content)
    (fresh,) = refused.xpath("//main//input[@name='operation']/@value")
    submit_add(client, mug, operation=fresh)
    assert (queries.get_cart(first.cart_id).item_count, cart_of(client).item_count) == (1, 1)
    # The cart that took it is gone, so a repeat goes into the one that is left.
    operation = str(uuid4())
    submit_add(client, mug, operation=operation)
    client.post(reverse("cart:delete", args=[second.cart_id]), {"operation": str(uuid4())})
    submit_add(client, mug, operation=operation)
    assert cart_of(client).cart_id == first.cart_id
    assert cart_of(client).item_count == 2


def test_a_submit_sent_again_after_signing_in_counts_once(client: Client, mug: Product) -> None:
    member, operation = make_user(), str(uuid4())
    submit_add(client, mug, operation=operation)
    claim_guest_carts(owner(client), member.user_id, datetime.now(UTC))
    client.force_login(member)
    submit_add(client, mug, operation=operation)
    submit_add(client, mug, operation=operation)
    lists = queries.listed_carts_from_rows(queries.CARTS.all(owner_id=member.user_id))
    assert [queries.get_cart(each.cart_id).item_count for each in lists] == [1]


def test_x8_the_next_page_says_what_was_added(client: Client, mug: Product) -> None:
    submit_add(client, mug, quantity="3")
    assert "Mug, Small was added to your cart. My cart: 3 items, €36.00." in cart_page_text(client)


def test_x37_htmx_gets_a_panel_with_the_carts_name_and_total_and_the_badge(
    client: Client, mug: Product
) -> None:
    response = submit_add(client, mug, quantity="2", headers=HTMX)
    text = " ".join(response.content.decode().split())
    assert response.status_code == 200
    assert "<html" not in text
    assert "Mug, Small is in <strong>My cart</strong>" in text
    assert "2 items, €24.00" in text
    assert 'id="cart-badge" class="cart-badge" hx-swap-oob="true"' in text
    assert 'hx-swap-oob="innerHTML:#status"' in text
    assert re.search(r'name="operation" id="operation" value="[0-9a-f-]{36}" hx-swap-oob', text)


def test_x18_a_double_click_counts_once(client: Client, mug: Product) -> None:
    operation = str(uuid4())
    for _ in range(3):
        submit_add(client, mug, operation=operation)
    assert cart_of(client).item_count == 1


def test_a_submit_without_an_id_counts(mug: Product, subtests: pytest.Subtests) -> None:
    ids: tuple[dict[str, str], ...] = ({}, {"operation": ""}, {"operation": "no-id"})
    for fields in ids:
        with subtests.test(**fields):
            client = Client()
            client.post(
                reverse("cart:add"), {"variant": mug.variants[0].sku, "quantity": "1"} | fields
            )
            assert cart_of(client).item_count == 1


BAD: list[tuple[str | list[str], str]] = [
    ("0", "Enter 1 or more."),
    ("-1", "Enter a whole number from 1 to 999."),
    ("1.5", "Enter a whole number from 1 to 999."),
    ("1e3", "Enter a whole number from 1 to 999."),
    ("NaN", "Enter a whole number from 1 to 999."),
    ("1e9", "Enter a whole number from 1 to 999."),
    ("٣", "Enter a whole number from 1 to 999."),
    ("1000", "Enter a whole number from 1 to 999."),
    ("1000000000", "Enter a whole number from 1 to 999."),
    ("99999999999999999999", "Enter a whole number from 1 to 999."),
    ("two", "Enter a whole number from 1 to 999."),
    ("", "Enter a quantity."),
    (["2", "3"], "Enter one quantity."),
]


def test_x43_s35_a_quantity_that_is_none_gets_a_sentence_on_adding(
    mug: Product, subtests: pytest.Subtests
) -> None:
    for (typed, sentence), headers in combinations(BAD, ({}, HTMX)):
        with subtests.test(typed=typed, headers=headers):
            client = Client()
            response = submit_add(client, mug, quantity=typed, headers=headers)
            text = response.content.decode()
            assert response.status_code == 422
            assert sentence in text
            assert "select Remove" not in text, "there is nothing to remove yet"
            (field,) = QUANTITY.findall(text)
            last_typed = typed[-1] if isinstance(typed, list) else typed
            assert f'value="{last_typed}"' in field
            assert 'aria-invalid="true" aria-describedby="quantity_error"' in field
            assert 'id="quantity_error"' in text
            if not headers:
                assert "<title>Error: " in text
                assert "There is a problem" in text
            assert settings.CART_COOKIE_NAME not in client.cookies


def test_x43_s35_a_quantity_that_is_none_gets_a_sentence_in_the_cart(
    client: Client, mug: Product, subtests: pytest.Subtests
) -> None:
    submit_add(client, mug, quantity="2")
    for (typed, sentence), headers in combinations(BAD, ({}, HTMX)):
        with subtests.test(typed=typed, headers=headers):
            (line,) = cart_of(client).lines
            sent = {"cart": cart_of(client).cart_id, "line": line.key, "quantity": typed}
            response = client.post(reverse("cart:change"), sent, headers=headers)
            text = response.content.decode()
            assert response.status_code == 422
            assert sentence in text
            assert ("select Remove" in text) == (typed == "0")
            (field,) = QUANTITY.findall(text)
            last_typed = typed[-1] if isinstance(typed, list) else typed
            assert f'value="{last_typed}"' in field
            assert f'aria-describedby="quantity-{line.key}_error"' in field
            assert f'href="#quantity-{line.key}"' in text
            assert cart_of(client).lines == (line,)


def test_a_quantity_that_was_not_sent_shows_the_lines_own(client: Client, mug: Product) -> None:
    submit_add(client, mug, quantity="2")
    text = client.post(reverse("cart:change"), line_fields(client)).content.decode()
    assert 'value="2"' in QUANTITY.findall(text)[0]
    missing = client.post(reverse("cart:add"), {"variant": mug.variants[0].sku}).content.decode()
    assert 'value=""' in QUANTITY.findall(missing)[0]


def test_a_lines_key_with_a_percent_sign_is_refused_in_words(
    client: Client, mug: Product, subtests: pytest.Subtests
) -> None:
    submit_add(client, mug)
    before = cart_of(client)
    for line in ("%d", "%(x)s", "%", "100%s"):
        with subtests.test(line):
            response = client.post(
                reverse("cart:change"), line_fields(client, quantity="3") | {"line": line}
            )
            assert response.status_code == 422
            assert cart_of(client) == before


def test_whoever_may_not_sign_in_any_more_sees_no_cart_and_keeps_no_session(
    client: Client, mug: Product
) -> None:
    with override_settings(DEMO=True):
        client.force_login(make_user(demo=True))
        submit_add(client, mug)
        assert mug.slug in cart_page_text(client)
    with override_settings(DEMO=False):
        assert mug.slug not in cart_page_text(client)
        assert (
            settings.SESSION_COOKIE_NAME not in client.cookies
            or not client.cookies[settings.SESSION_COOKIE_NAME].value
        )
        assert mug.slug not in cart_page_text(client)


def test_x17_another_method_is_refused(client: Client) -> None:
    for name in ("show", "panel", "add", "agree", "change", "remove", "restore"):
        assert client.delete(reverse(f"cart:{name}")).status_code == 405


def test_x60_what_was_typed_is_escaped(client: Client, mug: Product) -> None:
    text = submit_add(client, mug, quantity='"><b>').content.decode()
    assert "<b>" not in text
    assert "&quot;&gt;&lt;b&gt;" in text


def test_s34_prices_and_totals_sent_by_the_client_are_ignored(client: Client, mug: Product) -> None:
    submit_add(client, mug, price="1", total="1", subtotal="1", currency="XXX", compare_at="0")
    client.post(reverse("cart:change"), line_fields(client, quantity="2", price="1", total="0"))
    assert cart_of(client).subtotal == Money(24, EUR)


def test_an_unknown_variant_is_refused_in_words(mug: Product, subtests: pytest.Subtests) -> None:
    for sku, headers in combinations(
        ("", "NO-SUCH", "a\x00b", "x" * 5000, "x" * 70_000), ({}, HTMX)
    ):
        with subtests.test(sku[:10], length=len(sku), headers=headers):
            client = Client()
            response = submit_add(client, mug, variant=sku, headers=headers)
            assert response.status_code == 422
            assert "no longer sold" in response.content.decode()
            assert settings.CART_COOKIE_NAME not in client.cookies


def test_a_sold_out_variant_is_refused_in_words(client: Client) -> None:
    lamp = make_product("Lamp")
    response = submit_add(client, lamp)
    assert response.status_code == 422
    assert "Lamp is sold out." in response.content.decode()


def test_x46_the_quantity_has_a_button_for_those_without_a_script(
    client: Client, mug: Product
) -> None:
    submit_add(client, mug)
    text = cart_page_text(client)
    assert re.search(
        r'<form[^>]*action="/cart/change/"[^>]*data-auto[^>]*hx-post="/cart/change/"', text
    )
    assert re.search(
        r'<button class="button button--quiet no-js" id="update-[^"]+" type="submit">Update', text
    )
    assert 'inputmode="numeric"' in text
    response = client.post(reverse("cart:change"), line_fields(client, quantity="4"))
    assert response.status_code == 303
    text = cart_page_text(client)
    assert "Mug, Small: quantity changed to 4." in text
    assert "<dt>Subtotal</dt><dd>€48.00</dd>" in text


def test_a_change_by_htmx_answers_with_the_cart_and_the_badge(client: Client, mug: Product) -> None:
    submit_add(client, mug)
    response = client.post(reverse("cart:change"), line_fields(client, quantity="4"), headers=HTMX)
    text = response.content.decode()
    assert response.status_code == 200
    assert text.lstrip().startswith('<section class="stack" id="cart"')
    assert "Mug, Small: quantity changed to 4. My cart: 4 items, €48.00." in text
    assert 'id="cart-badge"' in text


def test_x47_a_line_shows_what_it_is_and_what_it_costs(client: Client, mug: Product) -> None:
    submit_add(client, mug, 0, quantity="2")
    submit_add(client, mug, 1)
    text = cart_page_text(client)
    assert text.count("data-row") == 2
    for each in ("Small", "Large", "€12.00 each", "€24.00", "Remove", "€36.00", "/pictures/mug/"):
        assert each in text
    assert text.index(">Large<") < text.index(">Small<")


def test_x47_a_removed_line_comes_back_by_undo_without_a_script(
    client: Client, mug: Product
) -> None:
    submit_add(client, mug, quantity="3")
    response = client.post(reverse("cart:remove"), line_fields(client))
    assert response.status_code == 303
    text = cart_page_text(client, "?" + response["Location"].partition("?")[2])
    assert "Mug, Small was removed." in text
    assert "Your cart is empty" in text
    token = re.search(r'name="removed" value="([^"]+)"', text)
    assert token
    for _ in range(2):
        assert client.post(reverse("cart:restore"), {"removed": token[1]}).status_code == 303
    assert "Mug, Small is back in your cart." in cart_page_text(client)
    assert cart_of(client).item_count == 3


def test_undo_by_htmx(client: Client, mug: Product) -> None:
    submit_add(client, mug, quantity="3")
    text = client.post(reverse("cart:remove"), line_fields(client), headers=HTMX).content.decode()
    token = re.search(r'name="removed" value="([^"]+)"', text)
    assert token
    text = client.post(
        reverse("cart:restore"), {"removed": token[1]}, headers=HTMX
    ).content.decode()
    assert "€36.00" in text
    assert 'name="removed"' not in text


def test_an_undo_that_is_not_ours_changes_nothing(client: Client, mug: Product) -> None:
    submit_add(client, mug)
    response = client.post(reverse("cart:restore"), {"removed": "made-up"})
    assert response.status_code == 422
    assert "too late to undo" in response.content.decode()


def test_an_expired_or_foreign_cart_is_refused_in_words(
    client: Client, mug: Product, subtests: pytest.Subtests
) -> None:
    charlie = Client()
    submit_add(charlie, mug, quantity="2")
    submit_add(client, mug, quantity="3")
    before = cart_of(charlie), cart_of(client)
    fields = {
        "foreign": line_fields(charlie, quantity="9"),
        "expired": line_fields(client, quantity="9") | {"cart": uuid4()},
        "other": line_fields(client, quantity="9") | {"line": uuid4()},
        "broken": {"cart": "x", "line": "", "quantity": "9"},
    }
    for url, headers, name in combinations(("cart:change", "cart:remove"), ({}, HTMX), fields):
        with subtests.test(url, headers=headers, cart=name):
            response = client.post(reverse(url), fields[name], headers=headers)
            assert response.status_code == 422
            assert "so nothing was changed" in response.content.decode()
            assert (cart_of(charlie), cart_of(client)) == before


def test_a_browser_without_a_cart_is_refused_in_words(mug: Product) -> None:
    alice, stranger = Client(), Client()
    submit_add(alice, mug)
    response = stranger.post(reverse("cart:change"), line_fields(alice, quantity="9"))
    assert response.status_code == 422
    assert cart_of(alice).item_count == 1


def test_a_cookie_that_we_have_not_signed_counts_as_none(client: Client, mug: Product) -> None:
    for cookie in (
        "x",
        signing.dumps(["nonsense"], salt="cart.owner"),
        signing.dumps(["zz", "zz"], salt="cart.owner"),
    ):
        client.cookies[settings.CART_COOKIE_NAME] = cookie
        assert "Your cart is empty" in cart_page_text(client)


def test_x3_the_addresses_of_actions_lead_to_the_cart_when_opened(
    client: Client, subtests: pytest.Subtests
) -> None:
    for name in ("add", "agree", "change", "remove", "restore", "panel"):
        with subtests.test(name):
            response = client.get(reverse(f"cart:{name}"))
            assert (response.status_code, response["Location"]) == (302, reverse("cart:show"))


def test_the_panel_refreshes_the_badge(client: Client, mug: Product) -> None:
    submit_add(client, mug, quantity="2")
    text = client.get(reverse("cart:panel"), headers=HTMX).content.decode()
    assert 'id="cart-badge" class="cart-badge" hx-swap-oob="true"' in text
    assert "My cart" in text


def test_a_second_add_at_a_new_price_says_so(client: Client, mug: Product) -> None:
    submit_add(client, mug)
    save_at(mug, "10.00")
    text = " ".join(submit_add(client, mug, headers=HTMX).content.decode().split())
    assert "it was €12.00, now €10.00" in text
    assert cart_of(client).subtotal == Money(20, EUR)


def test_x49_a_gone_variant_stays_flagged_and_out_of_the_total(
    client: Client, mug: Product
) -> None:
    submit_add(client, mug, 0)
    submit_add(client, mug, 1, quantity="2")
    save_without(mug, 0)
    text = cart_page_text(client)
    assert "This is no longer sold. It isn’t included in your total" in text
    assert "<dt>Subtotal</dt><dd>€24.00</dd>" in text
    gone = next(
        i for i, line in enumerate(cart_of(client).lines) if line.options["Size"] == "Small"
    )
    response = client.post(reverse("cart:change"), line_fields(client, gone, quantity="5"))
    assert response.status_code == 422
    assert "Mug is no longer sold." in response.content.decode()
    assert client.post(reverse("cart:remove"), line_fields(client, gone)).status_code == 303


def test_a_line_shows_how_few_are_left(client: Client) -> None:
    lamp = make_product("Lamp", stock=3)
    submit_add(client, lamp, quantity="3")
    assert "Only 3 left" in cart_page_text(client)
    reserve(lamp, 1)
    text = cart_page_text(client)
    assert "Only 2 left, so your total includes 2" in text
    assert "<dt>Subtotal</dt><dd>€24.00</dd>" in text
    assert press(client, client.get(reverse("cart:show")), "set-").status_code == 303
    assert cart_of(client).item_count == 2


def reserve(product: Product, units: int) -> None:
    """Let another order reserve units of a product's first variant."""
    variant_id = product.variants[0].variant_id
    wanted = WantedLine(1, product.product_id, variant_id, units)
    reserve_stock(uuid4(), [wanted], datetime.now(UTC))
    copy_stock(product.product_id)


def press(
    client: Client, answer: Any, button_id: str, headers: dict[str, str] | None = None
) -> Any:
    """Submit the form of the button whose id begins so."""
    root = html.fromstring(f"<main>{answer.content.decode()}</main>")
    (form,) = root.xpath(f"//form[.//button[starts-with(@id, '{button_id}')]]")
    return client.post(form.action, dict(form.fields), headers=headers)


def test_x126_no_more_is_added_than_is_left_and_one_button_sets_it(
    subtests: pytest.Subtests,
) -> None:
    lamp = make_product("Lamp", stock=5)
    for headers in ({}, HTMX):
        with subtests.test(headers=headers):
            client = Client()
            refused = submit_add(client, lamp, quantity="9", headers=headers)
            text = refused.content.decode()
            assert refused.status_code == 422
            assert "Only 5 left." in text
            (field,) = (each for each in QUANTITY.findall(text) if "inputmode" in each)
            assert 'value="9"' in field
            assert settings.CART_COOKIE_NAME not in client.cookies
            assert press(client, refused, "set-to", headers).status_code in (200, 303)
            assert cart_of(client).item_count == 5
            full = submit_add(client, lamp, headers=headers)
            assert "Only 5 left, and you already have 5 in your cart." in full.content.decode()
            assert 'id="set-to"' not in full.content.decode()
            client.post(reverse("cart:change"), line_fields(client, quantity="2"))
            refused = submit_add(client, lamp, quantity="4", headers=headers)
            assert "Only 5 left, and you already have 2 in your cart." in refused.content.decode()
            press(client, refused, "set-to", headers)
            assert cart_of(client).item_count == 5


def test_x126_a_line_is_not_set_to_more_than_is_left(subtests: pytest.Subtests) -> None:
    lamp = make_product("Lamp", stock=5)
    for headers in ({}, HTMX):
        with subtests.test(headers=headers):
            client = Client()
            submit_add(client, lamp, quantity="2")
            sent = line_fields(client, quantity="9")
            refused = client.post(reverse("cart:change"), sent, headers=headers)
            assert refused.status_code == 422
            assert "Only 5 left." in refused.content.decode()
            assert 'value="9"' in QUANTITY.findall(refused.content.decode())[0]
            assert cart_of(client).item_count == 2
            press(client, refused, "set-", headers)
            assert cart_of(client).item_count == 5


def test_two_tabs_of_a_new_guest_share_one_cart(mug: Product) -> None:
    first, second = Client(), Client()
    first.get(reverse("cart:show"))
    first.cookies[settings.CSRF_COOKIE_NAME] = second.cookies[settings.CSRF_COOKIE_NAME] = "c" * 32
    submit_add(first, mug, 0)
    submit_add(second, mug, 1)
    assert owner(first) == owner(second)
    assert cart_of(second).line_count == 2


def test_the_cart_page_takes_a_guest_two_rounds(client: Client, mug: Product) -> None:
    lamp = make_product("Lamp", stock=3)
    for product in (mug, lamp):
        submit_add(client, product)
    assert "rounds=2" in client.get(reverse("cart:show"))["X-Cassandra"]


def test_the_cart_page_takes_a_member_three_rounds(client: Client, mug: Product) -> None:
    member = register_user(f"{uuid4().hex}@example.org", "Alice", None, datetime.now(UTC))
    client.force_login(member)
    submit_add(client, mug)
    assert get_active_cart(member.user_id)
    assert "rounds=3" in client.get(reverse("cart:show"))["X-Cassandra"]


def test_a_stale_cookie_shows_the_active_cart_all_the_same(client: Client, mug: Product) -> None:
    submit_add(client, mug)
    other = Client()
    submit_add(other, mug, 1, quantity="7")
    owner_cookie = signing.dumps([owner(client).hex, cart_of(other).cart_id.hex], salt="cart.owner")
    client.cookies[settings.CART_COOKIE_NAME] = owner_cookie
    text = cart_page_text(client)
    assert "1 item" in text
    assert 'value="7"' not in text
    assert client.cookies[settings.CART_COOKIE_NAME].value != owner_cookie
    assert "rounds=2" in client.get(reverse("cart:show"))["X-Cassandra"]


def test_the_cart_is_neither_cached_nor_indexed(client: Client) -> None:
    response = client.get(reverse("cart:show"))
    assert "no-store" in response["Cache-Control"]
    assert '<meta name="robots" content="noindex">' in response.content.decode()


def save_at(product: Product, price: str) -> None:
    """Save the product at another price."""
    variants = tuple(replace(variant, price=Money(price, EUR)) for variant in product.variants)
    save_product(replace(product, variants=variants), datetime.now(UTC))


def save_without(product: Product, place: int) -> None:
    """Save the product with one variant no longer sold."""
    variants = tuple(variant for i, variant in enumerate(product.variants) if i != place)
    save_product(replace(product, variants=variants), datetime.now(UTC))
