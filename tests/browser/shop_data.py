"""What there is to be looked at: products, carts, orders, people, and the cookies of the users who may see them.

`print_shop_data` runs in a process of the shop: `manage.py shell -c "from tests.browser import shop_data; shop_data.print_shop_data()"`.
"""

import json
import mailbox
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.message import EmailMessage
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pyotp
from cassandra.util import uuid_from_time
from django.conf import settings
from django.core import signing
from django.core.files.base import ContentFile
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts import second_factor
from accounts.addresses import Address
from accounts.models import User
from accounts.operations import (
    email_change_link,
    password_reset_link,
    registration_link,
    save_address,
)
from benchmarks.buyers import CHECKOUT_DETAILS, make_guest_cart
from cart import operations, queries
from cart.operations import sharing
from catalogue import bulk_changes
from catalogue.bulk_acts import BulkAct
from catalogue.bulk_changes import Selected
from catalogue.entities import Product
from catalogue.missing_addresses import WRITE_SAMPLE
from catalogue.operations import save_product
from catalogue.operations.redirects import save_redirect
from catalogue.photos import take_in_photo
from catalogue.queries import find_category_by_slug, find_product_id_by_slug, get_product
from catalogue.search_rules import REDIRECT
from checkout.form_cookie import save_typed_fields
from conversations.entities import Customer, NewMessage, Sender, Topic
from conversations.guests import guest_id
from conversations.operations.blocked_senders import block_sender
from conversations.operations.contact_requests import note_contact_request
from conversations.operations.labels import create_label
from conversations.operations.mailboxes import relabel
from conversations.operations.messages import send_message, start_conversation
from conversations.rules import SHOP_MAILBOX
from conversations.saved_replies import SAVED_REPLIES, SavedReply
from conversations.states import CUSTOMER, NOTE, ORDER, SHOP
from conversations.tokens import contact_token, conversation_token
from demo import catalogue_data
from demo.testbank.cards import CHALLENGED
from demo.testbank.operations import submit_card
from drafts.entities import DraftDiscount, DraftOrder
from drafts.links import offer_url
from drafts.operations import send_offer
from inventory.entities import LEAVING, StockTransfer
from inventory.operations import start_transfer
from inventory.queries import get_stock_numbers
from inventory.warehouses import list_warehouses
from mail.kinds import SAMPLE
from mail.operations import queue_mail, receive_hard_bounce
from mail.queries import derive_mail_id, get_mail
from mail.rendering import render_mail
from moderation.states import HELD
from notifications.entities import News
from notifications.links import unsubscribe_url
from notifications.operations import tell
from orders.access import make_order_cookie
from orders.bulk_acts import OrderAct
from orders.bulk_changes import run_change, start_change
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.links import confirmation_url
from orders.operations import (
    OrderDraft,
    place_order,
    request_return,
    start_payment,
    transition_order,
)
from orders.papers.order_files import ORDER_FILES
from payments.gateways import PaymentRequest, get_gateway
from payments.methods import CASH_ON_DELIVERY
from payments.operations import list_unmatched_payment
from payments.queries import UnmatchedPayment
from posts.operations.blocks import block_person
from posts.operations.follows import set_follow
from posts.operations.likes import set_like
from posts.time_ids import make_form_id
from price_alerts.operations import watch_price
from promotions.rules import PERCENTAGE
from questions.entities import Text
from questions.operations import answer_question, ask_question
from reviews.entities import ReviewInput
from reviews.links import guest_token, stop_token
from reviews.operations import change_review, write_review
from shop_settings.operations import save_setting
from spreadsheets.operations import run_task, start_import, start_order_file
from stock_alerts.queries import Subscription, unsubscribe_token
from tests.browser import steps
from tests.cart.shared_carts import as_cart_user, make_person, make_shared_cart
from tests.catalogue.photo_files import make_file
from tests.catalogue.search_rules import make_search_rule
from tests.factories import (
    find_delivery_method,
    make_category,
    make_draft,
    make_payment,
    make_product,
    make_user,
    sign_in_staff,
)
from tests.past_orders.making import make_past_order
from tests.posts.posting import publish
from tests.posts.showing import add_comment, change, make_profile
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit

