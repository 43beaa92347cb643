"""The pages of customers' messages: contact, the mailbox, conversations, labels, and guests' links."""

import re
from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from functools import partial
from typing import Any
from uuid import UUID, uuid1, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.models import User
from cassandra_db import current_time
from conversations import queries
from conversations.entities import Topic
from conversations.guests import guest_id
from conversations.mails import SHOP_REPLIED
from conversations.notifications import describe
from conversations.operations.blocked_senders import block_sender, unblock_sender
from conversations.operations.drafts import get_draft
from conversations.operations.labels import create_label
from conversations.operations.mailboxes import relabel
from conversations.operations.messages import send_message
from conversations.rules import ARCHIVE, INBOX, SHOP_MAILBOX, STARRED, TRASH
from conversations.states import NOTE, ORDER, PRODUCT, SHOP, SPAM, WAITING_FOR_US
from conversations.tokens import contact_token, conversation_token
from notifications.entities import Notification
from tests.conversations.mailboxes import customer_of, get_label, guest, keys_of, new_message, start
from tests.factories import make_order, make_payment, make_product, make_user
from tests.notifications.telling import list_told, tell_about
from tests.reads import existing
from tests.rules import assert_explained
from tests.storefront.page_parts import page_of, rounds, texts, tree

CONTACT, LIST, CHANGE, LABELS = (
    reverse(f"conversations:{name}") for name in ("contact", "list", "change", "labels")
)
HTMX = {"HX-Request": "true"}
Deliver = Callable[[str], list[EmailMessage]]


@pytest.fixture
def user() -> User:
    return make_user("Ada")


