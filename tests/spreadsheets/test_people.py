"""Files of customers, past orders, reviews and vouchers: each row is applied once, whatever is killed or sent again."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch
from uuid import uuid4, uuid5

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import reverse
from moneyed import EUR, Money

from accounts.models import User
from accounts.operations import register_user, registration
from accounts.operations.passwords import INVITATION_SECONDS
from accounts.queries import (
    find_user_by_email,
    get_user,
    list_addresses,
    notes_from_rows,
    prefetch_customer_notes,
)
from cassandra_db.session import get_session
from catalogue.entities import Product
from mail.queries import list_recipient_mails
from moderation.states import HELD, PUBLISHED
from orders.queries import list_order_ids_by_email
from past_orders.queries import get_past_order, prefetch_owned
from promotions.queries import CODE, get_promotion
from promotions.rules import code_key
from reviews.operations import hold_review, publish_review, refuse_review
from reviews.queries import find_own_review, get_rating_at_quorum, get_stop_time, guest_ids
from spreadsheets import operations, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations.imports import PEOPLE_APPLY_DURATION
from spreadsheets.people.customers import apply_customer
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.environment import KEYSPACE
from tests.factories import make_product, make_user, sign_in_staff
from tests.orders.crashes import first_and_last_writes, kill_at_write, kill_in, record_writes
from tests.reads import existing
from tests.reviews.writes import write
from tests.spreadsheets.files import apply, csv_of, faults_of, go_on, read, rows_of, stored
from tests.threads import call_at_once

CUSTOMER = {
    "name": "Ada Lovelace",
    "street": "Am Markt 1",
    "postal_code": "10115",
    "city": "Berlin",
    "country": "DE",
}
EVIL = '<script>alert(1)</script> =1+1 \U0001f600 Robert"); DROP'


def file_of(*rows: dict[str, Any]) -> bytes:
    head = list(dict.fromkeys(name for row in rows for name in row))
    return csv_of([head, *([row.get(name, "") for name in head] for row in rows)])


def fresh_email() -> str:
    return f"ada-{uuid4().hex}@example.com"


def plans(task: SpreadsheetTask) -> list[str]:
    return [each.plan for each in rows_of(task)]


def notes_of(user: User) -> list[str]:
    rows = prefetch_customer_notes(user.pk).rows()
    return [each.text for each in notes_from_rows(rows)]


# ---- Customers


def test_x539_a_customer_gets_an_account_with_addresses_and_a_note() -> None:
    email = fresh_email()
    first = CUSTOMER | {
        "email": email,
        "phone": "+49 30 1234567",
        "tags": "vip, B2B",
        "consent": "no",
    }
    second = {
        "email": email.upper(),
        "name": "Ada",
        "street": "Hauptstr. 2",
        "postal_code": "80331",
        "city": "München",
        "country": "de",
    }
    task = read(file_of(first, second), "customer-accounts")
    assert plans(task) == ["new"], faults_of(task)
    assert apply(task).results == {"done": 1}
    user = existing(find_user_by_email(email))
    assert (user.name, user.phone, user.verified_at, user.role) == (
        "Ada Lovelace",
        "+49301234567",
        None,
        "",
    )
    assert [(each.city, each.default) for each in list_addresses(user)] == [
        ("Berlin", True),
        ("München", False),
    ]
    assert notes_of(user) == ["Tags in the former shop: vip, B2B\nMarketing emails: refused"]
    assert get_stop_time(email)
    assert not list_recipient_mails(email)


def test_x539_a_name_may_stand_in_two_columns() -> None:
    row = CUSTOMER | {"email": fresh_email(), "name": "", "first_name": "Ada", "last_name": "King"}
    apply(read(file_of(row | {"postal_code": "'10115"}), "customer-accounts"))
    user = existing(find_user_by_email(row["email"]))
    (address,) = list_addresses(user)
    assert (user.name, address.name, address.postal_code) == ("Ada King", "Ada King", "10115")


def test_x539_a_file_that_is_sent_again_creates_and_changes_nothing() -> None:
    email, name = fresh_email(), f"Ada {uuid4().hex}"
    content = file_of(CUSTOMER | {"email": email, "name": name, "invite": "yes"})
    apply(read(content, "customer-accounts"))
    user = existing(find_user_by_email(email))
    again = read(content, "customer-accounts")
    assert (plans(again), again.counts) == (["unchanged"], {"unchanged": 1})
    member = make_user("Bob")
    other = read(file_of(CUSTOMER | {"email": member.email, "invite": "yes"}), "customer-accounts")
    assert plans(other) == ["unchanged"]
    assert existing(get_user(user.pk)).addresses == user.addresses
    assert existing(get_user(member.pk)).name == "Bob"
    assert (len(list_recipient_mails(email)), len(list_recipient_mails(member.email))) == (1, 0)


def test_x539_a_customer_who_registers_in_the_meantime_keeps_the_account() -> None:
    email = fresh_email()
    task = read(file_of(CUSTOMER | {"email": email, "invite": "yes"}), "customer-accounts")
    member = register_user(email, "Ada L", "seven wet otters", datetime.now(UTC), verified=True)
    assert apply(task).results == {"changed": 1}
    assert existing(find_user_by_email(email)).pk == member.pk
    assert not list_recipient_mails(email)


def test_x539_a_killed_import_leaves_no_account_beside_the_one_that_took_the_address() -> None:
    email = fresh_email()
    task = read(file_of(CUSTOMER | {"email": email}), "customer-accounts")
    assert operations.start_applying(task, datetime.now(UTC))
    kill_in(registration, "claim_email", lambda: go_on(task))
    user_id = uuid5(task.task_id, email)
    assert existing(get_user(user_id)).email == email
    member = register_user(email, "Ada", None, datetime.now(UTC))
    assert go_on(task).results == {"changed": 1}
    assert get_user(user_id) is None
    assert existing(find_user_by_email(email)).pk == member.pk


def test_x539_x540_an_import_that_is_killed_at_any_write_makes_one_account_and_one_mail() -> None:
    def content(email: str) -> bytes:
        return file_of(CUSTOMER | {"email": email, "tags": "vip", "consent": "no", "invite": "yes"})

    def run(task: SpreadsheetTask) -> None:
        go_on(task)

    recorded = read(content(fresh_email()), "customer-accounts")
    assert operations.start_applying(recorded, datetime.now(UTC))
    targets = first_and_last_writes(record_writes(lambda: run(recorded)))
    assert len(targets) >= 8
    for target in targets:
        email = fresh_email()
        task = read(content(email), "customer-accounts")
        assert operations.start_applying(task, datetime.now(UTC))
        assert kill_at_write(target, lambda task=task: run(task)), target  # type: ignore[misc]
        assert go_on(task).results == {"done": 1}, target
        user = existing(find_user_by_email(email))
        assert (len(user.addresses), len(notes_of(user))) == (1, 1), target
        assert len(list_recipient_mails(email)) == 1, target


def test_x539_x540_two_workers_at_once_make_one_account_and_one_mail() -> None:
    email = fresh_email()
    row = CUSTOMER | {"email": email, "tags": "vip", "invite": "yes"}
    task = read(file_of(row, row | {"street": "Hauptstr. 2"}), "customer-accounts")
    (planned,) = rows_of(task)
    call_at_once(*[lambda: apply_customer(task, planned, uuid4())] * 4)
    user = existing(find_user_by_email(email))
    assert [each.street for each in list_addresses(user)] == ["Am Markt 1", "Hauptstr. 2"]
    assert (len(notes_of(user)), len(list_recipient_mails(email))) == (1, 1)


def test_x540_s121_the_invitation_sets_a_password_once(deliver_mail: Any, client: Client) -> None:
    email = fresh_email()
    apply(read(file_of(CUSTOMER | {"email": email, "invite": "yes"}), "customer-accounts"))
    user = existing(find_user_by_email(email))
    assert not user.has_usable_password()
    (message,) = deliver_mail(email)
    link = find_link(message)
    with time_machine.travel(
        datetime.now(UTC) + timedelta(seconds=INVITATION_SECONDS - 60), tick=True
    ):
        assert client.get(link).status_code == 200
    with time_machine.travel(
        datetime.now(UTC) + timedelta(seconds=INVITATION_SECONDS + 60), tick=True
    ):
        assert client.get(link).status_code == 410
    answer = client.post(link, {"password": "eight dry badgers"})
    assert answer["Location"] == reverse("accounts:login")
    user = existing(find_user_by_email(email))
    assert user.verified_at
    assert user.check_password("eight dry badgers")
    assert client.get(link).status_code == 410


def find_link(message: EmailMessage) -> str:
    (found,) = {word for word in str(message.body).split() if "/reset/" in word}
    return found[found.index("/account/") :]


# ---- What is wrong in files


@pytest.mark.parametrize(
    ("layout", "row", "columns"),
    [
        ("customer-accounts", CUSTOMER | {"email": "x"}, ["email"]),
        ("customer-accounts", {"email": "a@example.com", "name": ""}, ["name"]),
        ("customer-accounts", CUSTOMER | {"email": "a@example.com", "country": "US"}, ["country"]),
        ("customer-accounts", CUSTOMER | {"email": "a@example.com", "postal_code": "1"}, ["postal_code"]),
        ("customer-accounts", {"email": "a@example.com", "name": "A", "phone": "x", "consent": "maybe", "invite": "z"}, ["consent", "invite", "phone"]),
        ("customer-accounts", {"email": "a@example.com", "name": "A", "city": "Rome", "country": "IT"}, ["area", "postal_code", "street"]),
        ("customer-accounts", {"email": "a@example.com", "name": "x" * 101, "tags": "y" * 900}, ["name", "tags"]),
        ("past-orders", {"number": "1", "placed_at": "", "email": "", "total": ""}, ["email", "placed_at", "total"]),
        ("past-orders", {"number": "", "placed_at": "x", "email": "x", "total": "-1", "units": "1.5"}, ["email", "number", "placed_at", "total", "units"]),
        ("past-orders", {"number": "1", "placed_at": "2024-11-30", "email": "a@example.com", "total": "1", "price": "0"}, ["item"]),
        ("reviews", {"product": "no-such", "stars": "5", "name": "A", "email": "a@example.com", "written_at": "2025-01-01"}, ["product"]),
        ("reviews", {"product": "", "stars": "0", "name": "", "email": "", "written_at": "32"}, ["email", "name", "product", "stars", "written_at"]),
        ("vouchers", {"code": "A", "title": "A", "kind": "gift", "amount": "x", "percent": "NaN"}, ["amount", "kind", "percent"]),
        ("vouchers", {"code": "A", "title": "A", "kind": "percentage", "percent": "101"}, ["percent"]),
        ("vouchers", {"code": "A", "title": "A", "kind": "percentage", "percent": "-1"}, [""]),
        ("vouchers", {"code": "-", "title": "A", "kind": "amount", "amount": "5"}, [""]),
    ],
)  # fmt: skip
def test_x539_x541_x543_what_is_wrong_is_said_with_line_and_column(
    layout: str, row: dict[str, str], columns: list[str]
) -> None:
    task = read(file_of(row), layout)
    found = faults_of(task)
    assert sorted({column for _line, column, _text in found}) == columns, found
    assert {line for line, _column, _text in found} == {2}
    assert all(text for _line, _column, text in found)
    assert plans(task) == ["faulty"]


def test_x539_lines_of_one_customer_that_are_apart_are_named() -> None:
    emails = [fresh_email(), fresh_email()]
    rows = [CUSTOMER | {"email": each} for each in (*emails, emails[0])]
    ((line, column, text),) = faults_of(read(file_of(*rows), "customer-accounts"))
    assert (line, column) == (4, "email")
    assert "Line 2" in text


# ---- Past orders


def past_order(email: str, **more: str) -> dict[str, str]:
    return {
        "number": f"#{uuid4().hex[:8].upper()}",
        "placed_at": "2024-11-30 18:20",
        "email": email,
        "name": f"Ada {uuid4().hex[:8]}",
        "total": "25.00",
        "item": "Mug",
        "sku": "MUG",
        "units": "2",
        "price": "12.50",
    } | more


def test_x541_a_past_order_is_stored_with_its_lines_and_is_no_order() -> None:
    email = fresh_email()
    first = past_order(email, status="Fulfilled", address="Am Markt 1\n10115 Berlin")
    second = {"number": first["number"], "item": EVIL, "units": "", "price": "0"}
    content = file_of(first, second)
    task = read(content, "past-orders")
    assert plans(task) == ["new"], faults_of(task)
    assert apply(task).results == {"done": 1}
    order = existing(get_past_order(first["number"]))
    assert order.placed_at == datetime(2024, 11, 30, 18, 20, tzinfo=UTC)
    assert (order.total, order.address) == (Money(25, EUR), "Am Markt 1\n10115 Berlin")
    assert [(each.name, each.units, each.price) for each in order.lines] == [
        ("Mug", 2, Money("12.50", EUR)),
        (EVIL, 1, Money(0, EUR)),
    ]
    assert not list_order_ids_by_email(email)
    assert plans(read(content, "past-orders")) == ["unchanged"]
    (fault,) = faults_of(read(file_of(first | {"total": "26"}), "past-orders"))
    assert fault[1] == "number"


def test_x542_a_past_order_of_a_member_is_the_members_at_once() -> None:
    member = register_user(fresh_email(), "Ada", None, datetime.now(UTC), verified=True)
    row = past_order(member.email)
    apply(read(file_of(row), "past-orders"))
    assert [each.number for each in prefetch_owned(member.pk.hex).rows()] == [row["number"]]


# ---- Reviews


def review(product: Product, /, **more: str) -> dict[str, str]:
    return {
        "product": product.slug,
        "stars": "4",
        "title": "Good",
        "body": "It keeps the tea warm.",
        "name": "Ada Lovelace",
        "email": fresh_email(),
        "written_at": "2023-02-01",
    } | more


def test_x543_reviews_are_imported_once_and_held_by_the_rules() -> None:
    product = make_product("Teapot", listed=True)
    rows = [
        review(product),
        review(
            product, product=product.variants[0].sku.lower(), stars="1", body="See www.example.com"
        ),
        review(product, body="", written_at="2100-01-01"),
    ]
    content = file_of(*rows)
    task = read(content, "reviews")
    assert plans(task) == ["new"] * 3, faults_of(task)
    assert apply(task).results == {"done": 3}
    published = existing(find_own_review(product.product_id, guest_ids(rows[0]["email"])))
    assert (published.state, published.name, published.verified) == (PUBLISHED, "Ada L.", False)
    assert published.written_at == datetime(2023, 2, 1, tzinfo=UTC)
    held = existing(find_own_review(product.product_id, guest_ids(rows[1]["email"])))
    assert (held.state, held.held_for) == (HELD, "links")
    late = existing(find_own_review(product.product_id, guest_ids(rows[2]["email"])))
    assert late.written_at <= datetime.now(UTC)
    rating = get_rating_at_quorum(product.product_id)
    assert (rating.count, rating.total) == (2, 8)
    again = read(content, "reviews")
    assert plans(again) == ["unchanged"] * 3
    assert get_rating_at_quorum(product.product_id) == rating


def test_x543_a_review_of_a_member_is_the_members_who_gets_mail_once_it_is_written_here() -> None:
    product, member = make_product("Teapot", listed=True), make_user("Ada")
    row = review(product, email=member.email, body="See www.example.com")
    apply(read(file_of(row), "reviews"))
    ids = product.product_id, member.pk
    refuse_review(*ids, "No links.", seen=1, change_id=uuid4(), now=datetime.now(UTC))
    hold_review(*ids, seen=2, change_id=uuid4(), now=datetime.now(UTC))
    publish_review(*ids, seen=3, change_id=uuid4(), now=datetime.now(UTC))
    assert existing(find_own_review(product.product_id, [member.pk])).stars == 4
    assert not list_recipient_mails(member.email)
    write(*(product.product_id, 2, member.pk), seen=4)
    refuse_review(*ids, "No.", seen=5, change_id=uuid4(), now=datetime.now(UTC))
    assert [each.subject for each in list_recipient_mails(member.email)]


# ---- Vouchers


def test_x543_vouchers_are_promotions_with_a_code_and_are_made_once() -> None:
    code = f"OLD-{uuid4().hex}"
    row = {
        "code": code,
        "title": "Welcome",
        "kind": "Percentage",
        "percent": "12.50",
        "minimum": "40",
        "uses": "500",
        "limit_per_customer": "1",
        "ends_at": "2097-12-31",
    }
    task = read(file_of(row), "vouchers")
    assert plans(task) == ["new"], faults_of(task)
    assert apply(task).results == {"done": 1}
    made = existing(get_promotion(CODE, code_key(code)))
    assert (made.percent, made.minimum, made.uses, made.limit_per_customer) == (
        Decimal("12.5"),
        4000,
        500,
        1,
    )
    assert plans(read(file_of(row | {"percent": "13"}), "vouchers")) == ["unchanged"]


# ---- The staff's page


def test_s120_people_are_applied_with_a_code_and_looked_at_in_the_log(client: Client) -> None:
    bea = make_user("Bea", role="support")
    desk, email = sign_in_staff(client, bea), fresh_email()
    task = read(file_of(CUSTOMER | {"email": email, "name": EVIL[:90]}), "customer-accounts")
    address = reverse("adminpanel:spreadsheet", args=[task.task_id])
    page = desk.get(address).content.decode()
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    log = list_entries_this_month(bea)
    assert [(each.act, each.subject) for each in log[:1]] == [
        ("import_looked_at", str(task.task_id))
    ]
    with patch("adminpanel.code_again.has_fresh_code", return_value=False):
        refused = desk.post(f"{address}apply/")
    assert refused.status_code == 422
    assert 'name="code"' in refused.content.decode()
    assert stored(task).state == "read"
    with patch("adminpanel.code_again.has_fresh_code", return_value=True):
        assert desk.post(f"{address}apply/").status_code == 303
    assert go_on(task).results == {"done": 1}
    assert any(each.act == "adminpanel:import_apply" for each in list_entries_this_month(bea))
    for role in ("catalogue", "warehouse"):
        other = sign_in_staff(Client(), make_user("Will", role=role))
        assert other.get(address).status_code == 404


def test_s120_rows_about_people_expire_and_are_not_applied_when_they_are_about_to() -> None:
    task = read(file_of(CUSTOMER | {"email": fresh_email()}), "customer-accounts")
    assert queries.ROWS.read(task.task_id, 0) == []
    assert len(queries.PEOPLE_ROWS.read(task.task_id, 0)) == 1
    late = datetime.now(UTC) + PEOPLE_APPLY_DURATION + timedelta(minutes=1)
    assert not operations.start_applying(task, late)


def test_s120_a_result_does_not_keep_a_name_for_longer() -> None:
    task = apply(read(file_of(CUSTOMER | {"email": fresh_email()}), "customer-accounts"))
    (row,) = get_session().execute(
        f"SELECT writetime(label), writetime(key), writetime(result) FROM {KEYSPACE}.people_rows WHERE task_id = %s AND bucket = 0",  # noqa: S608
        [task.task_id],
    )
    label, key, result = row.values()
    assert label == key < result
