"""The rules by which a message is taken for spam (decision 089). They are few, so that staff can tell why one is there."""

import re
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.conf import settings

from conversations import queries
from conversations.errors import ConversationChanged, NoSuchConversation
from conversations.operations.messages import set_state
from conversations.states import SPAM

MAX_LINKS = 5  # to other sites
_LINK = re.compile(r"https?://([^\s/<>\"]{1,255})", re.IGNORECASE)
# Links in the markup of web forums, which no person types here.
_MARKUP = re.compile(r"\[url[=\]]|<a\s+href", re.IGNORECASE)


def is_spam(text: str, *, is_flagged: bool = False) -> bool:
    """Return whether a text breaks a rule: the mail server says so, it has a forum's links, or links to more than MAX_LINKS other places."""
    own = urlsplit(settings.PUBLIC_URL).netloc.casefold()
    links = [host for host in _LINK.findall(text) if host.casefold() != own]
    return is_flagged or bool(_MARKUP.search(text)) or len(links) > MAX_LINKS


def mark_as_spam(conversation_id: UUID, source_id: UUID, now: datetime) -> None:
    """Put a conversation under Spam for its message `source_id`, unless the shop has answered or staff are changing it.

    A repeat changes nothing. Raises CassandraUnavailable.
    """
    conversation = queries.get_conversation(conversation_id)
    if conversation is None or conversation.last_shop_id or conversation.state == SPAM:
        return
    try:
        set_state(
            conversation_id,
            SPAM,
            seen=conversation.version,
            change_id=uuid5(source_id, SPAM),
            now=now,
        )
    except (ConversationChanged, NoSuchConversation):
        return