@pytest.fixture
def member(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def url(name: str, *args: Any) -> str:
    return reverse(f"conversations:{name}", args=args)


def fields(**more: Any) -> dict[str, Any]:
    return {"subject": "My jug", "message": "It leaks.", "source_id": str(uuid4()), **more}


def ask_as_guest(client: Client, email: str, **more: Any) -> dict[str, Any]:
    sent = fields(name="Grace", email=email, **more)
    assert client.post(CONTACT, sent)["Location"] == url("contact_sent")
    return sent


def find_link(mails: list[EmailMessage]) -> str:
    (mail,) = mails
    found = re.search(r"/contact/\S+", str(mail.body))  # type: ignore[attr-defined]
    assert found
    return found[0]


def list_of_guest(email: str) -> list[UUID]:
    return [each.conversation_id for each in queries.list_by_customer(guest_id(email))]


def list_bodies(conversation_id: UUID) -> list[str]:
    rows = queries.prefetch_messages(conversation_id).rows()
    return [each.body for each in queries.messages_from_rows(rows)]


def answer(conversation_id: UUID, body: str = "It is on its way.") -> UUID:
    return send_message(conversation_id, new_message(body, SHOP, name="Sue"), current_time())


# ---- Contact


def test_x370_a_guests_message_waits_until_the_mailed_link_confirms_the_address(
    client: Client, deliver_mail: Deliver
) -> None:
    email = f"grace-{uuid4().hex}@example.com"
    sent = ask_as_guest(client, email)
    assert client.post(CONTACT, sent).status_code == 303  # the same form again
    assert "only then your message" in client.get(url("contact_sent")).content.decode()
    assert list_of_guest(email) == []
    mails = deliver_mail(email)
    assert "It leaks" not in str(mails[0].body)  # type: ignore[attr-defined]
    link = find_link(mails)
    page = tree(client.get(link))
    assert texts(page, "#subject") == ["My jug"]
    assert texts(page, ".message__body") == ["It leaks."]
    assert list_of_guest(email) == []
    leads_to = {client.post(link)["Location"].split("/")[1] for _twice in range(2)}
    assert leads_to == {"messages"}
    (conversation_id,) = list_of_guest(email)
    assert queries.get_mailbox(SHOP_MAILBOX, [conversation_id]).entries
    found = existing(queries.get_conversation(conversation_id))
    assert (found.state, found.customer.email, found.customer.is_member) == (
        WAITING_FOR_US,
        email,
        False,
    )
    for token in (contact_token(uuid4()), "forged"):
        assert client.get(url("confirm", token)).status_code == 410


def test_x370_spam_of_a_guest_goes_to_spam_and_a_blocked_address_sends_nothing(
    client: Client, deliver_mail: Deliver
) -> None:
    email = f"grace-{uuid4().hex}@example.com"
    ask_as_guest(client, email, message="[url=http://pills.example]Pills[/url]")
    link = find_link(deliver_mail(email))
    block_sender(email, uuid4(), current_time())
    refused = client.post(link)
    assert refused.status_code == 422
    assert "take messages from this email address" in refused.content.decode()
    assert list_of_guest(email) == []
    unblock_sender(email)
    client.post(link)
    (conversation_id,) = list_of_guest(email)
    assert existing(queries.get_conversation(conversation_id)).state == SPAM


def test_x371_a_member_writes_at_once_about_an_order_of_their_own_or_a_product(
    user: User, member: Client
) -> None:
    order, strangers = make_order(user_id=user.pk), make_order(user_id=uuid4())
    product = make_product("Jug")
    for query, kind, topic_id in (
        ({"order": order.number.lower()}, ORDER, order.order_id),
        ({"product": product.slug}, PRODUCT, product.product_id),
        ({"order": strangers.number}, "other", None),
        ({"order": "7KQF-3M9X"}, "other", None),
        ({"product": "none"}, "other", None),
    ):
        page = tree(member.get(CONTACT, query))
        inputs = page.cssselect("#contact input[type=hidden]")
        hidden = {each.get("name"): each.get("value") for each in inputs}
        sent = fields() | {name: hidden[name] for name in query if name in hidden}
        to = member.post(CONTACT, sent)["Location"]
        assert member.post(CONTACT, sent)["Location"] == to
        conversation = existing(queries.get_conversation(UUID(to.strip("/").split("/")[-1])))
        assert (conversation.topic.kind, conversation.topic.topic_id) == (kind, topic_id), query
    subject = tree(member.get(CONTACT, {"order": order.number})).cssselect("#id_subject")[0]
    assert subject.get("value") == f"Order {order.number}"
    assert len(queries.list_by_customer(user.pk)) == 5
    for address, words in (
        (reverse("orders:detail", args=[order.number]), "Ask about this order"),
        (page_of(product), "Ask us about this product"),
    ):
        (link,) = tree(member.get(address)).xpath(f"//main//a[contains(., '{words}')]/@href")
        assert "About" in member.get(link).content.decode()
    assert url("contact") in member.get("/help/").content.decode()


def test_x372_bad_input_is_explained_beside_its_field_and_keeps_the_words(
    client: Client, user: User, member: Client
) -> None:
    conversation_id = start(customer_of(user))
    messages = [
        ({"message": ""}, "Enter your message"),
        ({"message": "x" * 20_001}, "at most 20000 characters. Yours has 20001"),
        ({"message": "\U0001f9ff" * 16_385}, "Send it in two parts"),
        ({"message": "> It leaks.\n>\n> Ada"}, "only quotes another message"),
        ({"files": SimpleUploadedFile("jug.png", b"\x89PNG\r\n\x1a\nx")}, "field__error"),
    ]
    subjects = [
        ({"subject": ""}, "Enter a subject"),
        ({"subject": "x" * 151}, "at most 150 characters"),
        ({"subject": "Jug\r\nBcc: eve@example.com"}, "Enter the subject in one line"),
    ]
    assert_explained(lambda typed: member.post(CONTACT, fields() | typed), messages + subjects)
    assert_explained(
        lambda typed: member.post(url("reply", conversation_id), fields() | typed), messages
    )
    guests = fields(name="Grace", email="grace@example.com")
    for wrong, words in (
        ({"email": "grace"}, "Enter an email address"),
        ({"name": ""}, "your name"),
    ):
        got = client.post(CONTACT, guests | wrong)
        assert got.status_code == 422
        page = tree(got)
        assert any(words in each for each in texts(page, ".field__error"))
        assert texts(page, "#id_message") == ["It leaks."]
    blocked = make_user("Bea")
    block_sender(blocked.email, uuid4(), current_time())
    client.force_login(blocked)
    assert "take messages from this" in client.post(CONTACT, fields()).content.decode()
    assert queries.list_by_customer(blocked.pk) == []
    assert len(queries.list_by_customer(user.pk)) == 1
    assert list_bodies(conversation_id) == ["Hello"]


def test_x373_members_and_guests_have_hourly_limits(
    client: Client, user: User, member: Client, settings: Settings
) -> None:
    one = (1, 0, 0, 3600)
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"message": one, "contact": one}
    sent = fields()
    assert [member.post(CONTACT, sent).status_code for _twice in range(2)] == [303, 303]
    (listed,) = queries.list_by_customer(user.pk)
    for address in (CONTACT, url("reply", listed.conversation_id)):
        got = member.post(address, fields(message="One more."))
        assert got.status_code == 429
        assert texts(tree(got), "#id_message") == ["One more."]
    assert list_bodies(listed.conversation_id) == ["It leaks."]
    email = f"grace-{uuid4().hex}@example.com"
    ask_as_guest(client, email)
    assert client.post(CONTACT, fields(name="Grace", email=email)).status_code == 429
    token = conversation_token(start(guest()))
    codes = [client.post(url("guest", token), fields()).status_code for _twice in range(2)]
    assert codes == [303, 429]


