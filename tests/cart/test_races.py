"""Carts in a race: many submits at the same moment, and each add is in a cart or was refused with a message."""

import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core import signing

from cart import operations, queries
from cart.errors import CartError, NameTaken, TooManyCarts
from cart.limits import MAX_CARTS
from cart.names import name_key
from cart.operations import carts
from catalogue.entities import Product
from tests.cart.guests import get_active_cart
from tests.cart.products import make_mug
from tests.cart.test_carts import make, named
from tests.cart.test_operations import NOW, add
from tests.cart.test_transfers import checked, units
from tests.environment import KEYSPACE
from tests.factories import make_product
from tests.threads import call_at_once
from tests.web_server import serve_shop

at_once = partial(call_at_once, refused=CartError)


def total(person: UUID) -> int:
    """Return how many units are in all of a person's carts, each of which has sums that equal its lines."""
    return sum(
        checked(each.cart_id).item_count
        for each in queries.listed_carts_from_rows(queries.CARTS.all(owner_id=person))
    )


def one_active(person: UUID) -> None:
    rows = [row for row in queries.CARTS.all(owner_id=person) if row.cart_id is not None]
    assert len(rows) == rows[0].cart_count
    assert sum(row.cart_id == row.active_cart_id for row in rows) == 1


# By the operations


def test_x45_two_who_make_a_cart_of_one_name_make_one() -> None:
    person = uuid4()
    answers = at_once(
        *(lambda name=name: make(person, name) for name in ("Gifts", "GIFTS", "gifts", " Gifts "))
    )
    assert sum(isinstance(each, UUID) for each in answers) == 1
    assert sum(isinstance(each, NameTaken) for each in answers) == 3
    assert len(named(person)) == 1
    one_active(person)


@pytest.mark.parametrize("rounds", [1, 5])
def test_s38_x44_a_submit_sent_again_while_the_cart_is_switched_counts_once(rounds: int) -> None:
    person = uuid4()
    add(person, make_mug())
    first, second = get_active_cart(person), make(person, "Second")
    assert first
    before = total(person)
    for turn in range(rounds):
        product, idempotency_key = make_mug(), uuid4()
        to = second if turn % 2 else first.cart_id
        at_once(
            *(
                partial(
                    operations.add_line,
                    person,
                    product,
                    product.variants[0],
                    1,
                    idempotency_key,
                    NOW,
                )
                for _ in range(3)
            ),
            partial(operations.switch_cart, person, to, NOW),
            partial(
                operations.add_line, person, product, product.variants[0], 1, idempotency_key, NOW
            ),
        )
        operations.switch_cart(person, first.cart_id if to == second else second, NOW)
        assert operations.add_line(
            person, product, product.variants[0], 1, idempotency_key, NOW
        ).is_repeated
        assert total(person) == before + turn + 1


def test_x45_the_last_place_goes_to_one() -> None:
    person = uuid4()
    for number in range(MAX_CARTS - 1):
        carts.add_cart_to_list(person, uuid4(), f"Cart {number}", NOW, activate=number == 0)
    answers = at_once(*(lambda n=n: make(person, f"Last {n}") for n in range(4)))
    assert sum(isinstance(each, UUID) for each in answers) == 1
    assert sum(isinstance(each, TooManyCarts) for each in answers) == 3
    assert len(named(person)) == MAX_CARTS


def test_x45_two_switches_leave_one_active() -> None:
    person = uuid4()
    ids = [make(person, name) for name in ("One", "Two", "Three")]
    for _ in range(5):
        at_once(*(lambda each=each: operations.switch_cart(person, each, NOW) for each in ids))
        one_active(person)


def test_x45_a_switch_to_a_cart_that_is_deleted_at_that_moment_leaves_no_ghost() -> None:
    for _ in range(5):
        person = uuid4()
        gone, _ = make(person, "Gone"), make(person, "Stays")
        at_once(
            partial(operations.delete_cart, person, gone, NOW),
            partial(operations.switch_cart, person, gone, NOW),
        )
        assert named(person) == {"Stays": True}


