"""Read promotions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from cassandra_db import PendingResult, Row, read
from cassandra_db.process_copies import ProcessCopy
from catalogue.queries import get_category
from pricing.quotes import QuotedLine
from promotions.entities import AppliedPromotions, Voucher
from promotions.rules import (
    MAX_CODE_LENGTH,
    Promotion,
    applicable_promotions,
    code_key,
    sort_promotions,
)

AUTOMATIC = "automatic"
CODE = "code"
# The limit of a code without a limit.
UNLIMITED = 1_000_000_000

PROMOTIONS_BY_TRIGGER = read(
    "promotions",
    """SELECT trigger, key, code, title, kind, percent, amount, buy, free, category_id, minimum, per_person, uses, starts_at,
              ends_at, ended_at, made_at
       FROM promotions WHERE trigger = :trigger""",
)
PROMOTION = read(
    "promotions",
    """SELECT trigger, key, code, title, kind, percent, amount, buy, free, category_id, minimum, per_person, uses, starts_at,
              ends_at, ended_at, made_at
       FROM promotions WHERE trigger = :trigger AND key = :key""",
)
# I6: the number of uses of a code. The column is static, so this returns one row.
VOUCHER_USES = read("I6", "SELECT key, claim, used FROM voucher_uses WHERE key = :key LIMIT 1")
# I6: the uses that count for one of a customer's keys.
VOUCHER_USES_OF_CUSTOMER = read(
    "I6",
    """SELECT key, claim, used, order_id FROM voucher_uses
       WHERE key = :key AND claim >= :first AND claim < :after""",
)


def promotion_from_row(row: Row) -> Promotion:
    """Return the promotion that a row stores, with all its categories. Raises CassandraUnavailable."""
    return Promotion(
        key=row.key,
        code=row.code or "",
        title=row.title,
        kind=row.kind,
        percent=row.percent or Promotion.percent,
        amount=row.amount or 0,
        buy=row.buy or 0,
        free=row.free or 0,
        category_id=row.category_id,
        categories=_with_all_below(row.category_id) if row.category_id else frozenset(),
        minimum=row.minimum or 0,
        limit_per_customer=row.per_person or 0,
        uses=row.uses or 0,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        ended_at=row.ended_at,
    )


def _with_all_below(category_id: UUID) -> frozenset[UUID]:
    found, waiting = {category_id}, [get_category(category_id)]
    while waiting:
        if node := waiting.pop():
            found.add(node.category_id)
            waiting += node.children
    return frozenset(found)


def _promotions_from_rows(rows: Iterable[Row]) -> tuple[Promotion, ...]:
    return sort_promotions(promotion_from_row(row) for row in rows)


AUTOMATIC_PROMOTIONS = ProcessCopy(
    lambda: PROMOTIONS_BY_TRIGGER.start(trigger=AUTOMATIC), _promotions_from_rows, 30
)
# A page starts this read in parallel with its other reads.
prefetch_automatic_promotions = AUTOMATIC_PROMOTIONS.prefetch
clear_promotion_cache = AUTOMATIC_PROMOTIONS.forget


def list_automatic_promotions() -> tuple[Promotion, ...]:
    """Return all promotions without a code, also ended ones; the result is at most 30 seconds old. Raises CassandraUnavailable."""
    return AUTOMATIC_PROMOTIONS.get()


def list_running_promotions(
    now: datetime, category_id: UUID | None = None
) -> tuple[Promotion, ...]:
    """Return the promotions without a code that run now; with a category, only promotions that cover its products.

    Raises CassandraUnavailable.
    """
    return tuple(
        each
        for each in list_automatic_promotions()
        if not each.unavailable_reason(now)
        and (category_id is None or not each.category_id or category_id in each.categories)
    )


def list_promotions(trigger: str) -> list[Row]:
    """Return a trigger's promotions as rows, newest first. Raises CassandraUnavailable."""
    return list_promotions_by_trigger([trigger])[trigger]


def list_promotions_by_trigger(triggers: Sequence[str]) -> dict[str, list[Row]]:
    """Return the promotions of each trigger as rows, newest first, in one round. Raises CassandraUnavailable."""
    reading = {each: PROMOTIONS_BY_TRIGGER.start(trigger=each) for each in triggers}
    return {
        each: sorted(pending.rows(), key=lambda row: row.made_at, reverse=True)
        for each, pending in reading.items()
    }


