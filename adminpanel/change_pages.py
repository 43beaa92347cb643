"""What the pages of bulk changes of products and of orders have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.queries import get_users
from jobs.bulk_changes import (
    PAGE_LENGTH,
    BulkChange,
    BulkChangeRow,
    C,
    ChangeStore,
    is_usable_id,
)
from jobs.change_rows import RESULTS

RESULT_LABELS = {
    "done": gettext_lazy("Changed"),
    "unchanged": gettext_lazy("Was so already"),
    "refused": gettext_lazy("Refused"),
    "changed": gettext_lazy("Changed by somebody else meanwhile"),
    "": gettext_lazy("Waiting"),
}
RESULT_TONES = {"done": "good", "refused": "warn", "changed": "warn"}


def fingerprint_selection(item_ids: Sequence[UUID], *more: str) -> str:
    """Return a short text that differs when others are selected, or something else is said of them."""
    parts = [*sorted(each.bytes for each in item_ids), *(each.encode() for each in more)]
    return sha256(b"".join(parts)).hexdigest()[:16]


def parse_change_id(text: str, now: datetime) -> UUID | None:
    """Return the id that a form carries, None if no change may be started under it (any more)."""
    try:
        change_id = UUID(text)
    except ValueError:
        return None
    return change_id if is_usable_id(change_id, now) else None


def parse_page(data: QueryDict, count: int) -> int:
    """Return which of so many pages is asked for."""
    text = data.get("page", "")[:5]
    return min(max(int(text) if text.isdecimal() else 1, 1), max(count, 1))


def list_starters(changes: Sequence[BulkChange]) -> dict[UUID, str]:
    """Return who has started these changes, by their ids. Raises CassandraUnavailable."""
    people = get_users({each.started_by for each in changes})
    gone = _("somebody whose account was deleted")
    return {
        each.started_by: people[each.started_by].name if each.started_by in people else gone
        for each in changes
    }


def change_context(
    request: HttpRequest, store: ChangeStore[C], change: C
) -> tuple[dict[str, Any], list[BulkChangeRow]]:
    """Return what the page of a change shows, and the rows that it asks for. Raises CassandraUnavailable."""
    only = request.GET.get("only", "")
    if only and only not in RESULTS:
        raise Http404("no such result")
    counts: Mapping[str, int] = change.counts or {}
    if only:
        found = [each for each in store.iterate_results(change) if each.result == only]
        count = -(-len(found) // PAGE_LENGTH) or 1
        page = parse_page(request.GET, count)
        rows = found[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH]
    else:
        count = -(-change.total // PAGE_LENGTH)
        page = parse_page(request.GET, count)
        rows = store.list_rows(change, page)
    return {
        "change": change,
        "is_polled": "X-Refreshes-Itself" in request.headers,
        "chosen": only,
        "tallies": [
            (name, label, counts[name]) for name, label in RESULT_LABELS.items() if counts.get(name)
        ],
        "page": page,
        "page_count": count,
        "query": f"only={only}" if only else "",
    }, rows
