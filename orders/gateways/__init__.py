"""What the shop asks of whoever takes the money."""

from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol
from uuid import UUID

from moneyed import Money


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

    state: Literal["paid", "declined", "pending"]
    number: str
    amount: Money


@dataclass(frozen=True)
class Notice:
    """A gateway's word that a payment of an order has moved on."""

    number: str
    payment_id: UUID


class Gateway(Protocol):
    """A payment provider. All calls may be repeated. Raise CassandraUnavailable or OSError when it cannot be reached."""

    def start(self, request: Request) -> Started:
        """Open a payment and return where the shopper pays."""

    def outcome(self, reference: str) -> Verdict:
        """Tell how a payment stands. Raises LookupError for an unknown one."""

    def refund(self, reference: str, amount: Money) -> None:
        """Give a payment back; one that was given back stays so. Raises LookupError for an unknown one."""

    def notified(self, body: bytes, signature: str) -> Notice:
        """Return what a notice is about. Raises PermissionError if the gateway has not signed it just now."""


# By the name that is kept with each payment; a gateway that is no longer used for new ones stays for old ones.
_GATEWAYS = {"testbank": "orders.gateways.testbank.gateway"}


def gateway(name: str) -> Gateway:
    """Return the gateway of that name. Raises KeyError if there is none."""
    made: Gateway = import_module(_GATEWAYS[name]).GATEWAY
    return made