def get_promotion(trigger: str, key: str) -> Promotion | None:
    """Return a promotion, running or ended, or None. Raises CassandraUnavailable."""
    row = PROMOTION.one(trigger=trigger, key=key) if key else None
    return promotion_from_row(row) if row else None


def count_voucher_uses(keys: Sequence[str]) -> dict[str, int]:
    """Return the number of uses of each code. It takes one round of reads. Raises CassandraUnavailable."""
    reading = {key: VOUCHER_USES.start(key=key) for key in keys}
    rows = {key: pending.one() for key, pending in reading.items()}
    return {key: row.used or 0 if row else 0 for key, row in rows.items()}


@dataclass(frozen=True)
class PendingPromotions:
    """A pending read of a typed code and its uses, and of the promotions without a code."""

    typed_code: str
    _terms: PendingResult | None = None
    _uses: PendingResult | None = None
    _mine: tuple[PendingResult, ...] = ()

    def collect(
        self, lines: Sequence[QuotedLine], now: datetime, *, refusal_reason: str = ""
    ) -> AppliedPromotions:
        """Return the promotions that apply to these lines. `refusal_reason` says why the code does not apply, if this is known.

        Raises CassandraUnavailable.
        """
        mine = self._voucher(lines, now, refusal_reason)
        with_code = [mine.promotion] if mine and mine.promotion and not mine.reason else []
        return AppliedPromotions(
            sort_promotions(
                [*applicable_promotions(list_automatic_promotions(), lines, now), *with_code]
            ),
            mine,
        )

    def _voucher(
        self, lines: Sequence[QuotedLine], now: datetime, refusal_reason: str
    ) -> Voucher | None:
        if not self.typed_code:
            return None
        row = self._terms.one() if self._terms else None
        if row is None:
            return Voucher(self.typed_code, None, unknown_code_message(self.typed_code))
        found = promotion_from_row(row)
        reason = (
            refusal_reason
            or found.unavailable_reason(now)
            or self._used_up(found)
            or (found.shortfall_reason(lines) if lines else "")
        )
        return Voucher(self.typed_code, found, reason)

    def _used_up(self, found: Promotion) -> str:
        most_used = max(
            (sum(1 for row in each.rows() if row.claim) for each in self._mine), default=0
        )
        if found.limit_per_customer and most_used >= found.limit_per_customer:
            return already_used_message(found)
        uses = self._uses.one() if self._uses else None
        return (
            used_up_message(found)
            if uses and uses.used is not None and uses.used >= (found.uses or UNLIMITED)
            else ""
        )


def prefetch_promotions(typed: str, customer_keys: Sequence[str] = ()) -> PendingPromotions:
    """Start reading the typed code's promotion, if any, and the promotions without a code. It takes one round of reads.

    `customer_keys` come from promotions.operations.voucher_customer_keys; an unknown customer has none.
    """
    prefetch_automatic_promotions()
    key = code_key(typed)
    if not key:
        return PendingPromotions(typed[:MAX_CODE_LENGTH])
    return PendingPromotions(
        typed,
        PROMOTION.start(trigger=CODE, key=key),
        VOUCHER_USES.start(key=key),
        tuple(
            VOUCHER_USES_OF_CUSTOMER.start(key=key, first=f"user:{each}:", after=f"user:{each};")
            for each in customer_keys
        ),
    )


def unknown_code_message(typed: str) -> str:
    """Return the message for an unknown code."""
    return _(
        "We can’t find the code “%(code)s”. Check the spelling. Capital letters, spaces and dashes don’t matter."
    ) % {"code": typed}


def used_up_message(found: Promotion) -> str:
    """Return the message for a code without uses left."""
    return _("%(name)s has reached its usage limit.") % {"name": found.capitalized_name}


def already_used_message(found: Promotion) -> str:
    """Return the message for a code that this customer has used as often as allowed."""
    words = (
        _("You’ve already used %(name)s.")
        if found.limit_per_customer == 1
        else _("You’ve already used %(name)s as many times as you can.")
    )
    return words % {"name": found.inline_name}


def get_applied_promotions(
    typed: str, lines: Iterable[QuotedLine], now: datetime, customer_keys: Sequence[str] = ()
) -> AppliedPromotions:
    """Return the promotions that apply to these lines. It takes one round of reads. Raises CassandraUnavailable."""
    return prefetch_promotions(typed, customer_keys).collect(tuple(lines), now)
