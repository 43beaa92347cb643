"""Placed orders: found by year and days, claimed for an account, bought again, cancelled."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts import operations as accounts
from accounts import queries as people
from accounts.models import User
from accounts.operations.email_change import EMAIL_PROOFS
from cart import queries as carts
from cart.operations import create_cart
from catalogue.entities import Product
from catalogue.operations import save_product
from demo.testbank import cards
from demo.testbank import operations as bank
from jobs.due_rows import Sweep
from jobs.minutes import floor_to_minute
from mail.queries import list_recipient_mails
from orders import links, operations, queries
from orders.jobs import claim_proved_orders
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import guest_orders
from orders.views import placed_orders
from tests.checkout.shopper import text
from tests.factories import make_draft, make_order, make_payment, make_product, make_user
from tests.threads import map_at_once

HISTORY = "/account/orders/"
CHANGING = ("reorder", "cancel", "change", "change_address", "request_return", "give_up")
SENT = {
    "change": {"line_1": "1"},
    "change_address": {
        "name": "E",
        "street": "Elsewhere 1",
        "postal_code": "10115",
        "city": "Berlin",
        "country": "DE",
    },
    "request_return": {"line_1": "1", "reason": "mind"},
}


def signed_in(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def numbers(answer: Any) -> list[str]:
    return re.findall(r">Order ([A-Z0-9-]+)</a></h2>", answer.content.decode())


def make_stocked_product(name: str = "Mug", price: str = "12.00", units: int = 20) -> Product:
    return make_product(name, price=price, stock=units)


def place_paid_order(
    *lines: tuple[Product, int], user_id: UUID | None = None, email: str = ""
) -> Order:
    now = datetime.now(UTC)
    draft = make_draft(*lines, user_id=user_id, email=email or f"ada-{uuid4().hex}@example.com")
    return make_payment(operations.place_order(draft, now))


def place_order_on(alice: User, day: str) -> Order:
    return make_order(user_id=alice.pk, now=datetime.fromisoformat(f"{day}T12:00+00:00"))


# ---- The list


def test_q11_orders_are_found_by_year_and_by_days_the_newest_first() -> None:
    alice = make_user()
    days = ("2024-12-31", "2025-01-01", "2025-06-15", "2026-02-01")
    orders = {day: place_order_on(alice, day).number for day in days}
    client = signed_in(alice)
    newest_first = [orders[day] for day in reversed(days)]
    page = client.get(HISTORY)
    assert numbers(page) == newest_first
    assert re.findall(r'href="\?year=(\d+)"', page.content.decode()) == ["2026", "2025", "2024"]
    assert numbers(client.get(HISTORY, {"year": "2025"})) == [
        orders["2025-06-15"],
        orders["2025-01-01"],
    ]
    between = client.get(HISTORY, {"year": "", "since": "2024-12-31", "until": "2025-01-01"})
    assert numbers(between) == [orders["2025-01-01"], orders["2024-12-31"]]
    assert 'value="2024-12-31"' in between.content.decode()
    assert numbers(client.get(HISTORY, {"year": "2025", "since": "2025-02-01"})) == [
        orders["2025-06-15"]
    ]
    assert numbers(client.get(HISTORY, {"until": "2025-01-01"})) == [
        orders["2025-01-01"],
        orders["2024-12-31"],
    ]
    empty = client.get(HISTORY, {"since": "2025-07-01", "until": "2025-08-01"})
    assert "No orders in this period" in text(empty)  # X16
    assert numbers(signed_in(make_user("Bob")).get(HISTORY)) == []


def test_days_that_make_no_sense_are_explained_and_kept(subtests: pytest.Subtests) -> None:
    alice = make_user()
    place_order_on(alice, "2026-02-01")
    client = signed_in(alice)
    for query, words in (
        ({"since": "yesterday"}, "Enter a date in the format 2026-11-21"),
        ({"since": "0001-01-01"}, "Enter a date in the format 2026-11-21"),
        ({"until": "9999-12-31"}, "Enter a date in the format 2026-11-21"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "same as or after the start date"),
        ({"year": "1999"}, "Choose one of these years"),
    ):
        with subtests.test(query=query):
            answer = client.get(HISTORY, query)
            assert answer.status_code == 422
            assert words in text(answer)


def test_x24_a_long_list_has_pages_that_keep_what_was_asked() -> None:
    alice = make_user()
    orders = [place_order_on(alice, f"2026-0{month}-02").number for month in (1, 2, 3, 4)]
    place_order_on(alice, "2025-03-03")
    client = signed_in(alice)
    with patch.object(placed_orders, "PAGE_SIZE", 3):
        first = client.get(HISTORY, {"year": "2026"})
        assert numbers(first) == orders[:0:-1]
        following = html.fromstring(first.content).xpath("//a[text()='Show older orders']/@href")[0]
        assert "year=2026" in following
        second = client.get(HISTORY + following)
        assert numbers(second) == [orders[0]]
        assert "Show older orders" not in text(second)
        assert client.get(HISTORY, {"after": "made:up"})["Location"] == HISTORY
        theirs = signed_in(make_user("Bob")).get(HISTORY + following)
        assert numbers(theirs) == []


def test_x69_each_order_shows_its_status_and_sum_and_can_be_tracked_and_bought_again() -> None:
    alice = make_user()
    order = place_paid_order((make_stocked_product("Teapot"), 2), user_id=alice.pk)
    page = html.fromstring(signed_in(alice).get(HISTORY).content)
    (line,) = page.xpath("//ul[@id='orders']/li")
    line_text = " ".join(line.text_content().split())
    for words in (order.number, "Teapot and 1 more", "Confirmed", "€", "Track", "Buy again"):
        assert words in line_text
    assert line.xpath(".//img")
    assert line.xpath(".//time/@datetime")
    hrefs = line.xpath(".//a/@href")
    assert reverse("orders:detail", args=[order.number]) in hrefs
    assert reverse("orders:reorder", args=[order.number]) in hrefs


def test_x70_an_orders_page_shows_where_it_is_when_it_comes_and_what_has_happened() -> None:
    alice = make_user()
    order = place_paid_order((make_stocked_product("Teapot"), 1), user_id=alice.pk)
    page = signed_in(alice).get(reverse("orders:detail", args=[order.number]))
    page_text = text(page)
    for words in (
        "Confirmed",
        "It should arrive",
        "DHL",
        "Torstraße 1",
        "Teapot",
        "Ordered",
        "Payment received",
    ):
        assert words in page_text
    assert (
        len(html.fromstring(page.content).xpath("//ol[@class='timeline']/li//time/@datetime")) >= 2
    )


# ---- Guest orders claimed for an account


def claim_guest_orders() -> None:
    """Do what the worker does every few seconds."""
    now = floor_to_minute(datetime.now(UTC))
    claim_proved_orders(Sweep(EMAIL_PROOFS, [now - timedelta(minutes=1), now], now))


def make_verified_user(email: str) -> User:
    return accounts.register_user(
        email, "Ada", "seven wet otters", datetime.now(UTC), verified=True
    )


def fresh_email() -> str:
    return f"ada-{uuid4().hex}@Example.com"


def test_what_a_guest_ordered_joins_the_account_that_proves_the_address() -> None:
    email = fresh_email()
    order, other = (
        place_paid_order((make_stocked_product(), 1), email=email),
        place_paid_order((make_stocked_product(), 1)),
    )
    link = accounts.registration_link(email.lower())
    client = Client()
    answer = client.post(
        link[link.index("/account/") :], {"name": "Ada", "password": "seven wet otters"}
    )
    assert answer.status_code == 303
    claim_guest_orders()
    assert numbers(client.get(HISTORY)) == [order.number]
    assert client.get(reverse("orders:detail", args=[order.number])).status_code == 200
    assert client.get(reverse("orders:detail", args=[other.number])).status_code == 404
    # The mailed link still works.
    assert (
        Client()
        .get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
        .status_code
        == 302
    )


def test_an_address_that_nobody_has_proved_gets_no_orders() -> None:
    email = fresh_email()
    place_paid_order((make_stocked_product(), 1), email=email)
    alice = make_user(email=email)
    client = Client()
    client.post(reverse("accounts:login"), {"email": email, "password": "seven wet otters"})
    claim_guest_orders()
    assert numbers(client.get(HISTORY)) == []
    assert people.get_user(alice.pk).verified_at is None  # type: ignore[union-attr]


def test_orders_join_after_a_change_of_address_and_those_of_later_days_at_the_next_login() -> None:
    alice, new = make_verified_user(fresh_email()), fresh_email()
    early = place_paid_order((make_stocked_product(), 1), email=new)
    accounts.change_email(alice, new, datetime.now(UTC))
    claim_guest_orders()
    client = signed_in(alice)
    assert numbers(client.get(HISTORY)) == [early.number]
    late = place_paid_order((make_stocked_product(), 1), email=new.upper())
    login = Client()
    login.post(reverse("accounts:login"), {"email": new, "password": "seven wet otters"})
    claim_guest_orders()
    assert numbers(login.get(HISTORY)) == [late.number, early.number]


def test_an_order_joins_one_account_and_a_second_look_does_nothing() -> None:
    email = fresh_email()
    order = place_paid_order((make_stocked_product(), 1), email=email)
    ids = [uuid4() for _ in range(4)]
    joined = map_at_once(lambda user_id: operations.claim_guest_orders(user_id, email), ids, 4)
    assert sum(joined) == 1
    fresh = queries.get_order(order.order_id)
    assert fresh
    assert fresh.user_id == ids[joined.index(1)]
    assert operations.claim_guest_orders(uuid4(), email) == 0
    assert [queries.list_order_years(user_id) != [] for user_id in ids] == [
        bool(each) for each in joined
    ]


def test_a_join_that_breaks_off_before_its_copies_is_finished() -> None:
    email, user_id = fresh_email(), uuid4()
    order = place_paid_order((make_stocked_product(), 1), email=email)
    with (
        patch.object(guest_orders, "write_copies", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        operations.claim_guest_orders(user_id, email)
    assert queries.list_order_years(user_id) == []
    # what the worker does with the pending effect that is left
    operations.apply_effects(order.order_id, datetime.now(UTC))
    assert [
        each.number
        for each in queries.list_orders_by_year(user_id, [order.placed_at.year])[
            order.placed_at.year
        ]
    ] == [order.number]


# ---- Buy again


def submit_reorder(client: Client, order: Order, **sent: str) -> Any:
    return client.post(reverse("orders:reorder", args=[order.number]), sent)


def in_cart(cart_id: UUID) -> dict[str, int]:
    return {line.name: line.quantity for line in carts.get_cart(cart_id).lines}


def test_an_order_goes_into_a_cart_of_choice_once_however_often_it_is_sent() -> None:
    alice, now = make_user(), datetime.now(UTC)
    order = place_paid_order(
        (make_stocked_product("Mug"), 2), (make_stocked_product("Bowl"), 1), user_id=alice.pk
    )
    gifts = create_cart(alice.pk, "Gifts", uuid4(), now)
    home = create_cart(alice.pk, "Home", uuid4(), now)
    client, idempotency_key = signed_in(alice), str(uuid4())
    page = client.get(reverse("orders:reorder", args=[order.number]))
    assert re.findall(r'choice__text">(\w[^<]*)<', page.content.decode()) == [
        "Home",
        "Gifts",
        "New cart",
    ]
    for _ in range(2):
        answer = submit_reorder(client, order, cart=str(gifts), operation=idempotency_key)
        assert (answer.status_code, answer["Location"]) == (303, reverse("cart:one", args=[gifts]))
    assert in_cart(gifts) == {"Mug": 2, "Bowl": 1}
    assert in_cart(home) == {}
    shared_key = str(uuid4())
    map_at_once(
        lambda _: submit_reorder(client, order, cart=str(home), operation=shared_key), range(4)
    )
    assert in_cart(home) == {"Mug": 2, "Bowl": 1}
    answers = [
        submit_reorder(client, order, cart="new", operation=idempotency_key)["Location"]
        for _ in range(2)
    ]
    assert answers[0] == answers[1]
    made = carts.get_listed_cart_row(alice.pk, UUID(answers[0].rstrip("/").rpartition("/")[2]))
    assert made
    assert made.cart_name == f"Order {order.number}"
    assert in_cart(made.cart_id) == {"Mug": 2, "Bowl": 1}


def test_it_says_what_is_gone_short_or_costs_more_before_anything_is_put_in() -> None:
    alice = make_user()
    mug, bowl, vase = (
        make_stocked_product("Mug", "12.00"),
        make_stocked_product("Bowl", units=5),
        make_stocked_product("Vase"),
    )
    order = place_paid_order((mug, 1), (bowl, 4), (vase, 1), user_id=alice.pk)
    variant = mug.variants[0]
    save_product(
        replace(mug, variants=(replace(variant, price=variant.price * 2),)), datetime.now(UTC)
    )
    save_product(
        replace(vase, variants=(replace(vase.variants[0], sold=False),)), datetime.now(UTC)
    )
    client = signed_in(alice)
    page_text = text(client.get(reverse("orders:reorder", args=[order.number])))
    assert "Was €12.00, now €24.00" in page_text
    assert "Only 1 left, you ordered 4" in page_text
    assert "No longer sold" in page_text
    answer = submit_reorder(client, order, cart="new", operation=str(uuid4()))
    cart_id = UUID(answer["Location"].rstrip("/").rpartition("/")[2])
    assert in_cart(cart_id) == {"Mug": 1, "Bowl": 1}
    after = text(client.get(answer["Location"]))
    assert "2 of 3 items were added to" in after
    assert "sold out or no longer sold" in after


def test_s22_nobody_puts_things_into_anothers_cart_or_from_anothers_order() -> None:
    alice, bob = make_user(), make_user("Bob")
    order = place_paid_order((make_stocked_product(), 1), user_id=alice.pk)
    theirs = create_cart(bob.pk, "Theirs", uuid4(), datetime.now(UTC))
    for cart_id in (str(theirs), str(uuid4()), "nonsense"):
        answer = submit_reorder(signed_in(alice), order, cart=cart_id, operation=str(uuid4()))
        assert answer.status_code == 422
        assert "Choose one of these carts" in text(answer)
    assert in_cart(theirs) == {}
    for name in ("reorder", "cancel"):
        address = reverse(f"orders:{name}", args=[order.number])
        assert signed_in(bob).get(address).status_code == 404
        assert signed_in(bob).post(address).status_code == 404
    assert signed_in(bob).get(reverse("orders:reorder", args=["0000-0000"])).status_code == 404


def test_a_guest_may_buy_again_too() -> None:
    order = place_paid_order((make_stocked_product("Mug"), 1))
    guest = Client()
    guest.get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
    answer = submit_reorder(guest, order, cart="new", operation=str(uuid4()))
    assert answer.status_code == 303
    assert "Mug" in text(guest.get(answer["Location"]))


# ---- Cancel


def test_x72_an_order_is_cancelled_by_its_shopper_until_it_is_packed_and_then_reads_why_not() -> (
    None
):
    alice = make_user()
    order, packed = (
        place_paid_order((make_stocked_product(), 1), user_id=alice.pk) for _ in range(2)
    )
    client = signed_in(alice)
    detail, cancel = (
        reverse(f"orders:{name}", args=[order.number]) for name in ("detail", "cancel")
    )
    assert "Cancel order" in text(client.get(detail))
    assert "refund €" in text(client.get(cancel))
    assert queries.get_order(order.order_id).state == "confirmed"  # type: ignore[union-attr]
    assert client.post(cancel)["Location"] == detail
    assert f"Order {order.number} was cancelled" in text(client.get(detail))
    done = queries.get_order(order.order_id)
    assert done
    assert (done.state, done.payment) == ("cancelled", "refunded")
    operations.transition_order(packed, Transition("packed", actor="system", at=datetime.now(UTC)))
    cancel = reverse("orders:cancel", args=[packed.number])
    assert "It’s packed and about to leave" in text(client.get(cancel))
    assert client.post(cancel).status_code == 409
    assert "How to return items" in text(client.get(reverse("orders:detail", args=[packed.number])))
    assert queries.get_order(packed.order_id).state == "confirmed"  # type: ignore[union-attr]


def test_x72_each_change_of_an_account_is_confirmed_on_the_screen() -> None:
    client = signed_in(make_user())
    address = {
        "name": "A",
        "street": "B 1",
        "postal_code": "10115",
        "city": "Berlin",
        "country": "DE",
    }
    for name, sent, words in (
        ("profile", {"name": "Alice B."}, "Your details were saved"),
        ("preferences", {"country": "IE", "plain_mail": "on"}, "Preferences saved"),
        ("address_add", address, "Address saved"),
        (
            "password",
            {"current": "seven wet otters", "password": "nine dry badgers"},
            "Your password was changed",
        ),
        ("email", {"email": fresh_email(), "current": "nine dry badgers"}, "We’ve sent an email"),
    ):
        assert words in text(client.post(reverse(f"accounts:{name}"), sent, follow=True)), name


# ---- What a cookie opens


@pytest.mark.parametrize("way", ["number and address", "mailed link"])
def test_s71_a_members_order_asks_for_the_login_whatever_leads_to_it(way: str) -> None:
    alice = make_user()
    order = place_paid_order((make_stocked_product(), 2), user_id=alice.pk, email=alice.email)
    detail, login = reverse("orders:detail", args=[order.number]), reverse("accounts:login")

    def open_order(visitor: Client) -> str:
        if way == "mailed link":
            return visitor.get(mailed_link(order))["Location"]
        typed = {"number": order.number, "email": alice.email}
        return visitor.post(reverse("orders:lookup"), typed)["Location"]

    nobody, bob = Client(), signed_in(make_user("Bob"))
    for visitor in (nobody, bob):
        assert open_order(visitor) == detail
        for name in ("detail", "invoice", "pay", "extend_deadline", *CHANGING):
            address = reverse(f"orders:{name}", args=[order.number])
            opened, sent = visitor.get(address), visitor.post(address, SENT.get(name, {}))
            assert {opened.status_code, sent.status_code} <= {302, 303, 405}, name
            for answer in (each for each in (opened, sent) if each.status_code != 405):
                # An address that only takes POST leads to the order's page, which asks to sign in.
                assert answer["Location"].startswith(
                    (login, detail) if visitor is nobody else (reverse("orders:lookup"), detail)
                ), name
    assert "belongs to another account" in text(bob.get(detail, follow=True))
    assert queries.get_order(order.order_id) == order
    # Once signed in, she is on the order's page, and may change it.
    asked = nobody.get(detail)["Location"]
    assert asked == f"{login}?next={detail}"
    typed = {"email": alice.email, "password": "seven wet otters", "next": detail}
    assert nobody.post(login, typed)["Location"] == detail
    assert reverse("orders:cancel", args=[order.number]) in text_of_links(nobody.get(detail))


def mailed_link(order: Order) -> str:
    return reverse("orders:track", args=[links.order_access_token(order.order_id)])


def text_of_links(answer: Any) -> list[str]:
    return [str(each) for each in html.fromstring(answer.content).xpath("//a/@href")]


@pytest.mark.parametrize("end", ["logout", "sessions_end_others", "new password", "new address"])
def test_s71_what_ends_a_members_sessions_closes_their_orders_links_and_cookies(end: str) -> None:
    alice = make_user()
    order = place_paid_order((make_stocked_product(), 1), user_id=alice.pk, email=alice.email)
    detail, old_link = reverse("orders:detail", args=[order.number]), mailed_link(order)
    browser = signed_in(alice)
    browser.get(old_link)
    assert browser.get(detail).status_code == 200
    now = datetime.now(UTC)
    if end == "logout":
        browser.post(reverse("accounts:logout"))
        assert not browser.cookies[settings.ORDER_COOKIE_NAME].value
    elif end == "sessions_end_others":
        signed_in(alice).post(reverse("accounts:sessions_end_others"))
    elif end == "new password":
        accounts.change_password(alice, "nine dry badgers", now)
    else:
        elsewhere = signed_in(alice)
        link = accounts.email_change_link(alice, fresh_email())
        assert elsewhere.post(link[link.index("/account/") :]).status_code == 303
    for step in (detail, old_link, detail):
        answer = browser.get(step, follow=True)
        assert "Torstraße" not in text(answer)
        assert order.name not in text(answer)
    assert answer.redirect_chain[-1][0].startswith(reverse("accounts:login"))


def test_s72_links_and_cookies_of_a_guests_order_have_an_age() -> None:
    order, other = place_paid_order((make_stocked_product(), 1)), make_order()
    detail, link, guest = (
        reverse("orders:detail", args=[order.number]),
        mailed_link(order),
        Client(),
    )
    assert guest.get(link)["Location"] == detail
    assert guest.cookies[settings.ORDER_COOKIE_NAME]["max-age"] == settings.ORDER_LINK_SECONDS
    almost = datetime.now(UTC) + timedelta(seconds=settings.ORDER_LINK_SECONDS - 60)
    with time_machine.travel(almost, tick=True) as traveller:
        assert guest.get(detail).status_code == 200
        assert Client().get(link)["Location"] == detail
        # To open another one does not make this one younger.
        guest.get(mailed_link(other))
        traveller.shift(120)
        assert guest.get(detail).status_code == 404
        assert guest.get(reverse("orders:detail", args=[other.number])).status_code == 200
        expired = guest.get(link)
        assert expired.status_code == 410
        assert f"opens an order for {settings.ORDER_LINK_DAYS} days" in text(expired)
        # The page has the way on.
        (form,) = html.fromstring(expired.content).xpath("//main//form")
        typed = {"number": order.number, "email": order.email}
        assert guest.post(form.get("action"), typed)["Location"] == detail
        assert guest.get(detail).status_code == 200


def test_s56_s71_a_logout_forgets_the_orders_that_were_opened_here_and_keeps_the_cart() -> None:
    guests_order, browser = place_paid_order((make_stocked_product(), 1)), signed_in(make_user())
    detail = reverse("orders:detail", args=[guests_order.number])
    browser.cookies[settings.CART_COOKIE_NAME] = "kept"
    browser.get(mailed_link(guests_order))
    assert browser.get(detail).status_code == 200
    answer = browser.post(reverse("accounts:logout"))
    assert answer["Clear-Site-Data"] == '"cache", "storage"'
    assert browser.get(detail).status_code == 404
    assert browser.cookies[settings.CART_COOKIE_NAME].value == "kept"


def test_s22_an_unpaid_order_of_a_member_is_given_up_by_the_member_alone() -> None:
    alice = make_user()
    order = make_order(user_id=alice.pk, email=alice.email)
    up, detail = (reverse(f"orders:{name}", args=[order.number]) for name in ("give_up", "detail"))
    reader = Client()
    reader.post(reverse("orders:lookup"), {"number": order.number, "email": alice.email})
    assert reader.post(up)["Location"].startswith(reverse("accounts:login"))
    assert queries.get_order(order.order_id).state == "pending_payment"  # type: ignore[union-attr]
    assert up in signed_in(alice).get(detail).content.decode()


def test_a_guests_order_is_changed_by_its_cookie() -> None:
    order = place_paid_order((make_stocked_product(), 2))
    guest = Client()
    guest.get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
    page = guest.get(reverse("orders:detail", args=[order.number])).content.decode()
    for name in ("reorder", "change", "cancel", "change_address"):
        assert reverse(f"orders:{name}", args=[order.number]) in page
    assert guest.post(reverse("orders:cancel", args=[order.number])).status_code == 303
    assert queries.get_order(order.order_id).state == "cancelled"  # type: ignore[union-attr]


# ---- Preferences, and the way back from the bank


def test_preferences_have_their_effect() -> None:
    alice = make_user()
    client = signed_in(alice)
    client.post(reverse("accounts:preferences"), {"country": "IE", "plain_mail": "on"})
    mug = make_stocked_product()
    client.post(
        reverse("cart:add"),
        {"variant": mug.variants[0].sku, "quantity": "1", "operation": str(uuid4())},
    )
    page = html.fromstring(client.get(reverse("checkout:details"), follow=True).content)
    assert page.xpath("//select[@name='country']/option[@selected]/@value") == ["IE"]
    place_paid_order((make_stocked_product(), 1), user_id=alice.pk, email=alice.email)
    plain = next(row for row in list_recipient_mails(alice.email) if "Your order" in row.subject)
    assert (bool(plain.text), plain.html) == (True, None)
    client.post(reverse("accounts:preferences"), {"country": ""})
    place_paid_order((make_stocked_product(), 1), user_id=alice.pk, email=alice.email)
    assert [bool(row.html) for row in list_recipient_mails(alice.email)].count(True) == 1
    assert client.post(reverse("accounts:preferences"), {"country": "US"}).status_code == 422


def test_a_member_whose_session_ended_at_the_bank_signs_in_and_comes_back() -> None:
    alice, now = make_user(), datetime.now(UTC)
    order = make_order(user_id=alice.pk)
    started = operations.start_payment(order, "http://testserver", now)
    bank.submit_card(started.payment_id, cards.APPROVED, now)
    back = reverse("orders:return_from_payment", args=[order.number, started.payment_id])
    client = Client()
    answer = client.get(back)
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("accounts:login"))
    sent = {"email": alice.email, "password": "seven wet otters", "next": back}
    assert client.post(reverse("accounts:login"), sent)["Location"] == back
    assert "Confirmed" in text(client.get(back, follow=True))
    # Visitors who do not know the payment learn nothing, not even that there is such an order.
    for number, payment_id in ((order.number, uuid4()), ("0000-0000", started.payment_id)):
        assert (
            Client()
            .get(reverse("orders:return_from_payment", args=[number, payment_id]))
            .status_code
            == 404
        )
    assert signed_in(make_user("Bob")).get(back).status_code == 404
    assert order.placed_at > now - timedelta(minutes=1)
