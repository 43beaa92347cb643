"""What the staff's page of promotions puts together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from catalogue.queries import get_category_tree
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money
from promotions import queries
from promotions.queries import AUTOMATIC, CODE
from promotions.rules import AMOUNT, BUY_GET, PERCENTAGE, Promotion

# How many of a trigger are shown, the newest.
MOST_SHOWN = 200


@dataclass(frozen=True)
class PromotionLine:
    """A promotion as the list shows it."""

    trigger: str
    promotion: Promotion
    discount_label: str
    limits: str
    used: int
    state: str
    tone: str

    @property
    def is_over(self) -> bool:
        return self.state == "Over"


def list_promotion_lines(now: datetime) -> list[PromotionLine]:
    """Return the promotions, those that count or will count first, the newest of each first. Raises CassandraUnavailable."""
    found = []
    for trigger in (AUTOMATIC, CODE):
        promotions = [
            queries.promotion_from_row(row) for row in queries.list_promotions(trigger)[:MOST_SHOWN]
        ]
        used = (
            queries.count_voucher_uses([each.key for each in promotions]) if trigger == CODE else {}
        )
        found += [_line(trigger, each, used.get(each.key, 0), now) for each in promotions]
    return sorted(found, key=lambda line: line.is_over)


def _line(trigger: str, promotion: Promotion, used: int, now: datetime) -> PromotionLine:
    state, tone = "Counts", "good"
    if promotion.unavailable_reason(now):
        to_come = promotion.starts_at and now < promotion.starts_at and not promotion.ended_at
        state, tone = ("To come", "calm") if to_come else ("Over", "plain")
    return PromotionLine(
        trigger, promotion, discount_label(promotion), _limits(promotion), used, state, tone
    )


def discount_label(promotion: Promotion) -> str:
    """Return what a promotion does, in words for the staff."""
    what = "Free delivery"
    if promotion.kind == PERCENTAGE:
        what = f"{promotion.percent.normalize():f}% off"
    elif promotion.kind == AMOUNT:
        what = f"{_sum(promotion.amount)} off"
    elif promotion.kind == BUY_GET:
        what = f"Buy {promotion.buy}, get {promotion.free} free"
    category = (
        get_category_tree().by_id.get(promotion.category_id) if promotion.category_id else None
    )
    return f"{what} in {category.name}" if category else what


def _limits(promotion: Promotion) -> str:
    limits = [f"from {_sum(promotion.minimum)} on"] if promotion.minimum else []
    if promotion.uses:
        limits.append("one use" if promotion.uses == 1 else f"{promotion.uses} uses")
    if promotion.per_person:
        limits.append(
            "one a person" if promotion.per_person == 1 else f"{promotion.per_person} a person"
        )
    return ", ".join(limits) or "none"


def _sum(cents: int) -> str:
    return format_money(from_minor_units(cents, settings.CURRENCY))
