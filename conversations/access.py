"""Whose conversations are whose, and reads that begin before the member is known."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.http import Http404, HttpRequest, HttpResponse

from accounts.models import User
from conversations import queries
from conversations.entities import Conversation
from conversations.guests import guest_ids
from web.decorators import View


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


def starts_reading(start: Callable[..., Any]) -> Callable[[View[...]], View[...]]:
    """Mark a member's page whose reads begin beside that of the member, so that they take no round of their own.

    `start(user_id, request, **address)` starts them; `get_reads` returns what it returned.
    """

    def decorated(view: View[...]) -> View[...]:
        @wraps(view)
        def started(request: HttpRequest, /, *args: Any, **kwargs: Any) -> HttpResponse:
            if user_id := request.session.get(SESSION_KEY):
                vars(request)["conversation_reads"] = start(UUID(user_id), request, **kwargs)
            return view(request, *args, **kwargs)

        return started

    return decorated


def get_reads(request: HttpRequest) -> Any:
    """Return the reads that `starts_reading` has started for a signed-in member."""
    return vars(request)["conversation_reads"]
