"""Draft orders: written down by the staff, sent as a link to pay or ordered for the customer, each once."""

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time
from django.test import Client
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localdate
from lxml import html
from moneyed import Money
from pytest_django import Settings

from accounts.addresses import Address
from accounts.operations import block_customer
from catalogue import operations as catalogue
from catalogue.entities import Product
from demo.testbank import cards
from demo.testbank.operations import submit_card
from drafts import operations, privacy, queries
from drafts.entities import ACCEPTED, OPEN, SENT, DraftDiscount, DraftOrder, dump_offer, parse_offer
from drafts.errors import DraftChanged, DraftOrdered, OfferOutdated
from drafts.links import offer_url
from inventory.errors import OutOfStock
from mail.queries import derive_mail_id, get_mail
from orders import queries as orders
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CustomerRefused
from orders.operations import anonymize_order, placement, settle_payment
from orders.operations.effects import apply_effects
from orders.operations.mail_texts import compose_mail
from payments.gateways import METHODS
from promotions.rules import PERCENTAGE
from tests.clock import now
from tests.factories import (
    find_delivery_method,
    make_order,
    make_product,
    make_stock,
    make_user,
    sign_in_staff,
)
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.crashes import (
    expire_claim,
    first_and_last_writes,
    kill_at_write,
    kill_in,
    record_writes,
    run_worker,
    run_worker_after,
)
from tests.reads import existing
from tests.threads import map_at_once
from web.days import end_of_day
from web.personal_data import DataSubject

STAFF = f"staff:{uuid4()}:Sue"
ADDRESS = Address("Ada Lovelace", "Torstraße 1", "10115", "Berlin", "DE")
LESS = DraftDiscount(PERCENTAGE, Decimal(10), "Because the first one broke")


def make_stocked(price: str = "20.00", stock: int = 10) -> Product:
    return make_product(price=price, stock=stock)


def make_content(product: Product, units: int = 2, **more: Any) -> DraftOrder:
    """A draft that nobody has saved yet."""
    return DraftOrder(
        uuid_from_time(now()),
        more.pop("email", f"{uuid4().hex}@example.org"),
        ADDRESS,
        (product.quote_line(product.variants[0], units),),
        "standard",
        **more,
    )


def send(
    draft: DraftOrder, seen: DraftOrder | None = None, at: datetime | None = None
) -> DraftOrder:
    method = find_delivery_method("DE", "standard")
    return operations.send_offer(draft, seen, method, STAFF, at or now())


def link_of(draft: DraftOrder) -> str:
    return offer_url(draft).partition("://")[2].partition("/")[2].join(("/", ""))


def accept(draft: DraftOrder, payment: str = "card") -> Order:
    return operations.accept_offer(draft, payment, now(), ())


@pytest.fixture
def sue(client: Client) -> Client:
    return sign_in_staff(client, make_user("Sue", role="support"))


def form_fields(page: Any) -> dict[str, str]:
    """What the form of a draft's page would send as it stands."""
    (form,) = html.fromstring(page.content).xpath("//form[@id='draft']")
    return {name: value or "" for name, value in form.form_values()}


def read_address(page: Any) -> str:
    (form,) = html.fromstring(page.content).xpath("//form[@id='draft']")
    return str(form.get("action"))


@pytest.fixture
def written(sue: Client) -> tuple[Client, str, Product, str]:
    """A draft that was typed in, with two of a product; and its customer's e-mail address."""
    product, email = make_stocked(), f"{uuid4().hex}@example.org"
    page = sue.get(reverse("adminpanel:draft_new"))
    address = read_address(page)
    typed = form_fields(page) | {"q": product.variants[0].sku, "find": "1", "email": email}
    saved = sue.post(address, typed)
    assert saved.status_code == 303
    page = sue.get(address)
    fields = form_fields(page) | {
        "name": "Ada Lovelace",
        "street": "Torstraße 1",
        "postal_code": "10115",
        "city": "Berlin",
        "discount_kind": "percentage",
        "discount_value": "10",
        "discount_reason": "Because the first one broke",
    }
    (units,) = [name for name in fields if name.startswith("units:")]
    assert fields[units] == "1"
    assert sue.post(address, fields | {units: "2"}).status_code == 303
    return sue, address, product, email


