"""Orders of a former shop: stored once, shown to the member who proves the address, and gone with that member."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from accounts.models import User
from accounts.operations import erase_account, register_user, request_erasure
from accounts.operations.email_change import EMAIL_PROOFS
from cassandra_db import Row, current_microseconds, page_token
from consistency.findings import Check
from consistency.past_orders import CHECKS, ORDERS, OWNED
from jobs.due_rows import Sweep
from jobs.minutes import floor_to_minute
from orders.jobs import claim_proved_orders
from past_orders import operations, queries
from past_orders.entities import PastOrder
from past_orders.privacy import export_personal_data
from past_orders.queries import get_past_order, list_past_orders, prefetch_owned
from tests.consistency.test_check_consistency import cql
from tests.factories import make_user
from tests.orders.crashes import kill_at_write, record_writes
from tests.past_orders.making import make_past_order, new_past_order
from tests.reads import existing
from web.personal_data import DataSubject

LIST, HISTORY = reverse("past_orders:list"), reverse("orders:history")


def fresh_email() -> str:
    return f"Ada-{uuid4().hex}@Example.com"


def make_verified(email: str, name: str = "Ada Lovelace") -> User:
    return register_user(email, name, None, datetime.now(UTC), verified=True)


def save(email: str, **values: object) -> PastOrder:
    order = new_past_order(email, **values)
    assert operations.save_past_order(order)
    return order


def list_owners(number: str) -> list[str]:
    return [row.owner for row in OWNED.iterate_table() if row.number == number]


def numbers(owner: str) -> list[str]:
    return [each.number for each in list_past_orders(prefetch_owned(owner).rows())]


def test_x541_an_order_is_stored_once_and_another_with_its_number_is_refused() -> None:
    order = new_past_order(fresh_email())
    assert operations.save_past_order(order)
    assert operations.save_past_order(order)
    assert existing(get_past_order(order.number)) == order
    assert not operations.save_past_order(replace(order, total=Money(26, EUR)))
    assert existing(get_past_order(order.number)).total == Money(25, EUR)
    assert numbers(order.email) == [order.number]


def test_x542_s121_an_order_is_shown_to_the_member_who_has_proved_the_address(
    client: Client,
) -> None:
    email = fresh_email()
    order, other = save(email), save(fresh_email())
    unproved = make_user("Ada", email=email)
    client.force_login(unproved)
    claim()
    assert order.number not in client.get(LIST).content.decode()
    assert LIST not in client.get(HISTORY).content.decode()
    member = make_verified(other.email)
    operations.claim_past_orders(member.pk, other.email)
    # As an import leaves it that was killed before it read whose the order is by now.
    operations.INSERT_OWNED.run(
        owner=other.email, placed_at=other.placed_at, number=other.number, at=current_microseconds()
    )
    stranger = make_user("Eve")
    operations.claim_past_orders(stranger.pk, other.email)
    client.force_login(member)
    page = client.get(LIST).content.decode()
    assert other.number in page
    assert "Breakfast mug, olive" in page
    assert order.number not in page
    assert LIST in client.get(HISTORY).content.decode()
    assert list_owners(other.number) == [member.pk.hex]


def test_x542_a_row_that_leads_to_another_members_order_shows_nothing() -> None:
    order, eve = save(fresh_email()), make_verified(fresh_email())
    operations.INSERT_OWNED.run(
        owner=eve.pk.hex, placed_at=order.placed_at, number=order.number, at=1
    )
    assert numbers(eve.pk.hex) == []
    person = DataSubject(eve.pk, eve.email, eve.name)
    assert export_personal_data(person) == {"past_orders": []}
    operations.delete_past_orders(eve.pk)
    assert existing(get_past_order(order.number)) == order
    assert list_owners(order.number) == [order.email]


def claim() -> None:
    """Do what the worker does every few seconds."""
    now = floor_to_minute(datetime.now(UTC))
    claim_proved_orders(Sweep(EMAIL_PROOFS, [now - timedelta(minutes=1), now], now))


def test_x542_the_worker_assigns_the_orders_of_an_address_that_was_just_proved() -> None:
    order = save(fresh_email())
    member = make_verified(order.email)
    EMAIL_PROOFS.note(datetime.now(UTC), user_id=member.pk)
    claim()
    assert numbers(member.pk.hex) == [order.number]
    # This follows each sign-in.
    assert record_writes(lambda: operations.claim_past_orders(member.pk, member.email)) == []


def test_x541_a_long_list_has_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE_LENGTH", 2)
    member, start = make_verified(fresh_email()), datetime(2020, 1, 1, tzinfo=UTC)
    # Two of one moment stand on different pages.
    days = [start + timedelta(days=day) for day in (3, 2, 2, 1, 0)]
    made = [make_past_order(member, placed_at=day) for day in days]
    client.force_login(member)
    address, pages = LIST, list[list[str]]()
    while address and len(pages) < 4:
        page = html.fromstring(client.get(address).content)
        pages.append([each.number for each in made if each.number in page.text_content()])
        further = [str(each.get("href")) for each in page.cssselect("a[rel=next]")]
        address = LIST + further[0] if further else ""
    assert [len(each) for each in pages] == [2, 2, 1]
    assert sorted(each for page in pages for each in page) == sorted(each.number for each in made)
    token = page_token([days[1], made[1].number], f"Q32 {member.pk.hex}")
    assert client.get(LIST, {"after": token}).status_code == 200
    # A token of another member's list, or none at all.
    client.force_login(make_verified(fresh_email()))
    for bad in (token, "x"):
        assert client.get(LIST, {"after": bad})["Location"] == LIST


def test_x542_an_order_is_in_the_export_and_goes_with_the_member() -> None:
    member = make_verified(fresh_email())
    kept, gone = save(fresh_email()), save(member.email, address="Am Markt 1")
    person = DataSubject(member.pk, member.email, member.name)
    (exported,) = export_personal_data(person)["past_orders"]
    assert (exported["number"], exported["address"]) == (gone.number, "Am Markt 1")
    assert exported["lines"][0]["price"] == Money("12.50", EUR)
    late = save(member.email)
    request_erasure(member.pk, datetime.now(UTC))
    assert erase_account(member.pk, datetime.now(UTC))
    assert [get_past_order(each.number) for each in (gone, late)] == [None, None]
    assert list_owners(gone.number) == list_owners(late.number) == []
    assert existing(get_past_order(kept.number)) == kept


@pytest.mark.parametrize(
    "act",
    [operations.claim_past_orders, lambda user_id, _email: operations.delete_past_orders(user_id)],
    ids=["claimed", "deleted"],
)
def test_x542_what_is_killed_at_any_write_is_done_by_a_repeat(
    act: Callable[[UUID, str], None],
) -> None:
    is_deleted = act is not operations.claim_past_orders

    def make() -> tuple[User, PastOrder]:
        member = make_verified(fresh_email())
        return member, make_past_order(member) if is_deleted else save(member.email)

    member, _order = make()
    targets = record_writes(lambda: act(member.pk, member.email))
    assert len(targets) >= 2
    for target in targets:
        member, order = make()
        assert kill_at_write(target, lambda member=member: act(member.pk, member.email))  # type: ignore[misc]
        act(member.pk, member.email)
        stored = get_past_order(order.number)
        assert (stored is None) == is_deleted, target
        assert list_owners(order.number) == ([] if is_deleted else [member.pk.hex]), target


def repair(check: Check, row: Row) -> str:
    (violation,) = check.find_violations(row)
    assert violation.fix
    violation.fix(datetime.now(UTC))
    assert not list(check.find_violations(row))
    return str(violation)


def test_i54_a_lost_or_stray_row_is_named_and_repaired() -> None:
    order = save(fresh_email())
    (row,) = prefetch_owned(order.email).rows()
    cql(
        "DELETE FROM past_orders_by_owner WHERE owner = %s AND placed_at = %s AND number = %s", *row
    )
    found = repair(
        CHECKS[0], next(each for each in ORDERS.iterate_table() if each.number == order.number)
    )
    assert found == f"I54 past order {order.number}: its owner does not find it"
    assert numbers(order.email) == [order.number]
    insert = "INSERT INTO past_orders_by_owner (owner, placed_at, number) VALUES (%s, %s, %s)"
    cql(insert, uuid4().hex, order.placed_at, order.number)
    (stray,) = (
        each
        for each in OWNED.iterate_table()
        if each.number == order.number and each.owner != order.email
    )
    assert repair(CHECKS[1], stray) == f"I54 past order {order.number}: somebody else finds it"
    assert list_owners(order.number) == [order.email]
