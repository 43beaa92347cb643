"""The shop's gateway to the test bank. It reads the bank's tables, where a real one calls a provider by HTTPS."""

import hmac
from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from moneyed import Money

from cassandra_db import current_time
from demo.testbank import operations, queries
from payments.gateways import (
    PaymentOutcome,
    PaymentRequest,
    PaymentSession,
    WebhookEvent,
    decode_webhook_body,
)
from pricing.money import from_minor_units, to_minor_units

# How old a webhook may be, in seconds.
WEBHOOK_SECONDS = 300
SIGNATURE_HEADER = "X-Signature"


class TestBank:
    """A bank whose cards behave as their numbers say (see `cards`)."""

    __test__ = False  # no test case, whatever its name
    is_test = True

    def start(self, request: PaymentRequest) -> PaymentSession:
        """Open the payment under the shop's id."""
        operations.open_payment(
            request.payment_id,
            request.number,
            to_minor_units(request.amount),
            request.amount.currency.code,
            request.description,
            request.return_url,
            request.webhook_url,
        )
        return PaymentSession(
            request.payment_id.hex, reverse("testbank:pay", args=[request.payment_id])
        )

    def get_outcome(self, reference: str) -> PaymentOutcome:
        """Return the outcome of a payment. Raises LookupError, TimeoutError while the bank cannot be reached."""
        row = queries.get_payment(UUID(hex=reference))
        if row is None:
            raise LookupError(f"the bank knows no payment {reference}")
        state, currency = row.state, row.currency
        if state in ("late", "away"):
            if current_time() >= row.answers_at:
                state = "authorized"
            elif state == "away":
                raise TimeoutError("the bank does not answer")
        sums = [
            from_minor_units(units or 0, currency)
            for units in (row.amount, row.captured, row.refunded)
        ]
        return PaymentOutcome(
            "pending" if state in ("open", "asked", "late") else state, row.reference, *sums
        )

    def capture(self, reference: str, amount: Money, key: str) -> None:
        """Capture an amount that was authorized. Raises LookupError, CaptureRefused."""
        operations.capture_payment(UUID(hex=reference), to_minor_units(amount), key)

    def void(self, reference: str) -> None:
        """Release the authorized amount. Raises LookupError."""
        operations.void_payment(UUID(hex=reference))

    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Refund an amount. Raises LookupError, ValueError for more than was captured."""
        operations.refund_payment(UUID(hex=reference), to_minor_units(amount), key)

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        """Return the event of a webhook. Raises PermissionError, ValueError, KeyError."""
        moment, _, given = headers.get(SIGNATURE_HEADER, "").partition(".")
        if not (moment.isascii() and moment.isdigit()) or not hmac.compare_digest(
            given.encode(), sign_webhook(moment, body).encode()
        ):
            raise PermissionError("the bank has not signed this")
        if abs(current_time().timestamp() - int(moment)) > WEBHOOK_SECONDS:
            raise PermissionError("the webhook is too old")
        payload = decode_webhook_body(body)
        payment_id = UUID(str(payload["payment_id"]))
        return WebhookEvent(
            str(payload["event_id"]), str(payload["reference"]), payment_id, payment_id.hex
        )


def make_signature_header(body: bytes) -> str:
    """Return the header with the time and the signature of a webhook."""
    moment = str(int(current_time().timestamp()))
    return f"{moment}.{sign_webhook(moment, body)}"


def sign_webhook(moment: str, body: bytes) -> str:
    """Return the bank's signature of a webhook's body and moment (seconds since 1970)."""
    key = f"testbank {settings.SECRET_KEY}".encode()
    return hmac.new(key, moment.encode() + b"." + body, "sha256").hexdigest()


GATEWAY = TestBank()
