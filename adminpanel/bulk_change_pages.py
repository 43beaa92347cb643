"""Shared parts of the pages about bulk changes (of products or orders)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils.translation import gettext_lazy

from adminpanel.names import list_names
from adminpanel.parameters import cut_page, parse_id, parse_page
from cassandra_db import current_time
from jobs.bulk_changes import (
    MAX_IN_REQUEST,
    PAGE_LENGTH,
    BulkChangeRow,
    C,
    ChangeStore,
    is_usable_id,
)
from jobs.change_rows import RESULTS
from jobs.rows import collect_failed_rows

RESULT_LABELS = {
    "done": gettext_lazy("Changed"),
    "unchanged": gettext_lazy("No change needed"),
    "refused": gettext_lazy("Refused"),
    "changed": gettext_lazy("Changed by someone else"),
    "": gettext_lazy("Waiting"),
}
RESULT_TONES = {"done": "good", "refused": "warn", "changed": "warn"}


def fingerprint_selection(item_ids: Sequence[UUID], *more: str) -> str:
    """Return a hash of the selected items' ids and of the other parameters of a bulk change."""
    parts = [*sorted(each.bytes for each in item_ids), *(each.encode() for each in more)]
    return sha256(b"".join(parts)).hexdigest()[:16]


def parse_change_id(text: str, now: datetime) -> UUID | None:
    """Return the change id of a form. Return None if the text is no id, or the id is too old to start a change."""
    change_id = parse_id(text)
    return change_id if change_id and is_usable_id(change_id, now) else None


def run_if_small(change: C, run: Callable[[C, int], int]) -> None:
    """Run a small bulk change in the request that starts it. Raises UnknownOutcome.

    The worker runs large changes, repeats failed rows, and finishes changes whose request was interrupted.
    """
    if change.total <= MAX_IN_REQUEST and not change.finished_at:
        with collect_failed_rows():
            run(change, MAX_IN_REQUEST)


def list_change_lines(
    store: ChangeStore[C], describe_act: Callable[[Any], str]
) -> list[dict[str, Any]]:
    """Return the latest changes, newest first, with their acts in words and starters' names. Raises CassandraUnavailable."""
    changes = store.list_changes(current_time())
    names = list_names({each.started_by for each in changes})
    return [
        {"change": each, "act": describe_act(each.act), "who": names[each.started_by]}
        for each in changes
    ]


def change_context(
    request: HttpRequest, store: ChangeStore[C], change: C
) -> tuple[dict[str, Any], Sequence[BulkChangeRow]]:
    """Return the context of a bulk change's page, and the rows that it lists. Raises Http404, CassandraUnavailable."""
    only = request.GET.get("only", "")
    if only and only not in RESULTS:
        raise Http404("no such result")
    counts: Mapping[str, int] = change.counts or {}
    if only:
        found = [each for each in store.iterate_results(change) if each.result == only]
        rows, page, count = cut_page(found, request.GET, PAGE_LENGTH)
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
