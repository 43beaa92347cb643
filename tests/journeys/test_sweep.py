"""Every address with an id in it, and every press that names one: what is somebody else's answers as what does not exist.

The addresses are found in the URLconf: one that is new fails here until it has an entry. Each is asked for twice, once with
Alice's thing and once with a thing that nobody has; as a guest, as two members (one of whom Alice has shared a cart with,
and excluded again), as staff of each role; by GET and POST, with and without htmx. Status, place to go to and text are the
same, apart from the ids themselves and what differs at each look; and Alice finds all as it was.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from typing import Any
from urllib.parse import quote, quote_plus
from uuid import UUID, uuid4

import pytest
from cassandra.query import BatchStatement, BoundStatement
from django.conf import settings
from django.core import signing
from django.test import Client
from django.test.utils import override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts import queries as accounts
from accounts.access import ADMIN, ROLES
from accounts.addresses import Address
from accounts.models import User
from accounts.operations import address_saved, email_change_link, registration_link, reset_link
from accounts.sessions import sessions_of
from cart import people
from cart import queries as cart_queries
from cart.operations import sharing
from cart.undo import Removed, Undo
from cart.waiting import Wish, end_token
from cassandra_db import REGISTRY
from cassandra_db.session import session
from orders import queries as orders
from orders.links import track_token
from orders.operations import payment_started
from tests.cart.sharing import make_person, make_shared_cart, someone
from tests.factories import make_order, make_product, make_stock, make_user, staff_signed_in

# ---- What is asked for. "{cart}" stands for Alice's cart and, the second time, for one that nobody has.


@dataclass(frozen=True)
class Ask:
    """What stands in an address, and what a press sends."""

    args: Mapping[str, str]
    body: Mapping[str, str]


def ask(body: Mapping[str, str] | None = None, /, **args: str) -> Ask:
    return Ask(args, {"operation": str(uuid4())} | dict(body or {}))


_CART = {"cart_id": "{cart}"}
_LINE = {"cart_id": "{cart}", "key": "{line}"}
_ORDER = {"number": "{number}"}

WITH_AN_ID: dict[str, list[Ask]] = {
    "cart:one": [ask(**_CART)],
    "cart:rename": [ask({"name": "Mine now"}, **_CART)],
    "cart:duplicate": [ask(**_CART)],
    "cart:empty": [ask(**_CART)],
    "cart:delete": [ask(**_CART)],
    # Into a cart of one's own, and one's own into it.
    "cart:merge": [ask({"into": "{own_cart}"}, **_CART), ask({"into": "{cart}"}, cart_id="{own_cart}")],
    "cart:move": [
        ask({"into": "{own_cart}"}, **_LINE),
        ask({"into": "{own_cart}", "copy": "1"}, **_LINE),
        ask({"into": "{cart}"}, cart_id="{own_cart}", key="{own_line}"),
        ask({"into": "{own_cart}"}, cart_id="{own_cart}", key="{line}"),
    ],
    "cart:later": [ask(**_LINE), ask(cart_id="{own_cart}", key="{line}")],
    "cart:now": [ask(**_LINE), ask(cart_id="{own_cart}", key="{line}")],
    "cart:drop": [ask(**_LINE), ask(cart_id="{own_cart}", key="{line}")],
    "cart:changes": [ask(**_CART)],
    "cart:people": [ask(**_CART)],
    "cart:invite": [ask({"email": "eve@example.com", "role": "buyer"}, **_CART)],
    "cart:withdraw": [ask({"key": "{invitation}"}, **_CART), ask({"key": "{invitation}"}, cart_id="{own_cart}")],
    "cart:role": [
        ask({"person": "{person}", "role": "buyer"}, **_CART),
        ask({"person": "{person}", "role": "buyer"}, cart_id="{own_cart}"),
    ],
    "cart:exclude": [ask({"person": "{person}"}, **_CART), ask({"person": "{person}"}, cart_id="{own_cart}")],
    "cart:link": [ask(**_CART)],
    "cart:unlink": [ask({"key": "{link}"}, **_CART), ask({"key": "{link}"}, cart_id="{own_cart}")],
    "cart:leave": [ask(**_CART)],
    # Whoever has a token may open what it is for: so it is a token that we have not made.
    "cart:shared": [ask(token="{forged}")],
    "cart:shared_copy": [ask(token="{forged}")],
    "cart:invitation": [ask(token="{forged}")],
    "cart:waiting": [ask(token="{forged}")],
    "cart:wait_end": [ask(token="{forged}")],
    "accounts:finish": [ask(token="{forged}")],
    "accounts:reset_finish": [ask({"password": "seven dry otters"}, token="{forged}")],
    "accounts:email_confirm": [ask(token="{forged}")],
    "accounts:address_edit": [
        ask(
            {"name": "Eve", "street": "Elsewhere 1", "postal_code": "10115", "city": "Berlin", "country": "DE"},
            key="{address}",
        )
    ],
    "accounts:address_remove": [ask(key="{address}")],
    "orders:detail": [ask(**_ORDER)],
    "orders:invoice": [ask(**_ORDER)],
    "orders:pay": [ask(**_ORDER), ask(number="{unpaid}")],
    "orders:give_up": [ask(**_ORDER), ask(number="{unpaid}")],
    "orders:keep": [ask(**_ORDER), ask(number="{unpaid}")],
    # A payment's own id is a secret: whoever has it has been at the bank, and is asked to log in.
    "orders:payment_return": [ask(number="{unpaid}", payment_id=str(uuid4()))],
    "orders:again": [ask(**_ORDER), ask({"cart": "{cart}"}, **_ORDER), ask({"cart": "{own_cart}"}, **_ORDER)],
    "orders:cancel": [ask(**_ORDER), ask(number="{unpaid}")],
    "orders:change": [ask({"line_1": "0"}, **_ORDER)],
    "orders:door": [
        ask(
            {"name": "Eve", "street": "Elsewhere 1", "postal_code": "10115", "city": "Berlin", "country": "DE"},
            **_ORDER,
        )
    ],
    "orders:send_back": [ask({"line_1": "1", "reason": "mind"}, **_ORDER)],
    "orders:track": [ask(token="{forged}")],
    "adminpanel:order": [ask(**_ORDER)],
    "adminpanel:move": [ask({"event": "packed", "version": "2"}, **_ORDER)],
    "adminpanel:note": [ask({"note": "I was here"}, **_ORDER)],
    "adminpanel:pack": [ask({"version": "3", "line_1": "1"}, house="berlin", **_ORDER)],
    "adminpanel:parcel": [ask({"version": "3", "event": "shipped"}, parcel_id="1", **_ORDER)],
    "adminpanel:sent_back": [ask({"version": "3", "event": "return_approved"}, return_id="1", **_ORDER)],
    "adminpanel:return_refund": [ask({"version": "3", "amount": "1"}, return_id="1", **_ORDER)],
    "adminpanel:refund": [ask({"version": "3", "amount": "1", "reason": "Me"}, **_ORDER)],
    "adminpanel:lines": [ask({"version": "3", "line_1": "0"}, **_ORDER)],
    "adminpanel:door": [ask({"version": "3", "name": "Eve", "street": "Elsewhere 1"}, **_ORDER)],
    "adminpanel:received": [ask({"version": "3", "amount": "1"}, **_ORDER)],
    "adminpanel:money_sent": [ask({"refund": "1"}, **_ORDER)],
    "adminpanel:promotion_end": [ask(shelf="code", name="welcome10")],
    "adminpanel:person": [ask(user_id="{user}")],
    "adminpanel:person_role": [ask({"role": "admin"}, user_id="{user}")],
    "adminpanel:person_sessions_end": [ask(user_id="{user}")],
    "adminpanel:person_factor_reset": [ask(user_id="{user}")],
}

# Addresses without an id whose presses name one.
BY_A_PRESS: dict[str, list[Ask]] = {
    "cart:change": [ask({"cart": "{cart}", "line": "{line}", "quantity": "7"})],
    "cart:remove": [ask({"cart": "{cart}", "line": "{line}"})],
    "cart:restore": [ask({"removed": "{removed}"})],
    "cart:agree": [ask({"cart": "{cart}", "agreed": "{line}:1:1200:1300"})],
    "cart:voucher": [ask({"cart": "{cart}", "code": "EVE"}), ask({"cart": "{cart}", "remove": "1"})],
    "cart:switch": [ask({"cart": "{cart}"})],
    "cart:undo": [ask({"undo": "{undo}"})],
    "accounts:session_end": [ask({"session": "{session}"})],
    "orders:lookup": [ask({"number": "{number}", "email": "eve@example.com"})],
    "orders:checkout": [ask({"checkout": "{forged}", "address": "{address}"})],
    "adminpanel:person_find": [ask({"email": "{email}"})],
    "adminpanel:find": [ask({"number": "{number}"})],
}

# What is everybody's, or opens to whoever knows it; and why.
OPEN_TO_ALL = {
    "category": "the shop window",
    "product": "the shop window",
    "picture": "a drawing",
    "sitemap_part": "the shop window's list",
    "mail:message": "the showroom's mail reader, which a shop does not have",
    "testbank:pay": "the bank's page: its payment's id is the bank's secret, and it shows a sum and an order's number",
    "orders:payment_notice": "the bank's own: its body is signed",
}


def addresses(patterns: Any = None, space: str = "", route: str = "") -> Iterator[tuple[str, str]]:
    """All addresses of the shop: name, and route with its converters."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern.url_patterns, inner, f"{route}{pattern.pattern}")
        elif isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name}", f"{route}{pattern.pattern}"


