"""The worker's jobs for conversations, the export and erasure of a person, and the consistency check."""

# ruff: noqa: S608 - the table names are this test's own

from datetime import timedelta
from unittest.mock import patch
from uuid import uuid1, uuid4

from accounts.operations.erasure import person_from_user
from accounts.queries import get_user
from cassandra_db import current_time
from consistency.findings import Scope
from conversations import jobs, privacy, queries
from conversations.entities import Topic
from conversations.operations import deletion, drafts, labels, mailboxes, messages
from conversations.operations.pending import EMPTIED, PENDING
from conversations.rules import INBOX, SHOP_MAILBOX, TRASH
from conversations.states import CUSTOMER, DONE, ORDER, PRODUCT, SHOP
from jobs.leases import hold_lease
from tests.consistency.test_check_consistency import cql, found, repair
from tests.conversations.mailboxes import (
    customer_of,
    get_label,
    guest,
    keys_of,
    listed_ids,
    new_message,
    start,
)
from tests.factories import make_user
from tests.reads import existing

RULES = ("I44", "I45", "I46")


def run_job(name: str, at: timedelta = timedelta(0)) -> str:
    (job,) = (each for each in jobs.JOBS if each.name == name)
    with hold_lease(name):
        return job.run(current_time() + at)


def test_x360_a_message_stored_before_a_crash_is_counted_by_the_worker() -> None:
    user = make_user()
    ident = start(customer_of(user))
    with patch.object(messages, "follow_conversation"), patch.object(type(PENDING), "clear"):
        messages.send_message(ident, new_message("Sorry!", SHOP), current_time())
    assert get_label(user.pk, INBOX).unread_count == 0
    run_job(PENDING.job)
    assert get_label(user.pk, INBOX).unread_count == 1
    assert keys_of(SHOP_MAILBOX, ident) >= {" waiting_for_customer"}
    now = current_time()
    rows = PENDING.list_between(now - timedelta(minutes=1), now)
    assert ident not in {row.conversation_id for row in rows}


def test_x368_trash_goes_after_30_days_and_the_shops_with_the_conversation() -> None:
    user = make_user()
    kept, gone, shops = (start(customer_of(user)) for _ in range(3))
    trash = get_label(user.pk, TRASH).label_id
    mailboxes.relabel(user.pk, [kept, gone], [trash], [])
    mailboxes.relabel(user.pk, [kept], [], [trash])
    mailboxes.relabel(SHOP_MAILBOX, [shops], [get_label(SHOP_MAILBOX, TRASH).label_id], [])
    due = current_time() + mailboxes.TRASH_DURATION
    rows = PENDING.list_between(due - timedelta(minutes=1), due)
    trashed = {(user.pk, kept), (user.pk, gone), (SHOP_MAILBOX, shops)}
    assert trashed <= {(row.user_id, row.conversation_id) for row in rows}
    for user_id, ident in trashed:
        assert not deletion.delete_trashed(user_id, ident, due - timedelta(days=1))
        is_kept = ident == kept
        assert deletion.delete_trashed(user_id, ident, due) != is_kept
    assert listed_ids(user.pk, TRASH) == []
    assert listed_ids(user.pk, INBOX) == [kept]
    assert queries.get_conversation(gone), "the shop keeps its copy"
    assert queries.get_conversation(shops) is None
    messages.send_message(gone, new_message("Hello?", SHOP), current_time())
    assert listed_ids(user.pk, INBOX) == [gone, kept]
    only = Scope(conversations=frozenset({kept, gone}), users=frozenset({user.pk}))
    assert found(only, *RULES) == []


def test_x368_a_message_of_either_side_brings_a_conversation_out_of_the_trash() -> None:
    user = make_user()
    ident = start(customer_of(user))
    for kind in (SHOP, CUSTOMER):
        for owner_id in (user.pk, SHOP_MAILBOX):
            trash = get_label(owner_id, TRASH).label_id
            mailboxes.relabel(owner_id, [ident], [trash], [])
            messages.follow_conversation(ident)
            assert keys_of(owner_id, ident) == {TRASH}
        messages.send_message(ident, new_message("Still there", kind), current_time())
        assert keys_of(user.pk, ident) == {INBOX}
        assert TRASH not in keys_of(SHOP_MAILBOX, ident)
        assert found(Scope(conversations=frozenset({ident})), *RULES) == []


def test_x368_emptying_the_shops_trash_deletes_its_conversations() -> None:
    user = make_user()
    kept, gone = (start(customer_of(user)) for _ in range(2))
    label = labels.create_label(user.pk, "Soon", "red")
    mailboxes.relabel(user.pk, [kept, gone], [label.label_id], [])
    trash = get_label(SHOP_MAILBOX, TRASH).label_id
    mailboxes.relabel(SHOP_MAILBOX, [gone, kept], [trash], [])
    messages.send_message(kept, new_message("Are you there?"), current_time())
    labels.empty_label(SHOP_MAILBOX, get_label(SHOP_MAILBOX, TRASH).label_id)
    labels.delete_label(user.pk, label.label_id)
    run_job(EMPTIED.job, EMPTIED.wait + timedelta(seconds=1))
    assert queries.get_conversation(gone) is None
    assert listed_ids(user.pk, INBOX) == [kept]
    assert keys_of(user.pk, kept) == {INBOX}
    years = queries.NEWEST_LISTED.all(
        user_id=user.pk,
        label_id=label.label_id,
        year=current_time().year,
        last_at=queries.END,
        conversation_id=queries.FIRST_ID,
        most=1,
    )
    assert years == []


