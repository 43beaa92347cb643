"""Loads the demo shop's conversations: forty, in every state, with labels, notes and files."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from io import BytesIO
from typing import Any
from uuid import UUID, uuid5

from cassandra.util import max_uuid_from_time
from PIL import Image

from cassandra_db import current_time, truncate_to_milliseconds
from catalogue.queries import find_product_id_by_slug
from conversations import queries
from conversations.entities import Attachment, Customer, Label, NewMessage, Sender, Topic
from conversations.errors import LabelNameTaken
from conversations.guests import guest_id
from conversations.operations.attachments import store_attachment
from conversations.operations.labels import create_label
from conversations.operations.mailboxes import mark_read, relabel
from conversations.operations.messages import (
    NOTE_TOLD,
    assign,
    send_message,
    set_state,
    start_conversation,
)
from conversations.rules import SHOP_MAILBOX, STARRED
from conversations.states import CUSTOMER, DONE, NOTE, ORDER, OTHER, PRODUCT, SHOP, SPAM
from demo.catalogue_data import NAMESPACE, read_data_file
from demo.loader import do_again_if_late
from demo.logins import LOGINS, Login
from demo.orders import OrderPlan
from orders.lifecycle.entities import Order
from orders.queries import get_order

_DATA = read_data_file("conversations")
_KINDS = {"c": CUSTOMER, "s": SHOP, "n": NOTE}
_SAM, _STAFF = LOGINS[0], LOGINS[1:]
# The time between two messages of a conversation.
_PAUSE = timedelta(minutes=47)
# The newest orders, in which those of a conversation's customer are looked for.
_ORDERS = 200


def load_conversations(now: datetime, plans: Sequence[OrderPlan]) -> int:
    """Add the demo shop's conversations that are missing, about its newest orders. Return the number of all.

    They are past, so nobody is mailed about them. Raises CassandraUnavailable.
    """
    chosen = {plan.order_id: plan.fate for plan in plans[:_ORDERS]}
    orders = [order for each in chosen if (order := get_order(each))]
    shops = _create_labels(SHOP_MAILBOX, _DATA["labels"])
    sams = _create_labels(_SAM.user_id, _DATA["own_labels"])
    for each in _DATA["conversation"]:
        order = _find_order(each, orders, chosen)
        do_again_if_late(partial(_load, each, order, shops, sams, now))
    return len(_DATA["conversation"])


def _create_labels(user_id: UUID, colors: dict[str, str]) -> dict[str, Label]:
    for name, color in colors.items():
        try:
            create_label(user_id, name, color)
        except LabelNameTaken:
            continue
    return {label.name: label for label in queries.get_labels(user_id).values()}


def _find_order(
    each: dict[str, Any], orders: Iterable[Order], fates: dict[UUID, str]
) -> Order | None:
    """Return an order of the conversation's customer, with the fate that it is about if there is one."""
    own = [order for order in orders if order.name == each["who"]]
    _, _, fate = each.get("about", "").partition(" ")
    return next((order for order in own if fates[order.order_id] == fate), own[0] if own else None)


def _load(
    each: dict[str, Any],
    order: Order | None,
    shops: dict[str, Label],
    sams: dict[str, Label],
    now: datetime,
) -> None:
    source_id = uuid5(NAMESPACE, f"conversation {each['who']} {each['subject']}")
    if queries.CLAIM.one(source_id=source_id):
        return
    customer, topic = _make_customer(each, order), _make_topic(each, order)
    began = truncate_to_milliseconds(now - timedelta(hours=each["hours_ago"]))
    conversation_id = None
    for place, (who, text) in enumerate(each["messages"]):
        at = min(began + place * _PAUSE, now)
        message = NewMessage(
            uuid5(source_id, str(place)) if place else source_id,
            _KINDS[who],
            _make_sender(who, customer, text),
            text,
            attachments=_store_file(each, source_id) if not place else (),
        )
        if conversation_id is None:
            conversation_id = start_conversation(customer, each["subject"], topic, message, at)
            _leave_unmailed(conversation_id, now)
        else:
            send_message(conversation_id, message, at)
    if conversation_id:
        _sort(each, conversation_id, shops, sams)


def _make_customer(each: dict[str, Any], order: Order | None) -> Customer:
    if each["who"] == _SAM.name:
        return Customer(_SAM.user_id, _SAM.email, _SAM.name, is_member=True)
    words = each["who"].casefold().replace(" ", ".")
    email = each.get("email") or (order.email if order else f"{words}@mail.example")
    return Customer(guest_id(email), email, each["who"], is_member=False)


def _make_topic(each: dict[str, Any], order: Order | None) -> Topic:
    kind, _, slug = each.get("about", OTHER).partition(" ")
    if kind == ORDER and order:
        return Topic(ORDER, order.order_id)
    product_id = find_product_id_by_slug(slug) if kind == PRODUCT else None
    return Topic(PRODUCT, product_id) if product_id else Topic()


def _make_sender(who: str, customer: Customer, text: str) -> Sender:
    if who == "c":
        return Sender(customer.customer_id if customer.is_member else None, customer.name)
    staff: Login = _STAFF[1] if text.endswith("Ada") else _STAFF[0]
    return Sender(staff.user_id, staff.name)


def _leave_unmailed(conversation_id: UUID, now: datetime) -> None:
    """Note that the customer was told of all messages up to now."""
    told = max_uuid_from_time(now)
    NOTE_TOLD.run(
        conversation_id=conversation_id, told_until=told, at=int(now.timestamp() * 1_000_000)
    )


def _store_file(each: dict[str, Any], source_id: UUID) -> tuple[Attachment, ...]:
    name = each.get("file")
    if not name:
        return ()
    file = BytesIO()
    if name.endswith(".jpg"):
        # A rim, close up and out of focus.
        picture = Image.linear_gradient("L").rotate(90).resize((900, 675))
        Image.merge("RGB", (picture, picture.point(lambda v: v * 0.92), picture)).save(file, "JPEG")
    else:
        file.write(b"Delivery note\n2 x Breakfast Bowl, Slate\n")
    return (store_attachment(file, name=name, source_id=source_id),)


def _sort(
    each: dict[str, Any], conversation_id: UUID, shops: dict[str, Label], sams: dict[str, Label]
) -> None:
    """Put a conversation where it belongs: its state, whose work it is, and under which labels it stands."""
    now = current_time()
    seen = queries.get_conversation(conversation_id)
    if seen is None:
        return
    for staff in _STAFF:
        if staff.name == each.get("assignee"):
            own = uuid5(conversation_id, "assignee")
            assign(conversation_id, staff.user_id, seen=seen.version, change_id=own, now=now)
    if state := DONE if each.get("done") else SPAM if each.get("spam") else "":
        own = uuid5(conversation_id, "state")
        set_state(conversation_id, state, seen=seen.version, change_id=own, now=now)
    if state or each["messages"][-1][0] == "s":
        mark_read(SHOP_MAILBOX, conversation_id, max_uuid_from_time(now))
    labels = {shops[name].label_id for name in each.get("labels", ())}
    if each.get("starred"):
        labels.add(queries.find_label(SHOP_MAILBOX, _by_id(shops), STARRED).label_id)
    relabel(SHOP_MAILBOX, [conversation_id], labels, ())
    if each["who"] == _SAM.name:
        own_labels = {sams[name].label_id for name in each.get("own_labels", ())}
        relabel(_SAM.user_id, [conversation_id], own_labels, ())


def _by_id(labels: dict[str, Label]) -> dict[UUID, Label]:
    return {label.label_id: label for label in labels.values()}
