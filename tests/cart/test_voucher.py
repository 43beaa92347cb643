"""A code in a cart: how it is entered, why it takes nothing off, and how often it may be tried."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.test.utils import override_settings
from moneyed import EUR, Money

from cart import operations, queries
from cart.entities import Cart
from cart.priced_cart import get_priced_cart
from catalogue.entities import Product
from pricing import tax
from promotions.operations import (
    PromotionTerms,
    create_promotion,
    end_promotion,
    redeem_voucher,
    voucher_customer_keys,
)
from promotions.queries import CODE
from promotions.rules import FREE_DELIVERY, PERCENTAGE, code_key
from tests.factories import find_delivery_method, make_product, make_user

NOW = datetime.now(UTC)


def make_code(kind: str = PERCENTAGE, **terms: Any) -> str:
    code = f"TRY-{uuid4().hex[:10].upper()}"
    terms = {"percent": Decimal(10)} | terms if kind == PERCENTAGE else terms
    create_promotion(PromotionTerms("Ten per cent off", kind, code, **terms), NOW)
    return code


def make_stocked_product(price: str = "20.00") -> Product:
    return make_product(price=price, stock=50)


def filled(client: Client, price: str = "20.00", quantity: int = 1) -> UUID:
    """Put a product into the visitor's cart, and return the cart's id."""
    sku = make_stocked_product(price).variants[0].sku
    client.post("/cart/add/", {"variant": sku, "quantity": quantity, "operation": uuid4()})
    cart: Cart = client.get("/cart/").context["cart"]
    return cart.cart_id


def use(client: Client, cart_id: UUID, code: str, **more: Any) -> Any:
    return client.post("/cart/code/", {"cart": str(cart_id), "code": code}, **more)


def total(client: Client) -> Money:
    found: Money = client.get("/cart/").context["sums_box"].sums.total
    return found


def test_x51_the_code_is_behind_a_quiet_link(client: Client) -> None:
    filled(client)
    page = client.get("/cart/").content.decode()
    assert "<details>" in page
    assert "Have a code?" in page


def test_a_code_makes_the_cart_cheaper_and_can_be_taken_out(client: Client) -> None:
    code, cart_id = make_code(), filled(client)
    answer = use(client, cart_id, f" {code.lower().replace('-', ' ')}")
    assert (answer.status_code, answer["Location"]) == (303, "/cart/")
    assert total(client) == Money("22.90", EUR)
    page = client.get("/cart/").content.decode()
    assert "Ten per cent off" in page
    assert "−€2.00" in page
    assert code in page
    client.post("/cart/code/", {"cart": str(cart_id), "remove": "1"})
    assert total(client) == Money("24.90", EUR)
    use(client, cart_id, code)
    assert total(client) == Money("22.90", EUR)


def test_free_delivery_is_shown_as_free(client: Client) -> None:
    cart_id = filled(client)
    use(client, cart_id, make_code(FREE_DELIVERY))
    page = client.get("/cart/")
    assert page.context["sums_box"].sums.total == Money("20.00", EUR)
    assert all(not price.amount for _, price, *_ in page.context["sums_box"].ways)
    assert "Free delivery" in page.content.decode()


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        ({"ends_at": NOW - timedelta(days=1)}, "expired on"),
        ({"starts_at": NOW + timedelta(days=3)}, "is valid from"),
    ],
)
def test_x51_why_a_code_fails_is_said_beside_the_field(
    client: Client, terms: dict[str, Any], why: str
) -> None:
    cart_id, code = filled(client), make_code(**terms)
    answer = use(client, cart_id, code)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert why in page
    assert code in page  # what was typed stays in the field
    assert 'aria-invalid="true"' in page
    assert total(client) == Money("24.90", EUR)


def test_x51_an_unknown_code_and_a_used_one_say_so(client: Client) -> None:
    cart_id, used = filled(client), make_code(uses=1)
    redeem_voucher(used, voucher_customer_keys(uuid4()), uuid4(), NOW)
    assert "We can’t find the code “NOTHING”" in use(client, cart_id, "NOTHING").content.decode()
    assert "has reached its usage limit" in use(client, cart_id, used).content.decode()
    assert use(client, cart_id, " ").status_code == 422


def test_x51_a_member_who_has_used_it_reads_so(client: Client) -> None:
    user, code = make_user(), make_code(limit_per_customer=1)
    redeem_voucher(code, voucher_customer_keys(user.user_id), uuid4(), NOW)
    client.force_login(user)
    assert "You’ve already used code" in use(client, filled(client), code).content.decode()


def test_x51_a_code_for_more_stays_and_counts_once_there_is_more(client: Client) -> None:
    cart_id, code = filled(client), make_code(minimum=3000)
    assert use(client, cart_id, code).status_code == 303
    page = client.get("/cart/").content.decode()
    assert "applies from €30.00. Add €10.00 more" in page
    assert total(client) == Money("24.90", EUR)
    filled(client)
    assert total(client) == Money("40.90", EUR)


def test_a_code_that_has_ended_stays_shown_with_its_reason(client: Client) -> None:
    cart_id, code = filled(client), make_code()
    use(client, cart_id, code)
    end_promotion(CODE, code_key(code), datetime.now(UTC))
    page = client.get("/cart/").content.decode()
    assert code in page
    assert "is no longer valid" in page
    assert total(client) == Money("24.90", EUR)


def test_s37_a_code_given_twice_takes_off_once(client: Client) -> None:
    cart_id, code = filled(client), make_code()
    for _ in range(2):
        use(client, cart_id, code)
    client.post("/cart/code/", {"cart": str(cart_id), "code": [code, code]})
    assert total(client) == Money("22.90", EUR)
    other = make_code(percent=Decimal(50))
    use(client, cart_id, other)  # in the place of the first, not beside it
    assert total(client) == Money("14.90", EUR)


def test_to_htmx_the_cart_comes_alone(client: Client) -> None:
    cart_id = filled(client)
    answer = use(client, cart_id, make_code(), headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert answer.content.decode().lstrip().startswith("<section")
    assert "−€2.00" in answer.content.decode()


def test_nobody_puts_a_code_into_a_strangers_cart(client: Client) -> None:
    cart_id, stranger = filled(client), Client()
    filled(stranger)
    assert use(stranger, cart_id, make_code()).status_code == 422
    assert queries.get_cart(cart_id).voucher == ""


@override_settings(RATE_LIMITS={"voucher": (3, 50, 0, 900)})
def test_x51_guessing_ends_with_429_and_right_codes_do_not_count(client: Client) -> None:
    cart_id, code = filled(client), make_code()
    for _ in range(4):
        assert use(client, cart_id, code).status_code == 303
    assert [use(client, cart_id, f"WRONG{n}").status_code for n in range(4)] == [422, 422, 422, 429]
    refused = use(client, cart_id, code)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    part = use(client, cart_id, code, headers={"HX-Request": "true"})
    assert (part.status_code, part["HX-Reswap"]) == (429, "none")
    # The limit counts the visitor, not the network alone: the next one is not locked out.
    other = Client()
    assert use(other, filled(other), code).status_code == 303


@override_settings(RATE_LIMITS={"voucher": (3, 5, 3, 900)})
def test_s63_a_members_tries_count_by_network_too_and_strangers_elsewhere_lock_no_member_out() -> (
    None
):
    # A network of its own in each run: its tries count for a while.
    guessed, statuses = f"203.0.113.{uuid4().int % 256}", []
    for _ in range(2):  # accounts are easily made
        member = Client(REMOTE_ADDR=guessed)
        member.force_login(make_user())
        cart_id = filled(member)
        statuses += [use(member, cart_id, f"WRONG{n}").status_code for n in range(3)]
    assert statuses == [422] * 5 + [429]
    other = Client(REMOTE_ADDR="198.51.100.7")
    other.force_login(make_user())
    assert use(other, filled(other), make_code()).status_code == 303


def test_a_merged_cart_keeps_its_own_code_or_takes_the_others() -> None:
    alice, product = make_user().user_id, make_stocked_product()
    first, second = (operations.create_cart(alice, name, uuid4(), NOW) for name in ("One", "Two"))
    for cart_id, code in ((first, "A"), (second, "B")):
        operations.switch_cart(alice, cart_id, NOW)
        operations.add_line(alice, product, product.variants[0], 1, uuid4(), NOW)
        operations.set_voucher(alice, cart_id, code, NOW)
    operations.merge_carts(alice, first, second, uuid4(), NOW)
    assert queries.get_cart(second).voucher == "B"
    third = operations.create_cart(alice, "Three", uuid4(), NOW)
    operations.merge_carts(alice, second, third, uuid4(), NOW)
    assert queries.get_cart(third).voucher == "B"


def test_what_an_order_has_used_goes_with_it() -> None:
    alice, product = make_user().user_id, make_stocked_product()
    added = operations.add_line(alice, product, product.variants[0], 3, uuid4(), NOW)
    operations.set_voucher(alice, added.cart_id, "A", NOW)
    bought, order_id = {str(product.variants[0].variant_id): 1}, uuid4()
    operations.remove_bought_lines(added.cart_id, bought, uuid4(), NOW)
    assert queries.get_cart(added.cart_id).voucher == "A"
    operations.remove_bought_lines(added.cart_id, bought, order_id, NOW, with_code=True)
    assert queries.get_cart(added.cart_id).voucher == ""
    operations.set_voucher(alice, added.cart_id, "A", NOW)
    # of the same order: nothing
    operations.remove_bought_lines(added.cart_id, bought, order_id, NOW, with_code=True)
    assert queries.get_cart(added.cart_id).voucher == "A"


def test_what_weighs_more_costs_more_to_send() -> None:
    product = make_stocked_product("1.00")
    alice = uuid4()
    added = operations.add_line(alice, product, product.variants[0], 20, uuid4(), NOW)
    sums = get_priced_cart(queries.get_cart(added.cart_id)).compute_quote(
        tax.get_tax_rates("DE"), find_delivery_method("DE", "standard")
    )
    assert sums is not None
    assert sums.delivery == Money("7.40", EUR)  # 20 of 350 g are 7 kg
