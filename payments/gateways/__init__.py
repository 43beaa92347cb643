"""What the shop asks of whoever takes the money.

A payment is set aside first (authorized), which confirms the order, and taken afterwards (captured). What was set aside
and is not wanted is let go (voided); what was taken goes back in whole or in part (refunded).
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from time import monotonic
from typing import Any, Literal, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_noop as _
from moneyed import Money

from inventory.operations import RESERVED_FOR
from payments.errors import GatewayUnavailable, NoGateway


@dataclass(frozen=True)
class PaymentRequest:
    """What is to be paid. `payment_id` is the idempotency key: starting it again goes on with the same payment.

    The addresses are whole ones: where the shopper comes back to, where they leave to without paying, and where the
    gateway sends its notices.
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
    """The gateway's name for a payment, and its page, to which the shopper is sent."""

    reference: str
    url: str


@dataclass(frozen=True)
class PaymentOutcome:
    """What the gateway says of a payment: for which order and sum, and how much of it was taken and given back.

    "declined" also when nobody wants to pay it any more; "voided" only when the shop let go of it.
    """

    state: Literal["pending", "declined", "authorized", "captured", "voided", "refunded"]
    number: str
    amount: Money
    captured: Money
    refunded: Money


@dataclass(frozen=True)
class WebhookEvent:
    """A gateway's word that a payment of an order has moved on. Of one `event_id` it may tell more than once.

    `staff_message` is what somebody has to look at, in words; asking again would not tell it.
    """

    event_id: str
    number: str
    payment_id: UUID
    reference: str
    staff_message: str = ""


class CaptureRefused(Exception):
    """What was set aside cannot be had (any more): it was let go, or the bank has thought better of it."""


class Gateway(Protocol):
    """A payment provider. All calls may be repeated. Each raises GatewayUnavailable when it cannot be reached.

    `key` names what is done: the same again under the same key is done once. For an unknown reference all raise
    LookupError.
    """

    @property
    def is_test(self) -> bool:
        """Whether its cards are nobody's money: a shop must not take them."""

    def start(self, request: PaymentRequest) -> PaymentSession:
        """Open a payment and return where the shopper pays."""

    def get_outcome(self, reference: str) -> PaymentOutcome:
        """Tell how a payment stands."""

    def capture(self, reference: str, amount: Money, key: str) -> None:
        """Take so much of what was set aside. Raises CaptureRefused."""

    def void(self, reference: str) -> None:
        """Let go of what was set aside and not taken; of what was taken nothing goes back."""

    def refund(self, reference: str, amount: Money, key: str) -> None:
        """Give so much of what was taken back."""

    def parse_webhook(self, body: bytes, headers: Mapping[str, str]) -> WebhookEvent | None:
        """Return what a notice is about, None for one that tells the shop nothing.

        Raises PermissionError if the gateway has not signed it just now, ValueError or KeyError if it makes no sense.
        """


@dataclass(frozen=True)
class PaymentMethod:
    """A way to pay, for the checkout. An order that is paid so keeps its units for `pay_within`."""

    code: str
    name: str
    description: str
    pay_within: timedelta = RESERVED_FOR


CARD, TRANSFER, CASH_ON_DELIVERY = "card", "transfer", "cod"
METHODS = {
    method.code: method
    for method in (
        PaymentMethod(
            CARD,
            _("Card"),
            _("On our bank’s page. You are charged when the order is confirmed."),
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

# As it is kept with each payment; a gateway that is no longer used for new ones stays for old ones (PAYMENT_GATEWAYS).
STRIPE, NONE = "stripe", "none"
# Where no provider is asked: staff note what came, and send back by hand what goes back.
MANUAL_METHODS = (TRANSFER, CASH_ON_DELIVERY)


def list_enabled_methods() -> tuple[PaymentMethod, ...]:
    """Return the ways to pay that this shop offers (PAYMENT_METHODS), the first one preset."""
    takes_cards = settings.PAYMENT_GATEWAY not in ("", NONE)
    return tuple(
        METHODS[code]
        for code in settings.PAYMENT_METHODS
        if code in METHODS and (code != CARD or takes_cards)
    )


def resolve_gateway_name(method: str) -> str:
    """Return who takes the money of a way to pay, as it is kept with the payment. Raises NoGateway if nobody does."""
    if method in MANUAL_METHODS:
        return method
    get_gateway(settings.PAYMENT_GATEWAY)
    return str(settings.PAYMENT_GATEWAY)


def get_gateway(name: str) -> Gateway:
    """Return the gateway of that name. Raises NoGateway if this shop has none of it, or may not use it."""
    if name not in settings.PAYMENT_GATEWAYS or (name == STRIPE and not settings.STRIPE_SECRET_KEY):
        raise NoGateway
    found = load_gateway(name)
    if found.is_test and not (settings.DEMO or settings.DEBUG):
        raise NoGateway
    return _GuardedGateway(name, found)


def load_gateway(name: str) -> Gateway:
    """Return the gateway of that name, whether this shop may use it or not. Raises KeyError."""
    found: Gateway = import_module(settings.PAYMENT_GATEWAYS[name]).GATEWAY
    return found


def decode_webhook_body(body: bytes) -> dict[str, Any]:
    """Return what a notice says, as JSON has it. Raises ValueError for what is none."""
    content = json.loads(body)
    if not isinstance(content, dict):
        raise ValueError("a notice is an object")
    return content


# A call that took so long, in seconds, and came to nothing is one not to be waited for again and again.
SLOW_CALL_SECONDS = 1.0
_silent: ContextVar[set[str] | None] = ContextVar("silent", default=None)


@contextmanager
def gateway_circuit_breaker() -> Iterator[None]:
    """Wait for a gateway that does not answer once within the block; asked again, it raises GatewayUnavailable at once.

    For whoever looks after many orders, of which most need no bank. One that refuses quickly is asked each time.
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
        yield
    except (OSError, GatewayUnavailable) as away:
        if silent is not None and monotonic() - since >= SLOW_CALL_SECONDS:
            silent.add(name)
        if isinstance(away, GatewayUnavailable):
            raise
        raise GatewayUnavailable from away


@dataclass(frozen=True)
class _GuardedGateway:
    """A gateway whose absence has one name, whatever the network calls it."""

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
