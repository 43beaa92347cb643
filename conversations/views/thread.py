"""A member's page of a conversation: read it, answer, and keep a draft; and a guest's page behind the mailed link."""

from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.early_reads import get_early_reads, starts_reads
from cassandra_db import PendingResult, current_time
from conversations import queries
from conversations.access import get_own_conversation, require_own
from conversations.entities import Conversation, NewMessage
from conversations.errors import NoSuchConversation
from conversations.forms import MessageForm
from conversations.mailbox_page import Placement
from conversations.operations import messages as operations
from conversations.operations.drafts import (
    delete_draft,
    draft_from_rows,
    prefetch_draft,
    save_draft,
)
from conversations.operations.mailboxes import mark_read
from conversations.sending import send_form
from conversations.thread_page import PendingThread, make_thread, prefetch_thread
from conversations.tokens import conversation_id_from_token, conversation_token
from conversations.uploads import takes_message_files
from web.decorators import get_or_post, owner_only, post_only
from web.errors import TooManyAttempts
from web.rendering import render_page, render_too_many_attempts
from web.uploads import SHOPPER_UPLOADS, upload_url

_PAGE, _GUEST_PAGE = "conversations/thread.html", "conversations/guest.html"
_Reads = tuple[PendingThread, PendingResult, PendingResult, PendingResult]


def _start(request: HttpRequest, user_id: UUID, conversation_id: UUID) -> _Reads | None:
    thread = prefetch_thread(conversation_id, request.GET.get("before", ""))
    if thread is None:
        return None
    labels = queries.prefetch_labels(user_id)
    entries = queries.prefetch_entries(user_id, [conversation_id])
    return thread, labels, entries, prefetch_draft(user_id, conversation_id)


