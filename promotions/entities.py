"""A code as the shopper typed it, and the promotions that apply to some order lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from moneyed import Money

from pricing.delivery import DeliveryMethod
from pricing.quotes import QuotedLine, lines_subtotal, lines_weight
from promotions.rules import FREE_DELIVERY, Promotion


@dataclass(frozen=True)
class Voucher:
    """A code that the shopper has typed. `reason` says why the code gives no discount, or is ""."""

    typed_code: str
    promotion: Promotion | None = None
    reason: str = ""

    @property
    def code(self) -> str:
        """The code as the shop writes it; for an unknown code, as the shopper typed it."""
        return self.promotion.code if self.promotion else self.typed_code


@dataclass(frozen=True)
class AppliedPromotions:
    """The promotions that apply to some order lines, in order, and the typed code with its result."""

    promotions: tuple[Promotion, ...] = ()
    voucher: Voucher | None = None

    @property
    def refusal_reason(self) -> str:
        """The reason why the code gives no discount; '' if it gives one, or without a code."""
        return self.voucher.reason if self.voucher else ""

    def delivery_price(self, lines: Sequence[QuotedLine], method: DeliveryMethod) -> Money:
        """Return the price of a delivery method for these lines. Raises ValueError without lines."""
        price = method.price_for(lines_subtotal(lines), lines_weight(lines))
        return price * 0 if any(each.kind == FREE_DELIVERY for each in self.promotions) else price
