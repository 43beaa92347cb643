"""The shop's way to the test bank. In a real provider's place stand HTTPS calls; here it reads the bank's books."""

import hmac
import json
from datetime import UTC, datetime
from time import time
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from moneyed import Money

from catalogue.money import minor, money
from orders.gateways import Notice, Request, Started, Verdict
from orders.gateways.testbank import operations, queries

# How old a notice may be, in seconds.
NOTICE_SECONDS = 300


class TestBank:
    """A bank that knows four cards."""

    __test__ = False  # no test case, whatever its name

    def start(self, request: Request) -> Started:
        """Open the payment under the shop's own key."""
        operations.payment_opened(
            request.payment_id,
            request.number,
            minor(request.amount),
            request.amount.currency.code,
            request.description,
            request.return_url,
        )
        return Started(request.payment_id.hex, reverse("testbank:pay", args=[request.payment_id]))

    def outcome(self, reference: str) -> Verdict:
        """Tell how a payment stands; the late card's answer comes after a while. Raises LookupError."""
        row = queries.payment(UUID(hex=reference))
        if row is None:
            raise LookupError(f"the bank knows no payment {reference}")
        late = row.state == "late" and datetime.now(UTC) < row.answers_at
        amount = money(row.amount, row.currency)
        if row.state == "open" or late:
            return Verdict("pending", row.reference, amount)
        if row.state == "refunded":
            return Verdict("refunded", row.reference, amount)
        return Verdict("paid" if row.state in ("paid", "late") else "declined", row.reference, amount)

    def refund(self, reference: str, amount: Money) -> None:
        """Give the payment back. Raises LookupError."""
        operations.payment_returned(UUID(hex=reference))

    def notified(self, body: bytes, signature: str) -> Notice:
        """Return what a notice is about. Raises PermissionError."""
        moment, _, given = signature.partition(".")
        if not moment.isdigit() or not hmac.compare_digest(given.encode(), _signed(moment, body).encode()):
            raise PermissionError("the bank has not signed this")
        if abs(time() - int(moment)) > NOTICE_SECONDS:
            raise PermissionError("the notice is too old")
        told = json.loads(body)
        return Notice(told["reference"], UUID(told["payment_id"]))


def notice(payment_id: UUID, reference: str) -> tuple[bytes, str]:
    """Return a notice about a payment, and its signature, as the bank sends them."""
    body, moment = json.dumps({"payment_id": str(payment_id), "reference": reference}).encode(), str(int(time()))
    return body, f"{moment}.{_signed(moment, body)}"


def _signed(moment: str, body: bytes) -> str:
    key = f"testbank {settings.SECRET_KEY}".encode()
    return hmac.new(key, moment.encode() + b"." + body, "sha256").hexdigest()


GATEWAY = TestBank()
