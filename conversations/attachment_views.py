"""Downloads of attachments: for the conversation's customer, a member or a guest with the link, and for the staff's page."""

from itertools import chain
from typing import cast
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from conversations import queries
from conversations.access import get_own_conversation
from conversations.entities import Attachment
from conversations.errors import AttachmentMissing
from conversations.operations.attachments import iterate_content
from conversations.tokens import conversation_id_from_token
from web.decorators import owner_only


@require_safe
@member_required
def attachment_file(
    request: HttpRequest, conversation_id: UUID, message_id: UUID, attachment_id: UUID
) -> HttpResponse:
    """Send a file of the member's own conversation."""
    conversation = get_own_conversation(current_member(request), conversation_id)
    return send_attachment(conversation.conversation_id, message_id, attachment_id)


@require_safe
@owner_only
def guest_attachment_file(
    request: HttpRequest, token: str, message_id: UUID, attachment_id: UUID
) -> HttpResponse:
    """Send a file of the conversation to which a guest's link leads."""
    conversation_id = conversation_id_from_token(token)
    if conversation_id is None:
        raise Http404
    return send_attachment(conversation_id, message_id, attachment_id)


def send_attachment(
    conversation_id: UUID, message_id: UUID, attachment_id: UUID, *, for_staff: bool = False
) -> HttpResponse:
    """Send a file of a message, in chunks. Raises Http404 if there is none; a file of a note is there for staff only.

    Only pictures, which the shop has written anew, are shown by browsers. All other files are downloads.
    """
    message = queries.get_message(conversation_id, message_id)
    if message is None or (message.is_note and not for_staff):
        raise Http404
    found = next(
        (each for each in message.attachments if each.attachment_id == attachment_id), None
    )
    if found is None:
        raise Http404
    return _send(found)


def _send(attachment: Attachment) -> HttpResponse:
    content = iterate_content(attachment)
    try:
        first = next(content)
    except AttachmentMissing as error:
        raise Http404 from error
    is_download = not attachment.is_image
    response = StreamingHttpResponse(
        chain([first], content),
        content_type=attachment.content_type,
        headers={
            "Content-Length": str(attachment.size),
            "Content-Disposition": content_disposition_header(is_download, attachment.name) or "",
            "X-Content-Type-Options": "nosniff",
        },
    )
    return cast(HttpResponse, response)  # Django's two response classes share no type
