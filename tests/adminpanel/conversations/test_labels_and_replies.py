"""The staff's pages of labels and of saved replies."""

from uuid import uuid4

from django.test import Client

from accounts.models import User
from conversations.entities import Topic
from conversations.operations.labels import empty_label
from conversations.operations.mailboxes import relabel
from conversations.queries import get_mailbox
from conversations.rules import SHOP_MAILBOX
from conversations.states import ORDER
from orders.operations import pack_parcel, ship_parcel
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.conversations.conftest import form_of, make_label, parse, text_of, url
from tests.conversations.mailboxes import guest, keys_of, start

LABELS, REPLIES = url("message_labels"), url("saved_replies")


def test_x396_labels_are_added_changed_and_named_once(desk: Client) -> None:
    name = f"Returns {uuid4().hex[:6]}"
    new = url("message_label_new")
    assert desk.post(new, {"name": name, "color": "blue"})["Location"] == LABELS
    again = desk.post(new, {"name": name.upper(), "color": "red"})
    assert (again.status_code, "Another label has this name" in text_of(again)) == (422, True)
    assert name.upper() in again.content.decode()
    for bad in ({"name": "", "color": "red"}, {"name": "x", "color": "mauve"}):
        assert desk.post(new, bad).status_code == 422
    (link,) = parse(desk.get(LABELS)).xpath(f'//a[contains(., "{name}")]')
    own = link.get("href")
    form = form_of(parse(desk.get(own)), own)
    assert desk.post(own, form | {"name": f"{name}!"}).status_code == 303
    stale = desk.post(own, form | {"color": "green"})
    assert (stale.status_code, f"“{name}!”" in text_of(stale)) == (409, True)
    other = make_label()
    taken = desk.post(own, form_of(parse(stale), own) | {"name": other.name})
    assert taken.status_code == 422
    assert desk.get(url("message_label", uuid4())).status_code == 404


def test_x396_a_label_is_emptied_and_deleted_and_its_conversations_stay(desk: Client) -> None:
    label, conversation_id = make_label(), start(guest())
    own, empty = url("message_label", label.label_id), url("message_label_empty", label.label_id)
    form = form_of(parse(desk.get(own)), empty)
    relabel(SHOP_MAILBOX, [conversation_id], {label.label_id}, set())
    stale = desk.post(empty, form)
    assert (stale.status_code, "has 1 conversation." in text_of(stale)) == (409, True)
    assert label.key in keys_of(SHOP_MAILBOX, conversation_id)
    form = form_of(parse(desk.get(own)), empty)
    for _ in range(2):
        assert desk.post(empty, form).status_code == 303
    assert label.key not in keys_of(SHOP_MAILBOX, conversation_id)
    found = next(
        each for each in get_mailbox(SHOP_MAILBOX, []).labels.values() if each.key == label.key
    )
    own, delete = (url(name, found.label_id) for name in ("message_label", "message_label_delete"))
    form = form_of(parse(desk.get(own)), delete)
    empty_label(SHOP_MAILBOX, found.label_id)
    assert desk.post(delete, form).status_code == 303  # it is gone under this id
    found = next(
        each for each in get_mailbox(SHOP_MAILBOX, []).labels.values() if each.key == label.key
    )
    delete = url("message_label_delete", found.label_id)
    assert desk.post(delete, {"version": "x"}).status_code == 409
    form = form_of(parse(desk.get(url("message_label", found.label_id))), delete)
    assert desk.post(delete, form).status_code == 303
    assert label.name not in text_of(desk.get(LABELS)).replace(f"{label.name} is deleted", "")


def test_x397_a_saved_reply_is_filled_in_by_a_button(desk: Client, sue: User) -> None:
    order = make_order_with_events("paid")
    order = ship_parcel(
        pack_parcel(
            order, *next(iter(order.units_to_pack.items())), actor="staff", now=order.placed_at
        ),
        "1",
        actor="staff",
        now=order.placed_at,
        carrier="DHL",
        tracking=f"T{uuid4().hex[:10].upper()}",
    )
    name = f"Where {uuid4().hex[:6]}"
    text = "Dear {customer}, order {order} is on its way: {tracking}. {product} {staff}"
    new = url("saved_reply_new")
    form = form_of(parse(desk.get(new)), new)
    bad = desk.post(new, form | {"name": name, "text": "Dear {costumer}"})
    assert bad.status_code == 422
    assert "{costumer} is no placeholder" in text_of(bad)
    assert desk.post(new, form | {"name": name, "text": text})["Location"] == REPLIES
    conversation_id = start(guest(), "Late", Topic(ORDER, order.order_id))
    page = parse(desk.get(url("conversation", conversation_id)))
    (option,) = page.xpath(f'//select[@name="reply"]/option[.="{name}"]')
    action = url("conversation_reply", conversation_id)
    sent = form_of(page, action) | {"message": "Hello", "reply": option.get("value")}
    answer = desk.post(action, sent | {"act": "insert"})
    filled = parse(answer).cssselect("#id_message")[0].text_content().strip()
    (parcel,) = order.parcels()
    assert filled == (
        f"Hello\n\nDear Grace, order {order.number} is on its way: {parcel.tracking}. {{product}} Sue"
    )
    refused = desk.post(action, form_of(parse(answer), action) | {"act": "send"})
    assert "Fill in {product}" in text_of(refused)
    own = url("saved_reply", option.get("value"))
    remove = f"{own}remove/"
    assert desk.post(remove, {"version": "x"}).status_code == 409
    assert desk.post(remove, form_of(parse(desk.get(own)), remove)).status_code == 303
    assert name not in text_of(desk.get(REPLIES))
    assert desk.get(own).status_code == 404