def test_x180_an_offer_is_written_sent_and_paid_by_its_link(
    written: tuple[Client, str, Product, str],
) -> None:
    sue, address, product, email = written
    page = sue.get(address)
    # 40 less 10 %, and delivery.
    assert "Because the first one broke" in page.content.decode()
    assert "−€4.00" in page.content.decode()
    assert sue.post(f"{address}send/", form_fields(page)).status_code == 303
    draft = existing(queries.get_draft(UUID(address.strip("/").split("/")[-1])))
    assert draft.offer
    mail = existing(get_mail(derive_mail_id(draft.draft_id, f"offered {draft.version}")))
    assert mail.recipient == email
    # Its price rises: what was offered holds.
    dearer = replace(product.variants[0], price=Money("99.00", "EUR"))
    catalogue.save_product(replace(product, variants=(dearer, *product.variants[1:])), now())
    shopper = Client()
    offer = shopper.get(link_of(draft))
    assert offer.status_code == 200
    assert "no-store" in offer["Cache-Control"]
    assert "Order and pay €36.00" in offer.content.decode() or draft.offer.method.price.amount
    chosen = shopper.post(link_of(draft), {"payment": "card", "terms": "0"})
    assert chosen.status_code in (302, 303)
    order = orders.get_order(draft.order_id) if draft.order_id else None
    assert order
    assert (order.total, order.email, order.pay_until - order.placed_at) == (
        draft.offer.total,
        email,
        timedelta(hours=24),
    )
    assert [(each.name, each.amount) for each in order.discounts] == [
        (LESS.reason, Money("4.00", "EUR"))
    ]
    attempt = order.payment_attempts[-1]
    submit_card(attempt.payment_id, cards.APPROVED, now())
    settle_payment(order.order_id, attempt.payment_id, now())
    # Accepted again, by whomever, it is the same order; its browser may see it.
    assert shopper.post(link_of(draft), {"payment": "transfer"})["Location"].endswith(
        f"/orders/{order.number}/"
    )
    assert shopper.get(f"/orders/{order.number}/").status_code == 200
    assert_order_consistent(order.order_id)
    assert order.number in sue.get(address).content.decode()
    assert order.number in sue.get(reverse("adminpanel:drafts")).content.decode()
    assert (
        "offered by Sue"
        in sue.get(reverse("adminpanel:order", args=[order.number])).content.decode()
    )


def test_x180_staff_order_for_a_customer_who_pays_by_transfer(
    written: tuple[Client, str, Product, str],
) -> None:
    sue, address, _product, email = written
    fields = form_fields(sue.get(address))
    answers = [sue.post(f"{address}order/", fields) for _ in range(2)]
    assert len({each["Location"] for each in answers}) == 1
    number = answers[0]["Location"].strip("/").split("/")[-1]
    order = existing(orders.get_order_by_number(number))
    assert (order.payment_method, order.state, order.email) == (
        "transfer",
        "pending_payment",
        email,
    )
    assert order.events[-1].actor.endswith(":Sue")
    assert_order_consistent(order.order_id)


def test_x181_what_is_added_to_an_order_is_an_order_that_names_it(sue: Client) -> None:
    first, product = make_order(paid=True), make_stocked()
    assert (
        f"?order={first.number}"
        in sue.get(reverse("adminpanel:order", args=[first.number])).content.decode()
    )
    page = sue.get(reverse("adminpanel:draft_new"), {"order": first.number})
    address, fields = read_address(page), form_fields(page)
    assert (fields["email"], fields["street"]) == (first.email, first.delivery_address.street)
    variant = product.variants[0].variant_id
    placed = sue.post(f"{address}order/", fields | {f"units:{product.product_id}:{variant}": "1"})
    second = existing(orders.get_order_by_number(placed["Location"].strip("/").split("/")[-1]))
    assert second.added_to == first.number
    assert first.number in sue.get(placed["Location"]).content.decode()
    # The first one's history says so, once, however often the effects are applied.
    for _ in range(2):
        apply_effects(second.order_id, now())
    history = sue.get(reverse("adminpanel:order", args=[first.number])).content.decode()
    assert history.count(f"order {second.number} adds to this one") == 1
    assert_order_consistent(first.order_id)


