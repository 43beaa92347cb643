"""The staff's inbox: folders, the search, and changes of many conversations at once."""

from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

from django.test import Client

from accounts.models import User
from adminpanel.conversations.changes import Outcome
from cassandra_db import truncate_to_milliseconds
from conversations import search
from conversations.entities import Topic
from conversations.mailbox_page import ticked_value
from conversations.operations.mailboxes import relabel
from conversations.operations.messages import assign, send_message
from conversations.queries import get_conversation
from conversations.rules import SHOP_MAILBOX, STARRED, TRASH
from conversations.states import DONE, ORDER, SHOP, SPAM, WAITING_FOR_US
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.conversations.conftest import (
    form_of,
    listed,
    make_label,
    parse,
    state_of,
    text_of,
    url,
)
from tests.clock import now
from tests.conversations.mailboxes import customer_of, get_label, guest, keys_of, new_message, start
from tests.factories import make_user

INBOX, CHANGE = url("messages"), url("messages_change")


def subject() -> str:
    return f"Jug {uuid4().hex[:8]}"


def test_x390_folders_have_exact_counts_and_who_waits_longest_is_first(
    desk: Client, sue: User
) -> None:
    first, second = start(guest(), one := subject()), start(guest(), two := subject())
    send_message(first, new_message("Are you there?"), now())
    page = parse(desk.get(INBOX))
    assert [each for each in listed(page) if each in (one, two)] == [one, two]
    found = get_conversation(second)
    assert found
    assign(second, sue.pk, seen=found.version, change_id=uuid4(), now=now())
    mine = parse(desk.get(INBOX, {"folder": "mine"}))
    assert listed(mine) == [two]
    (current,) = mine.cssselect(".inbox__side .folder[aria-current]")
    assert " ".join(current.text_content().split()) == "Mine 1 new 1"
    newest = listed(parse(desk.get(INBOX, {"folder": "all"})))
    assert newest.index(two) < newest.index(one)  # by the time since which they wait
    waiting = parse(desk.get(INBOX)).cssselect(
        '.inbox__side [href$="folder=waiting"] .folder__count'
    )
    assert waiting[0].text == str(get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").count)
    assert desk.get(INBOX, {"folder": "nowhere"}).status_code == 404
    assert desk.get(INBOX, {"folder": "all", "after": "x"}).status_code == 302


def test_x390_an_open_inbox_asks_whether_it_is_current(desk: Client) -> None:
    start(guest())
    # The page shows for how long each has waited: it is no longer current when the minute ends.
    for _ in range(2):
        (part,) = parse(desk.get(INBOX)).cssselect("#inbox[hx-get]")
        asked = part.get("hx-get", "")
        status = desk.get(asked, headers={"HX-Request": "true"}).status_code
        if status == 204:
            break
    assert status == 204
    start(guest(), late := subject())
    answer = desk.get(asked, headers={"HX-Request": "true"})
    assert late in listed(parse(answer))
    assert not parse(answer).cssselect("h1")


def test_x390_a_label_is_a_folder_and_its_name_is_readable_without_its_colour(desk: Client) -> None:
    label, conversation_id = make_label(), start(guest(), one := subject())
    change(desk, [conversation_id], f"label:{label.label_id}")
    page = parse(desk.get(INBOX, {"folder": str(label.label_id)}))
    assert listed(page) == [one]
    assert page.cssselect("tbody .mail-label--teal")[0].text_content() == label.name
    assert text_of(desk.get(INBOX, {"folder": "spam", "tick": "all"}))


def tick(conversation_id: UUID) -> str:
    """Return what a browser sends of a ticked row that it has just shown."""
    return ticked_value(conversation_id, truncate_to_milliseconds(now()).timestamp())


def change(desk: Client, ids: list[UUID], act: str) -> str:
    """Send what the form of the inbox sends; return what the page then says, of a folder with few rows."""
    sent = {"folder": "mine", "conversation": list(map(tick, ids)), "act": "more", "more": act}
    answer = desk.post(CHANGE, sent, follow=True)
    assert answer.status_code == 200
    return text_of(answer)


def test_x392_many_are_changed_at_once_and_it_says_which_were_skipped(
    desk: Client, sue: User
) -> None:
    ids = [start(guest()) for _ in range(3)]
    said = change(desk, [*ids, UUID("7b2a4c52-b911-11ef-9cd2-0242ac120002")], "done")
    assert "3 conversations changed. Skipped: 1 no longer there." in said
    assert {state_of(each) for each in ids} == {DONE}
    assert "0 conversations changed. Skipped: 3 already like that." in change(desk, ids, "done")
    change(desk, ids, "open")
    assert {state_of(each) for each in ids} == {WAITING_FOR_US}
    assert f" assigned {sue.pk.hex}" in [*map(str, keys_after(desk, ids[0], f"assign:{sue.pk}"))]
    assert " unassigned" in keys_after(desk, ids[0], "assign:")
    assert STARRED in keys_after(desk, ids[0], "star")
    assert STARRED not in keys_after(desk, ids[0], "unstar")
    assert keys_after(desk, ids[0], "trash") == {TRASH}
    assert TRASH not in keys_after(desk, ids[0], "restore")
    change(desk, ids[:1], "spam")
    assert state_of(ids[0]) == SPAM


def keys_after(desk: Client, conversation_id: UUID, act: str) -> set[str]:
    assert "1 conversation changed." in change(desk, [conversation_id], act)
    return keys_of(SHOP_MAILBOX, conversation_id)


def test_x392_what_has_a_message_that_nobody_has_seen_is_not_finished(desk: Client) -> None:
    conversation_id = start(guest())
    sent = form_of(parse(desk.get(INBOX)), CHANGE) | {"conversation": tick(conversation_id)}
    send_message(conversation_id, new_message("Wait, it has come."), now())
    for act in ("done", "spam", "trash", "read"):
        sent |= {"act": act}
        said = text_of(desk.post(CHANGE, sent, follow=True))
        assert "Skipped: 1 with a message that you haven’t seen." in said, act
    assert state_of(conversation_id) == WAITING_FOR_US


def test_x392_read_and_unread(desk: Client) -> None:
    conversation_id = start(guest())
    unread = get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").unread_count
    change(desk, [conversation_id], "read")
    assert get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").unread_count == unread - 1
    change(desk, [conversation_id], "unread")
    assert "already like that" in change(desk, [conversation_id], "unread")
    assert get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").unread_count == unread


def test_x392_a_conversation_has_ten_labels_at_most(desk: Client) -> None:
    full, free = start(guest()), start(guest())
    labels = [make_label() for _ in range(11)]
    relabel(SHOP_MAILBOX, [full], [label.label_id for label in labels[:10]], [])
    said = change(desk, [full, free], f"label:{labels[10].label_id}")
    assert "1 conversation changed. Skipped: 1 with the maximum number of labels." in said
    assert "1 conversation changed." in change(desk, [full], f"unlabel:{labels[0].label_id}")


def test_x392_bad_input_changes_nothing_and_keeps_the_ticks(desk: Client) -> None:
    conversation_id, label = start(guest()), make_label()
    relabel(SHOP_MAILBOX, [conversation_id], [label.label_id], [])
    sent = form_of(parse(desk.get(INBOX, {"folder": str(label.label_id)})), CHANGE)
    sent |= {"act": "done", "conversation": tick(conversation_id)}
    too_many = [str(UUID(int=1 << 76 | 1 << 63 | each)) for each in range(101)]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"conversation": []}, "Select at least one conversation"),
        ({"conversation": ["x"]}, "Reload the page and try again"),
        ({"conversation": too_many}, "at most 100"),
        ({"act": "more", "more": ""}, "Choose what to do with them"),
        ({"act": "burn"}, "Choose what to do with them"),
    ]
    for fields, said in cases:
        answer = desk.post(CHANGE, {**sent, **fields})
        assert (answer.status_code, said in text_of(answer)) == (422, True), fields
        ticked = parse(answer).cssselect("input[name=conversation][checked]")
        assert ("conversation" in fields) is (not ticked)
    assert state_of(conversation_id) == WAITING_FOR_US


