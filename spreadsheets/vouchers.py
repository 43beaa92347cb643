"""Files of vouchers: each is a promotion with a code. A code that the shop has stays as it is."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from cassandra_db import current_time
from pricing.money import to_minor_units
from promotions.errors import PromotionRefused
from promotions.operations import PromotionTerms, check_terms, create_promotion
from promotions.queries import CODE, get_promotion
from promotions.rules import AMOUNT, FREE_DELIVERY, MAX_CODE_LENGTH, PERCENTAGE, code_key
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import CellField, Decision, RowForm, Values, line_field, read_forms
from spreadsheets.typed_values import (
    parse_amount,
    parse_choice,
    parse_end,
    parse_moment,
    parse_whole_number,
)
from web.types import StrOrPromise


def _amount(help_text: StrOrPromise) -> CellField:
    return CellField(lambda text: to_minor_units(parse_amount(text)), empty=0, help_text=help_text)


def _limit(help_text: StrOrPromise) -> CellField:
    return CellField(lambda text: parse_whole_number(text, 1_000_000), empty=0, help_text=help_text)


class VoucherForm(RowForm):
    """A line of a file of vouchers. Its fields are those of PromotionTerms."""

    examples = {
        "code": "WELCOME10",
        "title": _("10% off the first order"),
        "kind": PERCENTAGE,
        "percent": "10",
        "minimum": "40.00",
        "uses": "500",
        "limit_per_customer": "1",
        "ends_at": "2027-12-31",
    }
    code = line_field(
        _("Capital letters, spaces and dashes don’t matter."), MAX_CODE_LENGTH, required=True
    )
    title = line_field(_("Shoppers see this next to the discount."), 80, required=True)
    kind = CellField(
        lambda text: parse_choice(text, (PERCENTAGE, AMOUNT, FREE_DELIVERY)),
        required=True,
        help_text=_("percentage, amount or free_delivery."),
    )
    percent = forms.DecimalField(
        required=False, max_value=100, decimal_places=2, help_text=_("For the kind percentage.")
    )
    amount = _amount(_("For the kind amount, with tax."))
    minimum = _amount(_("Minimum spend, before any discount."))
    uses = _limit(_("Uses in total that are left, or empty for no limit."))
    limit_per_customer = _limit(_("Empty for no limit."))
    starts_at = CellField(parse_moment)
    ends_at = CellField(parse_end, help_text=_("A day without a time means the day’s end."))


def _terms(values: Sequence[Values]) -> PromotionTerms:
    (said,) = values
    return PromotionTerms(**{**said, "percent": said["percent"] or Decimal(0)})


def decide_voucher(row: FileRow, values: Sequence[Values]) -> Decision:
    """Return what a row does. Raises CassandraUnavailable."""
    terms = _terms(values)
    try:
        check_terms(terms)
    except PromotionRefused as refused:
        return [Fault(row.line, "", str(refused))]
    is_known = get_promotion(CODE, code_key(terms.code))
    return "unchanged" if is_known else "new", terms.title


def apply_voucher(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Create a voucher, once. Raises CellRefused, CassandraUnavailable."""
    try:
        create_promotion(_terms(read_forms(row, VoucherForm)), current_time())
    except PromotionRefused as refused:
        return "refused", str(refused)
    return "done", ""