def test_x267_a_draft_adds_to_an_order_of_the_same_person_alone(sue: Client) -> None:
    member = make_user("Ada")
    own, others = make_order(user_id=member.pk, email=f"{uuid4().hex}@example.org"), make_order()
    erased = make_order()
    anonymize_order(erased, now())
    address = read_address(page := sue.get(reverse("adminpanel:draft_new"), {"order": own.number}))
    fields, draft_id = form_fields(page), UUID(address.strip("/").split("/")[-1])
    refused = "Enter the email address of that order"
    for number, email in (
        (others.number, own.email),
        (own.number, others.email),
        (erased.number, own.email),
        ("R-NOBODYS", own.email),
        ("-", own.email),
    ):
        answer = sue.post(address, fields | {"added_to": number, "email": email, "city": "Bonn"})
        text = answer.content.decode()
        assert (answer.status_code, refused in text, 'value="Bonn"' in text) == (422, True, True)
    assert queries.get_draft(draft_id) is None
    # The mailbox of the order, the account that it belongs to, and nobody yet.
    for version, email in enumerate((own.email.upper(), member.email, "")):
        answer = sue.post(address, fields | {"email": email, "version": str(version)})
        assert answer.status_code == 303
    # What is saved is kept to it as well, whatever a form says.
    for path in ("", "send/", "order/"):
        typed = {"added_to": own.number, "email": others.email, "version": "3"}
        assert refused in sue.post(f"{address}{path}", fields | typed).content.decode() or path
    saved = existing(queries.get_draft(draft_id))
    assert (saved.version, saved.added_to, saved.email) == (3, own.number, "")


def test_x269_the_link_of_an_accepted_offer_expires_as_an_orders(settings: Settings) -> None:
    draft = send(make_content(make_stocked()))
    link, order = link_of(draft), accept(draft)
    for seconds, status in ((3600, 302), (-1, 410)):
        settings.ORDER_LINK_SECONDS, client = seconds, Client()
        for answer in (client.get(link), client.post(link, {"payment": "card"})):
            assert answer.status_code in (status, 303 if status == 302 else status)
            assert (settings.ORDER_COOKIE_NAME in answer.cookies) == (status == 302)
        page = client.get(reverse("orders:detail", args=[order.number]))
        assert page.status_code == (200 if status == 302 else 404)


def test_x182_an_offer_is_ordered_once_however_many_accept_it() -> None:
    draft = send(make_content(make_stocked(stock=3)))
    found = {each.order_id for each in map_at_once(accept, [draft] * 4, 4)}
    assert found == {draft.order_id}
    assert_order_consistent(found.pop())
    with pytest.raises(DraftOrdered):
        operations.save_draft(draft, queries.get_draft(draft.draft_id), STAFF, now())
    with pytest.raises(DraftOrdered):
        operations.delete_draft(queries.get_draft(draft.draft_id) or draft)


def test_x182_what_is_saved_over_an_offer_is_not_ordered_and_what_is_ordered_not_saved_over() -> (
    None
):
    """Each of two requests has read the sent offer; the second one to write is refused."""
    saved, ordered = (send(make_content(make_stocked(stock=3))) for _ in range(2))
    operations.save_draft(replace(saved, discount=LESS), saved, STAFF, now())
    with pytest.raises(DraftChanged):
        accept(saved)
    assert saved.order_id
    assert orders.get_order(saved.order_id) is None
    assert accept(ordered).order_id == ordered.order_id
    with pytest.raises(DraftChanged):
        operations.save_draft(replace(ordered, discount=LESS), ordered, STAFF, now())
    assert existing(queries.get_draft(ordered.draft_id)) == replace(
        ordered, state=ACCEPTED, mailed=ordered.version
    )


def test_x182_an_offer_that_is_killed_while_it_is_ordered_is_ordered_once_or_taken_back() -> None:
    def make() -> DraftOrder:
        return send(make_content(make_stocked(stock=3)))

    first = make()
    writes = record_writes(partial(accept, first))
    ours = [each for each in first_and_last_writes(writes) if "orders" in str(each.texts)]
    assert len(ours) >= 3
    for target in ours:
        draft = make()
        assert kill_at_write(target, partial(accept, draft))
        assert draft.order_id
        expire_claim(draft.order_id)
        current = existing(queries.get_draft(draft.draft_id))
        assert accept(current).order_id == draft.order_id
        run_worker(now() - timedelta(minutes=2), now() + timedelta(minutes=1), draft.order_id)
        assert_order_consistent(draft.order_id)