# ---- A conversation


def test_x374_a_thread_shows_messages_and_the_orders_events_oldest_first(
    user: User, member: Client
) -> None:
    now = current_time()
    order = make_order(user_id=user.pk)
    conversation_id = start(customer_of(user), topic=Topic(ORDER, order.order_id))
    make_payment(order)
    send_message(conversation_id, new_message("A secret", NOTE), now)
    answer(conversation_id)
    member.post(
        url("reply", conversation_id),
        fields(message="Thanks", files=SimpleUploadedFile("notes.txt", b"Words")),
    )
    got = member.get(url("detail", conversation_id))
    page = tree(got)
    kinds = [each.get("class").split()[-1] for each in page.cssselect(".thread > li")]
    assert kinds[0] == kinds[-1] == "message--own"
    assert kinds[-2] == "message--theirs"
    assert set(kinds[1:-2]) == {"event"}
    assert "A secret" not in got.content.decode()
    assert rounds(got) <= 3
    (file_url,) = page.xpath("//ul[contains(@class, 'message__files')]//a/@href")
    assert b"".join(member.get(file_url)) == b"Words"
    stranger = Client()
    stranger.force_login(make_user("Eve"))
    for address in (url("detail", conversation_id), file_url, url("detail", uuid4())):
        assert stranger.get(address).status_code == 404
    for name in ("reply", "draft", "read"):
        assert stranger.post(url(name, conversation_id), fields()).status_code == 404


def test_x374_a_long_thread_has_pages_and_a_mails_quotes_are_folded(
    user: User, member: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 3)
    order = make_order(user_id=user.pk)
    conversation_id = start(customer_of(user), topic=Topic(ORDER, order.order_id), body="First")
    make_payment(order)
    mail = replace(new_message("Answer"), quoted="Answer\n> the whole mail")
    send_message(conversation_id, mail, current_time())
    for number in range(2):
        send_message(conversation_id, new_message(f"Message {number}"), current_time())
    page = tree(member.get(url("detail", conversation_id)))
    assert len(page.cssselect(".message")) == 3
    assert texts(page, "details .message__body") == ["Answer> the whole mail"]
    (earlier,) = page.xpath("//a[contains(., 'Earlier messages')]/@href")
    page = tree(member.get(url("detail", conversation_id) + earlier))
    assert texts(page, ".message__body") == ["First"]
    assert page.cssselect(".event"), "what happened before the newer page"
    assert texts(page, "main a[href='?']") == ["Newest messages"]
    assert member.get(url("detail", conversation_id) + "?before=x").status_code == 200