@require_safe
@starts_reads(_start)
@member_required
def conversation_detail(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Show a member's conversation. `before` in the address asks for older messages."""
    return render_page(request, _PAGE, _member_context(request, conversation_id))


def _member_context(request: HttpRequest, conversation_id: UUID) -> dict[str, Any]:
    """Return the page's context. Raises Http404, CassandraUnavailable."""
    user, reads = current_member(request), get_early_reads(request)
    if reads is None:
        raise Http404("no such conversation")
    pending, labels_read, entries_read, draft_read = reads
    conversation = require_own(user, pending.get_conversation())
    thread = make_thread(request, pending, conversation)
    labels = queries.labels_from_rows(user.pk, labels_read.rows())
    entry = queries.entries_from_rows(entries_read.rows()).get(conversation_id)
    draft = draft_from_rows(draft_read.rows())
    address = reverse("conversations:reply", args=[conversation_id])
    return {
        "thread": thread,
        "conversation": conversation,
        # What was begun as a guest has no place in the mailbox, and nor has what was deleted from the trash.
        "placement": Placement(entry, labels)
        if entry and labels.keys() & entry.label_ids
        else None,
        "is_unread": bool(entry and entry.unread),
        "has_draft": draft is not None,
        "form": MessageForm(
            initial={
                "message": draft.body if draft else "",
                "source_id": uuid4(),
                "seen": thread.seen,
            }
        ),
        "send_url": upload_url(request, address, SHOPPER_UPLOADS),
    }


@takes_message_files
@starts_reads(_start)
@member_required
@post_only("conversations:detail", "conversation_id")
def send_reply(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Send a member's message, and mark as read what the page showed."""
    user, form = current_member(request), MessageForm(request.POST, request.FILES)
    context = _member_context(request, conversation_id) | {"form": form}
    conversation: Conversation = context["conversation"]
    try:
        message_id = form.is_valid() and _send(request, form, conversation, user.pk)
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, _PAGE, context)
    if not message_id:
        return render_page(request, _PAGE, context, status=422)
    delete_draft(user.pk, conversation_id)
    if seen := form.cleaned_data["seen"]:
        mark_read(user.pk, conversation_id, seen)
    messages.success(request, _("Your message is sent."))
    found = _find_holder(conversation_id, message_id)
    return redirect("conversations:detail", found)


def _send(
    request: HttpRequest, form: MessageForm, conversation: Conversation, writer_id: UUID
) -> UUID | None:
    """Send a form's message to a conversation, once. Raises Http404, TooManyAttempts, CassandraUnavailable."""
    source_id = uuid5(writer_id, form.cleaned_data["source_id"].hex)
    now = current_time()

    def send(new: NewMessage) -> UUID:
        try:
            return operations.send_message(conversation.conversation_id, new, now)
        except NoSuchConversation as error:
            raise Http404 from error

    return send_form(request, form, conversation.customer, source_id, send)


def _find_holder(conversation_id: UUID, message_id: UUID) -> UUID:
    """Return the conversation that has the message: this one, or the one that continues it because it is full."""
    if queries.get_message(conversation_id, message_id):
        return conversation_id
    found = queries.get_conversation(conversation_id)
    return found.continued_id if found and found.continued_id else conversation_id


@member_required
@post_only("conversations:detail", "conversation_id")
def keep_draft(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Keep what is typed. The page's script asks for it, too, while the member types."""
    user, form = current_member(request), MessageForm(request.POST)
    found = get_own_conversation(user, conversation_id)
    text = str(form["message"].value() or "")
    save_draft(user.pk, found.conversation_id, text, current_time())
    # The script may be slower than the form that has sent the text.
    source_id = uuid5(user.pk, form.fields["source_id"].clean(form["source_id"].value()).hex)
    if queries.CLAIM.one(source_id=source_id):
        delete_draft(user.pk, found.conversation_id)
    if getattr(request, "htmx", None):
        return HttpResponse(status=204)
    messages.success(request, _("Your draft is kept for 30 days."))
    return redirect("conversations:list")


@member_required
@post_only("conversations:detail", "conversation_id")
def read_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Mark what the page showed as read. The page's script asks for it when the page is open."""
    user, form = current_member(request), MessageForm(request.POST)
    found = get_own_conversation(user, conversation_id)
    form.is_valid()
    if seen := form.cleaned_data.get("seen"):
        mark_read(user.pk, found.conversation_id, seen)
    if getattr(request, "htmx", None):
        return HttpResponse(status=204)
    return redirect("conversations:detail", conversation_id)


@takes_message_files
@get_or_post
@owner_only
def guest_conversation(request: HttpRequest, token: str) -> HttpResponse:
    """Show a guest's conversation to the reader of the mailed link, and send an answer on submit."""
    conversation_id = conversation_id_from_token(token)
    pending = (
        prefetch_thread(conversation_id, request.GET.get("before", "")) if conversation_id else None
    )
    conversation = pending.get_conversation() if pending else None
    if pending is None or conversation is None:
        return render_page(request, "conversations/link_over.html", {}, status=410)
    if conversation.customer.is_member:
        return redirect("conversations:detail", conversation.conversation_id)
    address = reverse("conversations:guest", args=[token])
    form = MessageForm(initial={"source_id": uuid4()})
    context = {
        "thread": make_thread(request, pending, conversation),
        "conversation": conversation,
        "token": token,
        "form": form,
        "send_url": upload_url(request, address, SHOPPER_UPLOADS, is_for_guest=True),
        "continued": conversation_token(conversation.continued_id)
        if conversation.continued_id
        else "",
    }
    if request.method != "POST":
        return render_page(request, _GUEST_PAGE, context)
    context["form"] = form = MessageForm(request.POST, request.FILES)
    try:
        message_id = form.is_valid() and _send(
            request, form, conversation, conversation.conversation_id
        )
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, _GUEST_PAGE, context)
    if not message_id:
        return render_page(request, _GUEST_PAGE, context, status=422)
    messages.success(request, _("Your message is sent. We’ll answer by email."))
    found = _find_holder(conversation.conversation_id, message_id)
    return redirect("conversations:guest", conversation_token(found))
