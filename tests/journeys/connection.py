"""A guest's submits over real connections, as a page without scripts sends them."""

import http.client
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit
from uuid import UUID

CSRF = "a" * 32
NO_ANSWER = 0


class ShopConnection:
    """One connection of a browser to the shop; several lines with the same cookies are tabs of one browser."""

    status: int  # of the last answer, and what came with it
    headers: Mapping[str, str]
    set_cookies: Sequence[str]
    text: str

    def __init__(
        self,
        shop: str,
        cookies: dict[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.cookies = cookies if cookies is not None else {"stoa_csrf": CSRF}
        self._sent = dict(headers or {})
        self._address = urlsplit(shop).netloc
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str) -> int:
        """Open a page and return the status of the answer, NO_ANSWER if the line was cut."""
        return self._ask("GET", path)

    def add_to_cart(self, sku: str, idempotency_key: UUID, quantity: int = 1) -> bool:
        """Put units into the cart. True if the shop said that they are in."""
        form = {"variant": sku, "quantity": quantity, "operation": idempotency_key}
        return self.post("/cart/add/", form) == http.client.SEE_OTHER

    def post(self, path: str, form: Mapping[str, object]) -> int:
        """Send a form and return the status of the answer, NO_ANSWER if the line was cut."""
        return self._ask("POST", path, urlencode({**form, "csrfmiddlewaretoken": CSRF}))

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _ask(self, method: str, path: str, body: str | None = None) -> int:
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            **self._sent,
        }
        self.status, self.headers, self.set_cookies, self.text = NO_ANSWER, {}, (), ""
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection = self._connection or http.client.HTTPConnection(self._address, timeout=40)
        with suppress(OSError, http.client.HTTPException):
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode()
            self.set_cookies = answer.headers.get_all("Set-Cookie", [])
            for cookie in self.set_cookies:
                self.cookies |= {
                    name: morsel.value for name, morsel in SimpleCookie(cookie).items()
                }
            self.status, self.headers, self.text = answer.status, dict(answer.headers), text
            return answer.status
        self.close()
        return NO_ANSWER