def test_x374_reading_marks_what_the_page_showed_and_a_look_marks_nothing(
    user: User, member: Client
) -> None:
    conversation_id = start(customer_of(user))
    answer(conversation_id)
    page = tree(member.get(url("detail", conversation_id)))
    seen = page.xpath("//form[@id='read']//input[@name='seen']/@value")[0]
    assert get_label(user.pk, INBOX).unread_count == 1
    answer(conversation_id, "And one more thing.")
    assert (
        member.post(url("read", conversation_id), {"seen": seen}, headers=HTMX).status_code == 204
    )
    assert get_label(user.pk, INBOX).unread_count == 1
    last = existing(queries.get_conversation(conversation_id)).last_shop_id
    member.post(url("read", conversation_id), {"seen": str(last)})
    assert get_label(user.pk, INBOX).unread_count == 0
    assert not tree(member.get(url("detail", conversation_id))).cssselect("#read")
    member.post(url("read", conversation_id), {"seen": "x"})


def test_x375_a_reply_is_stored_once_and_its_draft_goes(user: User, member: Client) -> None:
    conversation_id = start(customer_of(user))
    answer(conversation_id)
    address, draft = url("reply", conversation_id), url("draft", conversation_id)
    sent = fields(message="Thank you so")
    assert member.post(draft, sent, headers=HTMX).status_code == 204
    page = tree(member.get(url("detail", conversation_id)))
    assert texts(page, "#id_message") == ["Thank you so"]
    assert member.post(draft, sent)["Location"] == LIST
    seen = page.xpath("//form[@id='reply']//input[@name='seen']/@value")[0]
    for _twice in range(2):
        member.post(address, sent | {"message": "Thank you.", "seen": seen})
    assert list_bodies(conversation_id) == ["Hello", "It is on its way.", "Thank you."]
    assert existing(queries.get_conversation(conversation_id)).state == WAITING_FOR_US
    assert get_label(user.pk, INBOX).unread_count == 0
    assert get_draft(user.pk, conversation_id) is None
    member.post(draft, sent, headers=HTMX)  # the script was slower
    assert get_draft(user.pk, conversation_id) is None


# ---- The mailbox


def change(client: Client, act: str, *conversation_ids: UUID, **more: str) -> Any:
    ticked = [f"{each}.{round(current_time().timestamp() * 1000)}" for each in conversation_ids]
    return client.post(CHANGE, {"act": act, "conversation": ticked, **more})


