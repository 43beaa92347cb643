"""The page of blocked senders: list, block and unblock addresses."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.looks import prefetch_looks, record_look
from accounts.roles import MESSAGE_STAFF
from adminpanel.forms import EmailForm
from adminpanel.names import list_names
from adminpanel.parameters import cut_page, parse_id
from cassandra_db import current_time
from conversations.operations import blocked_senders as operations
from web.decorators import post_only
from web.rendering import render_page

PAGE_LENGTH = 50


@staff_required(MESSAGE_STAFF)
@require_safe
def blocked_senders(request: HttpRequest) -> HttpResponse:
    """List the addresses whose messages and mails the shop refuses, the latest first. A form blocks another one."""
    return _render_list(request, EmailForm())


def _render_list(request: HttpRequest, form: EmailForm, status: int = 200) -> HttpResponse:
    staff, now = current_member(request), current_time()
    looks, found = prefetch_looks(staff, now), operations.list_blocked_senders()
    shown, page, page_count = cut_page(found, request.GET, PAGE_LENGTH)
    names = list_names({each.blocked_by for each in shown})
    if shown:
        record_look(staff, "blocked_senders_looked_at", "", looks, now)
    context = {
        "senders": [(each, names[each.blocked_by]) for each in shown],
        "page": page,
        "page_count": page_count,
        "form": form,
    }
    return render_page(
        request, "adminpanel/conversations/blocked_senders.html", context, status=status
    )


@staff_required(MESSAGE_STAFF)
@post_only("adminpanel:blocked_senders")
def block_sender(request: HttpRequest) -> HttpResponse:
    """Refuse messages and mails from an address."""
    form = EmailForm(request.POST)
    if not form.is_valid():
        return _render_list(request, form, 422)
    email = form.cleaned_data["email"]
    operations.block_sender(email, current_member(request).pk, current_time())
    messages.success(request, _("Messages from this address are now refused."))
    return _redirect_back(request)


@staff_required(MESSAGE_STAFF)
@post_only("adminpanel:blocked_senders")
def unblock_sender(request: HttpRequest) -> HttpResponse:
    """Take messages and mails from an address again."""
    form = EmailForm(request.POST)
    if not form.is_valid():
        return _render_list(request, form, 422)
    operations.unblock_sender(form.cleaned_data["email"])
    messages.success(request, _("Messages from this address are accepted again."))
    return _redirect_back(request)


def _redirect_back(request: HttpRequest) -> HttpResponse:
    conversation_id: UUID | None = parse_id(request.POST.get("conversation", ""))
    if conversation_id:
        return redirect("adminpanel:conversation", conversation_id)
    return redirect("adminpanel:blocked_senders")
