"""Personal data in conversations."""

from datetime import datetime
from typing import Any
from uuid import UUID

from conversations import queries
from conversations.guests import guest_ids
from conversations.operations import deletion, drafts
from conversations.operations.blocked_senders import unblock_sender
from conversations.operations.erasure import erase_customer
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's conversations with all messages, their labels, and what they have typed and not sent."""
    labels = queries.get_labels(person.user_id)
    listed = [each for ident in _list_ids(person) for each in queries.list_by_customer(ident)]
    return {
        "conversations": [_describe(each.conversation_id) for each in listed],
        "message_labels": [each.name for each in labels.values() if not each.is_fixed],
        "message_drafts": [
            {"conversation_id": row.conversation_id, "text": row.body, "saved_at": row.saved_at}
            for row in drafts.list_drafts(person.user_id)
        ],
    }


def _list_ids(person: DataSubject) -> list[UUID]:
    """Return the ids under which the person has conversations: the account's, and those of the address as a guest."""
    return [person.user_id, *guest_ids(person.email)]


def _describe(conversation_id: UUID) -> dict[str, Any]:
    conversation = queries.get_conversation(conversation_id)
    return {
        "conversation_id": conversation_id,
        "subject": conversation.subject if conversation else "",
        "about": conversation.topic.kind if conversation else "",
        "state": conversation.state if conversation else "",
        "messages": [
            {
                "kind": message.kind,
                "name": message.sender.name,
                "text": message.body,
                "quoted": message.quoted,
                "written_at": message.written_at,
                "files": [each.name for each in message.attachments],
            }
            for message in deletion.iterate_messages(conversation_id)
        ],
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the person's messages, files, mailbox and drafts. The shop's replies stay without the person's name."""
    erase_customer(_list_ids(person), (person.name, person.email))
    deletion.delete_mailbox(person.user_id)
    drafts.delete_drafts(person.user_id)
    unblock_sender(person.email)