WITH_CONVERTERS = {name for name, route in addresses() if "<" in route}


def test_s22_each_address_with_an_id_has_its_entry() -> None:
    """A new address: write into WITH_AN_ID what stands in it, or, if it is everybody's, into OPEN_TO_ALL why."""
    assert WITH_AN_ID.keys() | OPEN_TO_ALL.keys() == WITH_CONVERTERS
    assert BY_A_PRESS.keys() <= {name for name, _ in addresses()} - WITH_CONVERTERS


# ---- Alice, and who looks


@dataclass
class World:
    """Alice's things, by the names that the entries use; and the same names for things that nobody has."""

    alice: User
    theirs: dict[str, str]
    nobodys: dict[str, str]
    tokens: dict[str, str]
    orders: tuple[UUID, ...]
    cart: UUID

    def state(self) -> list[str]:
        """All that can be changed of what is Alice's."""
        rows = [
            cart_queries.CARTS.all(owner_id=self.alice.pk),
            cart_queries.LINES.all(cart_id=self.cart),
            cart_queries.LATER.all(cart_id=self.cart),
            cart_queries.SUMS.all(cart_id=self.cart),
            people.PEOPLE.all(cart_id=self.cart),
            accounts.USER.all(user_id=self.alice.pk),
            *(orders.ORDER.all(order_id=each) for each in self.orders),
            *(orders.PAYMENTS.all(order_id=each) for each in self.orders),
            [each.handle for each in sessions_of(self.alice.pk, None)],
        ]
        return [str(each) for each in rows]


