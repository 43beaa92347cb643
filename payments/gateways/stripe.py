"""The Stripe gateway: its hosted checkout page authorizes money, and the shop captures it later.

Card numbers never reach the shop. A payment's reference is the id of its checkout session; the session's payment intent has the
money. Calls that change something carry an idempotency key, so the SDK may repeat them. Stripe forgets a key after a day, so the
shop looks for an existing refund before it requests one.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import stripe
from django.conf import settings
from moneyed import Money
from stripe.params.checkout import SessionCreateParams

from cassandra_db import current_time
from payments.errors import GatewayUnavailable
from payments.gateways import (
    CaptureRefused,
    ListedPayment,
    PaymentOutcome,
    PaymentRequest,
    PaymentSession,
    WebhookEvent,
    decode_webhook_body,
)
from pricing.money import from_minor_units, to_minor_units

log = logging.getLogger(__name__)
# The time that Stripe may take for a call, and the number of times that the SDK repeats a lost call.
TIMEOUT_SECONDS = 8
RETRIES = 2
# The largest age of a webhook, in seconds.
WEBHOOK_TOLERANCE_SECONDS = 300
SIGNATURE_HEADER = "Stripe-Signature"
# The webhook events of payments. Other events of the account do not concern the shop.
PAYMENT_EVENTS = (
    "checkout.session.completed",
    "checkout.session.expired",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
)
# A refund that fails days later, for example because the card is closed.
REFUND_FAILED = "refund.failed"
# The states of a refund that has not reached the customer.
FAILED_REFUND_STATES = ("failed", "canceled")
# A payment page is open for a day: so long before it is paid, a payment may have been started.
PAGE_OPEN_FOR = timedelta(days=1)
# The reason that Stripe stores when the shop voids a payment. If the bank voids it, Stripe stores another reason.
CANCELLATION_REASON = "abandoned"


class Stripe:
    """The Stripe gateway. A payment is a checkout session whose payment intent the shop captures later."""

    is_test = False

    def start(self, request: PaymentRequest) -> PaymentSession:
        """Start a payment on Stripe's hosted page. The same `payment_id` gets the same page."""
        metadata = {
            "order": str(request.order_id),
            "number": request.number,
            "payment": str(request.payment_id),
        }
        params: SessionCreateParams = {
            "mode": "payment",
            "client_reference_id": request.number,
            "line_items": [
                {
                    "quantity": 1,
                    "price_data": {
                        "currency": request.amount.currency.code.lower(),
                        "unit_amount": to_minor_units(request.amount),
                        "product_data": {"name": request.description},
                    },
                }
            ],
            "payment_intent_data": {
                "capture_method": "manual",
                "description": request.description,
                "metadata": metadata,
            },
            "metadata": metadata,
            "success_url": request.return_url,
            "cancel_url": request.leave_url,
        }
        with _translate_errors():
            session = _client().v1.checkout.sessions.create(
                params, {"idempotency_key": f"start {request.payment_id}"}
            )
        # An open session has a page; a closed one leads back to the order.
        return PaymentSession(session.id, session.url or request.return_url)

    def get_outcome(self, reference: str) -> PaymentOutcome:
        """Return the present outcome of a payment. Raises LookupError."""
        return outcome_from_session(_get_session(reference))

    def capture(self, reference: str, amount: Money, key: str) -> None:
        """Capture `amount` out of the authorized amount. Raises LookupError, CaptureRefused."""
        intent = _payment_intent(_get_session(reference))
        if intent is None:
            raise CaptureRefused("nothing was authorized")
        with _translate_errors():
            try:
                _client().v1.payment_intents.capture(
                    intent["id"],
                    {"amount_to_capture": to_minor_units(amount)},
                    {"idempotency_key": key},
                )
            except (stripe.CardError, stripe.InvalidRequestError) as refused:
                raise CaptureRefused(str(refused)) from refused

    def void(self, reference: str) -> None:
        """Close the payment page, or void the authorized amount. Captured money stays. Raises LookupError."""
        session = _get_session(reference)
        intent = _payment_intent(session)
        with _translate_errors():
            if session["status"] == "open":
                _client().v1.checkout.sessions.expire(
                    reference, {}, {"idempotency_key": f"expire {reference}"}
                )
            elif intent and intent["status"] not in ("succeeded", "canceled"):
                _client().v1.payment_intents.cancel(
                    intent["id"],
                    {"cancellation_reason": CANCELLATION_REASON},
                    {"idempotency_key": f"void {intent['id']}"},
                )

    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Refund `amount` once for each key. If the refund has failed since, a further call requests another refund.

        Raises ValueError if there is nothing to refund. Also raises LookupError.
        """
        session = _get_session(reference)
        intent = _payment_intent(session)
        if intent is None:
            raise ValueError(f"{reference}: nothing was captured")
        metadata = {**(session.get("metadata") or {}), "session": reference, "key": key}
        with _translate_errors():
            listed = _client().v1.refunds.list({"payment_intent": intent["id"], "limit": 100})
            earlier_refunds = [
                each
                for each in listed.auto_paging_iter()
                if each.metadata and each.metadata.to_dict().get("key") == key
            ]
            if any(each.status not in FAILED_REFUND_STATES for each in earlier_refunds):
                return
            _client().v1.refunds.create(
                {
                    "payment_intent": intent["id"],
                    "amount": to_minor_units(amount),
                    "metadata": metadata,
                },
                # For the same key Stripe would return the failed refund, so the key changes.
                {
                    "idempotency_key": f"{key} again {len(earlier_refunds)}"
                    if earlier_refunds
                    else key
                },
            )

    def list_payments(self, since: datetime) -> Iterator[ListedPayment]:
        """Yield the shop's payments whose page was open since then, or of which the shop has refunded a part since then."""
        first, moment = (since - PAGE_OPEN_FOR).timestamp(), since.timestamp()
        with _translate_errors():
            listed = _client().v1.checkout.sessions.list(
                {
                    "created": {"gte": int(first)},
                    "limit": 100,
                    "expand": ["data.payment_intent.latest_charge"],
                }
            )
            sessions: dict[str, Mapping[str, Any]] = {
                each.id: each.to_dict() for each in listed.auto_paging_iter()
            }
            refunds = _client().v1.refunds.list({"created": {"gte": int(moment)}, "limit": 100})
            about = [
                each.metadata.to_dict() for each in refunds.auto_paging_iter() if each.metadata
            ]
        # Other users of the Stripe account have refunds and sessions, too.
        refunded = {each["session"] for each in about if {"payment", "session"} <= each.keys()}
        sessions |= {each: _get_session(each) for each in refunded - sessions.keys()}
        for reference, session in sessions.items():
            metadata = session.get("metadata") or {}
            if {"number", "payment"} <= metadata.keys():
                yield ListedPayment(
                    reference,
                    UUID(str(metadata["payment"])),
                    datetime.fromtimestamp(session["created"], UTC),
                    outcome_from_session(session),
                )

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        """Return the event in a webhook, or None if the webhook does not concern the shop.

        Webhooks of other users of the Stripe account lack the shop's metadata. Raises PermissionError, ValueError, KeyError.
        """
        verify_signature(body, headers.get(SIGNATURE_HEADER, ""), settings.STRIPE_WEBHOOK_SECRET)
        event = decode_webhook_body(body)
        if event["type"] not in (*PAYMENT_EVENTS, REFUND_FAILED):
            return None
        found = event["data"]["object"]
        metadata = found.get("metadata") or {}
        if not {"number", "payment"} <= metadata.keys():
            log.info(
                "a webhook from Stripe, %s, is about %s, which is none of ours",
                event["id"],
                found.get("id"),
            )
            return None
        failed = event["type"] == REFUND_FAILED
        return WebhookEvent(
            event["id"],
            metadata["number"],
            UUID(str(metadata["payment"])),
            metadata["session"] if failed else found["id"],
            _failed_refund_message(found) if failed else "",
        )


