"""A conversation's page: read it, answer, write notes, say who works on it, and what its labels and state are."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.audit_log import mailbox_pseudonym
from accounts.looks import prefetch_looks, record_look
from accounts.models import User
from accounts.roles import MESSAGE_STAFF
from adminpanel.conversations.conversation_page import get_conversation_page
from adminpanel.conversations.forms import (
    AssignForm,
    ConversationLabelsForm,
    HeadForm,
    NoteForm,
    ReplyForm,
    StateForm,
)
from adminpanel.conversations.inbox_page import list_people
from adminpanel.conversations.labels import CONVERSATION_LOOK, STATES
from adminpanel.other_viewers import list_other_viewers
from adminpanel.parameters import found_or_404, parse_id
from cassandra_db import current_time
from conversations import queries, viewers
from conversations.attachment_views import send_attachment
from conversations.entities import Conversation, NewMessage, Sender
from conversations.errors import (
    AttachmentRefused,
    ConversationChanged,
    NoSuchConversation,
    NoSuchLabel,
    TooManyLabels,
)
from conversations.forms import MessageForm
from conversations.mailbox_page import ticked_value
from conversations.operations import messages as operations
from conversations.operations.drafts import delete_draft, save_draft
from conversations.operations.entries import find_newest_id
from conversations.operations.mailboxes import mark_read, relabel
from conversations.rules import MAX_LABELS, SHOP_MAILBOX
from conversations.saved_replies import CURRENT_REPLIES, SAVED_REPLIES, fill_in
from conversations.states import DONE, NOTE, SHOP, WAITING_FOR_CUSTOMER
from conversations.uploads import store_files, takes_message_files
from orders.viewers import viewers_from_rows
from web.decorators import post_only
from web.rendering import render_page
from web.uploads import upload_url

PAGE = ("adminpanel:conversation", "conversation_id")


def _get_conversation(conversation_id: UUID) -> Conversation:
    found = queries.get_conversation(conversation_id) if conversation_id.version == 1 else None
    return found_or_404(found, "conversation")


@staff_required(MESSAGE_STAFF)
@require_safe
def conversation_detail(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Show a conversation. `before` in the address asks for older messages."""
    return _render(request, conversation_id)


def _render(
    request: HttpRequest, conversation_id: UUID, *, status: int = 200, **more: Any
) -> HttpResponse:
    """Return the page, also with an invalid or stale form. The look at the customer is in the audit log before."""
    staff, now = current_member(request), current_time()
    if conversation_id.version != 1:
        raise Http404("no such conversation")
    viewing, looks = viewers.record_viewer(conversation_id, staff), prefetch_looks(staff, now)
    before = parse_id(request.GET.get("before", ""))
    page = found_or_404(get_conversation_page(conversation_id, staff, before), "conversation")
    viewing.rows()
    conversation = page.conversation
    customer = conversation.customer
    who = str(customer.customer_id) if customer.is_member else mailbox_pseudonym(customer.email)
    record_look(staff, CONVERSATION_LOOK, f"{who} {conversation_id}", looks, now)
    initial = {"version": conversation.version, "operation": uuid4()}
    state, tone = STATES[conversation.state]
    context = {
        "page": page,
        "conversation": conversation,
        "state": state,
        "tone": tone,
        "reply_form": ReplyForm(
            initial={"message": page.draft, "source_id": uuid4(), "seen": page.newest_seen}
        ),
        "note_form": NoteForm(initial={"source_id": uuid4()}),
        "assign_form": AssignForm(
            initial={**initial, "assignee": conversation.assignee_id or ""}, people=page.people
        ),
        "reply_url": upload_url(
            request, reverse("adminpanel:conversation_reply", args=(conversation_id,))
        ),
        "change": initial,
        "ticked": ticked_value(conversation_id, now.timestamp()),
        "assignee": page.people.get(conversation.assignee_id) if conversation.assignee_id else "",
        "is_own": conversation.assignee_id == staff.pk,
        "own_id": staff.pk,
        "is_stale": status == 409,
        **more,
    }
    return render_page(
        request, "adminpanel/conversations/conversation.html", context, status=status
    )


@staff_required(MESSAGE_STAFF)
@post_only(*PAGE)
def read_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Mark the messages that the page showed as read. The page's script asks for it when the page is open."""
    if until := parse_id(request.POST.get("until", "")):
        mark_read(SHOP_MAILBOX, conversation_id, until)
    if getattr(request, "htmx", None):
        return HttpResponse(status=204)
    return redirect("adminpanel:conversation", conversation_id)