def test_x376_conversations_are_listed_by_label_and_changed_in_one_form(
    user: User, member: Client
) -> None:
    page = tree(member.get(LIST))
    assert texts(page, ".empty h3") == ["No messages here"]
    ids = [start(customer_of(user), f"Subject {number}") for number in range(3)]
    answer(ids[0])
    got = member.get(LIST)
    page = tree(got)
    assert rounds(got) <= 3
    assert len(page.cssselect(".mail")) == 3
    assert texts(page, ".mail.is-unread .mail__subject") == ["Unread Subject 0"]
    assert texts(page, ".inbox__side [aria-current]") == ["Inbox 1 new 3"]
    label = create_label(user.pk, "Garden", "green")
    for act, keys in (
        ("archive", {ARCHIVE}),
        ("star", {ARCHIVE, STARRED}),
        ("inbox", {INBOX, STARRED}),
        (f"label:{label.label_id}", {INBOX, STARRED, "garden"}),
        (f"unlabel:{label.label_id}", {INBOX, STARRED}),
        ("unstar", {INBOX}),
        ("trash", {TRASH}),
        ("restore", {INBOX}),
    ):
        assert change(member, act, *ids[:2])["Location"] == LIST
        assert [keys_of(user.pk, each) for each in ids] == [keys, keys, {INBOX}], act
    assert change(member, "more", ids[0], more="star", back="1")["Location"] == url(
        "detail", ids[0]
    )
    change(member, "read", *ids)
    assert get_label(user.pk, INBOX).unread_count == 0
    assert (
        change(member, "unread", ids[0], back="1", folder="starred")["Location"]
        == f"{LIST}?folder=starred"
    )
    assert texts(tree(member.get(LIST, {"folder": "starred"})), ".mail.is-unread .mail__subject")
    for wrong, words in (
        ({"act": "archive"}, "Select at least one"),
        ({"act": "more", "conversation": f"{ids[0]}.0"}, "Choose what to do"),
        ({"act": "archive", "conversation": "x"}, "Reload the page"),
    ):
        got = member.post(CHANGE, wrong)
        assert got.status_code == 422
        assert words in got.content.decode()
    assert keys_of(user.pk, ids[0]) == {INBOX, STARRED}
    assert tree(member.get(LIST, {"tick": "all"})).xpath("count(//input[@checked])") == 3
    assert member.get(LIST, {"folder": "x"}).status_code == 404
    assert member.get(LIST, {"after": "x"})["Location"] == f"{LIST}?folder=inbox"


def test_x376_all_ticked_conversations_change_or_none(user: User, member: Client) -> None:
    full, other = start(customer_of(user)), start(customer_of(user))
    labels = [create_label(user.pk, f"Label {number}", "red").label_id for number in range(11)]
    relabel(user.pk, [full], labels[:10], ())
    got = change(member, f"label:{labels[10]}", other, full)
    assert got.status_code == 422
    assert "at most 10 labels. Nothing was changed" in got.content.decode()
    assert tree(got).xpath("count(//input[@checked])") == 2
    assert keys_of(user.pk, other) == {INBOX}


def test_x376_a_message_that_came_after_the_page_stays_unread(user: User, member: Client) -> None:
    conversation_id = start(customer_of(user))
    answer(conversation_id)
    value = tree(member.get(LIST)).xpath("//input[@name='conversation']/@value")[0]
    answer(conversation_id, "And one more thing.")
    member.post(CHANGE, {"act": "read", "conversation": value})
    assert get_label(user.pk, INBOX).unread_count == 1


def test_x376_the_list_has_pages(
    user: User, member: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 3)
    for number in range(4):
        start(customer_of(user), f"Subject {number}")
    page = tree(member.get(LIST))
    assert len(page.cssselect(".mail")) == 3
    (following,) = page.xpath("//a[@id='next']/@href")
    assert texts(tree(member.get(following)), ".mail__subject") == ["Subject 0"]


def post_label(client: Client, address: str, typed: dict[str, str]) -> Any:
    return client.post(address, {"name": "New", "color": "red"} | typed)