# What stands in a form that is sent without the page before it.
CSRF = "a" * 32
# Each test of several people in one cart takes one for itself.
SHARED_CARTS = 3
LONG_CATEGORY_SIZE = 40

Cookies = dict[str, str]


def print_shop_data() -> None:
    """Make it all and print it."""
    print(json.dumps(make_shop_data()))


def make_shop_data() -> dict[str, Any]:
    """Make it all and return it: what stands in addresses, people's cookies, shared carts, and the long category's address."""
    now = datetime.now(UTC)
    ann, orders = make_user("Ann"), _make_orders(now)
    wanted = [
        (each.product_id, each.variants[0].variant_id, 2)
        for each in _products_in_stock(steps.TWO_CHOICES)[:2]
    ]
    guest = make_guest_cart(wanted, "guest@example.org")
    guest[settings.ORDER_COOKIE_NAME] = make_order_cookie(
        {each.order_id: int(now.timestamp()) for each in orders.values()}
    )
    guest[settings.CHECKOUT_COOKIE_NAME] = _checkout_draft_cookie(guest)
    things = _make_addressed(ann, now) | _make_carts(guest, now) | _start_payments(orders, now)
    things |= {name: each.number for name, each in orders.items()}
    things["order_mail"] = str(derive_mail_id(orders["order"].order_id, "confirmed"))
    _bounce_mail(now)
    for name, order in (("confirmation", "unconfirmed"), ("confirmed", "unpaid")):
        things[name] = confirmation_url(orders[order].order_id).split("/")[-3]
    people, shared_carts = _make_people(ann, guest), []
    for _ in range(SHARED_CARTS):
        cart, together = _make_shared_cart(now)
        shared_carts.append(cart)
        people |= {f"{role} of {cart}": cookies for role, cookies in together.items()}
    return {
        "things": things,
        "people": people,
        "shared_carts": shared_carts,
        "long_category": _make_long_category(now),
    }


def _get_product(wanted: catalogue_data.DemoProduct) -> Product:
    product_id = find_product_id_by_slug(wanted.slug)
    found = get_product(product_id) if product_id else None
    assert found, wanted.slug
    return found


def _products_in_stock(wanted: catalogue_data.DemoProduct) -> list[Product]:
    """The product once for each variant that there are plenty of, with that variant alone."""
    product, skus = _get_product(wanted), steps.skus_in_stock(wanted)
    return [replace(product, variants=(each,)) for each in product.variants if each.sku in skus]


def _make_orders(now: datetime) -> dict[str, Order]:
    """A guest's orders: paid; arrived, with a thing on its way back; two that are at the bank; and one to be confirmed."""
    paid, sent, unpaid, challenged = (_place_order(number, now) for number in range(4))
    sent = make_payment(sent)
    for event in ("packed", "shipped", "delivered"):
        sent = transition_order(sent, Transition(event, actor="system", at=datetime.now(UTC)))
    sent = request_return(sent, {1: 1}, "Too small", actor="shopper", now=datetime.now(UTC))
    unconfirmed = place_order(_make_unconfirmed_draft(), now)
    return {
        "order": make_payment(paid),
        "sent": sent,
        "unpaid": unpaid,
        "challenged": challenged,
        "unconfirmed": unconfirmed,
    }


def _bounce_mail(now: datetime) -> None:
    """A mail that came back for good."""
    to = f"gone-{uuid4().hex}@example.org"
    mail_id = queue_mail(uuid4(), "asked", to, "registration", {"url": ""}, now)
    if mail := get_mail(mail_id):
        receive_hard_bounce(mail, f"5.1.1 550 No such user: {to}", now)


def _make_unconfirmed_draft() -> OrderDraft:
    """A guest's order on delivery, of a product that is sold nowhere else. It waits for as long as the tests may take."""
    product = make_product("Lantern", stock=3)
    draft = make_draft((product, 1), email="ada@example.org")
    return replace(draft, payment_method=CASH_ON_DELIVERY, is_email_confirmed=False)


