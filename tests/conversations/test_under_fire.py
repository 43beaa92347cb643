"""Lost answers, writers at the same moment, and processes that die at each write: nothing is lost, doubled or counted wrongly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from functools import partial
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest

from cassandra_db import current_time, session, statements
from consistency import conversations
from consistency.findings import Scope
from conversations import queries
from conversations.entities import Label, NewMessage, Topic
from conversations.errors import (
    ConversationChanged,
    LabelNameTaken,
    NoSuchConversation,
    NoSuchLabel,
    TooManyLabels,
)
from conversations.operations import deletion, entries, labels, mailboxes, messages
from conversations.operations.pending import EMPTIED, PENDING
from conversations.rules import ARCHIVE, INBOX, SHOP_MAILBOX, TRASH
from conversations.states import CUSTOMER, DONE, NOTE, ORDER, SHOP, SPAM, WAITING_FOR_US
from tests.consistency.test_check_consistency import found
from tests.conversations.mailboxes import customer_of, get_label, listed_ids, new_message, start
from tests.factories import make_user
from tests.lost_answers import AnswerLosingSession
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.reads import existing
from tests.threads import call_at_once, map_at_once

RULES = ("I44", "I45", "I46")


def faults_of(*conversation_ids: UUID, users: tuple[UUID, ...] = ()) -> list[str]:
    only = Scope(conversations=frozenset(conversation_ids), users=frozenset(users))
    return found(only, *RULES)


def bodies(conversation_id: UUID) -> list[str]:
    return sorted(each.body for each in deletion.iterate_messages(conversation_id))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the check report what a pending row names, too."""
    monkeypatch.setattr(conversations, "_is_pending", lambda *ids: False)