def test_x377_members_have_labels_with_a_name_and_a_colour(user: User, member: Client) -> None:
    assert "You have none yet" in member.get(LABELS).content.decode()
    for name in ("Garden", "Gifts"):
        assert member.post(LABELS, {"name": name, "color": "teal"})["Location"] == LABELS
    garden = get_label(user.pk, "garden")
    address = url("label", garden.label_id)
    cases = [
        ({"name": ""}, "Enter a name"),
        ({"name": "gifts"}, "Another label"),
        ({"color": "x"}, "one of the"),
    ]
    for to in (LABELS, address):
        submit = partial(post_label, member, to)
        assert_explained(submit, cases)
    conversation_id = start(customer_of(user))
    relabel(user.pk, [conversation_id], {garden.label_id}, ())
    assert texts(tree(member.get(LABELS)), "tbody tr") == ["Garden10", "Gifts00"]
    assert texts(tree(member.get(url("detail", conversation_id))), ".mail-label--teal") == [
        "Garden"
    ]
    member.post(address, {"name": "Terrace", "color": "blue"})
    terrace = get_label(user.pk, "terrace")
    assert (terrace.label_id, terrace.color, terrace.count) == (garden.label_id, "blue", 1)
    assert rounds(member.get(LIST, {"folder": str(terrace.label_id)})) <= 3
    for _twice in range(2):
        member.post(url("label_empty", terrace.label_id))
    assert keys_of(user.pk, conversation_id) == {INBOX}
    terrace = get_label(user.pk, "terrace")
    for _twice in range(2):
        assert member.post(url("label_delete", terrace.label_id))["Location"] == LABELS
    assert texts(tree(member.get(LABELS)), "tbody tr") == ["Gifts00"]
    relabel(user.pk, [conversation_id], {get_label(user.pk, TRASH).label_id}, ())
    trash = get_label(user.pk, TRASH).label_id
    assert "can’t be undone" in member.get(url("label", trash)).content.decode()
    member.post(url("label_empty", trash))
    assert "No messages here" in member.get(LIST, {"folder": "trash"}).content.decode()
    assert member.get(url("detail", conversation_id)).status_code == 200
    eve = Client()
    eve.force_login(make_user("Eve"))
    gifts = get_label(user.pk, "gifts").label_id
    assert eve.get(url("label", gifts)).status_code == 404
    for name in ("label_empty", "label_delete"):
        eve.post(url(name, gifts))
    assert get_label(user.pk, "gifts").label_id == gifts


# ---- Guests


def test_x378_a_guest_reads_and_answers_by_the_mailed_link(client: Client) -> None:
    customer = guest()
    conversation_id = start(customer)
    answer(conversation_id)
    address = url("guest", conversation_token(conversation_id))
    got = client.get(address)
    page = tree(got)
    assert texts(page, ".message__body") == ["Hello", "It is on its way."]
    assert rounds(got) <= 2
    action = page.xpath("//form[@id='reply']/@action")[0]
    sent = fields(message="Thanks", files=SimpleUploadedFile("notes.txt", b"Words"))
    assert client.post(action, sent).status_code == 303
    client.post(address, fields(source_id=sent["source_id"], message="Thanks"))
    assert list_bodies(conversation_id) == ["Hello", "It is on its way.", "Thanks"]
    (file_url,) = tree(client.get(address)).xpath(
        "//ul[contains(@class, 'message__files')]//a/@href"
    )
    assert b"".join(client.get(file_url)) == b"Words"
    assert client.post(address, fields(message="> quote")).status_code == 422
    for token in ("forged", contact_token(conversation_id)):
        assert client.get(url("guest", token)).status_code == 410
    members = start(customer_of(make_user()))
    leads_to = client.get(url("guest", conversation_token(members)))["Location"]
    assert leads_to == url("detail", members)


def test_x378_a_member_sees_what_was_written_from_the_proved_address_as_a_guest(
    user: User, member: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = replace(guest(), customer_id=guest_id(user.email), email=user.email)
    conversation_id = start(customer, "As a guest")
    assert member.get(url("detail", conversation_id)).status_code == 404
    monkeypatch.setattr(User, "confirmed_email", user.email)
    assert texts(tree(member.get(LIST)), "#as-guest + ul a") == ["As a guest"]
    got = member.get(url("detail", conversation_id))
    assert texts(tree(got), ".message__body") == ["Hello"]
    assert member.post(url("reply", conversation_id), fields()).status_code == 303


def test_x379_a_member_is_told_when_the_shop_answers(user: User, member: Client) -> None:
    conversation_id = start(customer_of(user), "Broken jug")
    answer(conversation_id)
    tell_about(conversation_id)
    (told,) = list_told(user.pk)
    assert told.line.text == "A message from us: Broken jug"
    assert told.line.path == url("detail", conversation_id)
    assert member.get(told.line.path).status_code == 200
    gone = Notification(user.pk, uuid1(), SHOP_REPLIED, {"conversation": uuid1().hex})
    assert describe([gone])() == {}