def _place_order(number: int, now: datetime, by: User | None = None) -> Order:
    """An order of two products that no other order here, and no test, takes from stock. It waits for as long as the tests may take."""
    others = [
        each
        for each in catalogue_data.PRODUCTS
        if steps.skus_in_stock(each) and each not in (steps.ONE_CHOICE, steps.TWO_CHOICES)
    ]
    lines = [(_products_in_stock(each)[0], 2) for each in others[2 * number :][:2]]
    email, user_id = (by.email, by.user_id) if by else ("ada@example.org", None)
    draft = make_draft(*lines, email=email, user_id=user_id)
    return place_order(draft, now, pay_until=now + timedelta(hours=2))


def _start_payments(orders: dict[str, Order], now: datetime) -> dict[str, str]:
    card, code = (
        start_payment(orders[each], settings.PUBLIC_URL, now).payment_id
        for each in ("unpaid", "challenged")
    )
    submit_card(code, CHALLENGED, now)
    return {"card": str(card), "code": str(code)}


def _make_carts(guest: Cookies, now: datetime) -> dict[str, str]:
    """A guest's two carts: one in use and shared by a link, with a thing saved for later; and another."""
    person, cart = (
        UUID(hex=each)
        for each in signing.loads(guest[settings.CART_COOKIE_NAME], salt="cart.owner")
    )
    more = _get_product(steps.ONE_CHOICE)
    operations.add_line(person, more, more.variants[0], 1, uuid4(), now, guest=True)
    lines = {each.product_id: each.key for each in queries.get_cart(cart).lines}
    operations.save_line_for_later(person, cart, lines[more.product_id], uuid4(), now)
    other = operations.create_cart(person, "For the garden", uuid4(), now, guest=True)
    operations.add_line(person, more, more.variants[0], 2, uuid4(), now, guest=True)
    operations.switch_cart(person, cart, now)
    link = sharing.create_link(person, cart, "", now)
    return {
        "cart": str(cart),
        "other": str(other),
        "line": lines[_get_product(steps.TWO_CHOICES).product_id],
        "link": _token(link.url),
    }


def _checkout_draft_cookie(guest: Cookies) -> str:
    """What a guest has typed at the checkout, so that each of its steps can be looked at."""
    response, person = (
        HttpResponse(),
        signing.loads(guest[settings.CART_COOKIE_NAME], salt="cart.owner")[0],
    )
    save_typed_fields(response, UUID(hex=person), CHECKOUT_DETAILS | {"email": "guest@example.org"})
    return response.cookies[settings.CHECKOUT_COOKIE_NAME].value


def _make_import(product: Product, ann: User, now: datetime) -> UUID:
    """A file of prices that was read: one changes, one is wrong."""
    content = f"sku,price\n{product.variants[0].sku},1.00\nNOBODYS,1.00\n".encode()
    task_id: UUID = uuid_from_time(now)
    file = ContentFile(content, "prices")
    task = start_import(task_id, "prices", file, "prices.csv", ann.user_id, now)
    run_task(task, 10)
    return task_id


def _make_foreign_import(ann: User, now: datetime) -> UUID:
    """A file of another shop whose columns and category wait to be matched."""
    head = (
        "Handle,Title,Body (HTML),Vendor,Type,Option1 Name,Option1 Value,Variant SKU,Variant Price"
    )
    line = "jug,Jug,<p>Tall.</p>,Kilnbrook,Jugs,Colour,Olive,JUG-1,12.00"
    task_id: UUID = uuid_from_time(now)
    file = ContentFile(f"{head}\n{line}\n".encode(), "products")
    task = start_import(task_id, "products", file, "products_export.csv", ann.user_id, now)
    run_task(task, 10)
    return task_id


def _make_paper(order_id: UUID, ann: User, now: datetime) -> UUID:
    """A packing slip that can be fetched."""
    task_id: UUID = uuid_from_time(now)
    slips = ORDER_FILES["slips"]
    run_task(start_order_file(task_id, slips, [order_id], ann.user_id, now), 1)
    return task_id


