"""The page of promotions: the rows of its list in words."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalogue.queries import get_category
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money
from promotions import queries
from promotions.queries import AUTOMATIC, CODE
from promotions.rules import AMOUNT, BUY_GET, PERCENTAGE, Promotion

# For each trigger (such as a code), the page lists at most this many promotions.
MAX_SHOWN = 200


@dataclass(frozen=True)
class PromotionLine:
    """A promotion's row in the list."""

    trigger: str
    promotion: Promotion
    discount_label: str
    limits: str
    used: int
    state_label: str
    tone: str
    is_over: bool
    can_resume: bool


def list_promotion_lines(now: datetime) -> list[PromotionLine]:
    """Return the rows of the list of promotions. Promotions that have ended come last. Raises CassandraUnavailable."""
    found = []
    for trigger, rows in queries.list_promotions_by_trigger((AUTOMATIC, CODE)).items():
        promotions = [queries.promotion_from_row(row) for row in rows[:MAX_SHOWN]]
        used = (
            queries.count_voucher_uses([each.key for each in promotions]) if trigger == CODE else {}
        )
        found += [_line(trigger, each, used.get(each.key, 0), now) for each in promotions]
    return sorted(found, key=lambda line: line.is_over)


def get_promotion_line(trigger: str, promotion: Promotion, now: datetime) -> PromotionLine:
    """Return a promotion's row with its uses. Raises CassandraUnavailable."""
    used = queries.count_voucher_uses([promotion.key])[promotion.key] if promotion.code else 0
    return _line(trigger, promotion, used, now)


def _line(trigger: str, promotion: Promotion, used: int, now: datetime) -> PromotionLine:
    is_active = not promotion.unavailable_reason(now)
    to_come = promotion.starts_at and now < promotion.starts_at and not promotion.ended_at
    if is_active:
        state, tone = _("Active"), "good"
    elif to_come:
        state, tone = _("Scheduled"), "calm"
    else:
        state, tone = _("Ended"), "plain"
    return PromotionLine(
        trigger,
        promotion,
        discount_label(promotion),
        _limits(promotion),
        used,
        state,
        tone,
        is_over=not is_active and not to_come,
        can_resume=promotion.can_resume(now),
    )


def discount_label(promotion: Promotion) -> str:
    """Return a promotion's discount in words, as staff read it."""
    what = _("Free delivery")
    if promotion.kind == PERCENTAGE:
        what = _("%(percent)s%% off") % {"percent": f"{promotion.percent.normalize():f}"}
    elif promotion.kind == AMOUNT:
        what = _("%(amount)s off") % {"amount": _sum(promotion.amount)}
    elif promotion.kind == BUY_GET:
        what = _("Buy %(buy)s, get %(free)s free") % {"buy": promotion.buy, "free": promotion.free}
    category = get_category(promotion.category_id) if promotion.category_id else None
    if category is None:
        return what
    return _("%(discount)s in %(category)s") % {"discount": what, "category": category.name}


def _limits(promotion: Promotion) -> str:
    limits = []
    if promotion.minimum:
        limits.append(_("minimum spend %(amount)s") % {"amount": _sum(promotion.minimum)})
    if promotion.uses:
        uses = ngettext("%(count)s use", "%(count)s uses", promotion.uses)
        limits.append(uses % {"count": promotion.uses})
    if promotion.limit_per_customer:
        limits.append(_("%(count)s per person") % {"count": promotion.limit_per_customer})
    return ", ".join(limits) or _("none")


def _sum(cents: int) -> str:
    return format_money(from_minor_units(cents, settings.CURRENCY))