def _failed_refund_message(refund: Mapping[str, Any]) -> str:
    amount = from_minor_units(int(refund["amount"]), str(refund["currency"]).upper())
    why = str(refund.get("failure_reason") or "no reason given").replace("_", " ")
    return f"A refund of {amount} has failed at Stripe ({why}): {refund['id']}. The customer does not have the money."


def verify_signature(body: bytes, header: str, secret: str) -> None:
    """Raise PermissionError unless Stripe has signed this body within the last WEBHOOK_TOLERANCE_SECONDS."""
    if not secret or not header.isascii():
        raise PermissionError(
            "Stripe has not signed this, or its secret is not set (STRIPE_WEBHOOK_SECRET)"
        )
    try:
        stripe.WebhookSignature.verify_header(
            body.decode(), header, secret, tolerance=WEBHOOK_TOLERANCE_SECONDS
        )
        moment = int(dict(part.partition("=")[::2] for part in header.split(","))["t"])
    except (stripe.SignatureVerificationError, UnicodeDecodeError) as forged:
        raise PermissionError(f"Stripe has not signed this: {forged}") from forged
    if moment > current_time().timestamp() + WEBHOOK_TOLERANCE_SECONDS:
        raise PermissionError("the webhook is dated in the future")


def outcome_from_session(session: Mapping[str, Any]) -> PaymentOutcome:
    """Return the outcome of a checkout session with its payment intent."""
    intent = _payment_intent(session) or {}
    currency = str(intent.get("currency") or session["currency"]).upper()
    charge = intent.get("latest_charge")
    captured = intent.get("amount_received") or 0
    refunded = charge.get("amount_refunded") or 0 if isinstance(charge, Mapping) else 0
    amount = intent.get("amount") or session["amount_total"] or 0
    number = (session.get("metadata") or {}).get("number", "")
    match intent.get("status"):
        case "requires_capture":
            state = "authorized"
        case "succeeded":
            state = "refunded" if captured and refunded >= captured else "captured"
        case "canceled":
            state = (
                "voided" if intent.get("cancellation_reason") == CANCELLATION_REASON else "declined"
            )
        case _:
            state = "left_unpaid" if session["status"] == "expired" else "pending"
    sums = [from_minor_units(units, currency) for units in (amount, captured, refunded)]
    # Known once the money is captured, in the currency of the shop's account.
    settled = charge.get("balance_transaction") if isinstance(charge, Mapping) else None
    if isinstance(settled, Mapping) and settled["currency"].upper() == currency:
        sums.append(from_minor_units(settled["fee"], currency))
    return PaymentOutcome(state, number, *sums)  # type: ignore[arg-type]


