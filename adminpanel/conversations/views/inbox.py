"""The staff's inbox: a folder of conversations, the search, and changes of many conversations at once."""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.audit_log import mailbox_pseudonym, words_pseudonym
from accounts.looks import prefetch_looks, record_look
from accounts.roles import MESSAGE_STAFF
from adminpanel.conversations.changes import Change
from adminpanel.conversations.forms import ChangeForm, ConversationSearchForm
from adminpanel.conversations.inbox_page import Inbox, get_found, get_inbox, list_acts, list_people
from adminpanel.conversations.labels import WAITING
from adminpanel.parameters import found_or_404, seal, unseal
from cassandra_db import InvalidPageToken, current_time
from conversations import queries
from conversations.errors import NoSuchLabel
from conversations.rules import SHOP_MAILBOX
from conversations.search import search_conversations
from web.decorators import post_only
from web.rendering import render_page

TEMPLATE = "adminpanel/conversations/inbox.html"


@staff_required(MESSAGE_STAFF)
@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Show a folder of the inbox, or what a search finds. An email address is searched for in an encrypted address."""
    sealed = request.GET.get("sealed", "")
    search_form = ConversationSearchForm({"q": unseal(sealed)} if sealed else request.GET)
    is_valid = search_form.is_valid()
    typed = search_form.cleaned_data.get("q", "")
    if "@" in typed and not sealed:
        return redirect(f"{reverse('adminpanel:messages')}?{urlencode({'sealed': seal(typed)})}")
    if typed:
        return _render_found(request, typed, search_form=search_form)
    return _render_folder(request, search_form=search_form, status=200 if is_valid else 422)


def _render_found(
    request: HttpRequest,
    typed: str,
    *,
    ticked: Collection[UUID] = (),
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    staff, now = current_member(request), current_time()
    looks = prefetch_looks(staff, now)
    found = search_conversations(typed)
    if found.rows:
        words = mailbox_pseudonym(typed) if "@" in typed else words_pseudonym(typed)
        record_look(staff, "person_searched", words, looks, now)
    page = get_found(staff, found, now, ticked)
    context = {"typed": typed, "sealed": seal(typed), **more}
    return _render(request, page, context, status)


def _render_folder(
    request: HttpRequest, *, ticked: Collection[UUID] = (), status: int = 200, **more: Any
) -> HttpResponse:
    data = request.POST if request.method == "POST" else request.GET
    slug, after = data.get("folder", WAITING), data.get("after", "")[:500]
    try:
        page = get_inbox(current_member(request), slug, after, current_time(), ticked)
    except InvalidPageToken:
        return redirect(f"{reverse('adminpanel:messages')}?{urlencode({'folder': slug})}")
    page = found_or_404(page, "folder")
    if request.GET.get("seen") == page.fingerprint:
        return HttpResponse(status=204)
    return _render(request, page, more, status)


def _render(
    request: HttpRequest, page: Inbox, context: Mapping[str, Any], status: int
) -> HttpResponse:
    own = request.GET.dict() if request.method == "GET" else {}
    more = {
        "inbox": page,
        # A text that can't be searched for stays in its field.
        "query": context.get("typed") or own.get("q", ""),
        "ticks_all": "tick" in request.GET,
        "tick_url": f"?{urlencode({**own, 'tick': 'all'})}",
        **context,
    }
    return render_page(request, TEMPLATE, more, part="inbox", status=status)


@staff_required(MESSAGE_STAFF, lists=("conversation",))
@post_only("adminpanel:messages")
def change_conversations(request: HttpRequest) -> HttpResponse:
    """Change the ticked conversations, and say which were skipped."""
    staff, now = current_member(request), current_time()
    labels = queries.get_labels(SHOP_MAILBOX)
    groups = list_acts(staff, labels, list_people())
    form = ChangeForm(request.POST, {act for group in groups.values() for act in group})
    if not form.is_valid():
        return _render_refused(request, form)
    sent = form.cleaned_data
    try:
        outcome = Change(sent["act"], sent["conversation"], sent["operation"], now).apply()
    except NoSuchLabel:
        form.add_error("more", _("This label is no longer there"))
        return _render_refused(request, form)
    say = messages.warning if outcome.skipped else messages.success
    say(request, str(outcome))
    return redirect(_return_url(request, next(iter(sent["conversation"]))))


def _render_refused(request: HttpRequest, form: ChangeForm) -> HttpResponse:
    """Return the page that the form was sent from, with the errors and the ticks."""
    if typed := unseal(request.POST.get("sealed", "")):
        return _render_found(request, typed, form=form, ticked=form.ticked, status=422)
    return _render_folder(request, form=form, ticked=form.ticked, status=422)


def _return_url(request: HttpRequest, conversation_id: UUID) -> str:
    """Return the address of the page that the form was on: a conversation, or a folder."""
    if "back" in request.POST:
        return reverse("adminpanel:conversation", args=(conversation_id,))
    fields = {name: request.POST.get(name, "")[:500] for name in ("folder", "after", "sealed")}
    fields = {name: value for name, value in fields.items() if value}
    return f"{reverse('adminpanel:messages')}?{urlencode(fields)}"
