"""What the shop asks of a payment gateway.

A payment is first authorized, which confirms the order, and captured afterwards. An authorization that is not wanted is
voided; a captured payment is refunded in whole or in part.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from time import monotonic
from typing import Any, Literal, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_noop as _
from moneyed import Money

from cassandra_db import count_statements
from inventory.operations import RESERVATION_DURATION
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.methods import CARD, CASH_ON_DELIVERY, MANUAL_METHODS, TRANSFER
from web.days import end_after_days


@dataclass(frozen=True)
class PaymentRequest:
    """What is to be paid. `payment_id` is the idempotency key: starting it again continues the same payment.

    The URLs are absolute: where the shopper comes back to, where they go without paying, and where the gateway sends its
    webhooks.
    """

    payment_id: UUID
    order_id: UUID
    number: str
    amount: Money
    description: str
    return_url: str
    leave_url: str
    webhook_url: str


@dataclass(frozen=True)
class PaymentSession:
    """The gateway's reference of a payment, and its page, to which the shopper is sent."""

    reference: str
    url: str


@dataclass(frozen=True)
class PaymentOutcome:
    """What the gateway says of a payment: for which order and amount, and how much of it was captured and refunded.

    "declined" is the bank's no, "left_unpaid" the shopper's; "voided" only when the shop voided it.
    """

    state: Literal[
        "pending", "declined", "left_unpaid", "authorized", "captured", "voided", "refunded"
    ]
    number: str
    amount: Money
    captured: Money
    refunded: Money


@dataclass(frozen=True)
class WebhookEvent:
    """A gateway's message that an order's payment has changed. One `event_id` may come more than once.

    `staff_message` is what staff have to look at, in words; asking the gateway would not reveal it.
    """

    event_id: str
    number: str
    payment_id: UUID
    reference: str
    staff_message: str = ""


class CaptureRefused(Exception):
    """The authorized amount cannot be captured (any more): it was voided, or the bank has changed its mind."""


class Gateway(Protocol):
    """A payment provider. All calls may be repeated. Each raises GatewayUnavailable when it cannot be reached.

    `key` is an idempotency key: the same call again under the same key is done once. For an unknown reference all raise
    LookupError.
    """

    @property
    def is_test(self) -> bool:
        """Whether it accepts test cards without real money: a real shop must not use it."""

    def start(self, request: PaymentRequest) -> PaymentSession:
        """Start a payment and return its reference and page."""

    def get_outcome(self, reference: str) -> PaymentOutcome:
        """Return a payment's outcome so far."""

    def capture(self, reference: str, amount: Money, key: str) -> None:
        """Capture this amount of what was authorized. Raises CaptureRefused."""

    def void(self, reference: str) -> None:
        """Void what was authorized and not captured; nothing that was captured is refunded."""

    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Refund this amount of what was captured."""

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        """Return what a webhook is about, None for one that does not concern the shop.

        Raises PermissionError if the gateway has not signed it just now, ValueError or KeyError if it makes no sense.
        """


@dataclass(frozen=True)
class PaymentMethod:
    """A payment method, for the checkout. Units of an order with it stay reserved for `pay_within`, see `pay_until`."""

    code: str
    name: str
    description: str
    pay_within: timedelta = RESERVATION_DURATION

    def pay_until(self, now: datetime) -> datetime:
        """Return until when an order of now may be paid; where that is days, to the end of the last one."""
        days = self.pay_within.days
        return end_after_days(now, days) if days else now + self.pay_within


METHODS = {
    method.code: method
    for method in (
        PaymentMethod(
            CARD,
            _("Card"),
            _("On our payment partner’s page. You’re charged when the order is confirmed."),
        ),
        PaymentMethod(
            TRANSFER,
            _("Bank transfer"),
            _("We reserve your items for 7 days and send them when your payment arrives."),
            timedelta(days=7),
        ),
        PaymentMethod(
            CASH_ON_DELIVERY, _("Cash on delivery"), _("You pay the carrier on delivery.")
        ),
    )
}

# As stored with each payment; a gateway that is no longer used for new ones stays for old ones (PAYMENT_GATEWAYS).
STRIPE, NONE = "stripe", "none"


def list_enabled_methods() -> tuple[PaymentMethod, ...]:
    """Return the payment methods that this shop offers (PAYMENT_METHODS), the first one is the default."""
    takes_cards = settings.PAYMENT_GATEWAY not in ("", NONE)
    return tuple(
        METHODS[code]
        for code in settings.PAYMENT_METHODS
        if code in METHODS and (code != CARD or takes_cards)
    )


def resolve_gateway_name(method: str) -> str:
    """Return the name of a payment method's gateway, as stored with the payment. Raises GatewayMissing if there is none."""
    if method in MANUAL_METHODS:
        return method
    get_gateway(settings.PAYMENT_GATEWAY)
    return str(settings.PAYMENT_GATEWAY)