def _get_session(reference: str) -> Mapping[str, Any]:
    with _translate_errors():
        found = _client().v1.checkout.sessions.retrieve(
            reference, {"expand": ["payment_intent.latest_charge.balance_transaction"]}
        )
    session: Mapping[str, Any] = found.to_dict()
    return session


def _payment_intent(session: Mapping[str, Any]) -> Mapping[str, Any] | None:
    intent = session.get("payment_intent")
    return intent if isinstance(intent, Mapping) else {"id": intent} if intent else None


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate Stripe's errors inside the block into the shop's errors."""
    try:
        yield
    except stripe.InvalidRequestError as refused:
        if refused.code == "resource_missing":
            raise LookupError(str(refused)) from refused
        log.error("Stripe rejects the request: %s", refused)
        raise GatewayUnavailable from refused
    except (stripe.AuthenticationError, stripe.PermissionError) as locked_out:
        log.error("Stripe rejects the shop's key: %s", locked_out)
        raise GatewayUnavailable from locked_out
    except (
        stripe.APIConnectionError,
        stripe.RateLimitError,
        stripe.IdempotencyError,
        stripe.APIError,
    ) as error:
        log.warning("Stripe does not answer: %s", error)
        raise GatewayUnavailable from error


def _client() -> stripe.StripeClient:
    return _make_client(settings.STRIPE_SECRET_KEY, settings.STRIPE_API)


@lru_cache(maxsize=4)
def _make_client(key: str, address: str) -> stripe.StripeClient:
    stripe.enable_telemetry = False
    logging.getLogger("stripe").setLevel(logging.WARNING)  # otherwise each call logs a line
    return stripe.StripeClient(
        key,
        base_addresses={"api": address},
        max_network_retries=RETRIES,
        http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
    )


GATEWAY = Stripe()
