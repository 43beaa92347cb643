"""The shop's gateway to the test bank. It reads the bank's tables; a real gateway would call a provider by HTTPS."""

import hmac
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from moneyed import Money

from cassandra_db import Row, current_time
from demo.testbank import operations, queries
from payments.gateways import (
    ListedPayment,
    PaymentOutcome,
    PaymentRequest,
    PaymentSession,
    WebhookEvent,
    decode_webhook_body,
)
from pricing.money import from_minor_units, to_minor_units

# The greatest age of a webhook that the gateway accepts, in seconds.
WEBHOOK_SECONDS = 300
SIGNATURE_HEADER = "X-Signature"
# What the bank keeps of a captured amount.
FEE_PER_MILLE = 14


class TestBank:
    """A payment gateway whose bank decides about a payment by its card number (see `cards`)."""

    __test__ = False  # pytest must not collect it as a test case because of its name
    is_test = True

    def start(self, request: PaymentRequest) -> PaymentSession:
        """Open a payment at the bank under the shop's payment id, and return the address of the bank's page."""
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
        """Return the outcome of a payment. Raises LookupError. Also raises TimeoutError while the bank plays that it is away."""
        row = queries.get_payment(UUID(hex=reference))
        if row is None:
            raise LookupError(f"the bank knows no payment {reference}")
        if row.state == "away" and current_time() < row.answers_at:
            raise TimeoutError("the bank does not answer")
        return _outcome_from_row(row)

    def capture(self, reference: str, amount: Money, key: str) -> None:
        """Capture an amount of an authorized payment, once for each key. Raises LookupError, CaptureRefused."""
        operations.capture_payment(UUID(hex=reference), to_minor_units(amount), key)

    def void(self, reference: str) -> None:
        """Release the authorized amount of a payment. Raises LookupError."""
        operations.void_payment(UUID(hex=reference))

    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Refund an amount, once for each key. Raises LookupError. Also raises ValueError for more than was captured."""
        operations.refund_payment(UUID(hex=reference), to_minor_units(amount), key)

    def list_payments(self, since: datetime) -> Iterator[ListedPayment]:
        """Yield the payments that were opened or changed since then."""
        for row in queries.PAYMENTS.iterate_table():
            if _moment(row.changed) >= since:
                yield ListedPayment(
                    row.payment_id.hex, row.payment_id, _moment(row.opened), _outcome_from_row(row)
                )

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        """Return the event that a webhook reports. Raises PermissionError, ValueError, KeyError."""
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


def _outcome_from_row(row: Row) -> PaymentOutcome:
    state, captured = row.state, row.captured or 0
    if state in ("late", "away"):
        state = "authorized" if current_time() >= row.answers_at else "pending"
    fee = captured * FEE_PER_MILLE // 1000
    sums = [
        from_minor_units(units or 0, row.currency)
        for units in (row.amount, captured, row.refunded, fee)
    ]
    return PaymentOutcome("pending" if state in ("open", "asked") else state, row.reference, *sums)


def _moment(write_timestamp: int) -> datetime:
    return datetime.fromtimestamp(write_timestamp / 1_000_000, UTC)


def make_signature_header(body: bytes) -> str:
    """Return the value of a webhook's signature header, with the present time and the signature."""
    moment = str(int(current_time().timestamp()))
    return f"{moment}.{sign_webhook(moment, body)}"


def sign_webhook(moment: str, body: bytes) -> str:
    """Return the bank's signature of a webhook. It signs the body and the moment of sending (in seconds since 1970)."""
    key = f"testbank {settings.SECRET_KEY}".encode()
    return hmac.new(key, moment.encode() + b"." + body, "sha256").hexdigest()


GATEWAY = TestBank()
