"""A member's mailbox: the conversations under a label, and changes of many of them at once."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from cassandra.util import max_uuid_from_time
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.early_reads import get_early_reads, starts_reads
from cassandra_db import InvalidPageToken, PendingResult
from conversations import queries
from conversations.entities import Label
from conversations.errors import NoSuchLabel, TooManyLabels
from conversations.forms import ChangeForm
from conversations.mailbox_page import LABEL_ACTS, describe_changed, get_mailbox_page, list_acts
from conversations.operations.mailboxes import mark_read, mark_unread, relabel
from conversations.rules import MAX_LABELS
from web.decorators import post_only
from web.rendering import render_page

# Acts after which a conversation's page is shown again; after the others, the list is.
_STAYS = ("star", "unstar", "inbox", "restore")


def _start_labels(request: HttpRequest, user_id: UUID) -> PendingResult:
    return queries.prefetch_labels(user_id)


@require_safe
@starts_reads(_start_labels)
@member_required
def message_list(request: HttpRequest) -> HttpResponse:
    """Show a page of the conversations under a label."""
    return _render(request, get_early_reads(request))


def _render(
    request: HttpRequest, labels_read: PendingResult, form: ChangeForm | None = None
) -> HttpResponse:
    data = request.POST if form else request.GET
    slug, after = data.get("folder") or "inbox", data.get("after", "")[:500]
    try:
        page = get_mailbox_page(
            current_member(request), labels_read, slug, after, form.ticked if form else ()
        )
    except InvalidPageToken:
        page = None
        if after:
            return redirect(f"{reverse('conversations:list')}?{urlencode({'folder': slug})}")
    if page is None:
        raise Http404("no such label")
    own = request.GET.dict()
    context = {
        "mailbox": page,
        "form": form,
        "ticks_all": "tick" in own,
        "tick_url": f"?{urlencode({**own, 'tick': 'all'})}",
    }
    return render_page(request, "conversations/list.html", context, status=422 if form else 200)


@member_required
@post_only("conversations:list")
def change_conversations(request: HttpRequest) -> HttpResponse:
    """Archive, star, label or mark the ticked conversations, all or none."""
    user_id = current_member(request).pk
    labels = queries.get_labels(user_id)
    known = {act for group in list_acts(labels).values() for act in group}
    form = ChangeForm(request.POST, known)
    if form.is_valid():
        act, ticked = form.cleaned_data["act"], form.cleaned_data["conversation"]
        try:
            changed = _change(user_id, labels, act, ticked)
        except NoSuchLabel:
            form.add_error("more", _("This label is no longer there"))
        except TooManyLabels:
            text = _("A conversation has at most %(most)d labels. Nothing was changed")
            form.add_error("more", text % {"most": MAX_LABELS})
        else:
            messages.success(
                request, describe_changed(changed) if changed else _("Nothing changed.")
            )
            return redirect(_return_url(request, act, next(iter(ticked))))
    return _render(request, queries.prefetch_labels(user_id), form)


def _change(
    user_id: UUID, labels: Mapping[UUID, Label], act: str, ticked: Mapping[UUID, datetime]
) -> int:
    """Do an act; return the number of changed conversations. Raises NoSuchLabel, TooManyLabels, CassandraUnavailable."""
    if act == "unread":
        for conversation_id in ticked:
            mark_unread(user_id, conversation_id)
        return len(ticked)
    if act == "read":
        # What came after the page was shown stays unread.
        for conversation_id, shown_until in ticked.items():
            mark_read(user_id, conversation_id, max_uuid_from_time(shown_until))
        return len(ticked)
    kind, _colon, value = act.partition(":")
    if value:
        label_id, is_added = UUID(value), kind == "label"
    else:
        key, is_added = LABEL_ACTS[act]
        label_id = queries.find_label(user_id, labels, key).label_id
    ids: set[UUID] = {label_id}
    return relabel(user_id, list(ticked), ids if is_added else (), () if is_added else ids)


def _return_url(request: HttpRequest, act: str, conversation_id: UUID) -> str:
    """Return the address of the page that the form was on; after a conversation was put away, that of the list."""
    if "back" in request.POST and (act in _STAYS or ":" in act):
        return reverse("conversations:detail", args=[conversation_id])
    fields: dict[str, Any] = {
        name: request.POST.get(name, "")[:500] for name in ("folder", "after")
    }
    fields = {name: value for name, value in fields.items() if value}
    address = reverse("conversations:list")
    return f"{address}?{urlencode(fields)}" if fields else address