def _make_offer(product: Product, now: datetime) -> DraftOrder:
    """A draft order with a discount that has been sent to its customer."""
    draft = DraftOrder(
        uuid_from_time(now),
        "ann@example.org",
        Address("Ann Other", "12 Harbour Street", "10115", "Berlin", "DE"),
        (product.quote_line(product.variants[0], 2),),
        "standard",
        DraftDiscount(PERCENTAGE, Decimal(10), "Because the first one broke"),
    )
    method = find_delivery_method("DE", "standard")
    return send_offer(draft, None, method, f"staff:{uuid4()}:Sue", now)


def _make_order_change(order_id: UUID, ann: User, now: datetime) -> UUID:
    """A change of one order that is finished."""
    change_id: UUID = uuid_from_time(now)
    act = OrderAct("tagged", f"staff:{ann.user_id}:Ann", tags=("gift",))
    run_change(start_change(change_id, act, [order_id], {}, ann.user_id, now), 1)
    return change_id


def _make_addressed(ann: User, now: datetime) -> dict[str, str]:
    """What opens by an address of its own, and Ann's things."""
    gone = make_product("Discontinued mug", category=find_category_by_slug("kitchen"), listed=True)
    save_product(replace(gone, status="archived"), now)
    shared, present = (
        make_shared_cart(ann, "Gifts", mugs=0),
        _products_in_stock(steps.ONE_CHOICE)[0],
    )
    operations.add_line(ann.user_id, present, present.variants[0], 2, uuid4(), now)
    make_person(ann, shared, "editor", name="Ben")
    wanted = _get_product(
        next(each for each in catalogue_data.PRODUCTS if steps.sold_out_skus(each))
    )
    subscription = Subscription(wanted.product_id, wanted.variants[0].variant_id, "ann@example.org")
    ordered = make_payment(_place_order(4, now, ann))
    save_redirect(f"/pages/offers-{uuid4().hex[:8]}", "deals")
    WRITE_SAMPLE.run(day=now.date(), path="/pages/about-us", sample_id=uuid_from_time(now))
    change = bulk_changes.start_change(
        uuid_from_time(now),
        BulkAct("featured", featured=True),
        [Selected(present.product_id)],
        ann.user_id,
        now,
    )
    bulk_changes.run_change(change, 1)
    past_order = make_past_order(ann, address="Am Markt 1\n10115 Berlin")
    _review(present, ann, now)
    question = _question(present, ann, now)
    conversation, message_label = _make_conversation(ordered, ann, now)
    offered = _make_offer(present, now)
    return {
        **_make_posts(ann, present),
        "notification": _tell(ordered, gone, ann, now),
        "end_mails": _token(unsubscribe_url(ann.user_id, "order_shipped", "order_ready")),
        "reviewed": present.slug,
        "question": str(question.question_id),
        "conversation": str(conversation),
        "message_label": str(message_label),
        "own_label": str(_label_own(conversation, ann)),
        **_make_guest_messages(now),
        "saved_reply": _save_reply(now),
        "question_row": str(question.answer_id),
        "draft": str(offered.draft_id),
        "offer": _token(offer_url(offered)),
        "transfer": _send_one(present, ann, now),
        "unmatched": _pay_lost_order(ordered, now),
        "past_order": past_order.number.strip("#"),
        "spreadsheet": str(_make_import(present, ann, now)),
        "foreign_import": str(_make_foreign_import(ann, now)),
        "ordered": str(ordered.order_id),
        "to_pack": ordered.number,
        "order_change": str(_make_order_change(ordered.order_id, ann, now)),
        "search_rule": make_search_rule(REDIRECT, f"offers {uuid4().hex[:8]}", "/deals/").key,
        "paper": str(_make_paper(ordered.order_id, ann, now)),
        "change": str(change.change_id),
        "gone": gone.slug,
        "product": str(present.product_id),
        "variant": str(present.variants[0].variant_id),
        "category": str(present.category_id),
        "shared": str(shared),
        "invitation": sharing.invite_person(
            as_cart_user(ann), shared, "cem@example.org", "viewer", now
        ).token,
        "subscription": subscription.to_token(),
        "end": unsubscribe_token(subscription.email),
        "review_stop": stop_token(subscription.email),
        **_guest_review(now),
        "mail": mailbox.Maildir(settings.MAILDIR).add(_mail(subscription)),
        "registration": _token(registration_link(f"{uuid4().hex}@example.org")),
        "registered": _token(registration_link(ann.email)),
        "reset": _token(password_reset_link(ann)),
        "new_email": _token(email_change_link(ann, f"{uuid4().hex}@example.org")),
        "address": save_address(
            ann.user_id, Address("Ann Other", "12 Harbour Street", "10115", "Berlin", "DE")
        ),
        "ann": str(ann.user_id),
        "forged": signing.dumps("x", key="a key that is not ours"),
    }