def test_x391_the_search_finds_by_customer_order_and_words_and_says_how_far_it_looked(
    desk: Client,
) -> None:
    member, order = make_user("Ottilie Quandt"), make_order_with_events("paid")
    own = start(customer_of(member), one := subject(), body="The glaze is crazed all over")
    start(guest(), two := subject(), Topic(ORDER, order.order_id))
    send_message(own, new_message(f"{'so ' * 100}Schnickschnack", kind=SHOP), now())

    def find(query: str) -> list[str]:
        return listed(parse(desk.get(INBOX, {"q": query}, follow=True)))

    assert find(order.number.lower().replace("-", " ")) == [two]
    assert find(member.email) == [one]
    assert find(one.upper()) == [one]
    assert find(f"schnickschnack {one.split()[1][:6]}") == [one]
    assert find(f"{one} nothing") == []
    assert "@" not in desk.get(INBOX, {"q": member.email})["Location"]
    with patch.object(search, "MAX_LOOKED_AT", 1):
        said = text_of(desk.get(INBOX, {"q": "nonesuch"}))
        assert "Searched the newest 1 conversations outside spam and trash, back to" in said
    assert "Searched all" in text_of(desk.get(INBOX, {"q": "nonesuch"}))
    too_long = desk.get(INBOX, {"q": "x" * 201})
    assert too_long.status_code == 422
    assert "x" * 201 in too_long.content.decode()


def test_x391_what_a_search_found_can_be_changed_and_the_search_stays(desk: Client) -> None:
    conversation_id = start(guest(), one := subject())
    page = parse(desk.get(INBOX, {"q": one}))
    sent = form_of(page, CHANGE) | {"conversation": tick(conversation_id), "act": "done"}
    answer = desk.post(CHANGE, sent, follow=True)
    assert listed(parse(answer)) == [one]
    assert "Done" in text_of(answer)
    refused = desk.post(CHANGE, sent | {"act": "burn"})
    assert (refused.status_code, listed(parse(refused))) == (422, [one])


def test_x390_home_counts_what_waits(desk: Client) -> None:
    start(guest())
    assert "Messages to answer" in text_of(desk.get(url("home")))


def test_an_outcome_is_a_sentence() -> None:
    outcome = Outcome(done=2)
    assert str(outcome) == "2 conversations changed."
