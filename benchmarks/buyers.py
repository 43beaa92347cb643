"""Plays buyers with full carts who check out over real HTTP, and records the shop's answers.

A buyer acts like a browser without scripts: opens the checkout, fills it in, submits it, pays on the bank's page and reads the
result. Without an answer, or after a 503, a 429 or the queue's page, the buyer sends the same form again. One event loop runs thousands
of buyers with little processor time.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from http import HTTPStatus
from http.cookies import SimpleCookie
from ssl import SSLContext
from time import perf_counter
from urllib.parse import urlencode, urlsplit
from uuid import UUID, uuid4

from cassandra_db import current_time

HOST = "127.0.0.1"
CSRF = "b" * 32
GOOD_CARD, BAD_CARD = "4242424242424242", "4000000000000002"
NO_ANSWER = 0
CHECKOUT_DETAILS = {
    "name": "Ada Lovelace",
    "street": "Torstraße 1",
    "street2": "",
    "postal_code": "10115",
    "city": "Berlin",
    "country": "DE",
    "phone": "",
    "delivery": "standard",
    "payment": "card",
    "same_billing": "on",
}
_TAG = re.compile(r"<input\b([^>]*)>")
_ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')
_ACTION = re.compile(r'<form\b[^>]*\baction="([^"]*)"[^>]*\bdata-checkout')
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_NUMBER = re.compile(r"^/orders/([\w-]+)/")
_LOST_PATIENCE = "nobody answered"


@dataclass(frozen=True)
class Answer:
    """An answer to an HTTP request. The status is NO_ANSWER if the connection broke."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""

    @property
    def redirect_target(self) -> str:
        """The path and query to which the answer redirects; "" if it does not redirect."""
        parts = urlsplit(self.headers.get("location", ""))
        return parts.path + (f"?{parts.query}" if parts.query else "")

    @property
    def heading(self) -> str:
        """The text of the page's first heading."""
        found = _HEADING.search(self.text)
        return " ".join(unescape(re.sub(r"<[^>]+>", "", found[1])).split()) if found else ""