def get_gateway(name: str) -> Gateway:
    """Return the gateway of that name. Raises GatewayMissing if this shop has no such gateway, or may not use it."""
    if name not in settings.PAYMENT_GATEWAYS or (name == STRIPE and not settings.STRIPE_SECRET_KEY):
        raise GatewayMissing
    found = load_gateway(name)
    if found.is_test and not (settings.DEMO or settings.DEBUG):
        raise GatewayMissing
    return _GuardedGateway(name, found)


def load_gateway(name: str) -> Gateway:
    """Return the gateway of that name, whether this shop may use it or not. Raises KeyError."""
    found: Gateway = import_module(settings.PAYMENT_GATEWAYS[name]).GATEWAY
    return found


def decode_webhook_body(body: bytes) -> dict[str, Any]:
    """Return a webhook's JSON object. Raises ValueError if it is none."""
    content = json.loads(body)
    if not isinstance(content, dict):
        raise ValueError("a webhook is an object")
    return content


# After a call that failed and took so long, in seconds, the gateway is not waited for again.
SLOW_CALL_SECONDS = 1.0
_silent: ContextVar[set[str] | None] = ContextVar("silent", default=None)


@contextmanager
def gateway_circuit_breaker() -> Iterator[None]:
    """Within the block wait only once for a gateway that does not answer; asked again, it raises GatewayUnavailable at once.

    For a job that processes many orders, most of which need no gateway. One that refuses quickly is asked each time.
    """
    token = _silent.set(set())
    try:
        yield
    finally:
        _silent.reset(token)


@contextmanager
def _gateway_call(name: str) -> Iterator[None]:
    silent = _silent.get()
    if silent is not None and name in silent:
        raise GatewayUnavailable
    since = monotonic()
    try:
        # What a gateway of the demo reads and writes is its own, and counts for no page of the shop.
        with count_statements():
            yield
    except (OSError, GatewayUnavailable) as error:
        if silent is not None and monotonic() - since >= SLOW_CALL_SECONDS:
            silent.add(name)
        if isinstance(error, GatewayUnavailable):
            raise
        raise GatewayUnavailable from error


@dataclass(frozen=True)
class _GuardedGateway:
    """A gateway whose network errors are all raised as GatewayUnavailable."""

    name: str
    gateway: Gateway

    @property
    def is_test(self) -> bool:
        return self.gateway.is_test

    def start(self, request: PaymentRequest) -> PaymentSession:
        with _gateway_call(self.name):
            return self.gateway.start(request)

    def get_outcome(self, reference: str) -> PaymentOutcome:
        with _gateway_call(self.name):
            return self.gateway.get_outcome(reference)

    def capture(self, reference: str, amount: Money, key: str) -> None:
        with _gateway_call(self.name):
            self.gateway.capture(reference, amount, key)

    def void(self, reference: str) -> None:
        with _gateway_call(self.name):
            self.gateway.void(reference)

    def refund(self, reference: str, amount: Money, key: str) -> None:
        with _gateway_call(self.name):
            self.gateway.refund(reference, amount, key)

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        # Needs no network, and its PermissionError is an OSError.
        return self.gateway.parse_webhook(body, headers)
