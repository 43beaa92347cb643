"""What the shop asks of whoever takes the money."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol
from uuid import UUID

from django.conf import settings
from moneyed import Money

from orders.errors import GatewayAway, NoGateway


@dataclass(frozen=True)
class Request:
    """What is to be paid. `payment_id` is the idempotency key: starting it again goes on with the same payment."""

    payment_id: UUID
    number: str
    amount: Money
    description: str
    return_url: str


@dataclass(frozen=True)
class Started:
    """The gateway's name for a payment, and its page, to which the shopper is sent."""

    reference: str
    url: str


@dataclass(frozen=True)
class Verdict:
    """What the gateway says of a payment, and for which order and sum it says so."""

    state: Literal["paid", "declined", "pending", "refunded"]
    number: str
    amount: Money


@dataclass(frozen=True)
class Notice:
    """A gateway's word that a payment of an order has moved on."""

    number: str
    payment_id: UUID


class Gateway(Protocol):
    """A payment provider. All calls may be repeated. Each raises GatewayAway when it cannot be reached."""

    def start(self, request: Request) -> Started:
        """Open a payment and return where the shopper pays."""

    def outcome(self, reference: str) -> Verdict:
        """Tell how a payment stands. Raises LookupError for an unknown one."""

    def refund(self, reference: str, amount: Money) -> None:
        """Give a payment back; one that was given back stays so. Raises LookupError for an unknown one."""

    def notified(self, body: bytes, signature: str) -> Notice:
        """Return what a notice is about. Raises PermissionError if the gateway has not signed it just now."""


# By the name that is kept with each payment; a gateway that is no longer used for new ones stays for old ones.
TEST_BANK, NONE = "testbank", "none"
_GATEWAYS = {TEST_BANK: "orders.gateways.testbank.gateway"}
NAMES = tuple(_GATEWAYS)


def gateway(name: str) -> Gateway:
    """Return the gateway of that name. Raises NoGateway if this shop has none of it; the test bank is a showroom's."""
    if name not in _GATEWAYS or (name == TEST_BANK and not (settings.SHOWROOM or settings.DEBUG)):
        raise NoGateway
    made: Gateway = import_module(_GATEWAYS[name]).GATEWAY
    return _Reached(made)


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except OSError as away:
        raise GatewayAway from away


@dataclass(frozen=True)
class _Reached:
    """A gateway whose absence has one name, whatever the network calls it."""

    bank: Gateway

    def start(self, request: Request) -> Started:
        with _reaching():
            return self.bank.start(request)

    def outcome(self, reference: str) -> Verdict:
        with _reaching():
            return self.bank.outcome(reference)

    def refund(self, reference: str, amount: Money) -> None:
        with _reaching():
            self.bank.refund(reference, amount)

    def notified(self, body: bytes, signature: str) -> Notice:
        # Needs no network, and its PermissionError is an OSError.
        return self.bank.notified(body, signature)
