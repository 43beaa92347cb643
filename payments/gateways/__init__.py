"""The interface of payment gateways.

The gateway authorizes a payment, which confirms the order. The shop captures the money later. It voids an unwanted authorization,
and refunds a captured payment in whole or in part.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
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
    """A payment to start. `payment_id` is the idempotency key: a second start with the same id continues the same payment.

    The URLs are absolute. They serve a shopper who returns, a shopper who leaves without paying, and the gateway's webhooks.
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
    """The gateway's reference of a payment, and the address of the page on which the shopper pays."""

    reference: str
    url: str


@dataclass(frozen=True)
class PaymentOutcome:
    """The gateway's state of a payment, with the order's number and the amounts: to pay, captured and refunded.

    "declined": the bank refused to pay. "left_unpaid": the shopper has not paid. "voided": the shop voided the payment.
    """

    state: Literal[
        "pending", "declined", "left_unpaid", "authorized", "captured", "voided", "refunded"
    ]
    number: str
    amount: Money
    captured: Money
    refunded: Money
    fee: Money | None = None  # what the gateway has kept of the payment, if it says so

    @property
    def has_money(self) -> bool:
        """Whether the gateway holds an amount for the shop, authorized or captured."""
        return self.state == "authorized" or self.captured > self.refunded


@dataclass(frozen=True)
class ListedPayment:
    """A payment as its gateway lists it: the gateway's reference, the shop's id, and when it was started."""

    reference: str
    payment_id: UUID
    started_at: datetime
    outcome: PaymentOutcome


@dataclass(frozen=True)
class WebhookEvent:
    """A gateway's message that an order's payment has changed. The same `event_id` may arrive more than once.

    `staff_message` tells staff facts that the gateway's API does not show.
    """

    event_id: str
    number: str
    payment_id: UUID
    reference: str
    staff_message: str = ""


class CaptureRefused(Exception):
    """The authorized amount cannot be captured: the authorization was voided, or the bank has withdrawn it."""


class Gateway(Protocol):
    """A payment provider. All calls may be repeated. They raise GatewayUnavailable if the provider cannot be reached.

    `key` is an idempotency key: calls with the same key take effect once. Methods raise LookupError for an unknown `reference`.
    """

    @property
    def is_test(self) -> bool:
        """Whether the gateway accepts test cards without real money. A real shop must not use a test gateway."""

    def start(self, request: PaymentRequest) -> PaymentSession:
        """Start a payment, and return its reference and the address of its page."""

    def get_outcome(self, reference: str) -> PaymentOutcome:
        """Return the present outcome of a payment."""

    def capture(self, reference: str, amount: Money, key: str) -> None:
        """Capture `amount` out of the authorized amount. Raises CaptureRefused."""

    def void(self, reference: str) -> None:
        """Void the part of the authorized amount that is not captured. Captured money is not refunded."""

    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Refund `amount` out of the captured amount."""

    def list_payments(self, since: datetime) -> Iterable[ListedPayment]:
        """Return the payments that were started, paid or refunded since then. Others may be among them."""

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        """Return the event in a webhook, or None if the webhook does not concern the shop.

        Raises PermissionError if the gateway has not just signed the webhook. Raises ValueError or KeyError if it is malformed.
        """


@dataclass(frozen=True)
class PaymentMethod:
    """A payment method of the checkout. Units of its orders stay reserved for `pay_within` (see `pay_until`)."""

    code: str
    name: str
    description: str
    pay_within: timedelta = RESERVATION_DURATION

    def pay_until(self, now: datetime) -> datetime:
        """Return the deadline for paying an order that is placed now. A deadline in days is the end of the last day."""
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
# As stored with each payment. A gateway that is no longer used for new payments stays for old ones (PAYMENT_GATEWAYS).
STRIPE, NONE = "stripe", "none"


def list_enabled_methods() -> tuple[PaymentMethod, ...]:
    """Return the payment methods that this shop offers (PAYMENT_METHODS); the first one is the default."""
    takes_cards = settings.PAYMENT_GATEWAY not in ("", NONE)
    return tuple(
        METHODS[code]
        for code in settings.PAYMENT_METHODS
        if code in METHODS and (code != CARD or takes_cards)
    )


def resolve_gateway_name(method: str) -> str:
    """Return the stored name of a payment method's gateway. Raises GatewayMissing if there is none."""
    if method in MANUAL_METHODS:
        return method
    get_gateway(settings.PAYMENT_GATEWAY)
    return str(settings.PAYMENT_GATEWAY)


def get_gateway(name: str) -> Gateway:
    """Return the gateway with this name. Raises GatewayMissing if the shop has no such gateway, or may not use it."""
    if name not in settings.PAYMENT_GATEWAYS or (name == STRIPE and not settings.STRIPE_SECRET_KEY):
        raise GatewayMissing
    found = load_gateway(name)
    if found.is_test and not (settings.DEMO or settings.DEBUG):
        raise GatewayMissing
    return _GuardedGateway(name, found)


def load_gateway(name: str) -> Gateway:
    """Return the gateway with this name, even if the shop may not use it. Raises KeyError for an unknown name."""
    found: Gateway = import_module(settings.PAYMENT_GATEWAYS[name]).GATEWAY
    return found


def decode_webhook_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a webhook's body. Raises ValueError if the body is no JSON object."""
    content = json.loads(body)
    if not isinstance(content, dict):
        raise ValueError("a webhook is an object")
    return content


# After a failed call that took at least this many seconds, gateway_circuit_breaker makes no further calls.
SLOW_CALL_SECONDS = 1.0
_silent: ContextVar[set[str] | None] = ContextVar("silent", default=None)


@contextmanager
def gateway_circuit_breaker() -> Iterator[None]:
    """Within the block, wait only once for a gateway that does not answer. Later calls raise GatewayUnavailable at once.

    It is for jobs that process many orders, most of which need no gateway. A gateway that fails quickly is called each time.
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
        # A demo gateway's own CQL statements do not count as statements of the shop's page.
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
    """A gateway that raises GatewayUnavailable for each network error."""

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

    def list_payments(self, since: datetime) -> Iterable[ListedPayment]:
        with _gateway_call(self.name):
            return list(self.gateway.list_payments(since))

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        # This call is not guarded: it needs no network, and PermissionError is an OSError, which the guard would translate.
        return self.gateway.parse_webhook(body, headers)
