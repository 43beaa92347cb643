"""Two of the staff move one order at the same moment, over real HTTP."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.test import Client

from orders import queries
from orders.lifecycle.entities import Order
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_user, sign_in_staff
from tests.journeys.connection import CSRF, ShopConnection
from tests.orders.consistency_checks import assert_order_consistent
from tests.web_server import serve_shop

ROUNDS = 5


def test_one_wins_and_the_other_reads_who_and_when(tmp_path: Path) -> None:
    people = {name: make_user(name, role="support") for name in ("Ann", "Ben")}
    with serve_shop(tmp_path, workers=2) as shop:
        lines = {}
        for name, user in people.items():
            cookies = sign_in_staff(Client(), user).cookies
            sent = {"stoa_csrf": CSRF} | {each: morsel.value for each, morsel in cookies.items()}
            lines[name] = ShopConnection(shop, sent, {"Referer": shop})
        for _ in range(ROUNDS):
            order = make_order_with_events("paid")
            _transition_by_both(order, lines)


def _transition_by_both(order: Order, lines: dict[str, ShopConnection]) -> None:
    together = threading.Barrier(len(lines))
    for line in lines.values():
        line.close()  # the server may have closed it, while the order was made

    def submit(name: str, kind: str) -> int:
        together.wait(20)
        form = {"event": kind, "version": order.version, "note": f"{name} was here"}
        return lines[name].post(f"/staff/orders/{order.number}/move/", form)

    with ThreadPoolExecutor(2) as pool:
        submits = {
            "Ann": pool.submit(submit, "Ann", "shipped"),
            "Ben": pool.submit(submit, "Ben", "cancelled"),
        }
        answers = {name: submitted.result() for name, submitted in submits.items()}
    assert sorted(answers.values()) == [303, 409], answers
    winner = next(name for name, status in answers.items() if status == 303)
    loser = next(name for name in answers if name != winner)
    text = lines[loser].text
    message = re.search(r"(\w+) changed it ([^:<]+): ([^.<]+)\.", text)
    assert message
    assert message[1] == winner
    assert re.fullmatch(r"just now|\d+ (second|minute)s? ago", message[2]), message[2]
    assert f"{loser} was here" in text, "what was typed is kept"
    found = queries.get_order(order.order_id)
    assert found
    kinds = [event.kind for event in found.events]
    assert ("shipped" in kinds) != ("cancelled" in kinds)
    assert_order_consistent(order.order_id)
