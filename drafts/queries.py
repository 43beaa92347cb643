"""The reads of draft orders."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from accounts.addresses import address_from_fields
from cassandra_db import PendingResult, Row, read
from drafts.entities import DraftOrder, parse_discount, parse_lines, parse_offer
from jobs.months import list_months, month_of

PAGE_LENGTH = 50
_COLUMNS = """draft_id, version, state, email, user_id, address, billing_address, lines, delivery_method, discount, added_to,
              offer, order_id, mailed, changed_by, changed_at"""

DRAFT = read(
    "drafts",
    f"SELECT {_COLUMNS} FROM draft_orders WHERE month = :month AND draft_id = :draft_id",  # noqa: S608
)
DRAFTS = read("drafts", f"SELECT {_COLUMNS} FROM draft_orders WHERE month = :month")  # noqa: S608
DRAFTS_BEFORE = read(
    "drafts",
    f"SELECT {_COLUMNS} FROM draft_orders WHERE month = :month AND draft_id < :before LIMIT :most",  # noqa: S608
)
NEWEST_DRAFTS = read(
    "drafts",
    f"SELECT {_COLUMNS} FROM draft_orders WHERE month = :month LIMIT :most",  # noqa: S608
)
UNMAILED = read(
    "drafts", "SELECT draft_id, version, state, mailed FROM draft_orders WHERE month = :month"
)


def prefetch_draft(draft_id: UUID) -> PendingResult:
    """Start reading a draft order, for `draft_from_row`. The time in its id gives its month."""
    return DRAFT.start(month=month_of(draft_id), draft_id=draft_id)


def get_draft(draft_id: UUID) -> DraftOrder | None:
    """Return a draft order, or None. Raises CassandraUnavailable."""
    if draft_id.version != 1:
        return None
    return draft_from_row(prefetch_draft(draft_id).one())


def draft_from_row(row: Row | None) -> DraftOrder | None:
    """Return the draft order in a row; None without a row."""
    # Some columns of an expired row can outlive its other columns.
    if row is None or not row.version:
        return None
    billing = row.billing_address
    return DraftOrder(
        draft_id=row.draft_id,
        email=row.email or "",
        address=address_from_fields(row.address or {}),
        lines=parse_lines(row.lines),
        method_code=row.delivery_method or "",
        discount=parse_discount(row.discount),
        billing_address=address_from_fields(billing) if billing else None,
        added_to=row.added_to or "",
        user_id=row.user_id,
        version=row.version,
        state=row.state,
        offer=parse_offer(row.offer),
        order_id=row.order_id,
        mailed=row.mailed or 0,
        changed_by=row.changed_by,
        changed_at=row.changed_at,
    )


def list_drafts(now: datetime, before: UUID | None = None) -> list[DraftOrder]:
    """Return the draft orders begun before the draft `before`, newest first: PAGE_LENGTH, plus one more if there are more.

    Raises CassandraUnavailable.
    """
    most = PAGE_LENGTH + 1
    reading = [
        DRAFTS_BEFORE.start(month=month, before=before, most=most)
        if before
        else NEWEST_DRAFTS.start(month=month, most=most)
        for month in list_months(now)
    ]
    found = (draft_from_row(row) for pending in reading for row in pending.rows())
    return [draft for draft in found if draft][:most]


def iterate_drafts(now: datetime) -> Iterator[DraftOrder]:
    """Yield all draft orders. Raises CassandraUnavailable."""
    for month in list_months(now):
        for row in DRAFTS.all(month=month):
            if draft := draft_from_row(row):
                yield draft
