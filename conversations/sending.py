"""What customers' forms do with a message: count it, store its files, and send it."""

from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext as _

from conversations.entities import Attachment, Customer, NewMessage, Sender
from conversations.errors import AttachmentRefused
from conversations.forms import MessageForm
from conversations.operations.blocked_senders import is_blocked
from conversations.states import CUSTOMER
from conversations.uploads import store_files
from web.rate_limits import hit_rate_limit


def send_form(
    request: HttpRequest,
    form: MessageForm,
    customer: Customer,
    source_id: UUID,
    send: Callable[[NewMessage], UUID],
) -> UUID | None:
    """Send a valid form's message by `send`; return what that returns, or None, with the reason in the form.

    Raises TooManyAttempts, CassandraUnavailable and the errors of `send`.
    """
    if is_blocked(customer.email):
        form.add_error(None, _("We don’t take messages from this email address."))
        return None
    hit_rate_limit(request, "message", str(customer.customer_id), hit_id=source_id)
    files: tuple[Attachment, ...] = ()
    try:
        files = store_files(form.cleaned_data.get("files", []), source_id)
    except AttachmentRefused as refused:
        form.add_error("files", str(refused))
        return None
    author_id = customer.customer_id if customer.is_member else None
    sender = Sender(author_id, customer.name)
    return send(
        NewMessage(source_id, CUSTOMER, sender, form.cleaned_data["message"], attachments=files)
    )