def test_x369_what_has_been_done_for_24_months_is_deleted() -> None:
    long_ago = current_time() - timedelta(days=3 * 365)
    old, waiting = (
        messages.start_conversation(guest(), "Old", Topic(), new_message(), long_ago)
        for _ in range(2)
    )
    new = start(guest())
    for ident in (old, new):
        messages.set_state(ident, DONE, seen=1, change_id=uuid4(), now=current_time())
    assert "deleted" in run_job("old conversations")
    assert queries.get_conversation(old) is None
    assert queries.get_conversation(waiting)
    assert queries.get_conversation(new)


def test_x369_a_person_is_exported_and_erased_and_the_shops_replies_lose_the_name() -> None:
    user = make_user()
    person = person_from_user(existing(get_user(user.pk)))
    customer = customer_of(user)
    ident, unanswered = start(customer), start(customer, "Never read")
    reply = new_message(f"Dear {person.name}, sorry", SHOP, name="Ann")
    messages.send_message(ident, reply, current_time())
    drafts.save_draft(user.pk, ident, "Well", current_time())
    exported = privacy.export_personal_data(person)
    assert [len(each["messages"]) for each in exported["conversations"]] == [1, 2]
    assert exported["message_drafts"][0]["text"] == "Well"
    for _ in range(2):
        privacy.erase_personal_data(person, current_time())
    assert queries.get_conversation(unanswered) is None
    conversation = existing(queries.get_conversation(ident))
    assert conversation.customer.email == conversation.customer.name == conversation.subject == ""
    (message,) = deletion.iterate_messages(ident)
    assert message.body == "Dear …, sorry"
    assert queries.list_by_customer(user.pk) == []
    assert queries.LABELS.all(user_id=user.pk) == []
    assert drafts.list_drafts(user.pk) == []
    only = Scope(conversations=frozenset({ident}), users=frozenset({user.pk, SHOP_MAILBOX}))
    assert found(only, *RULES) == []


def test_i44_i45_i46_what_is_broken_by_hand_is_named_and_repaired() -> None:
    user, stranger = make_user(), uuid1()
    ident = start(customer_of(user), topic=Topic(ORDER, uuid4()))
    other = start(customer_of(user), topic=Topic(PRODUCT, uuid4()))
    only = Scope(conversations=frozenset({ident, other}), users=frozenset({user.pk}))
    assert found(only, *RULES) == []
    inbox = get_label(user.pk, INBOX)
    entries = queries.get_mailbox(user.pk, [ident, other]).entries
    in_inbox = "user_id = %s AND kind = 'label' AND key = ' inbox'"
    copy = "user_id = %s AND label_id = %s AND year = %s AND last_at = %s AND conversation_id = %s"
    place = user.pk, inbox.label_id, entries[ident].placed_at.year
    cql(f"UPDATE labels_by_user SET count = 7, unread_count = 3 WHERE {in_inbox}", user.pk)
    cql(
        "UPDATE labels_by_user SET unread = true WHERE user_id = %s AND kind = 'conversation' AND key = %s",
        user.pk,
        other.hex,
    )
    cql("UPDATE conversations SET message_count = 5 WHERE conversation_id = %s", ident)
    cql("DELETE FROM conversations_by_customer WHERE customer_id = %s", user.pk)
    cql(f"DELETE FROM conversations_by_label WHERE {copy}", *place, entries[ident].placed_at, ident)
    cql(
        "UPDATE conversations_by_label SET subject = 'x' WHERE " + copy,
        *place,
        current_time(),
        stranger,
    )
    cql(
        "UPDATE labels_by_user SET version = 1, placed_at = 0, labels = {%s} WHERE user_id = %s AND kind = 'conversation' AND key = %s",
        inbox.label_id,
        user.pk,
        stranger.hex,
    )
    named = " ".join(found(only, *RULES))
    for words in (
        "numbers are not those of its messages",
        "missing in the list of its customer",
        "labels, place or mark are stale",
        "numbers are not those of the mailbox's rows",
        "its copy is wrong",
        "its conversation is gone",
        "a copy has no row in the mailbox",
    ):
        assert words in named
    for _ in range(3):
        report = repair(only, *RULES)
    assert report.is_clean, report.violations
    assert set(listed_ids(user.pk, INBOX)) == {ident, other}
    assert get_label(user.pk, INBOX).count == 2


def test_i45_the_mailbox_of_a_member_who_is_gone_is_deleted() -> None:
    user_id = uuid4()
    label = labels.create_label(user_id, "Left", "red")
    only = Scope(users=frozenset({user_id}))
    assert "who is gone" in " ".join(found(only, "I45"))
    assert repair(only, "I45").is_clean
    assert label.label_id not in queries.get_labels(user_id)