@dataclass
class Visitor:
    """Somebody who has no business with Alice's things."""

    client: Client
    own: dict[str, str]
    role: str = ""

    def answer(self, name: str, asked: Ask, things: Mapping[str, str], *, post: bool, htmx: bool) -> tuple[Any, ...]:
        """What comes back: status, place to go to, text; without what differs at each look."""
        filled = {**things, **self.own}
        path = reverse(name, kwargs={key: value.format_map(filled) for key, value in asked.args.items()})
        body = {key: value.format_map(filled) for key, value in asked.body.items()}
        # What an earlier press has said belongs to that press.
        self.client.cookies.pop("messages", None)
        headers = {"HX-Request": "true"} if htmx else {}
        response = self.client.post(path, body, headers=headers) if post else self.client.get(path, headers=headers)
        told = [response.get(header, "") for header in ("Location", "HX-Redirect", "HX-Location", "HX-Replace-Url")]
        cookies = sorted(self.client.cookies.keys() - {settings.CSRF_COOKIE_NAME})
        text = response.content.decode()
        return response.status_code, *(plain(each, filled) for each in (*told, text)), cookies


def plain(text: str, things: Mapping[str, str]) -> str:
    """A text without the ids that were asked for, and without what is made anew for each page."""
    for name, value in sorted(things.items(), key=lambda each: -len(each[1])):
        if len(value) > 3:
            for written in {value, quote(value), quote(value, safe=""), quote_plus(value), value.replace("-", "")}:
                text = text.replace(written, f"<{name}>")
    text = re.sub(r"\b[A-Za-z0-9]{64}\b", "<csrf>", text)
    text = re.sub(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", "<uuid>", text)
    text = re.sub(r"\.e[\w-]+:[\w-]+:[\w-]+|[\w.-]+:1[\w-]{5}:[\w-]{20,}", "<token>", text)
    return re.sub(r"/account/addresses/\d+/", "/account/addresses/<address>/", text)


def difference(one: tuple[Any, ...], other: tuple[Any, ...]) -> str:
    """The lines in which two answers differ."""
    before, after = ("\n".join(map(str, each)).splitlines() for each in (one, other))
    return "\n".join(line for line in unified_diff(before, after, lineterm="", n=0) if not line.startswith("@@"))


def signed(*content: Any) -> str:
    """A token as ours are, but made by somebody who has not our key."""
    return signing.dumps(list(content), key="a key that is not ours", salt="orders.track")


@pytest.fixture(scope="module")
def world(keyspace: str) -> World:
    now = datetime.now(UTC)
    alice = make_user("Alice")
    cart_id = make_shared_cart(alice, "Alice's secret wishes", things=2)
    editor = make_person(alice, cart_id, "editor", name="Dora")
    invited = sharing.person_invited(someone(alice), cart_id, "fred@example.com", "viewer", now)
    link = sharing.link_made(alice.pk, cart_id, alice.name, now)
    line = cart_queries.cart(cart_id).lines[0]
    address = address_saved(alice.pk, Address("Alice", "Lindenallee 5", "10115", "Berlin", "DE"))
    paid = make_order(paid=True, user_id=alice.pk, email=alice.email)
    unpaid = make_order(user_id=alice.pk, email=alice.email)
    payment_started(unpaid, "http://testserver", now)
    Client().force_login(alice)
    (session,) = sessions_of(alice.pk, None)
    gone = Removed(cart_id, line.product_id, line.variant_id, line.name, 1, line.price, now, uuid4())
    undo = Undo("delete", alice.pk, cart_id, "Alice's secret wishes")
    theirs = {
        "cart": str(cart_id),
        "line": line.key,
        "person": str(editor.pk),
        "invitation": invited.key,
        "link": str(link.link_id),
        "address": address,
        "number": paid.number,
        "unpaid": unpaid.number,
        "session": session.handle,
        "user": str(alice.pk),
        "email": alice.email,
        "removed": gone.token(),
        "undo": undo.token(),
        "forged": signed(paid.order_id.hex),
    }
    nobody = Removed(uuid4(), line.product_id, line.variant_id, line.name, 1, line.price, now, uuid4())
    nobodys = {
        **{name: str(uuid4()) for name in ("cart", "line", "person", "invitation", "link", "user")},
        "address": "17",
        "number": "AAAA-AAAA",
        "unpaid": "BBBB-BBBB",
        "session": "0" * len(session.handle),
        "email": f"nobody-{uuid4().hex}@example.com",
        "removed": nobody.token(),
        "undo": Undo("delete", uuid4(), uuid4(), "Alice's secret wishes").token(),
        "forged": signed(uuid4().hex),
    }
    wish = Wish(line.product_id, line.variant_id, alice.email)
    tokens = {
        "cart:shared": link.address.rstrip("/").rpartition("/")[2],
        "cart:shared_copy": link.address.rstrip("/").rpartition("/")[2],
        "cart:invitation": invited.token,
        "cart:waiting": wish.token(),
        "cart:wait_end": end_token(alice.email),
        "accounts:finish": registration_link("gina@example.com").rstrip("/").rpartition("/")[2],
        "accounts:reset_finish": reset_link(alice).rstrip("/").rpartition("/")[2],
        "accounts:email_confirm": email_change_link(alice, f"{uuid4().hex}@example.com").rstrip("/").rpartition("/")[2],
        "orders:track": track_token(paid.order_id),
    }
    return World(alice, theirs, nobodys, tokens, (paid.order_id, unpaid.order_id), cart_id)


@pytest.fixture(scope="module")
def visitors(world: World) -> dict[str, Visitor]:
    product = make_product()
    make_stock(50, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    found = {"guest": Visitor(Client(), {})}
    for name in ("Ben", "Cem"):
        member = make_user(name) if name == "Ben" else make_person(world.alice, world.cart, "editor", name=name)
        client = Client()
        client.force_login(member)
        found[name] = Visitor(client, {})
        if name == "Cem":
            # Was in Alice's cart once, and is not any more.
            sharing.person_removed(world.alice.pk, world.cart, member.pk)
    for role in ROLES:
        found[role] = Visitor(staff_signed_in(Client(), make_user(role.title(), role=role)), {}, role)
    for visitor in found.values():
        # Everybody has a cart of their own with a thing in it.
        body = {"variant": product.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
        assert visitor.client.post(reverse("cart:add"), body).status_code in (302, 303)
        shown = visitor.client.get(reverse("cart:show")).content.decode()
        own = re.search(r'name="cart" value="([0-9a-f-]{36})"', shown)
        line = re.search(r'name="line" value="([0-9a-f-]{36})"', shown)
        assert own, shown
        assert line, shown
        visitor.own = {"own_cart": own[1], "own_line": line[1]}
    return found


@pytest.fixture(autouse=True)
def unlimited() -> Iterator[None]:
    """A sweep is what limits are against."""
    with override_settings(LIMITS=dict.fromkeys(settings.LIMITS, (0, 0, 0, 900))):
        yield


def roles_of(name: str) -> tuple[str, ...]:
    """The roles whose work an address is: for them nothing there is foreign."""
    view = next(pattern.callback for each, pattern in _patterns() if each == name)
    roles: tuple[str, ...] = getattr(view, "roles", ())
    return (*roles, ADMIN) if roles else ()


def _patterns(patterns: Any = None, space: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from _patterns(pattern.url_patterns, inner)
        else:
            yield f"{space}{pattern.name}", pattern


@pytest.mark.parametrize("name", sorted(WITH_AN_ID | BY_A_PRESS))
def test_s22_s23_a_foreign_thing_answers_as_one_that_does_not_exist(
    world: World, visitors: dict[str, Visitor], name: str
) -> None:
    before = world.state()
    allowed = roles_of(name)
    for who, visitor in visitors.items():
        if visitor.role in allowed and visitor.role:
            continue
        for asked in (WITH_AN_ID | BY_A_PRESS)[name]:
            for post, htmx in ((False, False), (False, True), (True, False), (True, True)):
                answers = [
                    visitor.answer(name, asked, things, post=post, htmx=htmx)
                    for things in (world.theirs, world.nobodys)
                ]
                if answers[0] != answers[1]:
                    pytest.fail(
                        f"{who}, {'POST' if post else 'GET'}{', htmx' if htmx else ''}: {asked}\n{difference(*answers)}"
                    )
                assert answers[0][0] < 500
                assert "Alice" not in answers[0][5] or "Undo" in answers[0][5]
    assert world.state() == before


@contextmanager
def writes() -> Iterator[list[str]]:
    """The writes that are sent to Cassandra meanwhile."""
    found: list[str] = []

    def listen(request: Any) -> None:
        prepared = {each.prepared().query_id: each.cql for each in REGISTRY if each._prepared}
        if isinstance(request.query, BatchStatement):
            found.extend(prepared.get(query, "a batch") for _, query, _ in request.query._statements_and_parameters)
        elif isinstance(request.query, BoundStatement):
            found.append(request.query.prepared_statement.query_string)

    session().add_request_init_listener(listen)
    try:
        yield found
    finally:
        session().remove_request_init_listener(listen)
        found[:] = [cql for cql in found if not cql.startswith("SELECT") and not re.search(LOOKING_WRITES, cql)]


# A session's expiry moves on with its use, what is tried is counted, and who was refused is written down.
LOOKING_WRITES = r"(INTO|UPDATE|FROM) (sessions|sessions_by_user|attempts|audit_log|audit_log_by_actor)\b"
ANY = {"slug": "any", "shape": "mug", "colours": "4f6d7a-e8d9c5", "number": "1", "gateway": "testbank"}


@pytest.fixture(scope="module")
def readers(world: World) -> tuple[Client, Client]:
    """Alice, and an admin; neither of them with a session that is new."""
    alice = Client()
    alice.force_login(world.alice)
    return alice, staff_signed_in(Client(), make_user("Ada", role=ADMIN))


@pytest.mark.parametrize(("name", "route"), sorted(addresses()))
def test_s20_looking_at_an_address_changes_nothing(
    world: World, readers: tuple[Client, Client], name: str, route: str
) -> None:
    """By GET and by HEAD; with what is one's own, and with tokens that open."""
    asked = WITH_AN_ID[name][0].args if name in WITH_AN_ID else {}
    things = {**world.theirs, "own_cart": world.theirs["cart"], "own_line": world.theirs["line"]}
    args = {key: value.format_map(things) for key, value in asked.items()}
    if "token" in args:
        args["token"] = world.tokens[name]
    for key in re.findall(r"<\w+:(\w+)>", route):
        args.setdefault(key, ANY.get(key, str(uuid4())))
    path = reverse(name, kwargs=args)
    for client in readers:
        for look in (client.get, client.head):
            with writes() as written:
                look(path)
            assert written == [], path


def test_s20_a_write_would_be_noticed() -> None:
    with writes() as written:
        make_user()
    assert any("INTO users_by_email" in cql for cql in written)


def test_s22_alice_herself_finds_all_of_it(world: World) -> None:
    """The sweep compares with what is there: for Alice these addresses open."""
    client = Client()
    client.force_login(world.alice)
    for name in ("cart:one", "cart:people", "cart:rename", "cart:move", "orders:detail", "accounts:address_edit"):
        for asked in WITH_AN_ID[name][:1]:
            args = {key: value.format_map(world.theirs) for key, value in asked.args.items()}
            assert client.get(reverse(name, kwargs=args)).status_code == 200, name
            args = {key: value.format_map(world.nobodys) for key, value in asked.args.items()}
            assert client.get(reverse(name, kwargs=args)).status_code == 404, name
    client = staff_signed_in(Client(), make_user("Toni", role="support"))
    assert client.get(reverse("adminpanel:order", args=[world.theirs["number"]])).status_code == 200
    assert client.get(reverse("adminpanel:order", args=[world.nobodys["number"]])).status_code == 404