class Browser:
    """A browser with one keep-alive connection, by TLS if there is a context for it, and with cookies."""

    def __init__(
        self, port: int, cookies: Mapping[str, str], timeout: float, tls: SSLContext | None = None
    ) -> None:
        self._csrf_cookie = "__Host-stoa_csrf" if tls else "stoa_csrf"
        self.cookies = {self._csrf_cookie: CSRF, **cookies}
        self._port, self._timeout, self._tls = port, timeout, tls
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(
        self, method: str, path: str, form: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request and return the answer."""
        body = (
            urlencode({**form, "csrfmiddlewaretoken": self.cookies[self._csrf_cookie]}).encode()
            if form is not None
            else b""
        )
        lines = [
            *(f"{method} {path} HTTP/1.1", f"Host: {HOST}:{self._port}"),
            f"Cookie: {'; '.join(f'{name}={value}' for name, value in self.cookies.items())}",
        ]
        if self._tls:
            lines.append(f"Origin: https://{HOST}:{self._port}")
        if form is not None:
            lines += [
                "Content-Type: application/x-www-form-urlencoded",
                f"Content-Length: {len(body)}",
            ]
        sent = "\r\n".join([*lines, "", ""]).encode() + body
        # The server may have closed a reused connection. Then the request is sent again on a new connection.
        for reused in (True, False) if self._streams else (False,):
            try:
                async with asyncio.timeout(self._timeout):
                    if not reused:
                        self.close()
                        self._streams = await asyncio.open_connection(
                            HOST, self._port, ssl=self._tls
                        )
                    return await self._answer(sent)
            except asyncio.IncompleteReadError as ended:
                self.close()
                if not (reused and not ended.partial):
                    break
            except (OSError, TimeoutError, ValueError):
                self.close()
                if not reused:
                    break
        return Answer(NO_ANSWER)

    async def _answer(self, sent: bytes) -> Answer:
        assert self._streams
        reader, writer = self._streams
        writer.write(sent)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers: dict[str, str] = {}
        for line in head[1:]:
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                self.cookies |= {key: morsel.value for key, morsel in SimpleCookie(value).items()}
            headers[name.lower()] = value
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(int(head[0].split()[1]), headers, body.decode())

    def close(self) -> None:
        """Close the connection."""
        if self._streams:
            self._streams[1].close()
            self._streams = None


@dataclass
class Buyer:
    """A buyer, whose `cookies` lead to a full cart. After `buy` it has the shop's answers, and the time that they took."""

    port: int
    cookies: Mapping[str, str]
    card: str = GOOD_CARD
    gives_up: bool = (
        False  # cancels the order if the card is declined, so that others get the units
    )
    patience: float = 120.0  # seconds
    timeout: float = 60.0  # seconds for one answer
    max_submits: int = 6  # the limit while the page says that prices or stock have changed
    email: str = field(default_factory=lambda: f"buyer-{uuid4().hex}@example.com")
    answers: Counter[int] = field(default_factory=Counter)
    queue_waits: int = 0  # the number of answers that were the queue's page
    paid_number: str = ""  # the number of the order that the shop has called paid
    unpaid_number: str = ""  # the number of the order that the bank has declined
    last_heading: str = ""
    seconds: float = 0.0
    tls: SSLContext | None = None

    async def buy(self) -> None:
        """Check out, and retry until the shop says how it ended."""
        began = perf_counter()
        browser = Browser(self.port, self.cookies, self.timeout, self.tls)
        try:
            await self._buy(_Visit(self, browser, began + self.patience))
        except TimeoutError:
            self.last_heading = _LOST_PATIENCE
        finally:
            browser.close()
            self.cookies = browser.cookies
            self.seconds += perf_counter() - began

    @property
    def has_answer(self) -> bool:
        """Whether the shop has answered in time."""
        return self.last_heading != _LOST_PATIENCE

    async def _buy(self, visit: _Visit) -> None:
        page = await visit.follow_redirects(await visit.ask("GET", "/checkout/review/"))
        submits = 0
        while (form := form_values(page.text)).get("checkout") and submits < self.max_submits:
            step = _ACTION.search(page.text)
            at = step[1] if step else ""
            if at == "/checkout/review/":
                submits += 1
            else:
                form |= {**CHECKOUT_DETAILS, "email": self.email}
            page = await visit.ask("POST", at, form)
            if page.redirect_target.startswith("/testbank/"):
                page = await visit.pay(page.redirect_target, self.card)
            page = await visit.follow_redirects(page)
        for _ in range(20):
            if "We’re waiting for" not in page.text:
                break
            await asyncio.sleep(0.5)  # the bank has not decided yet
            page = await visit.follow_redirects(await visit.ask("GET", visit.at))
        self.last_heading = page.heading
        number = _NUMBER.match(visit.at)
        if number and "Thank you" in page.text:
            self.paid_number = number[1]
        elif number and page.status == HTTPStatus.OK:
            self.unpaid_number = number[1]
            if self.gives_up:
                await visit.follow_redirects(
                    await visit.ask("POST", f"/orders/{self.unpaid_number}/give-up/", {})
                )


@dataclass
class _Visit:
    buyer: Buyer
    browser: Browser
    until: float
    at: str = ""

    async def ask(self, method: str, path: str, form: Mapping[str, str] | None = None) -> Answer:
        """Send a request until it is answered with neither an error nor a wait. Raises TimeoutError when `patience` is over."""
        while True:
            answer = await self.browser.request(method, path, form)
            again = float(answer.headers.get("retry-after", 0))
            in_queue = again and answer.status == HTTPStatus.OK
            if in_queue:
                self.buyer.queue_waits += 1
            else:
                self.buyer.answers[answer.status] += 1
            if not again and answer.status != NO_ANSWER:
                self.at = path
                return answer
            if perf_counter() > self.until:
                raise TimeoutError
            # The queue's page reloads itself after `again` seconds. A buyer who sees an error retries within two seconds.
            await asyncio.sleep(again if in_queue else min(again or 0.5, 2.0))

    async def follow_redirects(self, answer: Answer) -> Answer:
        """Follow redirects to the page at their end."""
        while answer.redirect_target:
            answer = await self.ask("GET", answer.redirect_target)
        return answer

    async def pay(self, bank: str, card: str) -> Answer:
        """Pay on the bank's page, and come back to the shop."""
        return await self.ask("POST", bank, {"card": card})


def form_values(text: str) -> dict[str, str]:
    """Return the values that a browser would send with the checkout form in this page."""
    form = text[text.find("data-checkout") :]
    form = form[: form.find("</form>")]
    found = {}
    for tag in _TAG.findall(form):
        given = dict(_ATTRIBUTE.findall(tag))
        if given.get("name") and (
            given.get("type") not in ("radio", "checkbox") or "checked" in given
        ):
            found[given["name"]] = unescape(given.get("value", ""))
    return found


async def run_buyers(buyers: Sequence[Buyer], within: float) -> None:
    """Start the buyers at an even rate within some seconds, whether the shop keeps up or not. Return when all have ended."""

    async def arriving(number: int, buyer: Buyer) -> None:
        await asyncio.sleep(number * within / len(buyers))
        await buyer.buy()

    await asyncio.gather(*(arriving(number, buyer) for number, buyer in enumerate(buyers)))


@dataclass
class PageViewer:
    """A visitor who requests pages at a fixed rate, independent of how long the answers take."""

    port: int
    paths: Sequence[str]
    every: float = 0.25  # seconds
    seconds: list[float] = field(default_factory=list)  # for each answer
    answers: Counter[int] = field(default_factory=Counter)
    tls: SSLContext | None = None

    async def view_pages(self, enough: asyncio.Event) -> None:
        """Request pages until the event is set, then wait for the answers that are left."""
        asking: list[asyncio.Task[None]] = []
        began = perf_counter()
        while not enough.is_set():
            asking.append(
                asyncio.create_task(self._once(self.paths[len(asking) % len(self.paths)]))
            )
            await asyncio.sleep(max(0.0, began + len(asking) * self.every - perf_counter()))
        await asyncio.gather(*asking)

    async def _once(self, path: str) -> None:
        browser, began = Browser(self.port, {}, 60, self.tls), perf_counter()
        answer = await browser.request("GET", path)
        browser.close()
        self.seconds.append(perf_counter() - began)
        self.answers[answer.status] += 1


def make_guest_cart(lines: Sequence[tuple[UUID, UUID, int]], email: str = "") -> dict[str, str]:
    """Make a guest's cart with these lines (product id, variant id, quantity), and return the guest's cookies.

    With an `email`, the guest's checkout is filled in up to its last step.
    """
    from django.conf import settings
    from django.core import signing

    from cart import operations
    from catalogue import queries

    person_id, now = uuid4(), current_time()
    for product_id, variant_id, quantity in lines:
        product = queries.get_product(product_id)
        assert product
        variant = next(each for each in product.variants if each.variant_id == variant_id)
        cart_id = operations.add_line(
            person_id, product, variant, quantity, uuid4(), now, guest=True
        ).cart_id
    cookies = {
        settings.CART_COOKIE_NAME: signing.dumps([person_id.hex, cart_id.hex], salt="cart.owner")
    }
    if email:
        draft = [person_id.hex, CHECKOUT_DETAILS | {"email": email}]
        cookies[settings.CHECKOUT_COOKIE_NAME] = signing.dumps(
            draft, salt="orders.typed", compress=True
        )
    return cookies
