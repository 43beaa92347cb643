"""The page on which staff write to a customer who has not written to them."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import current_member, staff_required
from accounts.looks import ORDER_LOOK, prefetch_looks, record_look
from accounts.operations import record_customer_look
from accounts.queries import get_user
from accounts.roles import MESSAGE_STAFF
from adminpanel.conversations.forms import NewConversationForm
from adminpanel.orders.order_page import get_order_or_404
from adminpanel.parameters import found_or_404, parse_id
from cassandra_db import current_time
from conversations.entities import Customer, NewMessage, Sender, Topic
from conversations.guests import guest_id
from conversations.operations.messages import start_conversation
from conversations.states import ORDER, SHOP
from orders.lifecycle.entities import Order
from web.decorators import get_or_post
from web.rendering import render_page


@dataclass(frozen=True)
class Recipient:
    """To whom staff write: the customer of an order, or a member."""

    customer: Customer
    topic: Topic
    query: str  # which of the two, as the page's address has it
    back_url: str
    order: Order | None = None


@staff_required(MESSAGE_STAFF)
@get_or_post
def new_conversation(request: HttpRequest) -> HttpResponse:
    """Write the first message to a member (`customer` in the address) or about an order (`order`)."""
    staff, now = current_member(request), current_time()
    looks = prefetch_looks(staff, now)
    recipient = _find_recipient(request)
    if recipient.order:
        record_look(staff, ORDER_LOOK, recipient.order.number, looks, now)
    else:
        record_customer_look(staff, recipient.customer.customer_id, looks, now)
    if request.method != "POST":
        form, status = NewConversationForm(initial={"source_id": uuid4()}), 200
    elif (form := NewConversationForm(request.POST)).is_valid():
        sent = form.cleaned_data
        source_id = uuid5(staff.pk, sent["source_id"].hex)
        first = NewMessage(source_id, SHOP, Sender(staff.pk, staff.name), sent["message"])
        conversation_id = start_conversation(
            recipient.customer, sent["subject"], recipient.topic, first, now
        )
        messages.success(request, _("Your message is sent."))
        return redirect("adminpanel:conversation", conversation_id)
    else:
        status = 422
    context = {"recipient": recipient, "form": form}
    return render_page(
        request, "adminpanel/conversations/conversation_new.html", context, status=status
    )


def _find_recipient(request: HttpRequest) -> Recipient:
    """Return whom the address names. Raises Http404 if there is nobody, or nobody any more."""
    if number := request.GET.get("order", ""):
        order = get_order_or_404(number)
        email = found_or_404(order.email or None, "address")
        customer_id: UUID = order.user_id or guest_id(email)
        return Recipient(
            Customer(customer_id, email, order.name, order.user_id is not None),
            Topic(ORDER, order.order_id),
            urlencode({"order": order.number}),
            reverse("adminpanel:order", args=(order.number,)),
            order,
        )
    user_id = parse_id(request.GET.get("customer", ""))
    member = found_or_404(get_user(user_id) if user_id else None, "customer")
    found_or_404(None if member.erasing_at else member, "customer")
    return Recipient(
        Customer(member.pk, member.email, member.name, is_member=True),
        Topic(),
        urlencode({"customer": str(member.pk)}),
        reverse("adminpanel:customer", args=(member.pk,)),
    )
