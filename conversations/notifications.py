"""What members are told about the shop's messages."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations import queries
from conversations.mails import SHOP_REPLIED
from conversations.states import SHOP
from notifications.entities import MESSAGES, Kind, Line, News, Notification


def prepare_news(conversation_id: UUID, detail: str, noted_at: datetime) -> list[News]:
    """Return the event of the shop's message `detail` to a member. Raises CassandraUnavailable."""
    conversation = queries.get_conversation(conversation_id)
    message = queries.get_message(conversation_id, UUID(detail))
    if (
        conversation is None
        or not conversation.customer.is_member
        or message is None
        or message.kind != SHOP
    ):
        return []
    ids = {"conversation": conversation_id.hex, "message": message.message_id.hex}
    return [News(SHOP_REPLIED, conversation.customer.customer_id, message.written_at, ids)]


def describe(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the conversations. One that was deleted is gone."""
    reading = {
        conversation_id: queries.prefetch_conversation(conversation_id)
        for conversation_id in {UUID(each.ids["conversation"]) for each in notes}
    }

    def collect() -> Mapping[UUID, Line]:
        found = {
            conversation_id: queries.conversation_from_rows(pending.rows())
            for conversation_id, pending in reading.items()
        }
        lines = {}
        for note in notes:
            conversation = found[UUID(note.ids["conversation"])]
            if conversation and conversation.customer.customer_id == note.user_id:
                text = gettext("A message from us: %(subject)s")
                path = reverse("conversations:detail", args=[conversation.conversation_id])
                lines[note.notification_id] = Line(text % {"subject": conversation.subject}, path)
        return lines

    return collect


KINDS = [
    Kind(
        SHOP_REPLIED,
        MESSAGES,
        _("Message from us"),
        _("News about a message that is gone"),
        describe,
        has_own_mail=True,
    )
]
