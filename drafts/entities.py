"""Draft orders, which staff write for a customer, and the JSON in which a draft's lines, discount and offer are stored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac
from moneyed import Money

from accounts.addresses import Address
from jobs.months import month_of
from pricing.delivery import DeliveryMethod
from pricing.money import from_minor_units, to_minor_units
from pricing.quotes import QuotedLine, snapshot_columns
from promotions.rules import AMOUNT, PERCENTAGE, Promotion
from web.days import end_of_day, last_day

OPEN, SENT, ACCEPTED = "open", "sent", "accepted"
_SALT = "drafts.orders"


@dataclass(frozen=True)
class DraftDiscount:
    """A discount on a draft order. `value` is per cent, or an amount in the shop's currency. The customer reads the reason."""

    kind: str  # PERCENTAGE or AMOUNT
    value: Decimal
    reason: str

    def build_promotion(self) -> Promotion:
        """Return the promotion that gives this discount on all lines."""
        is_amount = self.kind == AMOUNT
        return Promotion(
            key="",
            code="",
            title=self.reason,
            kind=AMOUNT if is_amount else PERCENTAGE,
            percent=Decimal(0) if is_amount else self.value,
            amount=to_minor_units(Money(self.value, settings.CURRENCY)) if is_amount else 0,
        )


@dataclass(frozen=True)
class Offer:
    """An offer: the delivery method and the total when it was made, and the end of its last day (UTC)."""

    method: DeliveryMethod
    total: Money
    until: datetime

    @property
    def last_day(self) -> date:
        """The last day on which the customer can accept the offer."""
        return last_day(self.until)


@dataclass(frozen=True)
class DraftOrder:
    """A draft order. `lines` have the prices of the last save; an offer keeps these prices.

    `order_id` is the id of the order that the draft becomes. `changed_by` is the actor who saved the draft last.
    """

    draft_id: UUID
    email: str
    address: Address
    lines: tuple[QuotedLine, ...]
    method_code: str
    discount: DraftDiscount | None = None
    billing_address: Address | None = None  # None if the delivery address is used
    added_to: str = ""
    user_id: UUID | None = None
    version: int = 0
    state: str = OPEN
    offer: Offer | None = None
    order_id: UUID | None = None
    mailed: int = 0
    changed_by: str = ""
    changed_at: datetime = field(default=datetime.min.replace(tzinfo=UTC))

    @property
    def key(self) -> dict[str, UUID | date]:
        return {"month": month_of(self.draft_id), "draft_id": self.draft_id}

    @property
    def promotions(self) -> tuple[Promotion, ...]:
        return (self.discount.build_promotion(),) if self.discount else ()

    @property
    def name(self) -> str:
        """The customer's name, or else the e-mail address."""
        return self.address.name or self.email

    @property
    def unit_count(self) -> int:
        return sum(line.quantity for line in self.lines)


def derive_order_id(draft_id: UUID, version: int) -> UUID:
    """Return the id of the order that this version of a draft becomes (decisions 016 and 058)."""
    digest = salted_hmac(_SALT, f"{draft_id} {version}", algorithm="sha256").digest()
    return UUID(bytes=digest[:16], version=4)


def dump_lines(lines: Sequence[QuotedLine]) -> str:
    """Return lines as JSON."""
    return json.dumps(
        [
            snapshot_columns(line)
            | {
                "unit_price": to_minor_units(line.unit_price),
                "currency": line.unit_price.currency.code,
                "quantity": line.quantity,
                "tax_class": line.tax_class,
                "weight_grams": line.weight_grams,
                "category_id": line.category_id,
            }
            for line in lines
        ],
        default=str,
    )


def parse_lines(text: str) -> tuple[QuotedLine, ...]:
    """Return the lines in a text of `dump_lines`."""
    return tuple(_parse_line(each) for each in json.loads(text or "[]"))


def _parse_line(stored: dict[str, Any]) -> QuotedLine:
    price = from_minor_units(stored["unit_price"], stored.pop("currency"))
    ids = {
        name: UUID(stored[name]) if stored[name] else None
        for name in ("product_id", "variant_id", "category_id")
    }
    return QuotedLine(**stored | ids | {"unit_price": price})


def dump_discount(discount: DraftDiscount | None) -> str:
    """Return a discount as JSON, or '' for None."""
    return json.dumps(asdict(discount), default=str) if discount else ""


def parse_discount(text: str | None) -> DraftDiscount | None:
    """Return the discount in a text of `dump_discount`, or None."""
    if not text:
        return None
    stored = json.loads(text)
    return DraftDiscount(stored["kind"], Decimal(stored["value"]), stored["reason"])


def dump_offer(offer: Offer | None) -> str:
    """Return an offer as JSON, or '' for None."""
    if offer is None:
        return ""
    method = offer.method
    return json.dumps(
        {
            "code": method.code,
            "name": str(method.name),
            "carrier": method.carrier,
            "price": to_minor_units(method.price),
            "days": method.days,
            "total": to_minor_units(offer.total),
            "currency": offer.total.currency.code,
            "until": offer.until.isoformat(),
        }
    )


def parse_offer(text: str | None) -> Offer | None:
    """Return the offer in a text of `dump_offer`. It has the offered delivery price, even if the method's price has changed."""
    if not text:
        return None
    stored: Mapping[str, Any] = json.loads(text)
    currency, (first, last) = stored["currency"], stored["days"]
    method = DeliveryMethod(
        stored["code"],
        stored["name"],
        stored["carrier"],
        from_minor_units(stored["price"], currency),
        (first, last),
    )
    total = from_minor_units(stored["total"], currency)
    return Offer(method, total, end_of_day(last_day(datetime.fromisoformat(stored["until"]))))
