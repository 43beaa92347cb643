"""The checkout queue: so many inside, first come first served, nothing typed is lost, and waiting needs no database."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.urls import reverse
from lxml import html

from cassandra_db import count_statements
from checkout.orderable_carts import CheckoutSnapshot
from web.checkout_queue import CheckoutQueue, QueueTicket, QueueVisitor, QueueWait, get_queue_ticket

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
            while len(queue._next) <= number:
                time.sleep(0.001)
        refused(queue, now=time.time())  # there is no further seat
        inside = first
        for each in waiting:
            queue.leave(inside, time.time())
            inside = each.result(5)
    assert order == [0, 1, 2]


def test_whoever_has_a_ticket_goes_before_newcomers() -> None:
    queue = CheckoutQueue(1, 1)
    queue._seats = 0
    inside = enter(queue, now=LONG_AFTER)
    early = refused(queue)
    queue._seats = 1
    at = early.ticket.at + 0.1
    began = time.monotonic()
    refused(queue, None, at)  # a seat is free, and others have tickets
    assert refused(queue, early.ticket, at - 0.2).ticket == early.ticket  # its turn has not come
    assert time.monotonic() - began < 5, "a visitor took a seat who has to come again"
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(enter, queue, early.ticket, at)
        while not queue._next:
            time.sleep(0.001)
        queue.leave(inside, at)
        coming.result(5)


def test_tickets_are_as_far_apart_as_requests_took_and_nobody_waits_for_ever() -> None:
    queue = CheckoutQueue(1, 0)
    inside = enter(queue)
    for _ in range(60):  # each takes half a second
        queue.leave(inside, inside.since + 0.5)
        inside = enter(queue)
    tickets = [refused(queue).ticket.at for _ in range(300)]
    steps = [after - before for before, after in pairwise(tickets[:100])]
    assert all(step == pytest.approx(0.5, abs=0.02) for step in steps)
    assert tickets == sorted(tickets)
    assert tickets[-1] <= NOW + 60


def test_x84_a_turn_comes_closer_when_requests_take_less() -> None:
    queue = CheckoutQueue(1, 0)
    inside = enter(queue)
    waits = [refused(queue) for _ in range(400)]
    assert [waits[number].seconds for number in (0, 20, 99)] == [2, 4, 10]
    for _ in range(60):  # all is sold out by now: each takes ten milliseconds
        queue.leave(inside, inside.since + 0.01)
        inside = enter(queue)
    wait = refused(queue, waits[300].ticket)
    assert wait.ticket.at == pytest.approx(NOW + 1 + 301 * 0.01, abs=0.2)
    assert wait.seconds == 5
    elsewhere = CheckoutQueue(1, 0)
    enter(elsewhere)
    assert refused(elsewhere, waits[300].ticket).seconds == 2
    queue.leave(inside, NOW)
    enter(queue, waits[-1].ticket)  # nobody else is there


def test_a_large_crowd_asks_more_rarely() -> None:
    queue = CheckoutQueue(1, 0)
    enter(queue)
    assert [refused(queue).seconds for _ in range(4000)][-1] == 40
    assert refused(queue, QueueTicket(NOW + 3)).seconds == 3


def test_the_last_seat_is_for_those_whose_turn_has_come() -> None:
    queue = CheckoutQueue(1, 2)
    inside = enter(queue, now=LONG_AFTER)
    queue._seats = 0
    due, early, other = (refused(queue).ticket for _ in range(3))
    queue._seats = 2
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(enter, queue, early, due.at)
        while not queue._next:
            time.sleep(0.001)
        assert refused(queue, other, due.at).ticket == other
        second = pool.submit(enter, queue, due, due.at)
        while len(queue._next) < 2:
            time.sleep(0.001)
        queue.leave(inside, due.at)
        queue.leave(first.result(5), due.at)
        second.result(5)


def test_whoever_does_not_come_at_their_turn_keeps_nobody() -> None:
    queue = CheckoutQueue(1, 1)
    queue._seats = 0
    inside = enter(queue, now=LONG_AFTER)
    for _ in range(50):
        refused(queue)
    queue._seats = 1
    with ThreadPoolExecutor(1) as pool:
        newcomer = pool.submit(enter, queue, None, NOW + 65)
        while not queue._next:
            time.sleep(0.001)
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
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(enter, queue, None, NOW + 0.5)
        while not queue._next and not coming.done():
            time.sleep(0.001)
        assert not coming.done()
        for each in inside:
            queue.leave(each, NOW + 0.6)
        coming.result(5)


def test_a_ticket_counts_in_every_process(full: Full) -> None:
    client = Client()
    client.get(reverse("checkout:details"))
    request = RequestFactory().get("/checkout/")
    request.COOKIES = {name: morsel.value for name, morsel in client.cookies.items()}
    ticket = get_queue_ticket(request)
    assert ticket
    elsewhere = CheckoutQueue(1, 0)
    enter(elsewhere, now=ticket.at)
    assert refused(elsewhere, ticket, ticket.at).ticket == ticket


def test_nobody_makes_a_ticket_of_their_own() -> None:
    def ticket_from(cookie: str) -> QueueTicket | None:
        request = RequestFactory().get("/checkout/")
        request.COOKIES = {settings.QUEUE_COOKIE_NAME: cookie}
        return get_queue_ticket(request)

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
    assert response["Refresh"] == response["Retry-After"] == "2"
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
