"""Every address, as every kind of user: who is let in, and that another user's things answer as what does not exist.

The addresses are found in the URLconf: one that has an id in it fails here until it has an entry. Each is asked for as a guest,
as two members (one of whom Alice has shared a cart with, and excluded again), as staff of each role, and as an admin without
the second factor; by GET and POST, with and without htmx.

Users whom the table of docs/operations/running.md lets in are let in, and all others are refused and write nothing. What has an id in
it, or a submit that names one, is asked for twice, once with Alice's thing and once with a thing that nobody has: status,
redirect and text are the same, apart from the ids themselves and what differs at each look; and Alice finds all as it was.

A request costs 15 ms, and all of them in all ways by everybody would be 7,500. So what differs from another visitor's in one
respect is asked for in that respect: Cem, who is Ben but for a cart, asks for carts; staff are shoppers to the shop's pages, so
an admin alone, who may do more than any other role, asks for them, and without htmx; and whom a staff page refuses before it
reads an id, needs no id to compare with by htmx.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import unified_diff
from functools import cache
from itertools import product
from typing import Any
from urllib.parse import quote, quote_plus
from uuid import UUID, uuid1, uuid4

import pytest
from cassandra.query import BatchStatement, BoundStatement
from cassandra.util import uuid_from_time
from django.conf import settings
from django.core import signing
from django.core.cache import cache as process_cache
from django.core.files.base import ContentFile
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse

from accounts import queries
from accounts.addresses import Address
from accounts.models import User
from accounts.operations import (
    email_change_link,
    password_reset_link,
    registration_link,
    save_address,
)
from accounts.roles import ADMIN, ROLES
from accounts.sessions import list_sessions
from cart import people
from cart.operations import sharing
from cart.queries import CARTS, LINES, SAVED_LINES, SUMS, get_cart
from cart.undo import RemovedLine, Undo
from cassandra_db import REGISTRY
from cassandra_db.session import get_session
from catalogue import bulk_changes
from catalogue.bulk_acts import BulkAct
from catalogue.queries import list_root_categories
from conversations.entities import Topic
from conversations.operations.contact_requests import note_contact_request
from conversations.operations.labels import create_label
from conversations.operations.messages import set_state
from conversations.rules import SHOP_MAILBOX
from conversations.states import DONE
from conversations.tokens import contact_token, conversation_token
from drafts.entities import DraftOrder
from drafts.links import offer_url
from drafts.operations import send_offer
from drafts.queries import prefetch_draft
from inventory.entities import LEAVING, StockTransfer
from inventory.operations import start_transfer
from mail.queries import derive_mail_id
from moderation.states import HELD
from notifications.entities import News
from notifications.links import unsubscribe_url as mails_end
from notifications.operations import tell
from notifications.queries import LISTED
from orders import queries as orders
from orders.access import make_order_cookie
from orders.bulk_acts import OrderAct
from orders.bulk_changes import start_change
from orders.links import confirmation_url, order_access_token
from orders.operations import start_payment
from orders.papers.order_files import ORDER_FILES
from payments.operations import list_unmatched_payment
from payments.queries import UnmatchedPayment
from questions.operations import ask_question
from reviews.links import guest_token, stop_token
from spreadsheets import operations
from stock_alerts.queries import Subscription, unsubscribe_token
from storefront.feeds import write_feeds
from tests.architecture.routes import ROLES_BY_URL, ROUTES, Route
from tests.cart.shared_carts import as_cart_user, make_person, make_shared_cart
from tests.conversations.mailboxes import customer_of, guest
from tests.conversations.mailboxes import start as start_conversation_of
from tests.factories import (
    find_delivery_method,
    make_order,
    make_product,
    make_stock,
    make_user,
    sign_in_staff,
)
from tests.journeys.asks import BY_A_PRESS, OPEN_TO_ALL, WITH_AN_ID, Ask, ask
from tests.posts.posting import publish
from tests.posts.showing import add_comment
from tests.posts.showing import change as change_post
from tests.reviews.writes import write

ASKS = WITH_AN_ID | BY_A_PRESS

WITH_CONVERTERS = {each.name for each in ROUTES if "<" in each.pattern}


def test_s22_each_address_with_an_id_has_its_entry() -> None:
    """A new address: write into WITH_AN_ID what stands in it, or, if it is public, into OPEN_TO_ALL why."""
    assert len(WITH_AN_ID) >= 61
    assert WITH_AN_ID.keys() | OPEN_TO_ALL.keys() == WITH_CONVERTERS
    assert BY_A_PRESS.keys() <= {each.name for each in ROUTES} - WITH_CONVERTERS


# ---- Alice, and who looks

LOG_IN, SECOND_FACTOR = reverse("accounts:login"), reverse("adminpanel:second_factor")

# The second factor's own pages: staff see them before it is passed.
BEFORE_IT = {"adminpanel:second_factor", "adminpanel:second_factor_picture"}

# No such order, no such person, an older version: but they were let as far as to find that out.
LET_IN = (200, 302, 303, 404, 405, 409, 422)

# By which method, and whether htmx asks.
PLAINLY = [("get", False), ("post", False)]

WAYS = [*PLAINLY, ("get", True), ("post", True)]


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
            CARTS.all(owner_id=self.alice.pk),
            LINES.all(cart_id=self.cart),
            SAVED_LINES.all(cart_id=self.cart),
            SUMS.all(cart_id=self.cart),
            people.PEOPLE.all(cart_id=self.cart),
            queries.USER.all(user_id=self.alice.pk),
            LISTED.all(user_id=self.alice.pk, most=50),
            prefetch_draft(UUID(self.theirs["draft"])).rows(),
            *(orders.ORDER.all(order_id=each) for each in self.orders),
            *(orders.PAYMENTS.all(order_id=each) for each in self.orders),
            [each.handle for each in list_sessions(self.alice.pk, None)],
        ]
        return [str(each) for each in rows]


@dataclass(frozen=True)
class Answer:
    """What comes back; text and `compared` are without what was asked for, and without what differs at each look."""

    path: str
    status: int
    leads_to: str
    text: str
    compared: tuple[Any, ...]


@dataclass
class Visitor:
    """A user who has no business with Alice's things. A guest has no role, a shopper an empty one."""

    client: Client
    role: str | None = ""
    second_factor: bool = True
    # The app whose addresses alone are asked for.
    app: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def answer(
        self, name: str, request: Ask, things: Mapping[str, str], method: str, *, htmx: bool
    ) -> Answer:
        filled = {**things, **self.own}
        path = reverse(
            name, kwargs={key: value.format_map(filled) for key, value in request.args.items()}
        )
        body = {key: value.format_map(filled) for key, value in request.body.items()}
        # The message of an earlier submit belongs to that submit.
        self.client.cookies.pop(settings.MESSAGES_COOKIE_NAME, None)
        send = getattr(self.client, method)
        headers = {"HX-Request": "true"} if htmx else {}
        response = (
            send(path, body, headers=headers) if method == "post" else send(path, headers=headers)
        )
        redirects = [
            response.get(header, "")
            for header in ("Location", "HX-Redirect", "HX-Location", "HX-Replace-Url")
        ]
        cookies = sorted(self.client.cookies.keys() - {settings.CSRF_COOKIE_NAME})
        text = plain(response.content.decode(), filled)
        compared = (
            response.status_code,
            *(plain(each, filled) for each in redirects),
            text,
            cookies,
        )
        return Answer(path, response.status_code, redirects[0] or redirects[1], text, compared)

    def refusal(self, route: Route) -> int | str:
        """What keeps this visitor out, whatever stands in the address: a status, or the page that comes first; or nothing."""
        if route.name not in ROLES_BY_URL:
            return LOG_IN if self.role is None and route.access == "member" else ""
        if not self.role:
            return LOG_IN if self.role is None else 404
        if not self.second_factor and route.name not in BEFORE_IT:
            return SECOND_FACTOR
        return "" if self.role in ROLES_BY_URL[route.name] else 403

    def asks_for(self, route: Route) -> bool:
        """Whether anything is to be said of an address; what holds without the second factor is about the staff's alone."""
        if self.app:
            return route.name in ASKS and route.name.startswith(f"{self.app}:")
        if route.name in ROLES_BY_URL:
            return True
        is_shopper = not self.role or (self.role == ADMIN and self.second_factor)
        return is_shopper and bool(route.name in ASKS or self.refusal(route))

    def ways(self, route: Route) -> list[tuple[str, bool]]:
        """By which methods an address is asked for, and whether by htmx."""
        if route.name not in ROLES_BY_URL:
            return PLAINLY if self.role else WAYS
        refusal = self.refusal(route)
        if refusal == LOG_IN:
            return [*WAYS, ("put", False), ("delete", False)]
        # A role is looked at before the address, in one place: the ways of asking are Ben's and the guest's to try.
        return PLAINLY if refusal in ("", 403) else WAYS

    def things(self, route: Route, world: World, *, htmx: bool) -> tuple[Mapping[str, str], ...]:
        """With whose things an address is asked for."""
        if route.name not in ASKS:
            return (world.nobodys,)
        if route.name not in ROLES_BY_URL:
            return world.theirs, world.nobodys
        # Users whose work it is would really do it.
        refusal = self.refusal(route)
        if not refusal:
            return (world.nobodys,)
        return (world.theirs,) if htmx or refusal == 403 else (world.theirs, world.nobodys)

    def violations(self, route: Route, world: World) -> Iterator[str]:
        """Ask for an address in all ways, and yield what is answered that should not be."""
        refusal = self.refusal(route)
        let_in = route.name in ROLES_BY_URL and not refusal
        for ask_for, (method, htmx) in product(ASKS.get(route.name, [ask()]), self.ways(route)):
            answers = [
                self.answer(route.name, ask_for, each, method, htmx=htmx)
                for each in self.things(route, world, htmx=htmx)
            ]
            request = f"{method.upper()}{' by htmx' if htmx else ''} {answers[0].path}"
            if method == "post":
                request += f" with {dict(ask_for.body)}"
            for answer in answers:
                got = f"{answer.status} {answer.leads_to}"
                if answer.status >= 500:
                    yield f"{request}: {got}"
                if let_in and (
                    answer.status not in LET_IN
                    or answer.leads_to.startswith((LOG_IN, f"{SECOND_FACTOR}?"))
                ):
                    yield f"{request}: is theirs, and answers {got}"
                # What no user can submit at all says so first.
                no_press = method == "post" and route.access == "member" and answer.status == 405
                if (
                    refusal
                    and not no_press
                    and not refused(answer, refusal, looked=method == "get" and not htmx)
                ):
                    yield f"{request}: is not theirs ({refusal}), and answers {got}"
            if answers[0].compared != answers[-1].compared:
                got = difference(answers[0].compared, answers[-1].compared)
                yield f"{request}: is not as if it were not there:\n{got}"
            if ALICE in answers[0].text and "Undo" not in answers[0].text:
                yield f"{request}: names Alice"


