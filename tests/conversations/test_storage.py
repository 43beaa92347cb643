"""Conversations, their messages, mailboxes and labels in the tables."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time

from cassandra_db import InvalidPageToken, current_time, truncate_to_milliseconds
from conversations import queries
from conversations.entities import Topic
from conversations.operations import labels, mailboxes, messages
from conversations.operations.entries import INSERT_COPY
from conversations.rules import (
    ALL,
    ARCHIVE,
    INBOX,
    OPEN,
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
    assert keys_of(SHOP_MAILBOX, ident) == {" waiting_for_us", ALL, OPEN, UNASSIGNED}
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
    assert keys_of(SHOP_MAILBOX, ident) == {" waiting_for_customer", ALL, OPEN, UNASSIGNED}
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
    assigned = {" waiting_for_customer", ALL, OPEN, assignee_label(staff.pk)}
    assert keys_of(SHOP_MAILBOX, ident) == assigned
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


def test_pages_of_a_label_go_on_through_the_years_in_both_orders() -> None:
    user_id = uuid4()
    label = labels.create_label(user_id, "Kept", "red")
    now = truncate_to_milliseconds(current_time())
    # Some have the same time; 30 are of this year, 60 of each of the two years before it.
    times = [now.replace(year=now.year - n // 60, month=1, day=1) for n in range(30, 180)]
    times = [at + timedelta(milliseconds=n // 3) for n, at in enumerate(times)]
    placed = {uuid_from_time(at): at for at in times}
    for ident, at in placed.items():
        row = {"user_id": user_id, "label_id": label.label_id, "year": at.year, "last_at": at}
        words = dict.fromkeys(("sender", "subject", "excerpt", "topic"), "")
        marks = {"unread": False, "has_files": False, "labels": {label.label_id}, "version": 1}
        INSERT_COPY.run(**row, **words, **marks, conversation_id=ident)
    full = replace(label, count=len(placed), first_year=now.year - 2)
    for oldest_first in (False, True):
        pages: list[list[UUID]] = []
        token = ""
        while not pages or token:
            pending = queries.prefetch_label_page(user_id, full, token, oldest_first=oldest_first)
            page = queries.label_page(pending)
            pages.append([row.conversation_id for row in page.rows])
            token = page.next_token
        listed = [ident for page in pages for ident in page]
        assert [len(page) for page in pages] == [50, 50, 50]
        assert set(listed) == placed.keys()
        shown = [placed[ident] for ident in listed]
        assert shown == sorted(shown, reverse=not oldest_first)
    other = replace(full, label_id=uuid4())
    token = queries.label_page(queries.prefetch_label_page(user_id, full)).next_token
    with pytest.raises(InvalidPageToken):
        queries.prefetch_label_page(user_id, other, token)
