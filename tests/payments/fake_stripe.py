"""A stateful fake of Stripe: as much of its interface as the shop uses, over HTTP, for what stripe-mock cannot show.

stripe-mock checks the calls against Stripe's own description and forgets them; here they have consequences. Idempotency
keys are remembered, as at Stripe: the same call again returns the first answer, another one under the same key is an error.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

Thing = dict[str, Any]


PAGE_LENGTH = 2


class StripeRefusal(Exception):
    """Stripe's refusal: the status, and its code."""

    def __init__(self, status: int, code: str, kind: str = "invalid_request_error") -> None:
        self.status, self.body = status, {"error": {"type": kind, "code": code, "message": code}}


class FakeStripe:
    """Its records, and the calls that it got: `calls` are (method, path, idempotency key)."""

    def __init__(self) -> None:
        self.sessions: dict[str, Thing] = {}
        self.intents: dict[str, Thing] = {}
        self.refunds: list[Thing] = []
        self.calls: list[tuple[str, str, str]] = []
        self.answers_by_key: dict[str, tuple[Thing, Thing]] = {}
        self.next_statuses: list[int] = []  # statuses of the next answers
        self.lock = threading.Lock()

    def approve(self, session_id: str, **changes: Any) -> Thing:
        """Let the shopper pay on the page: the money is authorized."""
        session = self.sessions[session_id]
        intent = {
            "id": f"pi_{uuid4().hex}",
            "object": "payment_intent",
            "status": "requires_capture",
            "currency": session["currency"],
            "amount": session["amount_total"],
            "amount_received": 0,
            "cancellation_reason": None,
            "latest_charge": {"object": "charge", "amount_refunded": 0},
            "metadata": session["metadata"],
        } | changes
        self.intents[intent["id"]] = intent
        session |= {"status": "complete", "payment_intent": intent["id"]}
        return intent

    def answer(self, method: str, path: str, sent: Thing, key: str) -> Thing:
        """Answer one call. Raises StripeRefusal."""
        with self.lock:
            self.calls.append((method, path, key))
            if self.next_statuses and (status := self.next_statuses.pop(0)):
                raise StripeRefusal(status, "away", "api_error")
            if key in self.answers_by_key:
                before, answer = self.answers_by_key[key]
                if before != sent:
                    raise StripeRefusal(400, "idempotency", "idempotency_error")
                return answer
            answer = self._done(method, path, sent)
            if key:
                self.answers_by_key[key] = sent, answer
            return answer

    def _done(self, method: str, path: str, sent: Thing) -> Thing:
        if path == "/v1/checkout/sessions":
            return self._opened(sent) if method == "POST" else self._listed_sessions(sent)
        if path == "/v1/refunds":
            return self._refunded(sent) if method == "POST" else self._refunds(sent)
        if found := re.fullmatch(r"/v1/checkout/sessions/(\w+)(/expire)?", path):
            session = self._known(self.sessions, found[1])
            if found[2]:
                session["status"] = "expired"
            intent = session["payment_intent"]
            return session | {"payment_intent": self.intents[intent] if intent else None}
        found = re.fullmatch(r"/v1/payment_intents/(\w+)/(capture|cancel)", path)
        assert found, path
        intent = self._known(self.intents, found[1])
        if intent["status"] != "requires_capture":
            raise StripeRefusal(400, "payment_intent_unexpected_state")
        if found[2] == "cancel":
            intent |= {"status": "canceled", "cancellation_reason": sent["cancellation_reason"]}
        else:
            amount = int(sent["amount_to_capture"])
            intent |= {"status": "succeeded", "amount_received": amount}
            intent["latest_charge"]["balance_transaction"] = {
                "object": "balance_transaction",
                "currency": intent["currency"],
                "fee": amount // 100 + 25,
            }
        return dict(intent)

    def _opened(self, sent: Thing) -> Thing:
        price = sent["line_items"]["0"]["price_data"]
        session = {
            "id": f"cs_{uuid4().hex}",
            "object": "checkout.session",
            "created": int(time()),
            "status": "open",
            "currency": price["currency"],
            "amount_total": int(price["unit_amount"]) * int(sent["line_items"]["0"]["quantity"]),
            "metadata": sent["metadata"],
            "payment_intent": None,
            "url": f"https://checkout.stripe.com/c/pay/{uuid4().hex}",
        }
        assert sent["payment_intent_data"]["capture_method"] == "manual"
        self.sessions[session["id"]] = session
        return dict(session)

    def _refunded(self, sent: Thing) -> Thing:
        intent = self._known(self.intents, sent["payment_intent"])
        charge, amount = intent["latest_charge"], int(sent["amount"])
        if charge["amount_refunded"] + amount > intent["amount_received"]:
            raise StripeRefusal(400, "charge_already_refunded")
        charge["amount_refunded"] += amount
        refund = {
            "id": f"re_{uuid4().hex}",
            "object": "refund",
            "created": int(time()),
            **sent,
            "amount": amount,
            "status": "succeeded",
        }
        self.refunds.append(refund)
        return refund

    def _listed_sessions(self, sent: Thing) -> Thing:
        since = int(sent["created"]["gte"])
        found = [
            each | {"payment_intent": self.intents.get(each["payment_intent"])}
            for each in self.sessions.values()
            if each["created"] >= since
        ]
        return _cut_page(found, sent, "/v1/checkout/sessions")

    def _refunds(self, sent: Thing) -> Thing:
        since, intent_id = int(sent.get("created", {}).get("gte", 0)), sent.get("payment_intent")
        found = [
            each
            for each in self.refunds
            if intent_id in (None, each["payment_intent"]) and each["created"] >= since
        ]
        return _cut_page(found, sent, "/v1/refunds")

    def _known(self, things: dict[str, Thing], name: str) -> Thing:
        if name not in things:
            raise StripeRefusal(404, "resource_missing")
        return things[name]


def _cut_page(found: list[Thing], sent: Thing, url: str) -> Thing:
    """Return the page of a list that follows `starting_after`. It is much shorter than Stripe's."""
    ids = [each["id"] for each in found]
    first = ids.index(sent["starting_after"]) + 1 if "starting_after" in sent else 0
    end = first + PAGE_LENGTH
    return {"object": "list", "data": found[first:end], "has_more": end < len(ids), "url": url}


def parse_nested_fields(pairs: list[tuple[str, str]]) -> Thing:
    """Return a form's fields like a[b][c] as dictionaries in dictionaries."""
    fields: Thing = {}
    for name, value in pairs:
        *outer, last = re.findall(r"[^\[\]]+", name)
        target = fields
        for key in outer:
            target = target.setdefault(key, {})
        target[last] = value
    return fields


@contextmanager
def serve_fake_stripe() -> Iterator[tuple[FakeStripe, str]]:
    """Serve one on a free port; yield it, and its address."""
    fake = FakeStripe()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
            self._answer("POST", parse_qsl(body, keep_blank_values=True))

        def do_GET(self) -> None:
            self._answer("GET", parse_qsl(urlsplit(self.path).query))

        def _answer(self, method: str, fields: list[tuple[str, str]]) -> None:
            try:
                status, answer = (
                    200,
                    fake.answer(
                        method,
                        urlsplit(self.path).path,
                        parse_nested_fields(fields),
                        self.headers.get("Idempotency-Key") or "",
                    ),
                )
            except StripeRefusal as refusal:
                status, answer = refusal.status, refusal.body
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield fake, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