@pytest.fixture
def _without_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let writers meet each other as those of several processes do."""
    for module in (entries, messages):
        monkeypatch.setattr(module, "take_turns", lambda *_: nullcontext())


def test_x360_a_lost_answer_neither_loses_nor_doubles_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = make_user()
    flaky = AnswerLosingSession(session.get_session())
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    ident = start(customer_of(user), topic=Topic(ORDER, uuid4()))
    for kind in (SHOP, CUSTOMER, NOTE):
        messages.send_message(ident, new_message(kind, kind), current_time())
    assert bodies(ident) == ["Hello", "customer", "note", "shop"]
    version = existing(queries.get_conversation(ident)).version
    messages.assign(ident, user.pk, seen=version, change_id=uuid4(), now=current_time())
    messages.set_state(ident, SPAM, seen=version + 1, change_id=uuid4(), now=current_time())
    label = labels.create_label(user.pk, "Later", "blue")
    assert mailboxes.relabel(user.pk, [ident], [label.label_id], []) == 1
    assert labels.edit_label(user.pk, label.label_id, "Sooner", "red").key == "sooner"
    mailboxes.mark_unread(user.pk, ident)
    assert (get_label(user.pk, "sooner").count, get_label(user.pk, "sooner").unread_count) == (1, 1)
    labels.empty_label(user.pk, label.label_id)
    assert listed_ids(user.pk, "sooner") == []
    labels.delete_label(user.pk, get_label(user.pk, "sooner").label_id)
    assert flaky.lost_count > 15
    assert faults_of(ident, users=(user.pk,)) == []
    assert deletion.delete_conversation(ident)
    assert faults_of(ident, users=(user.pk, SHOP_MAILBOX)) == []
    assert queries.get_conversation(ident) is None
    assert queries.list_by_customer(user.pk) == []


@pytest.mark.usefixtures("_without_turns")
def test_x361_replies_at_the_same_moment_and_forms_sent_twice_are_stored_once_each() -> None:
    user = make_user()
    source_id = uuid4()
    first = new_message(source_id=source_id)
    begun = map_at_once(
        lambda _: messages.start_conversation(
            customer_of(user), "Jug", Topic(), first, current_time()
        ),
        range(4),
    )
    assert len(set(begun)) == 1
    ident = begun[0]
    forms = [new_message(f"{kind} {n}", kind) for n in range(3) for kind in (SHOP, CUSTOMER)]
    sent = map_at_once(lambda form: messages.send_message(ident, form, current_time()), forms * 2)
    assert len(set(sent)) == len(forms)
    assert bodies(ident) == sorted(["Hello", *(each.body for each in forms)])
    conversation = existing(queries.get_conversation(ident))
    assert conversation.message_count == 7
    newest = queries.messages_from_rows(queries.prefetch_messages(ident).rows())[-1]
    assert (conversation.state == WAITING_FOR_US) == (newest.kind == CUSTOMER)
    assert len(queries.list_by_customer(user.pk)) == 1
    assert faults_of(ident, users=(user.pk, SHOP_MAILBOX)) == []
    changes = call_at_once(
        *(
            lambda state=state: messages.set_state(
                ident, state, seen=conversation.version, change_id=uuid4(), now=current_time()
            )
            for state in (DONE, SPAM)
        ),
        refused=ConversationChanged,
    )
    assert sorted(map(bool, changes)) == [False, True]
    assert faults_of(ident) == []


@pytest.mark.usefixtures("_without_turns")
def test_x362_marks_and_labels_hold_while_messages_arrive() -> None:
    user = make_user()
    ident, other = start(customer_of(user)), start(customer_of(user))
    label, gone = (labels.create_label(user.pk, name, "red") for name in ("Kept", "Gone"))
    inbox, archive = get_label(user.pk, INBOX), get_label(user.pk, ARCHIVE)
    seen = messages.send_message(ident, new_message("seen", SHOP), current_time())

    def send(number: int) -> UUID:
        return messages.send_message(ident, new_message(str(number), SHOP), current_time())

    for _ in range(3):
        *_, newest = call_at_once(
            lambda: mailboxes.mark_read(user.pk, ident, seen),
            lambda: mailboxes.mark_unread(user.pk, ident),
            lambda: mailboxes.relabel(
                user.pk, [ident, other], [label.label_id, archive.label_id], []
            ),
            lambda: mailboxes.relabel(user.pk, [other], [inbox.label_id], [label.label_id]),
            lambda: send(1),
            lambda: send(2),
        )
        entry = queries.get_mailbox(user.pk, [ident]).entries[ident]
        assert entry.unread
        assert is_newest(ident, entry.last_message_id)
    assert faults_of(ident, other, users=(user.pk,)) == []
    for act in (labels.empty_label, labels.delete_label):
        gone = get_label(user.pk, "gone")
        call_at_once(
            partial(act, user.pk, gone.label_id),
            *[partial(mailboxes.relabel, user.pk, [ident, other], [gone.label_id], [])] * 2,
            lambda: send(3),
            refused=NoSuchLabel,
        )
        assert faults_of(ident, other, users=(user.pk,)) == []
        assert get_label(user.pk, "gone").count == len(listed_ids(user.pk, "gone")) == 0
    assert newest


def is_newest(conversation_id: UUID, message_id: UUID | None) -> bool:
    return message_id == existing(queries.get_conversation(conversation_id)).last_shop_id


@pytest.mark.parametrize("count", [48, pytest.param(500, marks=pytest.mark.proof)])
def test_x363_messages_to_one_conversation_at_once_are_all_there(count: int) -> None:
    user = make_user()
    ident = start(customer_of(user))
    sent = map_at_once(
        lambda n: messages.send_message(ident, new_message(str(n), SHOP), current_time()),
        range(count),
        threads=16,
    )
    assert len(set(sent)) == count
    conversation = existing(queries.get_conversation(ident))
    assert conversation.message_count == count + 1
    assert bodies(ident) == sorted(["Hello", *map(str, range(count))])
    assert faults_of(ident, users=(user.pk,)) == []


@contextmanager
def small_conversations() -> Iterator[None]:
    with patch.object(messages, "MAX_MESSAGES", 3):
        yield


@pytest.mark.usefixtures("_without_turns")
def test_x364_a_full_conversation_is_continued_in_one_new_one() -> None:
    user = make_user()
    ident = start(customer_of(user))
    with patch.object(messages, "MAX_MESSAGES", 1):
        full = queries.HEAD.one(conversation_id=start(customer_of(user)))
        both = [messages._continue(full, current_time()) for _ in range(2)]
        assert len(set(both)) == 1, "who reads it before it is continued gets the same one"
    with small_conversations():
        forms = [new_message(str(n)) for n in range(5)]
        sent = map_at_once(lambda form: messages.send_message(ident, form, current_time()), forms)
        again = [messages.send_message(ident, form, current_time()) for form in forms]
    assert again == sent
    first = existing(queries.get_conversation(ident))
    second = existing(queries.get_conversation(existing(first.continued_id)))
    assert (first.message_count, second.message_count) == (3, 3)
    assert (first.state, second.follows_id) == (DONE, ident)
    told = bodies(ident) + bodies(second.conversation_id)
    assert sorted(told) == sorted(["Hello", *map(str, range(5))])
    assert faults_of(ident, second.conversation_id, users=(user.pk,)) == []


def _sweep(*conversation_ids: UUID) -> None:
    """Do for these conversations what the worker does; only what a pending row names."""
    now = current_time()
    rows = PENDING.list_between(now - timedelta(minutes=2), now)
    for ident in {row.conversation_id for row in rows} & set(conversation_ids):
        messages.follow_conversation(ident)


Act = Callable[[UUID], object]


def _acts() -> dict[str, tuple[Act, int]]:
    """Return the acts at whose writes a process dies, and how many messages a conversation has afterwards."""
    form, change_id = new_message("sent", SHOP, uuid4()), uuid4()

    def relabel(ident: UUID) -> None:
        owner_id = existing(queries.get_conversation(ident)).customer.customer_id
        mailboxes.relabel(owner_id, [ident], [get_label(owner_id, TRASH).label_id], [])

    return {
        "send": (lambda ident: messages.send_message(ident, form, current_time()), 2),
        "state": (
            lambda ident: messages.set_state(
                ident, DONE, seen=1, change_id=change_id, now=current_time()
            ),
            1,
        ),
        "relabel": (relabel, 1),
        "delete": (deletion.delete_conversation, 0),
    }


@pytest.mark.parametrize("name", ["send", "state", "relabel", "delete"])
def test_x365_whatever_write_a_process_dies_at_the_worker_completes_it(name: str) -> None:
    user = make_user()
    act, count = _acts()[name]
    writes = first_and_last_writes(record_writes(lambda: act(start(customer_of(user)))))
    began = record_writes(lambda: start(customer_of(user)))
    own = [each for each in writes if each.texts not in {write.texts for write in began[:1]}]
    for target in own:
        act, count = _acts()[name]
        ident = start(customer_of(user))
        kill_at_write(target, lambda: act(ident))  # noqa: B023
        _sweep(ident)
        assert faults_of(ident) == [], target
        try:
            act(ident)
        except NoSuchConversation:
            assert name == "delete"
        conversation = queries.get_conversation(ident)
        assert (conversation.message_count if conversation else 0) == count, target
        assert faults_of(ident) == [], target
    assert faults_of(users=(user.pk, SHOP_MAILBOX)) == []


def test_x365_a_change_after_a_crash_deletes_what_both_have_left_behind() -> None:
    user = make_user()
    ident = start(customer_of(user))
    with patch.object(entries, "write_copies"):
        messages.send_message(ident, new_message("one", SHOP), current_time())
    for body in ("two", "three"):
        messages.send_message(ident, new_message(body, SHOP), current_time())
    assert faults_of(ident, users=(user.pk, SHOP_MAILBOX)) == []


def test_x365_a_form_whose_process_died_at_any_write_starts_one_conversation() -> None:
    user = make_user()

    def begin(source_id: UUID) -> UUID:
        first = new_message(source_id=source_id)
        topic = Topic(ORDER, source_id)
        return messages.start_conversation(customer_of(user), "Jug", topic, first, current_time())

    for target in first_and_last_writes(record_writes(lambda: begin(uuid4()))):
        source_id = uuid4()
        kill_at_write(target, partial(begin, source_id))
        claim = queries.CLAIM.one(source_id=source_id)
        if claim:
            _sweep(claim.conversation_id)
            assert faults_of(claim.conversation_id) == [], target
        assert begin(source_id) == (claim.conversation_id if claim else begin(source_id))
        assert len(queries.list_by_topic(source_id)) == 1
    assert faults_of(users=(user.pk, SHOP_MAILBOX)) == []


@pytest.mark.parametrize("act", [labels.empty_label, labels.delete_label])
def test_x365_whatever_write_a_label_is_taken_away_at_it_is_gone_and_its_copies_are(
    act: Callable[[UUID, UUID], None],
) -> None:
    user = make_user()
    ident = start(customer_of(user))

    def take_away(label: Label) -> None:
        with suppress(NoSuchLabel):  # it is a repeat
            act(user.pk, label.label_id)
        due = current_time()
        for row in EMPTIED.list_between(due - timedelta(minutes=1), due):
            if row.label_id == label.label_id:
                deletion.finish_emptied(row, due)

    def put_on() -> Label:
        label = find_own(user.pk) or labels.create_label(user.pk, "Garden", "green")
        mailboxes.relabel(user.pk, [ident], [label.label_id], [])
        return label

    label = put_on()
    targets = first_and_last_writes(record_writes(lambda: take_away(label)))
    assert len(targets) == 4, "the pending row, the label, and a deletion of two years"
    for target in targets:
        label = put_on()
        assert listed_ids(user.pk, label.key) == [ident]
        kill_at_write(target, partial(take_away, label))
        left = find_own(user.pk)
        assert left is None or left.count == (left.label_id == label.label_id), target
        take_away(label)
        assert (find_own(user.pk) is None) == (act is labels.delete_label), target
        assert not queries.label_page(queries.prefetch_label_page(user.pk, label)).rows, target
        assert faults_of(ident, users=(user.pk,)) == [], target


def find_own(user_id: UUID) -> Label | None:
    found = queries.get_labels(user_id).values()
    return next((label for label in found if not label.is_fixed), None)


def test_x365_whatever_write_a_process_dies_at_a_full_conversation_is_continued_once() -> None:
    user = make_user()

    def fill() -> UUID:
        ident = start(customer_of(user))
        messages.send_message(ident, new_message("full"), current_time())
        return ident

    def send(ident: UUID, form: NewMessage) -> UUID:
        with patch.object(messages, "MAX_MESSAGES", 2):
            return messages.send_message(ident, form, current_time())

    writes = record_writes(partial(send, fill(), new_message()))
    # What follows a message is killed above.
    moved = next(at for at, each in enumerate(writes) if "UPDATE message_claims" in each.texts[0])
    for target in writes[1 : moved + 3]:
        ident, form = fill(), new_message("more", NOTE)
        since = existing(queries.get_conversation(ident)).waiting_since
        kill_at_write(target, partial(send, ident, form))
        _sweep(ident)
        continued = existing(queries.get_conversation(ident)).continued_id
        if continued:
            _sweep(continued)
            assert existing(queries.get_conversation(ident)).state == DONE, target
            assert existing(queries.get_conversation(continued)).follows_id == ident, target
            assert faults_of(ident, continued) == [], target
        assert send(ident, form) == send(ident, form)
        first = existing(queries.get_conversation(ident))
        second = existing(queries.get_conversation(existing(first.continued_id)))
        assert continued in (None, second.conversation_id), target
        assert (first.state, second.state) == (DONE, WAITING_FOR_US), target
        assert second.waiting_since == since, "a note changes nothing"
        assert bodies(ident) + bodies(second.conversation_id) == ["Hello", "full", "more"], target
        assert faults_of(ident, second.conversation_id) == [], target
    assert faults_of(users=(user.pk, SHOP_MAILBOX)) == []


def test_x377_forms_at_the_same_moment_do_not_pass_the_bound_of_own_labels() -> None:
    user_id = uuid4()
    with patch.object(labels, "MAX_OWN_LABELS", 3):
        made = call_at_once(
            *(partial(labels.create_label, user_id, str(n), "red") for n in range(6)),
            refused=TooManyLabels,
        )
        assert sum(isinstance(each, Label) for each in made) == 3
        labels.delete_label(user_id, existing(find_own(user_id)).label_id)
        same = call_at_once(
            *[partial(labels.create_label, user_id, "Same", "red")] * 2, refused=LabelNameTaken
        )
    assert sum(isinstance(each, Label) for each in same) == 1
