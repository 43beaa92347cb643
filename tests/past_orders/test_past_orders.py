"""Orders of a former shop: stored once, found, shown to the member who proves the address, and gone with that member."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from moneyed import EUR, Money

from accounts.models import User
from accounts.operations import erase_account, register_user, request_erasure
from accounts.operations.email_change import EMAIL_PROOFS
from cassandra_db import Row
from consistency.findings import Scope
from consistency.past_orders import CHECKS, TERMS
from jobs.due_rows import Sweep
from jobs.minutes import floor_to_minute
from orders.jobs import claim_proved_orders
from past_orders import operations, queries
from past_orders.entities import EMAIL, MEMBER, PastOrder
from past_orders.privacy import export_personal_data
from past_orders.queries import get_past_order, list_past_orders, search_past_orders
from tests.consistency.test_check_consistency import cql, found, repair
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


def list_terms(order_id: UUID) -> list[Row]:
    return [row for row in TERMS.iterate_table() if row.order_id == order_id]


def numbers(orders: list[PastOrder]) -> list[str]:
    return [each.number for each in orders]


def test_x541_an_order_is_stored_once_and_another_with_its_number_is_refused() -> None:
    order = new_past_order(fresh_email())
    assert operations.save_past_order(order)
    assert operations.save_past_order(order)
    assert existing(get_past_order(order.order_id)) == order
    assert not operations.save_past_order(replace(order, total=Money(26, EUR)))
    assert existing(get_past_order(order.order_id)).total == Money(25, EUR)
    # Another shop may have had the same number.
    assert operations.save_past_order(new_past_order(order.email, number=order.number, shop="B"))


def test_x541_an_order_is_found_by_its_number_address_and_name() -> None:
    email, name = fresh_email(), f"Zoë O’Brien-{uuid4().hex[:12]}"
    first = save(email, name=name, number=f"#A-{uuid4().hex[:8]}")
    second = save(email, name="", placed_at=datetime(2025, 1, 1, tzinfo=UTC))
    for typed in (
        first.number.upper(),
        first.number.strip("#"),
        name,
        name[-12:-2],
        "zoe " + name[-12:],
    ):
        assert numbers(search_past_orders(typed)) == [first.number], typed
    assert numbers(search_past_orders(f" {email.upper()}")) == [second.number, first.number]
    for typed in ("", "#", "z", "Anna " + name, fresh_email()):
        assert first not in search_past_orders(typed), typed


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
    stranger = make_user("Eve")
    operations.claim_past_orders(stranger.pk, other.email)
    client.force_login(member)
    page = client.get(LIST).content.decode()
    assert other.number in page
    assert "Breakfast mug, olive" in page
    assert order.number not in page
    assert LIST in client.get(HISTORY).content.decode()
    assert list_past_orders(stranger.pk) == ([], "")


def claim() -> None:
    """Do what the worker does every few seconds."""
    now = floor_to_minute(datetime.now(UTC))
    claim_proved_orders(Sweep(EMAIL_PROOFS, [now - timedelta(minutes=1), now], now))


def test_x542_the_worker_assigns_the_orders_of_an_address_that_was_just_proved() -> None:
    order = save(fresh_email())
    member = make_verified(order.email)
    EMAIL_PROOFS.note(datetime.now(UTC), user_id=member.pk)
    claim()
    assert numbers(list_past_orders(member.pk)[0]) == [order.number]
    # This follows each sign-in.
    assert record_writes(lambda: operations.claim_past_orders(member.pk, member.email)) == []


def test_x541_a_long_list_has_pages(client: Client) -> None:
    member = make_verified(fresh_email())
    start = datetime(2020, 1, 1, tzinfo=UTC)
    made = [
        make_past_order(member, placed_at=start + timedelta(days=day))
        for day in range(queries.PAGE_LENGTH + 1)
    ]
    first, after = list_past_orders(member.pk)
    second, end = list_past_orders(member.pk, after)
    assert (numbers([*first, *second]), end) == ([each.number for each in reversed(made)], "")
    client.force_login(member)
    assert made[0].number in client.get(LIST, {"after": after}).content.decode()
    assert client.get(LIST, {"after": "x"})["Location"] == LIST
    assert len(list(queries.iterate_past_orders(member.pk))) == len(made)


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
    assert [get_past_order(each.order_id) for each in (gone, late)] == [None, None]
    assert list_terms(gone.order_id) == list_terms(late.order_id) == []
    assert existing(get_past_order(kept.order_id)) == kept


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
        stored = get_past_order(order.order_id)
        assert (stored is None) == is_deleted, target
        kinds = {row.kind for row in list_terms(order.order_id)}
        assert kinds == (set() if is_deleted else {"email", "number", "name", MEMBER}), target


def test_i54_a_lost_or_stray_term_is_named_and_repaired() -> None:
    order = save(fresh_email())
    only = Scope(orders=frozenset({order.order_id}))
    (row,) = (each for each in list_terms(order.order_id) if each.kind == EMAIL)
    operations.delete_term(row)
    assert found(only, "I54") == [
        f"I54 past order {order.order_id}: it is not found by all its terms (email)"
    ]
    assert repair(only, "I54").is_clean
    assert numbers(search_past_orders(order.email)) == [order.number]
    cql(
        "INSERT INTO past_orders_by_term (kind, head, term, placed_at, order_id) VALUES (%s, %s, %s, %s, %s)",
        *("name", "ev", "eve", order.placed_at, order.order_id),
    )
    (stray,) = (each for each in list_terms(order.order_id) if each.term == "eve")
    (violation,) = CHECKS[1].find_violations(stray)
    assert violation.fix
    violation.fix(datetime.now(UTC))
    assert not [each for each in list_terms(order.order_id) if each.term == "eve"]
