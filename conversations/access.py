"""Whose conversations are whose."""

from uuid import UUID

from django.http import Http404

from accounts.models import User
from conversations import queries
from conversations.entities import Conversation
from conversations.guests import guest_ids


def list_customer_ids(user: User) -> list[UUID]:
    """Return the customer ids of a member: the account's, and those of the proved address as a guest."""
    email = "" if user.demo else user.confirmed_email
    return [user.pk, *(guest_ids(email) if email else ())]


def get_own_conversation(user: User, conversation_id: UUID) -> Conversation:
    """Return a member's own conversation. Raises Http404, CassandraUnavailable."""
    if conversation_id.version != 1:  # Cassandra refuses it as an id
        raise Http404("no such conversation")
    return require_own(user, queries.get_conversation(conversation_id))


def require_own(user: User, conversation: Conversation | None) -> Conversation:
    """Return the conversation if it is the member's own. Raises Http404."""
    if conversation is None or conversation.customer.customer_id not in list_customer_ids(user):
        raise Http404("no such conversation")
    return conversation
