"""The checkout queue: so many inside, first come first served, nothing typed is lost, and waiting needs no database."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random
from uuid import uuid4

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client, RequestFactory
from django.urls import reverse
from lxml import html

from cassandra_db import count_statements
from checkout.snapshot import CheckoutSnapshot
from tests.waiting import wait_until
from web.checkout_queue import (
    MAX_VISITS,
    TICKET_SECONDS,
    CheckoutQueue,
    QueueTicket,
    QueueVisitor,
    QueueWait,
    get_queue_ticket,
)

NOW = 1_800_000_000.0
HTMX = {"HX-Request": "true"}
LONG_AFTER = NOW + 3600  # a visitor who is inside since then has not been there for long


@dataclass
class Full:
    """A shop whose checkout has one slot, which is taken."""

    queue: CheckoutQueue
    visitor: QueueVisitor

    def leave(self) -> None:
        self.queue.leave(self.visitor, time.time())


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Full:
    queue = CheckoutQueue(1, 0)
    monkeypatch.setattr("web.middleware.CheckoutQueue", lambda places, seats: queue)
    return Full(queue, enter(queue, None, time.time() + 3600))


def enter(
    queue: CheckoutQueue, ticket: QueueTicket | None = None, now: float = NOW
) -> QueueVisitor:
    visitor = queue.enter(ticket, now)
    assert isinstance(visitor, QueueVisitor)
    return visitor


def refused(queue: CheckoutQueue, ticket: QueueTicket | None = None, now: float = NOW) -> QueueWait:
    wait = queue.enter(ticket, now)
    assert isinstance(wait, QueueWait)
    return wait


@dataclass
class Crowd:
    """Visitors who come to two processes at even intervals, ask again when they were told to, and are inside for some time each; by a clock of its own."""

    count: int
    seconds_between: float
    seconds_inside: float
    leaves: frozenset[int] = frozenset()  # who goes away when they read that they have to wait

    def let_in(self) -> list[tuple[float, float]]:
        """Return when each of those who stayed came and went inside, in the order in which they went."""
        queues, chance = [CheckoutQueue(1, 2) for _ in range(2)], Random(1)
        tickets: dict[int, QueueTicket] = {}
        inside: dict[int, tuple[CheckoutQueue, QueueVisitor]] = {}
        at_the_door: dict[int, tuple[CheckoutQueue, QueueVisitor]] = {}
        went_in = []
        events = [(number * self.seconds_between, number) for number in range(self.count)]
        while events:
            now, number = heappop(events)
            if number in inside:
                queue, visitor = inside.pop(number)
                queue.leave(visitor, NOW + now)
            else:
                queue = chance.choice(queues)
                visitor = queue.take_seat(tickets.get(number), NOW + now)
                at_the_door[number] = queue, visitor
            for other, (queue, visitor) in list(at_the_door.items()):
                if not visitor.called.is_set():
                    continue
                del at_the_door[other]
                if visitor.wait is None:
                    inside[other] = queue, visitor
                    went_in.append((other * self.seconds_between, now))
                    heappush(events, (now + self.seconds_inside, other))
                elif other not in self.leaves:
                    tickets[other] = visitor.wait.ticket
                    heappush(events, (now + visitor.wait.seconds, other))
        return went_in


def test_so_many_go_inside_and_the_others_get_tickets() -> None:
    queue = CheckoutQueue(2, 0)
    first = enter(queue)
    enter(queue)
    wait = refused(queue)
    assert refused(queue, wait.ticket, NOW + 0.5).ticket == wait.ticket
    queue.leave(first, NOW + 0.6)
    enter(queue, wait.ticket, NOW + 0.7)
    refused(queue, None, NOW + 0.8)


def test_a_few_wait_in_their_threads_and_go_in_one_by_one_as_they_came() -> None:
    queue = CheckoutQueue(1, 3)
    first, order = enter(queue, now=time.time()), []

    def wait(number: int) -> QueueVisitor:
        visitor = enter(queue, now=time.time())
        order.append(number)
        return visitor

    with ThreadPoolExecutor(3) as pool:
        waiting = []
        for number in range(3):
            waiting.append(pool.submit(wait, number))
            wait_until(lambda number=number: len(queue._next) > number)  # type: ignore[misc]
        refused(queue, now=time.time())  # there is no further seat
        inside = first
        for each in waiting:
            queue.leave(inside, time.time())
            inside = each.result(5)
    assert order == [0, 1, 2]


def test_a_later_one_gives_the_seat_to_an_earlier_one() -> None:
    queue = CheckoutQueue(1, 1)
    inside = enter(queue)
    first = queue.take_seat(None, NOW + 0.1)
    early = refused(queue, now=NOW + 0.2).ticket
    queue.leave(inside, NOW + 0.3)
    assert first.called.is_set()
    late = queue.take_seat(None, NOW + 0.3)
    assert not late.called.is_set()
    mine = queue.take_seat(early, NOW + 0.4)
    assert late.called.is_set()
    assert late.wait
    assert late.wait.ticket.came_at == NOW + 0.3
    assert not mine.called.is_set()
    queue.leave(first, NOW + 0.5)
    assert mine.called.is_set()
    assert mine.wait is None


def test_x84_the_crowd_goes_in_as_it_came() -> None:
    # 2.5 a second and process come, and 2 go: if all went in exactly as they came, the last ones would wait for 25 seconds.
    went_in = Crowd(500, seconds_between=0.2, seconds_inside=0.5).let_in()
    assert len(went_in) == 500
    assert max(went - came for came, went in went_in) < 35
    overtakers = [
        sum(other > came for other, _ in went_in[:position])
        for position, (came, _) in enumerate(went_in)
    ]
    assert max(overtakers) < 20


def test_x84_whoever_left_keeps_nobody_for_long() -> None:
    went_in = Crowd(300, 0.02, 0.5, leaves=frozenset(range(250))).let_in()
    assert len(went_in) >= 50
    # They come within six seconds, and are inside for 13 in two processes; those who left are forgotten after 11.
    assert went_in[-1][1] < 6 + 13 + 2 * 11


def test_x84_old_tickets_that_come_again_at_once_keep_nobody_out() -> None:
    """More of them than there are seats, and each is back the moment it is answered."""
    queue, now = CheckoutQueue(1, 4), NOW
    old = [QueueTicket(NOW - 60, number) for number in range(7)]
    back: dict[QueueTicket, QueueVisitor] = {}
    crowd = [queue.take_seat(None, NOW) for _ in range(5)]
    went_in = 0
    while went_in < 5:
        for ticket in old:
            if ticket not in back or back[ticket].wait:
                back[ticket] = queue.take_seat(ticket, now)
        crowd = [queue.take_seat(each.wait.ticket, now) if each.wait else each for each in crowd]
        now += 0.1
        assert now < NOW + 20
        for each in list(queue._inside):
            queue.leave(each, now)
            went_in += each in crowd
            crowd = [other for other in crowd if other is not each]
            back = {ticket: other for ticket, other in back.items() if other is not each}
    assert queue._visits[old[0]] == MAX_VISITS
    queue.take_seat(None, NOW + 2 * TICKET_SECONDS)
    assert not queue._visits


def test_a_ticket_is_for_one_request_at_a_time() -> None:
    queue = CheckoutQueue(2, 2)
    ticket = QueueTicket(NOW)
    first = enter(queue, ticket)
    assert refused(queue, ticket).ticket == ticket
    enter(queue, None, NOW + 1)
    queue.leave(first, NOW + 1)
    enter(queue, ticket, NOW + 1)


def test_x84_a_turn_comes_closer_when_requests_take_less() -> None:
    queue = CheckoutQueue(1, 0)
    inside = enter(queue)
    waits = [refused(queue, now=NOW + number / 10**6) for number in range(400)]
    assert [waits[number].seconds for number in (0, 55, 85, 140)] == [3, 3, 5, 10]
    late = waits[300]
    for number in range(60):  # all is sold out by now: each takes ten milliseconds
        queue.leave(inside, inside.since + 0.01)
        inside = enter(queue, QueueTicket(NOW - 1, number))
    assert refused(queue, late.ticket).seconds == 3
    elsewhere = CheckoutQueue(1, 0)
    enter(elsewhere)
    assert refused(elsewhere, late.ticket).seconds == 3
    queue.leave(inside, NOW)
    enter(queue, late.ticket, NOW + 1)  # nobody else is there


def test_a_large_crowd_asks_more_rarely() -> None:
    queue = CheckoutQueue(1, 0)
    enter(queue)
    assert [refused(queue, now=NOW + number / 10**6).seconds for number in range(4000)][-1] == 39
    assert refused(queue, QueueTicket(NOW - 1)).seconds == 3


def test_whoever_does_not_come_at_their_turn_keeps_nobody() -> None:
    queue = CheckoutQueue(1, 1)
    queue._seats = 0
    inside = enter(queue, now=LONG_AFTER)
    for _ in range(50):
        refused(queue)
    queue._seats = 1
    with ThreadPoolExecutor(1) as pool:
        newcomer = pool.submit(enter, queue, None, NOW + 65)
        wait_until(lambda: queue._next)
        queue.leave(inside, NOW + 65)
        newcomer.result(5)


def test_who_waits_for_the_database_inside_keeps_nobody_out() -> None:
    queue = CheckoutQueue(1, 0)
    stuck = [enter(queue, now=NOW + 2 * number) for number in range(6)]
    refused(queue, None, NOW + 20)  # but there is an end to it
    queue.leave(stuck[0], NOW + 20)
    enter(queue, None, NOW + 20)


def test_a_clock_that_is_set_back_lets_nobody_in_besides() -> None:
    queue = CheckoutQueue(1, 1)
    inside = [enter(queue, now=NOW), enter(queue, now=NOW + 2)]
    coming = queue.take_seat(None, NOW + 0.5)
    assert not coming.called.is_set()
    for each in inside:
        queue.leave(each, NOW + 0.6)
    assert coming.called.is_set()
    assert coming.wait is None


def test_a_ticket_counts_in_every_process(full: Full) -> None:
    client = Client()
    client.get(reverse("checkout:details"))
    request = RequestFactory().get("/checkout/")
    request.COOKIES = {name: morsel.value for name, morsel in client.cookies.items()}
    ticket = get_queue_ticket(request, time.time())
    assert ticket
    elsewhere = CheckoutQueue(1, 0)
    enter(elsewhere, now=ticket.came_at)
    assert refused(elsewhere, ticket, ticket.came_at).ticket == ticket


def ticket_from(cookie: str) -> QueueTicket | None:
    request = RequestFactory().get("/checkout/")
    request.COOKIES = {settings.QUEUE_COOKIE_NAME: cookie}
    return get_queue_ticket(request, NOW)


def test_a_ticket_counts_for_half_an_hour_however_often_it_is_given_out() -> None:
    ages = {-11: False, -9: True, 0: True, TICKET_SECONDS: True, TICKET_SECONDS + 1: False}
    found = {age: ticket_from(signing.dumps([NOW - age, 1], salt="web.turn")) for age in ages}
    assert {age: bool(ticket) for age, ticket in found.items()} == ages


def test_nobody_makes_a_ticket_of_their_own() -> None:
    assert {cookie: ticket_from(cookie) for cookie in ("", "x", "WzEsMl0:1:x")} == {
        "": None,
        "x": None,
        "WzEsMl0:1:x": None,
    }


def test_a_page_that_waits_comes_again_by_itself_and_reads_nothing(full: Full) -> None:
    client = Client()
    with count_statements() as meter:
        response = client.get(reverse("checkout:details") + "?address=2")
    assert (response.status_code, meter.statement_count) == (200, 0)
    assert response["Refresh"] == response["Retry-After"] == "3"
    assert response["Cache-Control"] == "no-store"
    page = html.fromstring(response.content)
    assert page.findtext(".//h1") == "You’re in the queue"
    assert page.xpath("//main//a/@href")[0] == "/checkout/?address=2"
    full.leave()
    assert client.get(reverse("checkout:details")).status_code == 302  # to the empty cart


def test_what_was_sent_is_sent_again_word_for_word(full: Full) -> None:
    client = Client(enforce_csrf_checks=True)
    token = "a" * 32
    client.cookies[settings.CSRF_COOKIE_NAME] = token
    typed = {
        "csrfmiddlewaretoken": token,
        "name": 'Ada "><script>',
        "street": "Torstraße 1",
        "checkout": "x",
    }
    response = client.post(reverse("checkout:review"), typed)
    assert response.status_code == 200
    assert "Refresh" not in response  # that would ask for the page, and forget the rest
    form = html.fromstring(response.content).xpath("//form[@data-resend]")[0]
    assert form.get("method") == "post"
    assert dict(form.fields) == typed
    assert form.action == "/checkout/review/"


def test_what_was_sent_from_elsewhere_goes_no_further_than_the_line(full: Full) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("checkout:details"), {"name": "Mallory"}).status_code == 200
    full.leave()
    assert client.post(reverse("checkout:details"), {"name": "Mallory"}).status_code == 403


def test_a_visit_leaves_the_checkout_however_it_ends(full: Full) -> None:
    full.leave()
    client = Client()
    for _ in range(3):
        assert client.get(reverse("checkout:details")).status_code == 302
        assert client.post(reverse("checkout:details"), {"checkout": "x"}).status_code == 303
    assert client.delete(reverse("checkout:details")).status_code == 405
    assert client.get(reverse("checkout:details")).status_code == 302


def test_other_pages_and_updates_inside_a_visit_do_not_wait(full: Full) -> None:
    assert Client().get(reverse("help")).status_code == 200
    snapshot = CheckoutSnapshot(uuid4(), uuid4(), (), 0, 0, 0, 0, "EUR").to_token()
    sent = {"update": "yes", "checkout": snapshot}
    response = Client().post(reverse("checkout:delivery"), sent, headers=HTMX)
    assert "Retry-After" not in response


def test_s65_a_header_of_htmx_alone_lets_nobody_past_the_queue(full: Full) -> None:
    snapshot = CheckoutSnapshot(uuid4(), uuid4(), (), 0, 0, 0, 0, "EUR").to_token()
    asked = [
        Client().get(reverse("checkout:details"), headers=HTMX),
        Client().get(reverse("checkout:review"), {"update": "yes"}, headers=HTMX),
        Client().post(reverse("checkout:review"), {"checkout": snapshot}, headers=HTMX),
        Client().post(reverse("checkout:delivery"), {"update": "yes"}, headers=HTMX),
        Client().post(
            reverse("checkout:delivery"),
            {"update": "yes", "checkout": f"{snapshot}x"},
            headers=HTMX,
        ),
        Client().post(reverse("checkout:delivery"), {"update": "yes", "checkout": snapshot}),
    ]
    assert ["Retry-After" in response for response in asked] == [True] * 6