def test_x44_adds_and_a_delete_at_once_lose_nothing() -> None:
    person, product = uuid4(), make_mug()
    make(person, "Stays")
    gone = make(person, "Gone")
    answers = at_once(
        *(lambda n=n: add(person, product, n % 2) for n in range(12)),
        lambda: operations.delete_cart(person, gone, NOW),
    )
    added = [each for each in answers if isinstance(each, operations.LineResult)]
    undo = next(each for each in answers if not isinstance(each, operations.LineResult | CartError))
    assert len(added) == 12
    assert named(person) == {"Stays": True}
    elsewhere = sum(each.cart_id != gone for each in added)
    assert total(person) == elsewhere
    operations.undelete_cart(person, undo, NOW)
    assert total(person) == 12


def test_x44_adds_and_a_merge_at_once_lose_nothing() -> None:
    for _ in range(3):
        person, product = uuid4(), make_mug()
        target = make(person, "Target")
        source = make(person, "Source")
        add(person, product, 0, 5)
        answers = at_once(
            *(partial(add, person, product, n % 2) for n in range(8)),
            partial(operations.merge_carts, person, source, target, uuid4(), NOW),
        )
        assert not [each for each in answers if isinstance(each, CartError)]
        assert total(person) == 13
        one_active(person)


def test_x44_one_submit_to_merge_sent_four_times_at_once_counts_once() -> None:
    person, product, operation = uuid4(), make_mug(), uuid4()
    target, source = make(person, "Target"), make(person, "Source")
    add(person, product, 0, 5)
    at_once(
        *(lambda: operations.merge_carts(person, source, target, operation, NOW) for _ in range(4))
    )
    assert named(person) == {"Target": True}
    assert units(target) == {str(product.variants[0].variant_id): 5}


def test_x44_a_line_that_two_move_at_once_to_two_carts_is_not_lost() -> None:
    person, product = uuid4(), make_mug()
    left, right, source = make(person, "Left"), make(person, "Right"), make(person, "Source")
    add(person, product, 0, 4)
    key = str(product.variants[0].variant_id)
    at_once(
        *(
            lambda target=target: operations.move_line(person, source, target, key, uuid4(), NOW)
            for target in (left, right)
        )
    )
    assert units(source) == {}
    # both may have read it before either took it; neither may have lost it
    assert total(person) in (4, 8)


def test_x44_two_logins_at_once_bring_each_cart_along_once() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    make(guest, "Gifts")
    add(guest, product, 0, 3)
    make(guest, "Kitchen")
    add(guest, product, 1, 2)
    at_once(*(lambda: operations.claim_guest_carts(guest, member, NOW, "phone") for _ in range(3)))
    assert set(named(member)) == {"Gifts", "Kitchen"}
    assert total(member) == 5
    assert named(guest) == {}


# Over HTTP