def refused(answer: Answer, refusal: int | str, *, looked: bool) -> bool:
    """Whether an answer is this refusal; a user who is led to another page first comes back to what they looked at."""
    if isinstance(refusal, int):
        return answer.status == refusal and "No order" not in answer.text
    if looked:
        return (answer.status, answer.leads_to) == (302, f"{refusal}?next={quote(answer.path)}")
    return answer.status in (200, 302, 303) and answer.leads_to.startswith(refusal)


@cache
def _written(things: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The ways in which a page may write what was asked for, the longest things first, and what it is called."""
    return [
        (written, f"<{name}>")
        for name, value in sorted(things, key=lambda each: -len(each[1]))
        if len(value) > 3
        for written in {
            value,
            quote(value),
            quote(value, safe=""),
            quote_plus(value),
            value.replace("-", ""),
        }
    ]


def plain(text: str, things: Mapping[str, str]) -> str:
    """A text without the ids that were asked for, and without what is made anew for each page."""
    if not text:
        return text
    for written, name in _written(tuple(things.items())):
        text = text.replace(written, name)
    text = re.sub(r"\b[A-Za-z0-9]{64}\b", "<csrf>", text)
    text = re.sub(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", "<uuid>", text)
    text = re.sub(
        r"\.e[\w-]+:[\w-]+:[\w-]+|[\w.>-]+(?::|%3A)1[\w-]{5}(?::|%3A)[\w-]{20,}", "<token>", text
    )
    return re.sub(r"/account/addresses/\d+/", "/account/addresses/<address>/", text)


def difference(one: Iterable[Any], other: Iterable[Any]) -> str:
    """The first lines in which two answers differ."""
    before, after = ("\n".join(map(str, each)).splitlines() for each in (one, other))
    lines = [
        line for line in unified_diff(before, after, lineterm="", n=0) if not line.startswith("@@")
    ]
    return "\n".join(
        lines[:12] + ([f"and {len(lines) - 12} lines more"] if len(lines) > 12 else [])
    )


def signed(*content: Any) -> str:
    """A token as ours are, but made without our key."""
    return signing.dumps(list(content), key="a key that is not ours", salt="orders.track")


# A name that no other test's people have: staff see them all in one list.
ALICE = "Aliceandra"


def make_world() -> World:
    now = datetime.now(UTC)
    alice = make_user(ALICE)
    cart_id = make_shared_cart(alice, f"{ALICE}'s secret wishes", mugs=2)
    editor = make_person(alice, cart_id, "editor", name="Dora")
    invited = sharing.invite_person(as_cart_user(alice), cart_id, "fred@example.com", "viewer", now)
    link = sharing.create_link(alice.pk, cart_id, alice.name, now)
    line = get_cart(cart_id).lines[0]
    address = save_address(alice.pk, Address(ALICE, "Lindenallee 5", "10115", "Berlin", "DE"))
    paid = make_order(paid=True, user_id=alice.pk, email=alice.email)
    unpaid = make_order(user_id=alice.pk, email=alice.email)
    start_payment(unpaid, "http://testserver", now)
    Client().force_login(alice)
    (session,) = list_sessions(alice.pk, None)
    change_id = uuid_from_time(now)
    bulk_changes.start_change(
        change_id,
        BulkAct("featured", featured=True),
        [bulk_changes.Selected(line.product_id)],
        uuid4(),
        now,
    )
    task_id = uuid_from_time(now)
    file = ContentFile(b"sku,price\nNOBODYS,1.00\n")
    operations.start_import(task_id, "prices", file, "prices.csv", uuid4(), now)
    order_change_id = uuid_from_time(now)
    start_change(
        order_change_id, OrderAct("held", "staff:1:Ann"), [paid.order_id], {}, uuid4(), now
    )
    paper_id = uuid_from_time(now)
    operations.start_order_file(paper_id, ORDER_FILES["labels"], [paid.order_id], uuid4(), now)
    wanted = make_product()
    draft = send_offer(
        DraftOrder(
            uuid_from_time(now),
            alice.email,
            paid.delivery_address,
            (wanted.quote_line(wanted.variants[0], 1),),
            "standard",
            added_to=paid.number,
        ),
        None,
        find_delivery_method("DE", "standard"),
        "staff:1:Ann",
        now,
    )
    transfer = StockTransfer(
        *(uuid4(), line.product_id, make_stock(2, product_id=line.product_id), "berlin", "cork", 1),
        *("", LEAVING, str(alice.pk), now),
    )
    start_transfer(transfer)
    unmatched = UnmatchedPayment(uuid4(), "transfer", "", paid.number, paid.total, now)
    list_unmatched_payment(unmatched)
    gone = RemovedLine(
        cart_id, line.product_id, line.variant_id, line.name, 1, line.price, now, uuid4()
    )
    undo = Undo("delete", alice.pk, cart_id, f"{ALICE}'s secret wishes")
    theirs = {
        "cart": str(cart_id),
        "line": line.key,
        "person": str(editor.pk),
        "invitation": invited.key,
        "link": str(link.link_id),
        "address": address,
        "number": paid.number,
        "order_mail": str(derive_mail_id(paid.order_id, "confirmed")),
        "unpaid": unpaid.number,
        "session": session.handle,
        "user": str(alice.pk),
        "email": alice.email,
        "removed": gone.token(),
        "undo": undo.token(),
        "forged": signed(paid.order_id.hex),
        "promotion": "welcome10",
        "product": str(line.product_id),
        "category": str(list_root_categories()[0].category_id),
        "change": str(change_id),
        "spreadsheet": str(task_id),
        "order_change": str(order_change_id),
        "order_id": str(paid.order_id),
        "paper": str(paper_id),
        "draft": str(draft.draft_id),
        "transfer": str(transfer.transfer_id),
        "unmatched": str(unmatched.payment_id),
    }
    nobody = RemovedLine(
        uuid4(), line.product_id, line.variant_id, line.name, 1, line.price, now, uuid4()
    )
    nobodys = {
        **{
            name: str(uuid4())
            for name in (
                "cart",
                "line",
                "person",
                "invitation",
                "link",
                "user",
                "product",
                "category",
                "variant",
                "change",
                "order_mail",
                "spreadsheet",
                "order_change",
                "order_id",
                "paper",
                "draft",
                "transfer",
                "unmatched",
            )
        },
        "address": "17",
        "number": "AAAA-AAAA",
        "unpaid": "BBBB-BBBB",
        "session": "0" * len(session.handle),
        "email": f"nobody-{uuid4().hex}@example.com",
        "removed": nobody.token(),
        "undo": Undo("delete", uuid4(), uuid4(), f"{ALICE}'s secret wishes").token(),
        "forged": signed(uuid4().hex),
        "promotion": f"none-{uuid4().hex}",
    }
    review = write(wanted.product_id, 4, alice.user_id, held_for="links")
    question = ask_question(
        *(wanted.product_id, alice.user_id, "Is it heavy?"),
        name="A.",
        held_for="links",
        change_id=uuid4(),
        now=now,
    )
    told = News("order_paid", alice.pk, now, {"order": paid.number, "what": "order_paid"})
    tell([told])
    theirs["notification"], nobodys["notification"] = str(told.notification_id), str(uuid1())
    of_review = {"reviewed": wanted.slug, "reviewed_id": str(wanted.product_id)}
    theirs["conversation"] = str(start_conversation_of(customer_of(alice), f"{ALICE} asks"))
    nobodys["conversation"] = str(uuid1())
    # Staff see it in another folder than the one that opens first.
    set_state(UUID(theirs["conversation"]), DONE, seen=1, change_id=uuid4(), now=now)
    theirs["message_label"] = str(create_label(SHOP_MAILBOX, uuid4().hex[:8], "red").label_id)
    nobodys["message_label"] = str(uuid4())
    theirs["own_label"] = str(create_label(alice.pk, "Garden", "green").label_id)
    nobodys["own_label"] = str(uuid4())
    theirs |= {"review": str(review.review_id), "question": str(question.question_id), **of_review}
    nobodys |= {"review": str(uuid1()), "question": str(uuid1()), **of_review}
    waiting, commented = change_post(publish(alice.pk), state=HELD), publish()
    comment = add_comment(commented, alice, "What a colour!", held_for="links")
    theirs |= {"post": str(waiting.post_id), "comment": str(comment.comment_id)}
    nobodys |= {"post": str(uuid1()), "comment": str(uuid1())}
    theirs["commented"] = nobodys["commented"] = str(commented.post_id)
    subscription = Subscription(line.product_id, line.variant_id, alice.email)
    guests_token, request_id = conversation_token(start_conversation_of(guest())), uuid4()
    note_contact_request(request_id, alice.email, ALICE, "Jug", Topic(), "It leaks.", now)
    tokens = {
        "conversations:confirm": contact_token(request_id),
        "conversations:guest": guests_token,
        "conversations:guest_file": guests_token,
        "cart:shared": link.url.rstrip("/").rpartition("/")[2],
        "cart:shared_copy": link.url.rstrip("/").rpartition("/")[2],
        "cart:invitation": invited.token,
        "stock_alerts:confirm": subscription.to_token(),
        "stock_alerts:unsubscribe": unsubscribe_token(alice.email),
        "notifications:end_mails": mails_end(alice.pk, "order_shipped").split("/")[-2],
        "reviews:stop": stop_token(alice.email),
        "reviews:write_as_guest": guest_token(paid.order_id),
        "reviews:withdraw_as_guest": guest_token(paid.order_id),
        "accounts:finish": registration_link("gina@example.com").rstrip("/").rpartition("/")[2],
        "accounts:reset_finish": password_reset_link(alice).rstrip("/").rpartition("/")[2],
        "accounts:email_confirm": email_change_link(alice, f"{uuid4().hex}@example.com")
        .rstrip("/")
        .rpartition("/")[2],
        "orders:track": order_access_token(paid.order_id),
        "drafts:offer": offer_url(draft).rstrip("/").rpartition("/")[2],
        "orders:confirm": confirmation_url(unpaid.order_id).rstrip("/").split("/")[-2],
    }
    return World(alice, theirs, nobodys, tokens, (paid.order_id, unpaid.order_id), cart_id)


def make_visitors(world: World) -> dict[str, Visitor]:
    product_in_stock = make_product(stock=50)
    ben, cem = make_user("Ben"), make_person(world.alice, world.cart, "editor", name="Cem")
    # Was in Alice's cart once, and is not any more.
    sharing.remove_person(world.alice.pk, world.cart, cem.pk)
    found = {
        "guest": Visitor(browser(), role=None),
        "Ben": Visitor(signed_in(ben)),
        "Cem": Visitor(signed_in(cem), app="cart"),
        **{
            role: Visitor(sign_in_staff(browser(), make_user(role.title(), role=role)), role)
            for role in ROLES
        },
        "Ada, without the second factor": Visitor(
            signed_in(make_user("Ada", role=ADMIN)), ADMIN, second_factor=False
        ),
    }
    for visitor in found.values():
        # Each user has a cart of their own with a product in it.
        body = {
            "variant": product_in_stock.variants[0].sku,
            "quantity": "1",
            "operation": str(uuid4()),
        }
        assert visitor.client.post(reverse("cart:add"), body).status_code in (302, 303)
        page = visitor.client.get(reverse("cart:show")).content.decode()
        own_cart = re.search(r'name="cart" value="([0-9a-f-]{36})"', page)
        line = re.search(r'name="line" value="([0-9a-f-]{36})"', page)
        assert own_cart, page
        assert line, page
        visitor.own = {"own_cart": own_cart[1], "own_line": line[1]}
    return found


def browser() -> Client:
    """A client for which an error of the shop is an answer: it is reported with all others."""
    return Client(raise_request_exception=False)


def signed_in(user: User) -> Client:
    client = browser()
    client.force_login(user)
    return client


class Cast:
    """Alice and the users who look at her things; made anew once something of hers was changed."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.world = make_world()
        self.visitors = make_visitors(self.world)


@pytest.fixture(scope="module")
def cast(keyspace: str) -> Cast:
    return Cast()


@pytest.fixture(scope="module", autouse=True)
def feeds(keyspace: str) -> None:
    """The worker's files, without which their addresses answer that they are still to come."""
    write_feeds((), datetime.now(UTC))


@pytest.fixture(autouse=True)
def unlimited() -> Iterator[None]:
    """A sweep is what limits are against."""
    with override_settings(RATE_LIMITS=dict.fromkeys(settings.RATE_LIMITS, (0, 0, 0, 900))):
        yield


# Of how many addresses there is something to say for each of them.
FEWEST = {
    "guest": 90,
    "Ben": 150,
    "Cem": 26,
    "Ada, without the second factor": 28,
    **dict.fromkeys(ROLES, 78),
    ADMIN: 150,
}


@pytest.mark.parametrize("who", FEWEST)
def test_s22_s23_s24_s25_s26_everybody_finds_what_is_theirs_and_nothing_of_alices(
    cast: Cast, who: str
) -> None:
    routes = [each for each in ROUTES if cast.visitors[who].asks_for(each)]
    before, violations = cast.world.state(), []
    for route in routes:
        visitor = cast.visitors[who]
        with writes() as written:
            found = list(visitor.violations(route, cast.world))
        if visitor.refusal(route):
            found += [f"is not theirs, and writes {cql}" for cql in written]
        if written and (after := cast.world.state()) != before:
            found.append(f"Alice does not find all as it was:\n{difference(before, after)}")
            cast.renew()
            before = cast.world.state()
        violations += [f"{route.name}: {each}" for each in found]
    assert not violations, "\n".join(violations)
    assert cast.world.state() == before
    assert len(routes) >= FEWEST[who]


# A session's expiry moves on with its use, what is tried is counted, and refusals are logged, as is who looks at a customer.
# Who has an order's page open is known for seconds.
LOOKING_WRITES = re.compile(
    r"(INTO|UPDATE) (sessions|sessions_by_user|rate_limit_slots|audit_log|audit_log_by_actor|customer_looks|viewers_by_order|viewers_by_conversation)\b"
)


@contextmanager
def writes() -> Iterator[list[str]]:
    """The writes that are sent to Cassandra meanwhile, but for those of every look."""
    sent: list[str | bytes] = []
    found: list[str] = []

    def listen(request: Any) -> None:
        if isinstance(request.query, BatchStatement):
            sent.extend(query for _, query, _ in request.query._statements_and_parameters)
        elif isinstance(request.query, BoundStatement):
            sent.append(request.query.prepared_statement.query_string)

    get_session().add_request_init_listener(listen)
    try:
        yield found
    finally:
        get_session().remove_request_init_listener(listen)
        # In a batch a statement stands by its id.
        if any(isinstance(each, bytes) for each in sent):
            prepared = {each.prepare().query_id: each.cql for each in REGISTRY if each._prepared}
            sent = [
                prepared.get(each, "a batch") if isinstance(each, bytes) else each for each in sent
            ]
        found += [
            cql
            for cql in map(str, sent)
            if not cql.startswith("SELECT") and not LOOKING_WRITES.search(cql)
        ]


ANY = {
    "slug": "any",
    "shape": "mug",
    "colours": "4f6d7a-e8d9c5",
    "number": "1",
    "gateway": "testbank",
}


def opened(route: Route, world: World) -> str:
    """An address that opens for Alice: with what is hers, and with tokens that are good."""
    things = {**world.theirs, "own_cart": world.theirs["cart"], "own_line": world.theirs["line"]}
    templates = WITH_AN_ID[route.name][0].args if route.name in WITH_AN_ID else {}
    args = {key: value.format_map(things) for key, value in templates.items()}
    if "token" in args:
        args["token"] = world.tokens[route.name]
    for key in re.findall(r"<\w+:(\w+)>", route.pattern):
        args.setdefault(key, ANY.get(key, str(uuid4())))
    return reverse(route.name, kwargs=args)


def readers_of(world: World) -> dict[str, Client]:
    return {
        "Alice": signed_in(world.alice),
        "an admin": sign_in_staff(browser(), make_user("Ada", role=ADMIN)),
    }


def test_s20_looking_at_an_address_changes_nothing(cast: Cast) -> None:
    """By GET and by HEAD; as Alice and as an admin, neither of them with a session that is new."""
    violations, readers = [], readers_of(cast.world)
    # Of what is not there, a process notes one request in some seconds (tests/storefront/test_old_addresses.py).
    process_cache.set("missing_address", "", 3600)
    for route, who, method in product(ROUTES, tuple(readers), ("get", "head")):
        path = opened(route, cast.world)
        with writes() as written:
            status = getattr(readers[who], method)(path).status_code
        if status >= 500:
            violations.append(f"{route.name}: {method.upper()} {path} as {who}: {status}")
        if written:
            violations.append(f"{route.name}: {method.upper()} {path} as {who} writes {written}")
            cast.renew()
            readers = readers_of(cast.world)
    assert not violations, "\n".join(violations)
    assert len(ROUTES) >= 125


def test_s20_a_write_would_be_noticed() -> None:
    with writes() as written:
        make_user()
    assert any("INTO users_by_email" in cql for cql in written)


def test_s22_alice_herself_finds_all_of_it(cast: Cast) -> None:
    """The sweep compares with what is there: for Alice these addresses open."""
    world, client = cast.world, signed_in(cast.world.alice)
    for name in (
        "cart:one",
        "cart:people",
        "cart:rename",
        "cart:move",
        "orders:detail",
        "accounts:address_edit",
    ):
        for entry in WITH_AN_ID[name][:1]:
            args = {key: value.format_map(world.theirs) for key, value in entry.args.items()}
            assert client.get(reverse(name, kwargs=args)).status_code == 200, name
            args = {key: value.format_map(world.nobodys) for key, value in entry.args.items()}
            assert client.get(reverse(name, kwargs=args)).status_code == 404, name
    client = sign_in_staff(Client(), make_user("Toni", role="support"))
    assert client.get(reverse("adminpanel:order", args=[world.theirs["number"]])).status_code == 200
    assert (
        client.get(reverse("adminpanel:order", args=[world.nobodys["number"]])).status_code == 404
    )


def test_s22_what_a_guest_has_of_their_own_opens_to_them_alone_and_no_cache_keeps_it() -> None:
    """A page that shows a guest's order or cart, and is marked as public, fails here: a cache might keep it."""
    guest, stranger = browser(), browser()
    email = f"gwen-{uuid4().hex}@example.com"
    order = make_order(paid=True, email=email)
    since = int(datetime.now(UTC).timestamp())
    guest.cookies[settings.ORDER_COOKIE_NAME] = make_order_cookie({order.order_id: since})
    wanted = make_product(f"Gwendolyn {uuid4().hex[:8]}", stock=5)
    body = {"variant": wanted.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
    assert guest.post(reverse("cart:add"), body).status_code in (302, 303)
    page = guest.get(reverse("cart:show")).content.decode()
    cart, line = (
        re.search(rf'name="{name}" value="([0-9a-f-]{{36}})"', page) for name in ("cart", "line")
    )
    assert cart
    assert line
    things = {"orders": {"number": order.number}, "cart": {"cart_id": cart[1], "key": line[1]}}
    shown, violations = set(), []
    for route in ROUTES:
        if route.name in ROLES_BY_URL:
            continue
        keys = re.findall(r"<\w+:(\w+)>", route.pattern)
        own = {key: things.get(route.name.partition(":")[0], {}).get(key, "") for key in keys}
        is_theirs = bool(keys) and all(own.values())
        path = reverse(route.name, kwargs=own) if is_theirs else route.sample_path
        answers = {
            name: each.get(path) for name, each in (("guest", guest), ("a stranger", stranger))
        }
        theirs = {
            name: any(mark in answer.content for mark in (email.encode(), wanted.name.encode()))
            or (order.number.encode() in answer.content and order.number not in path)
            for name, answer in answers.items()
            if not answer.streaming
        }
        if any(answer.status_code >= 500 for answer in answers.values()):
            violations.append(f"{path} fails")
        if theirs.get("a stranger") or (is_theirs and answers["a stranger"].status_code < 300):
            violations.append(f"{path} opens to a stranger")
        opens = theirs.get("guest") or (is_theirs and answers["guest"].status_code == 200)
        if opens:
            shown.add(route.name)
            if "no-store" not in answers["guest"]["Cache-Control"]:
                violations.append(f"{path} shows what is theirs, and caches may keep it")
    assert not violations, "\n".join(violations)
    assert {"cart:show", "checkout:details", "orders:detail", "orders:invoice"} <= shown