def _make_posts(ann: User, product: Product) -> dict[str, str]:
    """A post with two pictures, comments and a like; one that waits; the id of a new one; and Ann's profile."""
    ben, photos = (
        make_user("Ben Tailor"),
        [str(take_in_photo(make_file(shade=9 * each), f"{each}.jpg")) for each in (1, 2)],
    )
    post = change(publish(ben.user_id), product, pictures=tuple(photos), tags=("clay",))
    first = add_comment(post, ann, "What a colour! @ben_1 knows it, too.")
    add_comment(post, ben, "Thank you!", thread=first.comment_id)
    set_like(ann.user_id, post, "love", change_id=uuid4(), now=datetime.now(UTC))
    set_follow(ann.user_id, ben.user_id, follows=True, change_id=uuid4(), now=datetime.now(UTC))
    block_person(ann.user_id, make_user("Eve").user_id, datetime.now(UTC))
    own = change(
        publish(ann.user_id),
        state=HELD,
        held_for="pictures",
        pictures=(),
        new_pictures=tuple(photos[:1]),
    )
    return {
        "post": str(post.post_id),
        "comment": str(first.comment_id),
        "own_post": str(own.post_id),
        "new_post": str(make_form_id(ann.user_id)),
        "handle": make_profile(ann),
        "followed_handle": make_profile(ben),
    }


def _tell(order: Order, gone: Product, ann: User, now: datetime) -> str:
    """What Ann was told: of an order, and of a thing that is gone. Return the id of one."""
    ids = {"order": order.number, "event": order.order_id.hex}
    told = [
        News(kind, ann.user_id, now - timedelta(hours=hours), ids | {"what": kind})
        for hours, kind in enumerate(("order_shipped", "order_paid"))
    ]
    watch_price(ann.user_id, _products_in_stock(steps.ONE_CHOICE)[0].product_id, now)
    away = {"product": gone.product_id.hex}
    tell([*told, News("review_published", ann.user_id, now - timedelta(days=2), away)])
    return str(told[0].notification_id)


def _guest_review(now: datetime) -> dict[str, str]:
    """Where a guest reviews what came in an order."""
    product = make_product("Teapot", stock=3)
    order = place_order(make_draft((product, 1), email=f"{uuid4().hex}@example.org"), now)
    return {"review_token": guest_token(order.order_id), "review_slug": product.slug}


def _review(product: Product, ann: User, now: datetime) -> None:
    """A published review, and one that waits for the staff."""
    for user_id, stars, held_for in ((uuid4(), 4, ""), (ann.user_id, 2, "links")):
        review = write_review(
            *(product.product_id, user_id),
            ReviewInput(
                title="As expected",
                body="It came well packed, and does what it should.",
                stars=stars,
                name="Ann O.",
                verified=stars == 4,
                held_for=held_for,
            ),
            seen=0,
            change_id=uuid4(),
            now=now,
        )
        # Of the one that waits nobody has seen them, and the other is shown with them.
        names = tuple(str(take_in_photo(make_file(shade=each), "jug.jpg")) for each in (1, 2))
        new, shown = (names, ()) if held_for else ((), names)
        change_review(
            *(product.product_id, user_id),
            partial(replace, pictures=shown, new_pictures=new),
            seen=review.version,
            change_id=uuid4(),
            now=now,
        )


