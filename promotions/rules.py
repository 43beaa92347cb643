"""What a promotion takes off, and when it applies. Pure rules; nothing here reads or writes.

The stated order: buy X get Y, then percentages, then amounts, then free delivery, of each kind the ones without a code first.
Each takes off what those before it have left. All promotions without a code apply that can, and one code with them. A
promotion's minimum is compared with its lines before anything is taken off, so one does not push out another.
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
# How much is kept of a code that a shopper typed.
MAX_CODE_LENGTH = 40


def code_key(typed: str) -> str:
    """Return what two codes have in common that are the same to a reader: letters and digits, without case (X57)."""
    return "".join(
        each for each in unicodedata.normalize("NFKC", typed).casefold() if each.isalnum()
    )[:MAX_CODE_LENGTH]


@dataclass(frozen=True)
class Promotion:
    """The terms of a promotion. Sums are in minor units of the shop's currency; times in UTC; 0 and None are no limit."""

    key: str  # of its code, or an id if it has none
    code: str  # as the shop writes it; empty if it applies by itself
    title: str  # for the shopper
    kind: str  # one of KINDS
    percent: Decimal = Decimal(0)
    amount: int = 0
    buy: int = 0
    free: int = 0
    category_id: UUID | None = None
    categories: frozenset[UUID] = frozenset()  # the category with all below it
    minimum: int = 0
    limit_per_customer: int = 0
    uses: int = 0
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    ended_at: datetime | None = None  # by the staff, before its time

    def is_for_line(self, line: QuotedLine) -> bool:
        """Return whether the line is covered by this promotion."""
        return self.category_id is None or line.category_id in self.categories

    def covered_subtotal(self, lines: Iterable[QuotedLine]) -> int:
        """Return what the lines that this covers cost, before anything is taken off."""
        return sum(to_minor_units(line.total) for line in lines if self.is_for_line(line))

    def compute_line_discounts(
        self, lines: Sequence[QuotedLine], remaining: Sequence[int]
    ) -> LineDiscounts:
        """Return what it takes off each line, of what others have left there. Rounded as pricing.quotes states."""
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
        """For each `buy` + `free` of the units, as many as `free` cost nothing: the cheapest of all."""
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
        """The last day on which it applies, if it has an end of its own."""
        return last_day(self.ends_at) if self.ends_at else None

    def can_resume(self, now: datetime) -> bool:
        """Return whether staff have ended it and it would go on without that: its own end is to come, if it has one."""
        return self.ended_at is not None and not (self.ends_at and now >= self.ends_at)

    def unavailable_reason(self, now: datetime) -> str:
        """Return why nobody can use it at that moment; '' if it is in use."""
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
        """Return why it does not apply to these lines; '' if it does."""
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
        """What a sentence about it begins with."""
        return _("Code %(code)s") % {"code": self.code} if self.code else self.title

    @property
    def inline_name(self) -> str:
        return _("code %(code)s") % {"code": self.code} if self.code else self.title


def _day(day: date) -> str:
    return date_format(day, "j F Y")


def sort_promotions(promotions: Iterable[Promotion]) -> tuple[Promotion, ...]:
    """Return promotions in the order in which they apply."""
    return tuple(
        sorted(promotions, key=lambda each: (KINDS.index(each.kind), bool(each.code), each.key))
    )


def applicable_promotions(
    promotions: Iterable[Promotion], lines: Sequence[QuotedLine], now: datetime
) -> tuple[Promotion, ...]:
    """Return those that apply to these lines at that moment, in their order."""
    return sort_promotions(
        each
        for each in promotions
        if not each.unavailable_reason(now) and not each.shortfall_reason(lines)
    )
