"""The pages of a member's notifications: the panel of the bell, and all of them."""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.early_reads import get_early_reads, starts_reads
from cassandra_db import InvalidPageToken, PendingResult, wait_for_all
from notifications import operations, queries
from notifications.entities import Notification
from web.decorators import get_or_post
from web.rendering import render_or_redirect, render_page

_PANEL = "accounts/notification_panel.html"


def _prefetch_page(request: HttpRequest, user_id: UUID) -> PendingResult | None:
    with suppress(InvalidPageToken):
        return queries.prefetch_page(user_id, request.GET.get("after", ""))
    return None


@require_safe
@starts_reads(_prefetch_page)
@member_required
def notification_list(request: HttpRequest) -> HttpResponse:
    """Show a page of the notifications of the last 30 days, newest first."""
    reading, user_id = get_early_reads(request), current_member(request).pk
    if reading is None:
        return redirect("accounts:notifications")
    page = queries.page_from_rows(user_id, reading.rows())
    is_first = not request.GET.get("after")
    context = {
        "listed": queries.describe_notes(page.notes),
        "until": page.notes[0].notification_id if page.notes and is_first else None,
        "has_unread": any(not each.is_read for each in page.notes),
        "has_new": is_first and any(each.is_new for each in page.notes),
        "next_url": f"?after={page.next_token}" if page.next_token else "",
        "is_first": is_first,
    }
    return render_page(request, "accounts/notifications.html", context)


@get_or_post
@member_required
def notification_panel(request: HttpRequest) -> HttpResponse:
    """Show the panel of the bell: 50 of the newest 200 notifications, unread ones first, and mark them as seen.

    Without htmx it is the list, after they were marked.
    """
    if request.method != "POST":
        return redirect("accounts:notifications")
    user_id = current_member(request).pk
    notes = queries.notes_from_rows(user_id, queries.prefetch_newest(user_id).rows())
    marking = operations.start_marking_seen(user_id, notes)

    def read_panel() -> dict[str, object]:
        return _panel_context(notes)

    response = render_or_redirect(
        request, "accounts:notifications", _PANEL, read_panel, part="panel"
    )
    wait_for_all(marking)
    return response


def _panel_context(notes: Sequence[Notification]) -> dict[str, object]:
    return {
        "listed": queries.describe_notes(queries.sort_unread_first(notes)),
        "until": notes[0].notification_id if notes else None,
        "has_unread": any(not each.is_read for each in notes),
    }


@get_or_post
@member_required
def mark_all_read(request: HttpRequest) -> HttpResponse:
    """Mark as read all notifications up to the newest one that the page showed."""
    if request.method != "POST":
        return redirect("accounts:notifications")
    user_id = current_member(request).pk
    with suppress(ValueError):  # a form without notifications names none
        operations.mark_all_read(user_id, UUID(request.POST.get("until", "")))

    def read_panel() -> dict[str, object]:
        rows = queries.prefetch_newest(user_id).rows()
        return _panel_context(queries.notes_from_rows(user_id, rows))

    return render_or_redirect(request, "accounts:notifications", _PANEL, read_panel, part="panel")


@get_or_post
@member_required
def open_notification(request: HttpRequest, notification_id: UUID) -> HttpResponse:
    """Mark a notification as read on submit, and lead to what it is about; if that is gone, to the list."""
    note = queries.get_notification(current_member(request).pk, notification_id)
    if note is None:
        raise Http404
    (listed,) = queries.describe_notes([note])
    if request.method == "POST":
        operations.mark_read(note)
    return redirect(listed.line.path or "accounts:notifications")
