"""Conversations, their messages, mailboxes and labels in the tables."""

from uuid import uuid4

from cassandra_db import current_time
from conversations import queries
from conversations.entities import Topic
from conversations.operations import labels, mailboxes, messages
from conversations.rules import (
    ALL,
    ARCHIVE,
    INBOX,
    SHOP_MAILBOX,
    STARRED,
    TRASH,
    UNASSIGNED,
    assignee_label,
)
from conversations.states import DONE, NOTE, ORDER, SHOP, WAITING_FOR_US
from tests.conversations.mailboxes import (
    customer_of,
    get_label,
    keys_of,
    listed_ids,
    new_message,
    start,
)
from tests.factories import make_user
from tests.reads import existing


def test_a_conversation_goes_through_both_mailboxes() -> None:
    user = make_user()
    order_id = uuid4()
    me = customer_of(user)
    ident = start(me, topic=Topic(ORDER, order_id))
    conversation = existing(queries.get_conversation(ident))
    assert conversation.state == WAITING_FOR_US
    assert conversation.message_count == 1
    assert keys_of(SHOP_MAILBOX, ident) == {" waiting_for_us", ALL, UNASSIGNED}
    assert keys_of(user.pk, ident) == {INBOX}
    assert listed_ids(user.pk, INBOX) == [ident]
    assert [each.conversation_id for each in queries.list_by_customer(user.pk)] == [ident]
    assert [each.conversation_id for each in queries.list_by_topic(order_id)] == [ident]
    shop = queries.get_mailbox(SHOP_MAILBOX, [ident]).entries[ident]
    assert shop.unread
    assert shop.is_copied
    mailboxes.mark_read(SHOP_MAILBOX, ident, existing(conversation.last_customer_id))
    assert not queries.get_mailbox(SHOP_MAILBOX, [ident]).entries[ident].unread
    sent = messages.send_message(ident, new_message("Sorry!", SHOP), current_time())
    assert keys_of(SHOP_MAILBOX, ident) == {" waiting_for_customer", ALL, UNASSIGNED}
    assert get_label(user.pk, INBOX).unread_count == 1
    messages.send_message(ident, new_message("A note", NOTE), current_time())
    found = queries.messages_from_rows(queries.prefetch_messages(ident).rows())
    assert [each.kind for each in found] == ["customer", "shop", "note"]
    page = queries.label_page(queries.prefetch_label_page(user.pk, get_label(user.pk, INBOX)))
    assert page.rows[0].excerpt == "Sorry!"
    assert page.rows[0].unread
    mailboxes.mark_read(user.pk, ident, sent)
    assert get_label(user.pk, INBOX).unread_count == 0
    mailboxes.mark_unread(user.pk, ident)
    assert get_label(user.pk, INBOX).unread_count == 1
    unseen = messages.send_message(ident, new_message("And more", SHOP), current_time())
    mailboxes.mark_read(user.pk, ident, sent)
    assert get_label(user.pk, INBOX).unread_count == 1
    mailboxes.mark_read(user.pk, ident, unseen)
    assert get_label(user.pk, INBOX).unread_count == 0

    staff = make_user()
    conversation = existing(queries.get_conversation(ident))
    messages.assign(
        ident, staff.pk, seen=conversation.version, change_id=uuid4(), now=current_time()
    )
    assert keys_of(SHOP_MAILBOX, ident) == {" waiting_for_customer", ALL, assignee_label(staff.pk)}
    messages.set_state(
        ident, DONE, seen=conversation.version + 1, change_id=uuid4(), now=current_time()
    )
    assert keys_of(SHOP_MAILBOX, ident) == {" done", ALL}
    assert ident in listed_ids(SHOP_MAILBOX, " done")
    assert ident not in listed_ids(SHOP_MAILBOX, " waiting_for_customer")


def test_labels() -> None:
    user = make_user()
    idents = [start(customer_of(user), subject=f"No {n}") for n in range(3)]
    urgent = labels.create_label(user.pk, "Urgent", "red")
    assert (
        mailboxes.relabel(
            user.pk, idents, [urgent.label_id, get_label(user.pk, STARRED).label_id], []
        )
        == 3
    )
    assert get_label(user.pk, "urgent").count == 3
    assert listed_ids(user.pk, "urgent") == idents[::-1]
    mailboxes.relabel(user.pk, idents[:1], [get_label(user.pk, ARCHIVE).label_id], [])
    assert keys_of(user.pk, idents[0]) == {ARCHIVE, STARRED, "urgent"}
    labels.edit_label(user.pk, urgent.label_id, "Soon", "blue")
    assert get_label(user.pk, "soon").count == 3
    labels.empty_label(user.pk, urgent.label_id)
    assert get_label(user.pk, "soon").count == 0
    assert listed_ids(user.pk, "soon") == []
    labels.delete_label(user.pk, get_label(user.pk, "soon").label_id)
    mailboxes.relabel(user.pk, idents, [get_label(user.pk, TRASH).label_id], [])
    assert listed_ids(user.pk, TRASH)
    assert not listed_ids(user.pk, INBOX)
    assert get_label(user.pk, STARRED).count == 0
