"""Files of reviews from a former shop. The rules for reviews decide which of them the staff read first."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.queries import find_user_by_email
from cassandra_db import PendingResult, current_time
from catalogue.queries import MAX_SKU_LENGTH, prefetch_product_id_at_quorum, prefetch_variant_by_sku
from catalogue.rules import is_slug, normalize_sku
from moderation.errors import TextChanged
from moderation.rules import find_reason_to_hold, get_review_rules, shown_name
from reviews.entities import MAX_BODY, MAX_TITLE, STARS, ReviewInput
from reviews.operations import write_review
from reviews.queries import find_own_review, guest_ids
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import (
    CellField,
    Decision,
    RowForm,
    Values,
    line_field,
    lines_field,
    optional_email_field,
    plan_forms,
    read_forms,
)
from spreadsheets.typed_values import parse_choice, parse_moment

# The namespace of the ids of reviewers without an e-mail address.
_NAMESPACE = UUID("5f6a8f8e-2d0c-4b0b-8a44-1f1f5b9c6a77")


class ImportedReviewForm(RowForm):
    """A line of a file of reviews."""

    examples = {
        "product": "breakfast-mug",
        "stars": "5",
        "title": gettext_lazy("My favourite mug"),
        "body": gettext_lazy("It keeps the tea warm for an hour."),
        "name": "Ada Lovelace",
        "email": "ada@example.com",
        "written_at": "2025-03-01",
    }
    product = line_field(
        gettext_lazy("The last part of the product’s address, or one of its SKUs."),
        200,
        required=True,
    )
    stars = CellField(
        lambda text: int(parse_choice(text.removesuffix(".0"), tuple(map(str, STARS)))),
        required=True,
        label=gettext_lazy("number of stars"),
        help_text=gettext_lazy("From 1 to 5."),
    )
    title = line_field("", MAX_TITLE)
    body = lines_field("", MAX_BODY)
    name = line_field(gettext_lazy("It’s shown as the first name and an initial."), required=True)
    email = optional_email_field()
    written_at = CellField(
        parse_moment,
        required=True,
        most=40,
        label=gettext_lazy("day"),
        help_text=gettext_lazy("When it was written."),
    )


def review_key(cells: dict[str, str]) -> str:
    """Return the key by which a line is a duplicate of another: one person's review of one product."""
    who = cells.get("email", "").strip().lower() or f"{cells.get('name')} {cells.get('written_at')}"
    return f"{cells['product'].strip()} {who}"


def plan_reviews(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of reviews. Raises CassandraUnavailable."""
    return plan_forms(rows, ImportedReviewForm, _prefetch_product, _decide)


def _prefetch_product(values: Sequence[Values]) -> list[PendingResult]:
    typed = values[0]["product"]
    reading = [prefetch_product_id_at_quorum(typed)] if is_slug(typed) else []
    if len(sku := normalize_sku(typed)) <= MAX_SKU_LENGTH:
        reading.append(prefetch_variant_by_sku(sku))
    return reading


def _find_product_id(reading: Sequence[PendingResult]) -> UUID | None:
    rows = [pending.one() for pending in reading]
    return next((row.product_id for row in rows if row), None)


def _decide(row: FileRow, values: Sequence[Values], found: Sequence[PendingResult]) -> Decision:
    said = values[0]
    product_id = _find_product_id(found)
    if product_id is None:
        return [Fault(row.line, "product", _("No product has this address or SKU."))]
    is_known = find_own_review(product_id, _list_writer_ids(said, product_id))
    return "unchanged" if is_known else "new", said["name"]


def _list_writer_ids(said: Values, product_id: UUID) -> list[UUID]:
    """Return the ids under which a reviewer may have written: first the one that an import uses. Raises CassandraUnavailable."""
    if not said["email"]:
        when = said["written_at"].isoformat()
        return [uuid5(_NAMESPACE, f"{product_id} {said['name']} {when} {said['body']}")]
    member = find_user_by_email(said["email"])
    return [*([member.user_id] if member else ()), *guest_ids(said["email"])]


def apply_review(_task: SpreadsheetTask, row: PlannedRow, mark: UUID) -> tuple[str, str]:
    """Write a review, once. Return the result, and the reason for it.

    Nobody here has checked who bought the product, so no review is a verified one. Raises CellRefused and ReviewsBusy, and
    CassandraUnavailable; the caller then repeats the call.
    """
    (said,) = read_forms(row, ImportedReviewForm)
    product_id = _find_product_id(_prefetch_product([said]))
    if product_id is None:
        return "changed", _("This product was deleted.")
    ids = _list_writer_ids(said, product_id)
    present = find_own_review(product_id, ids)
    if present and present.change_id != mark:
        return "changed", _("The customer has reviewed this product since the file was checked.")
    held_for = find_reason_to_hold(said["title"], said["body"], get_review_rules())
    try:
        write_review(
            product_id,
            present.user_id if present else ids[0],
            ReviewInput(
                stars=said["stars"],
                title=said["title"],
                body=said["body"].strip(),
                name=shown_name(said["name"]),
                verified=False,
                held_for=held_for,
            ),
            seen=0,
            change_id=mark,
            now=current_time(),
            written_at=said["written_at"],
        )
    except TextChanged:
        return "changed", _("The customer has reviewed this product since the file was checked.")
    return "done", ""
