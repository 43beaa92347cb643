"""The discounts of promotions, and when promotions apply. Pure rules, without reads and writes.

`redeem_voucher` in operations.py decides whether a code is used up.

Promotions apply in this order: buy X get Y, percentages, amounts, free delivery. Within a kind, promotions without a code come
first. Each promotion applies to the sums that the earlier promotions have left. All promotions without a code apply, plus one
code. A promotion's minimum is compared with its lines before all discounts, so no promotion pushes out another.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pricing.money import from_minor_units, to_minor_units
from pricing.proration import prorate_amount
from pricing.quotes import LineDiscounts, QuotedLine
from pricing.templatetags.money import format_money
from web.days import last_day

BUY_GET = "buy_get"
PERCENTAGE = "percentage"
AMOUNT = "amount"
FREE_DELIVERY = "free_delivery"
KINDS = (BUY_GET, PERCENTAGE, AMOUNT, FREE_DELIVERY)
# The characters of a typed code that count. All others are dropped.
MAX_CODE_LENGTH = 40


def code_key(typed: str) -> str:
    """Return the key of a code: its letters and digits, without case. Codes with the same letters and digits share a key (X57)."""
    return "".join(
        each for each in unicodedata.normalize("NFKC", typed).casefold() if each.isalnum()
    )[:MAX_CODE_LENGTH]


@dataclass(frozen=True)
class Promotion:
    """The terms of a promotion. Sums are in minor units of the shop's currency, times in UTC. 0 and None mean no limit."""

    key: str  # the code's key; an id for a promotion without a code
    code: str  # as the shop writes it; '' without a code
    title: str  # for the shopper
    kind: str  # one of KINDS
    percent: Decimal = Decimal(0)
    amount: int = 0
    buy: int = 0
    free: int = 0
    category_id: UUID | None = None
    categories: frozenset[UUID] = frozenset()  # the chosen categories and all below them
    minimum: int = 0
    limit_per_customer: int = 0
    uses: int = 0
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    ended_at: datetime | None = None  # when the staff ended the promotion early

    def is_for_line(self, line: QuotedLine) -> bool:
        """Return whether this promotion covers the line."""
        return self.category_id is None or line.category_id in self.categories

    def covered_subtotal(self, lines: Iterable[QuotedLine]) -> int:
        """Return the sum of the covered lines, before discounts."""
        return sum(to_minor_units(line.total) for line in lines if self.is_for_line(line))

    def compute_line_discounts(
        self, lines: Sequence[QuotedLine], remaining: Sequence[int]
    ) -> LineDiscounts:
        """Return the discount of each line, taken from the sums that earlier promotions have left. pricing.quotes defines the rounding."""
        if self.kind == FREE_DELIVERY:
            return LineDiscounts((0,) * len(lines), has_free_delivery=True)
        if self.kind == BUY_GET:
            return LineDiscounts(self._cheapest_free(lines))
        covered = [
            amount if self.is_for_line(line) else 0
            for line, amount in zip(lines, remaining, strict=True)
        ]
        off = min(self._amount_off(sum(covered)), sum(covered))
        return LineDiscounts(tuple(prorate_amount(off, covered)))

    def _amount_off(self, cents: int) -> int:
        if self.kind == AMOUNT:
            return self.amount
        return int((cents * self.percent / 100).quantize(Decimal(1), ROUND_HALF_UP))

    def _cheapest_free(self, lines: Sequence[QuotedLine]) -> tuple[int, ...]:
        """Return the discounts for "buy X get Y": of each `buy` + `free` units, `free` cost nothing. The cheapest units are free."""
        indexes = [index for index, line in enumerate(lines) if self.is_for_line(line)]
        units = sum(lines[index].quantity for index in indexes)
        free_units = units // (self.buy + self.free) * self.free
        off = [0] * len(lines)
        for index in sorted(indexes, key=lambda index: lines[index].unit_price):
            taken = min(free_units, lines[index].quantity)
            off[index] = to_minor_units(lines[index].unit_price) * taken
            free_units -= taken
        return tuple(off)

    @property
    def last_day(self) -> date | None:
        """The last day on which the promotion applies, if its terms have an end."""
        return last_day(self.ends_at) if self.ends_at else None

    def can_resume(self, now: datetime) -> bool:
        """Return whether the staff have ended the promotion before the end of its terms."""
        return self.ended_at is not None and not (self.ends_at and now >= self.ends_at)

    def unavailable_reason(self, now: datetime) -> str:
        """Return the reason why the promotion does not run at that moment; '' if it runs."""
        if self.ended_at and now >= self.ended_at:
            return _("%(name)s is no longer valid.") % {"name": self.capitalized_name}
        if self.ends_at and now >= self.ends_at:
            return _("%(name)s expired on %(day)s.") % {
                "name": self.capitalized_name,
                "day": _day(last_day(self.ends_at)),
            }
        if self.starts_at and now < self.starts_at:
            return _("%(name)s is valid from %(day)s.") % {
                "name": self.capitalized_name,
                "day": _day(timezone.localdate(self.starts_at)),
            }
        return ""

    def shortfall_reason(self, lines: Sequence[QuotedLine]) -> str:
        """Return the reason why the promotion does not apply to these lines; '' if it does."""
        covered = [line for line in lines if self.is_for_line(line)]
        if not covered:
            return _("%(name)s doesn’t apply to any of the items in your cart.") % {
                "name": self.capitalized_name
            }
        if (missing := self.minimum - self.covered_subtotal(lines)) > 0:
            least, more = (
                format_money(from_minor_units(each, settings.CURRENCY))
                for each in (self.minimum, missing)
            )
            return _("%(name)s applies from %(least)s. Add %(more)s more to use it.") % {
                "name": self.capitalized_name,
                "least": least,
                "more": more,
            }
        if (
            self.kind == BUY_GET
            and (wanting := self.buy + self.free - sum(line.quantity for line in covered)) > 0
        ):
            return ngettext(
                "%(name)s applies from %(least)s items. Add %(more)s more item to use it.",
                "%(name)s applies from %(least)s items. Add %(more)s more items to use it.",
                wanting,
            ) % {"name": self.capitalized_name, "least": self.buy + self.free, "more": wanting}
        return ""

    @property
    def capitalized_name(self) -> str:
        """The promotion's name at the beginning of a sentence."""
        return _("Code %(code)s") % {"code": self.code} if self.code else self.title

    @property
    def inline_name(self) -> str:
        return _("code %(code)s") % {"code": self.code} if self.code else self.title


def _day(day: date) -> str:
    return date_format(day, "j F Y")


def sort_promotions(promotions: Iterable[Promotion]) -> tuple[Promotion, ...]:
    """Return the promotions sorted as they apply."""
    return tuple(
        sorted(promotions, key=lambda each: (KINDS.index(each.kind), bool(each.code), each.key))
    )


def applicable_promotions(
    promotions: Iterable[Promotion], lines: Sequence[QuotedLine], now: datetime
) -> tuple[Promotion, ...]:
    """Return the promotions that apply to these lines at that moment, sorted as they apply."""
    return sort_promotions(
        each
        for each in promotions
        if not each.unavailable_reason(now) and not each.shortfall_reason(lines)
    )