@dataclass
class Browser:
    """A guest's browser: cookies, and one connection that stays open."""

    address: str
    cookies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=30)

    def ask(self, path: str, fields: dict[str, Any] | None = None) -> tuple[int, str]:
        """Get a page, or send a form; return status and text."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None
        if fields is not None:
            body = urlencode(
                fields | {"csrfmiddlewaretoken": self.cookies[settings.CSRF_COOKIE_NAME]}
            )
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request("POST" if body is not None else "GET", path, body, headers)
        response = self.connection.getresponse()
        for name, value in re.findall(
            r"(?m)^([\w-]+)=([^;]*)", "\n".join(response.headers.get_all("Set-Cookie") or [])
        ):
            self.cookies[name] = value
        return response.status, response.read().decode()

    def twin(self) -> "Browser":
        """Return another tab of the same browser, with a connection of its own."""
        return Browser(self.address, dict(self.cookies))

    @property
    def person(self) -> UUID:
        guest, _ = signing.loads(
            self.cookies[settings.CART_COOKIE_NAME].strip('"'), salt="cart.owner"
        )
        return UUID(hex=guest)


@pytest.fixture(scope="module")
def shop(keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert keyspace == KEYSPACE
    with serve_shop(Path(tmp_path_factory.mktemp("races")), workers=2) as address:
        yield address


@pytest.fixture
def lamp() -> Product:
    return make_product("Lamp", stock=900)


@pytest.fixture
def guest(shop: str, lamp: Product) -> Browser:
    """A guest with one lamp in a cart."""
    found = Browser(shop)
    assert found.ask("/cart/")[0] == 200
    assert submit_add(found, lamp) == 303
    return found


def submit_add(tab: Browser, product: Product, operation: UUID | None = None) -> int:
    fields = {
        "variant": product.variants[0].sku,
        "quantity": "1",
        "operation": str(operation or uuid4()),
    }
    return tab.ask("/cart/add/", fields)[0]


def test_x44_fifty_adds_of_one_variant_from_eight_connections_end_at_quantity_50(
    guest: Browser, lamp: Product
) -> None:
    keys = [uuid4() for _ in range(49)]
    tabs = [guest.twin() for _ in range(8)]
    statuses = at_once(
        *(
            lambda tab=tab, n=n: [submit_add(tab, lamp, each) for each in keys[n::8]]
            for n, tab in enumerate(tabs)
        )
    )
    assert {status for some in statuses if isinstance(some, list) for status in some} == {303}
    found = get_active_cart(guest.person)
    assert found
    assert [line.quantity for line in found.lines] == [50]
    assert total(guest.person) == 50


def test_x44_one_submit_sent_eight_times_at_once_counts_once(guest: Browser, lamp: Product) -> None:
    idempotency_key, tabs = uuid4(), [guest.twin() for _ in range(8)]
    assert (
        at_once(*(lambda tab=tab: submit_add(tab, lamp, idempotency_key) for tab in tabs))
        == [303] * 8
    )
    assert total(guest.person) == 2


def test_x44_adds_during_a_switch_and_a_delete_are_all_in_a_cart(
    guest: Browser, lamp: Product
) -> None:
    assert guest.ask("/carts/make/", {"name": "Second", "operation": str(uuid4())})[0] == 303
    first = next(
        each
        for each in queries.listed_carts_from_rows(queries.CARTS.all(owner_id=guest.person))
        if not each.is_active
    )
    tabs = [guest.twin() for _ in range(8)]
    statuses = at_once(
        *(lambda tab=tab: [submit_add(tab, lamp) for _ in range(4)] for tab in tabs[:6]),
        lambda: [tabs[6].ask("/carts/switch/", {"cart": str(first.cart_id)})[0]],
        lambda: [tabs[7].ask(f"/carts/{first.cart_id}/delete/", {})[0]],
    )
    adds = [status for some in statuses[:6] if isinstance(some, list) for status in some]
    assert adds == [303] * 24
    in_deleted = checked(first.cart_id).item_count
    assert total(guest.person) + in_deleted == 1 + 24
    one_active(guest.person)


def test_x45_two_tabs_that_make_a_cart_of_one_name_make_one(guest: Browser) -> None:
    tabs = [guest.twin() for _ in range(4)]
    statuses = at_once(
        *(
            lambda tab=tab, name=name: tab.ask(
                "/carts/make/", {"name": name, "operation": str(uuid4())}
            )[0]
            for tab, name in zip(tabs, ("Gifts", "gifts", "GIFTS", "Gifts"), strict=True)
        )
    )
    assert sorted(each for each in statuses if isinstance(each, int)) == [303, 422, 422, 422]
    keys = [row.name_key for row in queries.CARTS.all(owner_id=guest.person)]
    assert keys.count(name_key("gifts")) == 1
