"""Files of reviews from a former shop. The rules for reviews decide which of them the staff read first."""

from collections.abc import Sequence
from uuid import UUID

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.queries import find_user_by_email
from cassandra_db import current_time
from catalogue.queries import find_variant_by_sku, prefetch_product_id_at_quorum
from catalogue.rules import normalize_sku
from mail.forms import email_field
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
    read_forms,
)
from spreadsheets.typed_values import parse_moment


class ImportedReviewForm(RowForm):
    """A line of a file of reviews."""

    examples = {
        "product": "breakfast-mug",
        "stars": "5",
        "title": _("My favourite mug"),
        "body": _("It keeps the tea warm for an hour."),
        "name": "Ada Lovelace",
        "email": "ada@example.com",
        "written_at": "2025-03-01",
    }
    product = line_field(
        _("The last part of the product’s address, or one of its SKUs."), 200, required=True
    )
    stars = forms.IntegerField(
        min_value=min(STARS),
        max_value=max(STARS),
        label=_("number of stars"),
        help_text=_("From 1 to 5."),
    )
    title = line_field("", MAX_TITLE)
    body = lines_field("", MAX_BODY)
    name = line_field(_("It’s shown as the first name and an initial."), required=True)
    email = email_field()
    written_at = CellField(
        parse_moment, required=True, label=_("date"), help_text=_("When it was written.")
    )


def _find_product_id(typed: str) -> UUID | None:
    found = prefetch_product_id_at_quorum(typed).one() or find_variant_by_sku(normalize_sku(typed))
    return found.product_id if found else None


def _list_writer_ids(email: str) -> list[UUID]:
    """Return the ids under which a person may have written. An import uses the first. Raises CassandraUnavailable."""
    member = find_user_by_email(email)
    return [*([member.user_id] if member else ()), *guest_ids(email)]


def decide_review(row: FileRow, values: Sequence[Values]) -> Decision:
    """Return what a row does. Raises CassandraUnavailable."""
    (said,) = values
    product_id = _find_product_id(said["product"])
    if product_id is None:
        return [Fault(row.line, "product", gettext("No product has this address or SKU."))]
    is_known = find_own_review(product_id, _list_writer_ids(said["email"]))
    return "unchanged" if is_known else "new", said["name"]


def apply_review(_task: SpreadsheetTask, row: PlannedRow, mark: UUID) -> tuple[str, str]:
    """Write a review, once. Raises CellRefused, ReviewsBusy, CassandraUnavailable."""
    (said,) = read_forms(row, ImportedReviewForm)
    product_id = _find_product_id(said["product"])
    if product_id is None:
        return "changed", gettext("This product was deleted.")
    ids, now = _list_writer_ids(said["email"]), current_time()
    present = find_own_review(product_id, ids)
    review = ReviewInput(
        stars=said["stars"],
        title=said["title"],
        body=said["body"],
        name=shown_name(said["name"]),
        verified=False,  # nobody here has checked who bought the product
        held_for=find_reason_to_hold(said["title"], said["body"], get_review_rules()),
        imported=True,
    )
    try:
        write_review(
            product_id,
            present.user_id if present else ids[0],
            review,
            seen=0,
            change_id=mark,
            now=now,
            written_at=min(said["written_at"], now),
        )
    except TextChanged:
        return "changed", gettext(
            "The customer has reviewed this product since the file was checked."
        )
    return "done", ""