def _question(product: Product, ann: User, now: datetime) -> Text:
    """Ann's question with an answer of the shop, and one of somebody else that waits; return Ann's."""
    kwargs: dict[str, Any] = {"name": "Ann O.", "held_for": "", "now": now}
    asked = ask_question(
        *(product.product_id, ann.user_id, "Can it go into the dishwasher?"),
        change_id=uuid4(),
        **kwargs,
    )
    answer_question(
        *(asked, uuid4(), "It can, on the upper rack."), change_id=uuid4(), is_shops=True, **kwargs
    )
    ask_question(*(product.product_id, uuid4(), "Is it heavy?"), change_id=uuid4(), **kwargs)
    return asked


def _make_conversation(order: Order, ann: User, now: datetime) -> tuple[UUID, UUID]:
    """Ann's conversation about an order, with a mail, an answer and a note, under a label of the shop; and the label."""
    customer = Customer(ann.user_id, ann.email, "Ann Other", is_member=True)
    first = NewMessage(uuid4(), CUSTOMER, Sender(ann.user_id, "Ann Other"), "Where is my parcel?")
    topic = Topic(ORDER, order.order_id)
    conversation_id = start_conversation(customer, "My parcel", topic, first, now)
    staff = Sender(uuid4(), "Sue Support")
    other = Sender(None, "", "ann@example.net", is_verified=False)
    for kind, sender, body, quoted in (
        (NOTE, staff, "The carrier has lost it once.", ""),
        (SHOP, staff, "It arrives tomorrow.", ""),
        (CUSTOMER, other, "Thank you!", "Thank you!\n> It arrives tomorrow."),
    ):
        send_message(conversation_id, NewMessage(uuid4(), kind, sender, body, quoted), now)
    label = create_label(SHOP_MAILBOX, f"Parcels {uuid4().hex[:4]}", "teal")
    relabel(SHOP_MAILBOX, [conversation_id], {label.label_id}, set())
    block_sender("annoying@example.com", ann.user_id, now)
    return conversation_id, label.label_id


def _label_own(conversation_id: UUID, ann: User) -> UUID:
    """A label of Ann's own, on a conversation."""
    label = create_label(ann.user_id, f"Kitchen {uuid4().hex[:4]}", "green")
    relabel(ann.user_id, [conversation_id], {label.label_id}, set())
    return label.label_id


def _make_guest_messages(now: datetime) -> dict[str, str]:
    """The tokens of a guest's conversation, and of a message whose address is not confirmed."""
    email, request_id = f"grace-{uuid4().hex[:8]}@example.com", uuid4()
    grace = Customer(guest_id(email), email, "Grace Guest", is_member=False)
    first = NewMessage(uuid4(), CUSTOMER, Sender(None, "Grace Guest"), "When are you open?")
    conversation_id = start_conversation(grace, "Opening hours", Topic(), first, now)
    note_contact_request(
        request_id, email, "Grace Guest", "Opening hours", Topic(), "When are you open?", now
    )
    return {
        "guest_messages": conversation_token(conversation_id),
        "contact": contact_token(request_id),
    }


def _save_reply(now: datetime) -> str:
    key, text = str(uuid4()), "Dear {customer}, order {order} is on its way."
    save_setting(SAVED_REPLIES, key, SavedReply(key, "On its way", text), "", now)
    return key


def _send_one(product: Product, ann: User, now: datetime) -> str:
    """A unit of a product's first variant on its way from where there are most."""
    variant_id = product.variants[0].variant_id
    ids = sorted(list_warehouses(), key=lambda each: get_stock_numbers(variant_id, each).available)
    transfer = StockTransfer(
        *(uuid4(), product.product_id, variant_id, ids[-1], ids[0], 1),
        *("For the window", LEAVING, str(ann.user_id), now),
    )
    start_transfer(transfer)
    return str(transfer.transfer_id)