@staff_required(MESSAGE_STAFF)
@takes_message_files
@post_only(*PAGE)
def send_reply(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Send a reply to the customer, or put a saved reply into the text. If there are newer messages, show them first (409)."""
    form = ReplyForm(request.POST, request.FILES)
    if request.POST.get("act") == "insert":
        return _insert_reply(request, conversation_id, form)
    if not form.is_valid():
        return _render(request, conversation_id, reply_form=form, form=form, status=422)
    staff, sent, now = current_member(request), form.cleaned_data, current_time()
    found = _get_conversation(conversation_id)
    source_id = _source_id(staff, form)
    if sent["seen"] != find_newest_id(found) and not queries.CLAIM.one(source_id=source_id):
        save_draft(staff.pk, conversation_id, sent["message"], now)
        form.keep_typed(seen=find_newest_id(found) or "")
        return _render(request, conversation_id, reply_form=form, status=409)
    try:
        files = store_files(sent["files"], source_id)
        reply = NewMessage(
            source_id, SHOP, Sender(staff.pk, staff.name), sent["message"], attachments=files
        )
        message_id = operations.send_message(conversation_id, reply, now)
    except AttachmentRefused as refused:
        form.add_error("files", str(refused))
        return _render(request, conversation_id, reply_form=form, form=form, status=422)
    except NoSuchConversation as error:
        raise Http404 from error
    delete_draft(staff.pk, conversation_id)
    if sent["seen"]:
        mark_read(SHOP_MAILBOX, conversation_id, sent["seen"])
    found = _get_conversation(conversation_id)
    if found.continued_id and queries.get_message(conversation_id, message_id) is None:
        found = _get_conversation(found.continued_id)
    text = _("Your reply is sent.")
    if request.POST.get("act") == "done" and _finish(found, source_id):
        text = _("Your reply is sent, and the conversation is done.")
    messages.success(request, text)
    return redirect("adminpanel:conversation", found.conversation_id)


def _finish(found: Conversation, source_id: UUID) -> bool:
    """Mark a conversation as done after a reply, unless the customer has written again; return whether it is done."""
    if found.state != WAITING_FOR_CUSTOMER:
        return found.state == DONE
    change_id = uuid5(source_id, DONE)
    try:
        operations.set_state(
            found.conversation_id, DONE, seen=found.version, change_id=change_id, now=current_time()
        )
    except ConversationChanged:
        return False
    return True


def _source_id(staff: User, form: MessageForm) -> UUID:
    # The name of a staff member's message can be no other person's.
    return uuid5(staff.pk, form.cleaned_data["source_id"].hex)


def _insert_reply(request: HttpRequest, conversation_id: UUID, form: ReplyForm) -> HttpResponse:
    """Return the page with a saved reply at the end of what was typed, which is kept as a draft."""
    staff = current_member(request)
    found = CURRENT_REPLIES.get().get_values(SAVED_REPLIES).get(form["reply"].value() or "")
    typed = str(form["message"].value() or "").rstrip()
    if found:
        page = found_or_404(get_conversation_page(conversation_id, staff), "conversation")
        filled = fill_in(found.text, page.list_values(staff))
        typed = f"{typed}\n\n{filled}" if typed else filled
        save_draft(staff.pk, conversation_id, typed, current_time())
    initial = {name: form[name].value() for name in ("source_id", "seen", "reply")}
    inserted = ReplyForm(initial={**initial, "message": typed})
    return _render(request, conversation_id, reply_form=inserted, is_inserted=bool(found))


@staff_required(MESSAGE_STAFF)
@post_only(*PAGE)
def keep_draft(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Keep what is typed in the reply. The page's script asks for it, too, whenever the field is left."""
    found, text = _get_conversation(conversation_id), ReplyForm(request.POST)["message"].value()
    save_draft(current_member(request).pk, found.conversation_id, str(text or ""), current_time())
    if getattr(request, "htmx", None):
        return HttpResponse(status=204)
    messages.success(request, _("The draft is kept for 30 days."))
    return redirect("adminpanel:conversation", conversation_id)


@staff_required(MESSAGE_STAFF)
@post_only(*PAGE)
def add_note(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Add an internal note."""
    form, staff = NoteForm(request.POST), current_member(request)
    if not form.is_valid():
        return _render(request, conversation_id, note_form=form, form=form, status=422)
    note = NewMessage(
        _source_id(staff, form), NOTE, Sender(staff.pk, staff.name), form.cleaned_data["message"]
    )
    try:
        operations.send_message(
            _get_conversation(conversation_id).conversation_id, note, current_time()
        )
    except NoSuchConversation as error:
        raise Http404 from error
    messages.success(request, _("Note added."))
    return redirect("adminpanel:conversation", conversation_id)


@staff_required(MESSAGE_STAFF)
@post_only(*PAGE)
def assign_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Say who works on a conversation, in the version that the page showed."""
    form = AssignForm(request.POST, people=list_people())
    if not form.is_valid():
        return _render(request, conversation_id, assign_form=form, form=form, status=422)
    assignee_id = parse_id(form.cleaned_data["assignee"])
    return _change_head(request, conversation_id, form, operations.assign, assignee_id)


@staff_required(MESSAGE_STAFF)
@post_only(*PAGE)
def change_state(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Set a conversation's state, in the version that the page showed."""
    form = StateForm(request.POST)
    if not form.is_valid():
        # Its fields are hidden and its buttons are the page's. If one is invalid, the page was stale.
        return _render(request, conversation_id, status=409)
    state = form.cleaned_data["state"]
    return _change_head(request, conversation_id, form, operations.set_state, state)


def _change_head(
    request: HttpRequest,
    conversation_id: UUID,
    form: HeadForm,
    change: Callable[..., None],
    value: str | UUID | None,
) -> HttpResponse:
    change_id = uuid5(form.cleaned_data["operation"], f"{change.__name__} {value}")
    seen = form.cleaned_data["version"]
    try:
        change(conversation_id, value, seen=seen, change_id=change_id, now=current_time())
    except ConversationChanged:
        return _render(request, conversation_id, status=409)
    except NoSuchConversation as error:
        raise Http404 from error
    messages.success(request, _("Saved."))
    return redirect("adminpanel:conversation", conversation_id)


@staff_required(MESSAGE_STAFF, lists=("label", "shown"))
@post_only(*PAGE)
def change_labels(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Put the ticked labels on a conversation and take off those that were unticked. Labels that others have changed stay."""
    found = _get_conversation(conversation_id)
    labels = queries.get_labels(SHOP_MAILBOX)
    form = ConversationLabelsForm(
        request.POST, {each: label for each, label in labels.items() if not label.is_fixed}
    )
    try:
        if form.is_valid():
            relabel(SHOP_MAILBOX, [found.conversation_id], *form.changes)
            messages.success(request, _("Saved."))
            return redirect("adminpanel:conversation", conversation_id)
        form.add_error(None, _("A selected label no longer exists."))
    except NoSuchLabel:
        form.add_error(None, _("A selected label no longer exists."))
    except TooManyLabels:
        form.add_error(
            None, _("A conversation has at most %(most)d labels.") % {"most": MAX_LABELS}
        )
    return _render(request, conversation_id, form=form, labels_form=form, status=422)


@staff_required(MESSAGE_STAFF)
@require_safe
def list_viewers(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Show who else has a conversation open. Record that this user has it open, or has `left`. Answer 204 if unchanged."""
    viewer = current_member(request)
    if conversation_id.version != 1:
        raise Http404("no such conversation")
    if "left" in request.GET:
        viewers.forget_viewer(conversation_id, viewer)
        return HttpResponse(status=204)
    if "X-Refreshes-Itself" not in request.headers:
        return redirect("adminpanel:conversation", conversation_id)
    viewing = viewers.record_viewer(conversation_id, viewer)
    others = viewers.prefetch_viewers(conversation_id)
    found = list_other_viewers(conversation_id, viewers_from_rows(others.rows()), viewer)
    viewing.rows()
    if request.GET.get("seen") == found.fingerprint:
        return HttpResponse(status=204)
    return render_page(request, "adminpanel/conversations/_viewers.html", {"viewers": found})


@staff_required(MESSAGE_STAFF)
@require_safe
def attachment_file(
    request: HttpRequest, conversation_id: UUID, message_id: UUID, attachment_id: UUID
) -> HttpResponse:
    """Send a file of a message or a note. Browsers show pictures, and download all other files."""
    if conversation_id.version != 1:
        raise Http404("no such conversation")
    return send_attachment(conversation_id, message_id, attachment_id, for_staff=True)