def test_x183_x256_an_offer_holds_for_two_weeks_and_says_kindly_that_it_is_over(
    sue: Client,
) -> None:
    old = send(make_content(make_stocked()), at=now() - timedelta(days=15))
    with pytest.raises(OfferOutdated):
        accept(old)
    assert "has expired" in Client().get(link_of(old)).content.decode()
    # It holds to the end of the day that it names.
    last = send(make_content(make_stocked()), at=now() - timedelta(days=14))
    assert last.offer
    assert last.offer.last_day == localdate()
    day = date_format(localdate(), "j F Y")
    mail = existing(get_mail(derive_mail_id(last.draft_id, f"offered {last.version}")))
    for words in (Client().get(link_of(last)).content.decode(), mail.text):
        assert f"The prices hold until {day}." in words
    assert last.offer.until == end_of_day(localdate())
    assert accept(last).total == last.offer.total
    stored = json.loads(dump_offer(last.offer))
    stored["until"] = (last.offer.until - timedelta(hours=11)).isoformat()
    assert parse_offer(json.dumps(stored)) == last.offer, "as earlier versions have stored it"
    withdrawn, replaced = (send(make_content(make_stocked())) for _ in range(2))
    operations.save_draft(withdrawn, withdrawn, STAFF, now())
    send(replaced, replaced)
    for link in (link_of(withdrawn), link_of(replaced)):
        for answer in (Client().get(link), Client().post(link, {})):
            assert answer.status_code == 410
            assert "no longer there" in answer.content.decode()
    assert Client().get("/offer/nothing/").status_code == 410
    # There is less than was offered: nothing is ordered, and what is left is said.
    scarce = send(make_content(scarce_product := make_stocked(stock=1)))
    answer = Client().post(link_of(scarce), {"payment": "card", "terms": "0"})
    assert answer.status_code == 409
    assert "Only 1 of" in answer.content.decode()
    assert Client().post(link_of(scarce), {"payment": "shells"}).status_code == 422
    saved = existing(queries.get_draft(scarce.draft_id))
    assert saved.state == ACCEPTED
    assert saved.order_id
    # Nothing leads the sweeper to it, so it can be ordered when there is more.
    run_worker_after(saved.order_id, 12)
    make_stock(
        1, product_id=scarce_product.product_id, variant_id=scarce_product.variants[0].variant_id
    )
    assert accept(saved).order_id == saved.order_id
    # Nor if the shop has never had any.
    unknown = send(make_content(product := make_product()))
    with pytest.raises(OutOfStock):
        accept(unknown)
    saved = existing(queries.get_draft(unknown.draft_id))
    assert saved.order_id
    run_worker_after(saved.order_id, 12)
    make_stock(2, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    assert accept(saved).order_id == saved.order_id
    short = send(make_content(make_stocked(stock=1)))
    with pytest.raises(OutOfStock):
        accept(short)
    saved = existing(queries.get_draft(short.draft_id))
    assert operations.save_draft(short, saved, STAFF, now()).state == OPEN


def test_x183_a_stale_draft_is_a_conflict_and_wrong_words_stay(
    written: tuple[Client, str, Product, str],
) -> None:
    sue, address, _product, _email = written
    fields = form_fields(sue.get(address))
    assert sue.post(address, fields | {"city": "Potsdam"}).status_code == 303
    stale = sue.post(address, fields | {"city": "Hamburg"})
    assert stale.status_code == 409
    assert all(each in stale.content.decode() for each in ("Potsdam", "Hamburg"))
    version = existing(re.search(r'name="overwrite" value="(\d+)"', stale.content.decode()))
    assert (
        sue.post(address, fields | {"city": "Hamburg", "overwrite": version[1]}).status_code == 303
    )
    fields = form_fields(sue.get(address))
    for name, wrong in (
        ("discount_value", "a lot"),
        ("discount_value", "101"),
        ("discount_reason", ""),
        ("email", "nobody"),
    ):
        answer = sue.post(address, fields | {name: wrong})
        assert answer.status_code == 422, name
        assert 'aria-invalid="true"' in answer.content.decode()
    assert sue.post(f"{address}send/", fields | {"street": ""}).status_code == 422
    (units,) = [name for name in fields if name.startswith("units:")]
    assert sue.post(address, fields | {units: "many"}).status_code == 422
    empty = sue.post(f"{address}order/", fields | {units: "0"})
    assert empty.status_code == 422
    assert "Add a product first" in empty.content.decode()
    assert sue.post(f"{address}delete/", {"version": "1"}).status_code == 409
    assert sue.get(address).status_code == 200
    assert sue.post(f"{address}delete/", form_fields(sue.get(address))).status_code == 303
    assert sue.get(address).status_code == 404


def test_s93_drafts_are_for_support_and_an_offer_for_who_has_its_link() -> None:
    draft = send(make_content(make_stocked()))
    wanda = sign_in_staff(Client(), make_user("Wanda", role="warehouse"))
    for path in (reverse("adminpanel:drafts"), reverse("adminpanel:draft", args=[draft.draft_id])):
        assert wanda.get(path).status_code == 403
    token = link_of(draft)
    assert draft.draft_id.hex not in token
    assert Client().get(token[:-5] + "aaaa/").status_code == 410
    # A customer whom the staff have blocked gets no offer, and accepts none.
    member = make_user("Bea")
    offered = send(make_content(make_stocked(), email=member.email))
    block_customer(member.pk, "Never pays", by="Sue", now=now())
    with pytest.raises(CustomerRefused):
        accept(offered)
    with pytest.raises(CustomerRefused):
        send(make_content(make_stocked(), email=member.email))


def test_an_offer_that_a_crash_has_left_without_its_mail_is_mailed() -> None:
    content = make_content(make_stocked())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("drafts.operations.mail_offer", lambda *_: None)
        draft = send(content)
    mail_id = derive_mail_id(draft.draft_id, f"offered {draft.version}")
    assert get_mail(mail_id) is None
    assert operations.mail_pending_offers(now()) >= 1
    assert get_mail(mail_id)
    assert operations.mail_pending_offers(now()) == 0
    assert draft.state == SENT


def test_an_erased_person_leaves_no_draft() -> None:
    member = make_user("Cleo")
    drafts = [
        operations.save_draft(make_content(make_stocked(), email=member.email), None, STAFF, now())
        for _ in range(2)
    ]
    sent = send(drafts[0], drafts[0])
    person = DataSubject(member.pk, member.email, member.name)
    exported = privacy.export_personal_data(person)["draft_orders"]
    assert [each["email"] for each in exported] == [member.email] * 2
    privacy.erase_personal_data(person, now())
    assert [queries.get_draft(each.draft_id) for each in drafts] == [None, None]
    with pytest.raises(DraftChanged):
        accept(sent)


@pytest.mark.parametrize("payment", ["by the staff", *METHODS])
def test_x251_an_order_that_costs_nothing_is_confirmed_however_it_was_placed(payment: str) -> None:
    gift = DraftDiscount(PERCENTAGE, Decimal(100), "A gift")
    # So dear that its delivery is free.
    content = make_content(make_stocked("40.00"), discount=gift)
    if payment == "by the staff":
        method = find_delivery_method("DE", "standard")
        order = operations.order_draft(content, None, method, STAFF, now())
    else:
        order = accept(send(content), payment)
    assert not order.total.amount
    assert (order.state, order.payment) == ("confirmed", "paid")
    mailed = [
        compose_mail(order, event, orders.list_items(order)) for event in reversed(order.events)
    ]
    assert [each.headline for each in mailed if each] == ["Your order"]
    assert "0.00" not in " ".join(mailed[-1].paragraphs if mailed[-1] else ())
    assert_order_consistent(order.order_id)


def test_x251_a_crash_does_not_leave_it_waiting_for_a_payment() -> None:
    gift = DraftDiscount(PERCENTAGE, Decimal(100), "A gift")
    content = make_content(make_stocked("40.00"), discount=gift)
    method = find_delivery_method("DE", "standard")
    kill_in(
        placement,
        "apply_order_effects",
        lambda: operations.order_draft(content, None, method, STAFF, now()),
    )
    draft = existing(queries.get_draft(content.draft_id))
    assert draft.order_id
    assert read_order(draft.order_id).state == "pending_payment"
    run_worker(now() - timedelta(minutes=2), now() + timedelta(minutes=1), draft.order_id)
    assert read_order(draft.order_id).state == "confirmed"


def read_order(order_id: UUID) -> Order:
    return existing(orders.get_order(order_id))