def _pay_lost_order(order: Order, now: datetime) -> str:
    """A payment whose order was lost in a restore, and an order by transfer whose money is to be looked up."""
    at, gateway = "https://shop.example/", get_gateway("testbank")
    request = PaymentRequest(uuid4(), uuid4(), "7KQF-3M9X", order.total, "Stoa", at, at, at)
    reference = gateway.start(request).reference
    found = (request.payment_id, "testbank", reference, request.number, order.total, now)
    list_unmatched_payment(UnmatchedPayment(*found))
    list_unmatched_payment(
        UnmatchedPayment(uuid4(), "transfer", order.number, order.number, order.total, now)
    )
    return str(request.payment_id)


def _token(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def _mail(subscription: Subscription) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = (
        settings.DEFAULT_FROM_EMAIL,
        subscription.email,
        "Is this your address?",
    )
    mail.set_content(
        f"Follow this link:\n\n{settings.PUBLIC_URL}{reverse('stock_alerts:confirm', args=[subscription.to_token()])}\n"
    )
    mail.add_alternative(
        render_mail("confirm_subscription", SAMPLE | {"name": "Table lamp"}).html or "",
        subtype="html",
    )
    mail["Reply-To"] = "reply@shop.example"  # so that the page has its form
    return mail


def _make_people(ann: User, guest: Cookies) -> dict[str, Cookies]:
    """The cookies of a guest and of members; and of staff who have passed the second factor, or have yet to."""
    clients = {
        "ann": _sign_in(ann),
        "staff": sign_in_staff(Client(), _make_enrolled("warehouse")),
        "admin": sign_in_staff(Client(), _make_enrolled("admin")),
        "not passed": _sign_in(_make_enrolled("support")),
        "not enrolled": _sign_in(make_user("Eve", role="support")),
        "to be enrolled": _sign_in(make_user("Uma", role="support")),
        "limited": _sign_in(_make_limited()),
    }
    return {"guest": guest} | {
        name: _cookies(client) | {settings.CSRF_COOKIE_NAME: CSRF}
        for name, client in clients.items()
    }


def _make_enrolled(role: str) -> User:
    user, secret, now = make_user(role.title(), role=role), pyotp.random_base32(), datetime.now(UTC)
    assert second_factor.enrol_second_factor(user, secret, pyotp.TOTP(secret).at(now), now)
    return user


def _make_limited() -> User:
    """A member who has asked for another e-mail address so often that it is enough for an hour."""
    user = make_user("Max")
    request = RequestFactory().post(reverse("accounts:email"))
    with suppress(TooManyAttempts):
        for _ in range(100):
            hit_rate_limit(request, "registration", f"by {user.pk}")
    return user


def _sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def _cookies(client: Client) -> Cookies:
    return {name: morsel.value for name, morsel in client.cookies.items()}


def _make_shared_cart(now: datetime) -> tuple[str, dict[str, Cookies]]:
    """An empty cart with an owner, an editor and a viewer, who all use it; and their cookies."""
    ann = make_user("Ann")
    cart_id = make_shared_cart(ann, mugs=0)
    people = {"owner": ann} | {
        each: make_person(ann, cart_id, each, name=each.title()) for each in ("editor", "viewer")
    }
    for person in people.values():
        operations.switch_cart(person.user_id, cart_id, now)
    return str(cart_id), {role: _cookies(_sign_in(each)) for role, each in people.items()}


def _make_long_category(now: datetime) -> str:
    """A category with more products than a page shows: deep in the tree and old, so that the front page shows none of it."""
    category = make_category("Long category", parent=find_category_by_slug("stationery"))
    for number in range(LONG_CATEGORY_SIZE):
        made = datetime(2020, 1, 1, tzinfo=UTC) - timedelta(days=number)
        make_product(f"Card {number:02}", category=category, now=made, listed=True)
    return reverse("category", args=[category.slug])
