"""What a gateway sends, made by hand: signed webhooks, and forged ones."""

import hmac
import json
from time import time
from typing import Any
from uuid import UUID, uuid4

from moneyed import Money

from demo.testbank.gateway import sign_webhook
from pricing.money import from_minor_units


def euros(cents: int) -> Money:
    return from_minor_units(cents, "EUR")


def make_webhook(
    payment_id: UUID, number: str, *, age: int = 0, **fields: Any
) -> tuple[bytes, str]:
    """A webhook of the test bank about a payment, and its signature, sent `age` seconds ago."""
    fields = {"event_id": uuid4().hex, "payment_id": str(payment_id), "reference": number} | fields
    body, moment = json.dumps(fields).encode(), str(int(time()) - age)
    return body, f"{moment}.{sign_webhook(moment, body)}"


def make_stripe_event(kind: str, session: dict[str, Any], *, event_id: str = "") -> bytes:
    """An event of Stripe's about a checkout session."""
    event = {
        "id": event_id or f"evt_{uuid4().hex}",
        "object": "event",
        "type": kind,
        "data": {"object": session},
    }
    return json.dumps(event).encode()


def sign_stripe_event(body: bytes, secret: str, *, age: int = 0) -> str:
    """Stripe's signature header, as sent `age` seconds ago."""
    moment = int(time()) - age
    signed = hmac.new(secret.encode(), f"{moment}.".encode() + body, "sha256").hexdigest()
    return f"t={moment},v1={signed}"
