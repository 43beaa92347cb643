"""Files of vouchers: each is a promotion with a code."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cassandra_db import current_time
from pricing.money import to_minor_units
from promotions.errors import PromotionRefused
from promotions.operations import PromotionTerms, check_terms, create_promotion
from promotions.queries import CODE, get_promotion
from promotions.rules import AMOUNT, FREE_DELIVERY, MAX_CODE_LENGTH, PERCENTAGE, Promotion, code_key
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import (
    CellField,
    Decision,
    RowForm,
    Values,
    line_field,
    plan_forms,
    read_forms,
)
from spreadsheets.typed_values import (
    parse_amount,
    parse_choice,
    parse_end,
    parse_moment,
    parse_whole_number,
)

_KINDS = (PERCENTAGE, AMOUNT, FREE_DELIVERY)
_MAX_USES = 1_000_000


def _limit(help_text: Any) -> CellField:
    return CellField(lambda text: parse_whole_number(text, _MAX_USES), empty=0, help_text=help_text)


class VoucherForm(RowForm):
    """A line of a file of vouchers."""

    examples = {
        "code": "WELCOME10",
        "title": gettext_lazy("10% off the first order"),
        "kind": PERCENTAGE,
        "value": "10",
        "minimum": "40.00",
        "uses": "500",
        "uses_per_customer": "1",
        "ends_at": "2027-12-31",
    }
    code = line_field(
        gettext_lazy("Capital letters, spaces and dashes don’t matter."),
        MAX_CODE_LENGTH,
        required=True,
    )
    title = line_field(gettext_lazy("Shoppers see this next to the discount."), 80, required=True)
    kind = CellField(
        lambda text: parse_choice(text, _KINDS),
        required=True,
        help_text=gettext_lazy("percentage, amount or free_delivery."),
    )
    value = CellField(
        parse_amount,
        most=20,
        help_text=gettext_lazy("The percentage, or the amount with tax. Empty for free delivery."),
    )
    minimum = CellField(
        parse_amount, most=20, help_text=gettext_lazy("Minimum spend, before any discount.")
    )
    uses = _limit(gettext_lazy("Uses in total that are left, or empty for no limit."))
    uses_per_customer = _limit(gettext_lazy("Empty for no limit."))
    starts_at = CellField(parse_moment, most=40)
    ends_at = CellField(
        parse_end, most=40, help_text=gettext_lazy("A day without a time means the day’s end.")
    )


def voucher_key(cells: dict[str, str]) -> str:
    """Return the key by which a line is a duplicate of another."""
    return code_key(cells["code"])


def _terms(said: Values) -> PromotionTerms:
    value = said["value"].amount if said["value"] else Decimal(0)
    return PromotionTerms(
        title=said["title"],
        kind=said["kind"],
        code=said["code"],
        percent=Decimal(f"{value.normalize():f}") if said["kind"] == PERCENTAGE else Decimal(0),
        amount=to_minor_units(said["value"]) if said["value"] and said["kind"] == AMOUNT else 0,
        minimum=to_minor_units(said["minimum"]) if said["minimum"] else 0,
        limit_per_customer=said["uses_per_customer"],
        uses=said["uses"],
        starts_at=said["starts_at"],
        ends_at=said["ends_at"],
    )


def plan_vouchers(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of vouchers. Raises CassandraUnavailable."""
    return plan_forms(rows, VoucherForm, tuple, _decide)


def _decide(row: FileRow, values: Sequence[Values], _found: object) -> Decision:
    terms = _terms(values[0])
    try:
        check_terms(terms)
    except PromotionRefused as refused:
        return [Fault(row.line, "", str(refused))]
    stored = get_promotion(CODE, code_key(terms.code))
    if stored is None:
        return "new", terms.title
    if not _has_terms(stored, terms):
        return [Fault(row.line, "code", _("Another promotion has, or had, this code."))]
    return "unchanged", stored.title


def _has_terms(stored: Promotion, terms: PromotionTerms) -> bool:
    names = ("code", "kind", "percent", "amount", "minimum", "starts_at")
    return all(getattr(stored, name) == getattr(terms, name) for name in names)


def apply_voucher(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Create a voucher, once. Return the result, and the reason for it.

    Raises CellRefused, and CassandraUnavailable; the caller then repeats the call.
    """
    (said,) = read_forms(row, VoucherForm)
    try:
        create_promotion(_terms(said), current_time())
    except PromotionRefused as refused:
        return "refused", str(refused)
    return "done", ""
