"""A conversation's page for staff, and the pages that lead to it."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from conversations import queries
from conversations.entities import NewMessage, Sender, Topic
from conversations.operations.drafts import get_draft
from conversations.operations.messages import send_message, set_state
from conversations.rules import MAX_BODY, SHOP_MAILBOX
from conversations.states import (
    CUSTOMER,
    DONE,
    NOTE,
    ORDER,
    SHOP,
    SPAM,
    WAITING_FOR_CUSTOMER,
    WAITING_FOR_US,
)
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.conversations.conftest import (
    form_of,
    make_label,
    parse,
    state_of,
    text_of,
    url,
)
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.clock import now
from tests.conversations.mailboxes import customer_of, get_label, guest, keys_of, new_message, start
from tests.factories import make_order, make_user, sign_in_staff


def messages_of(conversation_id: UUID) -> list[tuple[str, str]]:
    found = queries.messages_from_rows(queries.prefetch_messages(conversation_id).rows())
    return [(each.kind, each.body) for each in found]


def post(desk: Client, conversation_id: UUID, name: str, *, page: Any = None, **fields: Any) -> Any:
    """Send a form of the page as a browser would, with these fields."""
    action = url(f"conversation_{name}", conversation_id)
    page = parse(desk.get(url("conversation", conversation_id))) if page is None else page
    return desk.post(action, form_of(page, action) | fields)


@pytest.fixture
def conversation_id() -> UUID:
    return start(guest(), "Where is it?")


def test_x393_the_thread_has_messages_notes_quotes_and_the_orders_events_in_time_order(
    desk: Client, sue: User
) -> None:
    order = make_order_with_events("paid")
    found = start(guest(), "Late", Topic(ORDER, order.order_id), body="Is it on its way?")
    send_message(found, new_message("Ask the carrier <b>", kind=NOTE, name="Ben"), now())
    mail = NewMessage(
        uuid4(),
        CUSTOMER,
        Sender(None, "", "other@example.com", is_verified=False),
        "Thanks",
        "> all",
    )
    send_message(found, mail, now())
    answer = desk.get(url("conversation", found))
    page, said = parse(answer), text_of(answer)
    kinds = [each.get("class").split()[-1] for each in page.cssselect(".thread > .message")]
    assert kinds == ["message--theirs", "message--note", "message--theirs"]
    assert "Ask the carrier &lt;b&gt;" in answer.content.decode()
    assert "From another address: other@example.com" in said
    assert page.cssselect("details.message__fold .message__body")[0].text_content() == "> all"
    assert page.cssselect("details .event"), "what happened to the order before"
    assert order.number in said
    (look,) = [
        each for each in list_entries_this_month(sue) if each.act == "conversation_looked_at"
    ]
    assert str(found) in look.subject


def test_x393_opening_a_conversation_marks_what_is_shown_as_read(
    desk: Client, conversation_id: UUID
) -> None:
    page = parse(desk.get(url("conversation", conversation_id)))
    assert page.cssselect('form#read[hx-trigger="load"]'), "no look changes anything by itself"
    send_message(conversation_id, new_message("And another thing"), now())
    before = get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").unread_count
    post(desk, conversation_id, "read", page=page)
    assert get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").unread_count == before
    assert post(desk, conversation_id, "read").status_code == 303
    assert get_label(SHOP_MAILBOX, f" {WAITING_FOR_US}").unread_count == before - 1
    assert not parse(desk.get(url("conversation", conversation_id))).cssselect("form#read")


def test_x393_who_else_reads_it_is_shown(desk: Client, conversation_id: UUID) -> None:
    other = sign_in_staff(Client(), make_user("Max", role="admin"))
    other.get(url("conversation", conversation_id))
    (viewers,) = parse(desk.get(url("conversation", conversation_id))).cssselect("#viewers")
    assert "Max is also viewing this conversation" in " ".join(viewers.text_content().split())
    itself = {"X-Refreshes-Itself": "1"}
    assert desk.get(viewers.get("hx-get"), headers=itself).status_code == 204
    other.get(url("conversation_viewers", conversation_id) + "?left=1")
    answer = desk.get(viewers.get("hx-get"), headers=itself)
    assert "Max" not in answer.content.decode()
    assert desk.get(url("conversation_viewers", conversation_id)).status_code == 302


def test_x394_a_reply_is_sent_once_and_the_customer_is_waited_for(
    desk: Client, conversation_id: UUID
) -> None:
    page = parse(desk.get(url("conversation", conversation_id)))
    for _ in range(2):
        answer = post(desk, conversation_id, "reply", page=page, message="On its way.", act="send")
        assert answer.status_code == 303
    assert messages_of(conversation_id) == [(CUSTOMER, "Hello"), (SHOP, "On its way.")]
    assert state_of(conversation_id) == WAITING_FOR_CUSTOMER
    post(desk, conversation_id, "reply", message="Found it.", act="done")
    assert state_of(conversation_id) == DONE


def test_x394_a_reply_that_overlooks_a_message_is_shown_it_first_and_can_be_sent_then(
    desk: Client, sue: User, conversation_id: UUID
) -> None:
    page = parse(desk.get(url("conversation", conversation_id)))
    send_message(conversation_id, new_message("Never mind!"), now())
    answer = post(desk, conversation_id, "reply", page=page, message="On its way.", act="send")
    assert answer.status_code == 409
    shown = parse(answer)
    assert "Never mind!" in shown.text_content()
    assert len(messages_of(conversation_id)) == 2
    draft = get_draft(sue.pk, conversation_id)
    assert draft
    assert draft.body == "On its way."
    assert post(desk, conversation_id, "reply", page=shown, act="send").status_code == 303
    assert messages_of(conversation_id)[-1] == (SHOP, "On its way.")
    assert get_draft(sue.pk, conversation_id) is None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "Enter your message"),
        ("x" * (MAX_BODY + 1), "at most 20000 characters"),
        ("😀" * MAX_BODY, "The message is too long"),
        ("Dear {customer}, it is {tracking}", "Fill in {customer}, {tracking}"),
    ],
)
def test_x394_a_bad_reply_keeps_its_words(
    desk: Client, conversation_id: UUID, message: str, said: str
) -> None:
    answer = post(desk, conversation_id, "reply", message=message, act="send")
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert parse(answer).cssselect("#id_message")[0].text_content().strip() == message
    assert len(messages_of(conversation_id)) == 1


def test_x394_a_draft_is_kept_and_shown_again(desk: Client, conversation_id: UUID) -> None:
    answer = post(desk, conversation_id, "reply", act="none", message="x")
    sent = {"message": "Half a sen"}
    htmx = {"HX-Request": "true"}
    draft = url("conversation_draft", conversation_id)
    assert desk.post(draft, sent, headers=htmx).status_code == 204
    assert desk.post(draft, sent).status_code == 303
    page = parse(desk.get(url("conversation", conversation_id)))
    assert page.cssselect("#id_message")[0].text_content().strip() == "Half a sen"
    assert answer.status_code == 303  # a reply without a known button is a reply


def test_x394_a_reply_takes_files_which_staff_can_fetch(
    desk: Client, conversation_id: UUID
) -> None:
    page = parse(desk.get(url("conversation", conversation_id)))
    form = form_of(page, action := url("conversation_reply", conversation_id))
    file = SimpleUploadedFile("care.txt", b"By hand only")
    assert desk.post(action, form | {"message": "See there.", "files": file}).status_code == 303
    (link,) = parse(desk.get(url("conversation", conversation_id))).cssselect(".message__files a")
    answer = desk.get(link.get("href"))
    assert answer.getvalue() == b"By hand only"
    assert answer["Content-Disposition"].startswith("attachment")
    form = form_of(parse(desk.get(url("conversation", conversation_id))), action)
    nothing = SimpleUploadedFile("care.png", b"")
    refused = desk.post(action, form | {"message": "And this.", "files": nothing, "act": "send"})
    assert (refused.status_code, "And this." in text_of(refused)) == (422, True)


def test_x395_notes_are_for_staff_and_change_no_state(desk: Client, conversation_id: UUID) -> None:
    assert post(desk, conversation_id, "note", message="").status_code == 422
    assert post(desk, conversation_id, "note", message="A regular").status_code == 303
    assert messages_of(conversation_id)[-1] == (NOTE, "A regular")
    assert state_of(conversation_id) == WAITING_FOR_US


def test_x395_assigning_and_states(desk: Client, sue: User, conversation_id: UUID) -> None:
    assert post(desk, conversation_id, "assign", assignee=str(uuid4())).status_code == 422
    assert post(desk, conversation_id, "assign", assignee=str(sue.pk)).status_code == 303
    assert f" assigned {sue.pk.hex}" in keys_of(SHOP_MAILBOX, conversation_id)
    assert post(desk, conversation_id, "assign", assignee="").status_code == 303
    for state in (DONE, WAITING_FOR_US, WAITING_FOR_CUSTOMER, SPAM):
        assert post(desk, conversation_id, "state", state=state).status_code == 303
        assert state_of(conversation_id) == state
    assert post(desk, conversation_id, "state", state="gone").status_code == 409


@pytest.mark.parametrize("name", ["assign", "state"])
def test_x395_a_stale_form_changes_nothing(
    desk: Client, sue: User, conversation_id: UUID, name: str
) -> None:
    page = parse(desk.get(url("conversation", conversation_id)))
    set_state(conversation_id, WAITING_FOR_CUSTOMER, seen=1, change_id=uuid4(), now=now())
    fields = {"assignee": str(sue.pk)} if name == "assign" else {"state": DONE}
    assert post(desk, conversation_id, name, page=page, **fields).status_code == 409
    assert state_of(conversation_id) == WAITING_FOR_CUSTOMER
    assert " unassigned" in keys_of(SHOP_MAILBOX, conversation_id)


def test_x395_labels_are_put_on_and_off_and_others_changes_stay(
    desk: Client, conversation_id: UUID
) -> None:
    one, two = make_label(), make_label()
    page = parse(desk.get(url("conversation", conversation_id)))
    post(desk, conversation_id, "labels", label=[str(one.label_id)])
    post(desk, conversation_id, "labels", page=page, label=[str(two.label_id)])
    assert {one.key, two.key} <= keys_of(SHOP_MAILBOX, conversation_id)
    sent = {"shown": [str(one.label_id), str(two.label_id)], "label": [str(two.label_id)]}
    desk.post(url("conversation_labels", conversation_id), sent)
    assert one.key not in keys_of(SHOP_MAILBOX, conversation_id)
    answer = desk.post(url("conversation_labels", conversation_id), {"label": str(uuid4())})
    assert answer.status_code == 422


def test_x398_a_sender_is_blocked_from_the_conversation(desk: Client) -> None:
    customer = guest()
    page = url("conversation", start(customer))
    form = form_of(parse(desk.get(page)), url("sender_block"))
    assert desk.post(url("sender_block"), form)["Location"] == page
    assert "Messages from this address are refused." in text_of(desk.get(page))
    assert customer.email in text_of(desk.get(url("blocked_senders")))
    desk.post(url("sender_unblock"), form)
    assert customer.email not in text_of(desk.get(url("blocked_senders")))
    assert desk.post(url("sender_block"), {"email": "nobody"}).status_code == 422
    assert desk.post(url("sender_unblock"), {"email": ""}).status_code == 422


def test_x399_an_orders_and_a_customers_page_list_their_conversations_and_begin_new_ones(
    desk: Client,
) -> None:
    order, member = make_order_with_events("paid"), make_user("Ada")
    start(guest(), "About the order", Topic(ORDER, order.order_id))
    start(customer_of(member), "About me")
    for page, text in (
        (url("order", order.number), "About the order"),
        (url("customer", member.pk), "About me"),
    ):
        shown = parse(desk.get(page))
        assert text in shown.text_content()
        (write,) = shown.cssselect(f'a[href^="{url("conversation_new")}"]')
        address = write.get("href")
        form = form_of(parse(desk.get(address)), url("conversation_new"))
        bad = desk.post(address, form | {"subject": "Your parcel"})
        assert (bad.status_code, "Your parcel" in bad.content.decode()) == (422, True)
        form |= {"subject": "Your parcel", "message": "It has left."}
        places = {desk.post(address, form)["Location"] for _ in range(2)}
        assert len(places) == 1
        assert "It has left." in text_of(desk.get(places.pop()))
        assert "Your parcel" in text_of(desk.get(page))
    assert desk.get(url("conversation_new")).status_code == 404
    packer = sign_in_staff(Client(), make_user("Pat", role="warehouse"))
    assert "About the order" not in text_of(packer.get(url("order", order.number)))


def test_x399_a_message_about_a_members_order_is_in_the_members_mailbox(desk: Client) -> None:
    member = make_user("Ada")
    order = make_order(user_id=member.pk, email=member.email)
    address = f"{url('conversation_new')}?order={order.number}"
    form = form_of(parse(desk.get(address)), url("conversation_new"))
    desk.post(address, form | {"subject": "Your order", "message": "One mug is missing."})
    (found,) = queries.list_by_customer(member.pk)
    assert found.subject == "Your order"
    assert " inbox" in keys_of(member.pk, found.conversation_id)


def test_an_address_of_nothing_is_not_found(desk: Client) -> None:
    for any_id in (uuid4(), UUID("7b2a4c52-b911-11ef-9cd2-0242ac120002")):
        assert desk.get(url("conversation", any_id)).status_code == 404
        assert desk.get(url("conversation_file", any_id, any_id, any_id)).status_code == 404
        for name in ("reply", "note", "draft"):
            sent = {"message": "x"}
            assert desk.post(url(f"conversation_{name}", any_id), sent).status_code == 404
