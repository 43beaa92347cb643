"""The contact page: members write at once, a guest's message waits until the mailed link has confirmed the address."""

from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member
from cassandra_db import current_time
from conversations.entities import Customer, NewMessage
from conversations.errors import SenderBlocked
from conversations.forms import ContactForm
from conversations.operations import contact_requests
from conversations.operations.messages import start_conversation
from conversations.sending import send_form
from conversations.spam import is_spam, mark_as_spam
from conversations.tokens import conversation_token, request_id_from_token
from conversations.topics import ContactTopic, find_topic
from conversations.uploads import takes_message_files
from mail.addresses import email_key
from web.decorators import get_or_post, no_store, owner_only, public
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_page, render_too_many_attempts
from web.uploads import SHOPPER_UPLOADS, upload_url

_PAGE = "conversations/contact.html"


@takes_message_files
@get_or_post
@owner_only
def contact(request: HttpRequest) -> HttpResponse:
    """Show the form of a first message, about an order or a product if the address names one, and send it on submit."""
    data = request.POST if request.method == "POST" else request.GET
    # The member is read meanwhile.
    topic = find_topic(request, data.get("order", ""), data.get("product", ""))
    is_guest = not request.user.is_authenticated
    initial = {"source_id": uuid4(), "subject": topic.text}
    bound = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ContactForm(*bound, is_guest=is_guest, initial=initial)
    context = {"form": form, "topic": topic, "is_guest": is_guest, "send_url": _url(request)}
    if request.method != "POST":
        return render_page(request, _PAGE, context)
    try:
        sent = form.is_valid() and (_ask_guest if is_guest else _send)(request, form, topic)
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, _PAGE, context)
    return sent or render_page(request, _PAGE, context, status=422)


def _url(request: HttpRequest) -> str:
    address = reverse("conversations:contact")
    if not request.user.is_authenticated:
        return address
    return upload_url(request, address, SHOPPER_UPLOADS)


def _send(request: HttpRequest, form: ContactForm, topic: ContactTopic) -> HttpResponse | None:
    """Start a member's conversation, once. If it is refused, return None: the form says why."""
    user, now, subject = current_member(request), current_time(), form.cleaned_data["subject"]
    customer = Customer(user.pk, user.email, user.name, is_member=True)
    source_id = uuid5(user.pk, form.cleaned_data["source_id"].hex)

    def start(first: NewMessage) -> UUID:
        return start_conversation(customer, subject, topic.topic, first, now)

    conversation_id = send_form(request, form, customer, source_id, start)
    if conversation_id is None:
        return None
    if is_spam(f"{subject}\n{form.cleaned_data['message']}"):
        mark_as_spam(conversation_id, source_id, now)
    messages.success(request, _("Your message is sent. We’ll answer here and by email."))
    return redirect("conversations:detail", conversation_id)


def _ask_guest(request: HttpRequest, form: ContactForm, topic: ContactTopic) -> HttpResponse:
    """Store a guest's message, and mail the link that confirms the address. A repeat changes nothing."""
    sent = form.cleaned_data
    key = email_key(sent["email"])
    request_id = uuid5(sent["source_id"], key)
    hit_rate_limit(request, "contact", named=[key], hit_id=request_id)
    contact_requests.note_contact_request(
        request_id,
        sent["email"],
        sent["name"],
        sent["subject"],
        topic.topic,
        sent["message"],
        current_time(),
    )
    return redirect("conversations:contact_sent")


@require_safe
@no_store
@public
def contact_sent(request: HttpRequest) -> HttpResponse:
    """Say that a link is in the mail."""
    return render_page(request, "conversations/contact_sent.html", {})


@get_or_post
@owner_only
def confirm_contact(request: HttpRequest, token: str) -> HttpResponse:
    """Show a guest's message to the reader of the mailed link, and give it to the staff on submit."""
    request_id = request_id_from_token(token)
    found = contact_requests.get_contact_request(request_id) if request_id else None
    if request_id is None or found is None:
        return render_page(request, "conversations/link_over.html", {}, status=410)
    context: dict[str, Any] = {"sent": found, "token": token}
    if request.method != "POST":
        return render_page(request, "conversations/confirm.html", context)
    try:
        conversation_id = contact_requests.confirm_contact_request(request_id, current_time())
    except SenderBlocked:
        context["is_blocked"] = True
        return render_page(request, "conversations/confirm.html", context, status=422)
    if conversation_id is None:
        return render_page(request, "conversations/link_over.html", {}, status=410)
    messages.success(request, _("We’ve got your message. We’ll answer by email."))
    return redirect("conversations:guest", conversation_token(conversation_id))
