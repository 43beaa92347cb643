"""One field finds orders, customers and products: by what staff know, and no more than their role may open."""

from datetime import timedelta
from pathlib import Path
from random import choices
from typing import TYPE_CHECKING
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
import time_machine
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html

from accounts import jobs
from accounts.operations import request_erasure, save_name, search_terms
from accounts.operations.search_terms import INSERT_TERM, TERMS, save_search_terms
from accounts.roles import ROLES
from adminpanel.parameters import unseal
from cassandra_db import count_statements, current_microseconds, current_time, write_batch
from catalogue.search_index import build_index
from consistency.findings import Report, Scope
from consistency.runner import check_consistency
from jobs.due_rows import DueRows
from jobs.leases import hold_lease
from jobs.minutes import MINUTE
from orders.lifecycle.transitions import Transition
from orders.operations import ship_parcel, transition_order, write_copies
from orders.operations.copies import TERM, copy_timestamp
from orders.operations.erasure import anonymize_order, off_search_statement
from orders.queries import list_order_ids_by_email, list_order_years_by_email
from orders.search import found_orders, prefetch_order_search
from orders.search_terms import NAME, list_terms
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_product, make_user, sign_in_staff

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse

SEARCH = reverse("adminpanel:search")


def ask(client: Client, typed: str, **more: str) -> "_MonkeyPatchedWSGIResponse":
    answer = client.get(SEARCH, {"q": typed} | more)
    leads_on = answer.get("Location", "").startswith(SEARCH)
    return client.get(answer["Location"]) if leads_on else answer


def numbers_in(answer: "_MonkeyPatchedWSGIResponse") -> set[str]:
    return set(
        html.fromstring(answer.content).xpath(
            "//*[@id='results']//a[contains(@class,'num')]/text()"
        )
    )


def test_x164_an_order_is_found_by_its_whole_number_however_it_is_typed(
    staff_client: Client,
) -> None:
    number = make_order_with_events().number
    # 0 and O, 1 and l are read as the same.
    spoilt = (
        number.lower(),
        number.replace("-", ""),
        f"  {number.replace('-', ' ')} ",
        number.replace("0", "o").replace("1", "l"),
    )
    answers = {typed: ask(staff_client, typed) for typed in spoilt}
    led = {typed: (each.status_code, each.get("Location")) for typed, each in answers.items()}
    assert led == dict.fromkeys(spoilt, (302, reverse("adminpanel:order", args=[number])))


def test_x164_what_finds_nothing_is_kept_and_explained(staff_client: Client) -> None:
    for typed in ("ZZZZ-ZZZZ", "7", "<script>xyzzy", "", "@"):
        answer = ask(staff_client, typed)
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "<script>xyzzy" not in text
        assert html.fromstring(text).get_element_by_id("bar_q").get("value") == typed
        assert not typed or "No results for" in text
    too_long = ask(staff_client, "x" * 101)
    assert too_long.status_code == 422
    assert "There is a problem" in too_long.content.decode()


def test_x164_an_order_is_found_by_what_staff_know_of_it(staff_client: Client) -> None:
    order = make_order_with_events("paid", now=current_time())
    beginning = order.number[:5]
    for typed in (beginning, beginning.lower(), order.email.upper(), order.skus[0].lower()):
        assert order.number in numbers_in(ask(staff_client, typed)), typed
    order = transition_order(
        order, Transition("packed", actor="Ann", at=order.events[0].at + MINUTE)
    )
    tracking = f"JD {uuid4().hex[:12]}"
    ship_parcel(order, "1", "DHL", tracking, actor="Ann", now=order.events[0].at + MINUTE)
    for typed in (tracking, tracking.lower().replace(" ", "")):
        assert order.number in numbers_in(ask(staff_client, typed)), typed


def test_x164_a_product_is_found_beside_orders(
    client: Client, staff_client: Client, tmp_path: Path
) -> None:
    product = make_product(f"Teapot {uuid4().hex[:8]}")
    address = reverse("adminpanel:product", args=[product.product_id])
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([product])
        for role, is_found in (("catalogue", True), ("admin", True), ("support", False)):
            sign_in_staff(client, make_user(password=None, role=role))
            assert (address in ask(client, product.name).content.decode()) is is_found, role


def test_s92_an_address_that_was_looked_for_stays_in_no_browsers_history(
    staff_client: Client,
) -> None:
    order = make_order_with_events(now=current_time())
    submitted = staff_client.get(SEARCH, {"q": order.email})
    assert submitted.status_code == 302
    assert order.email.split("@")[0] not in submitted["Location"]
    page = staff_client.get(submitted["Location"])
    assert order.number in numbers_in(page)
    assert order.email not in page.content.decode().split("</title>")[0]
    foreign = staff_client.get(SEARCH, {"sealed": "x" * 40})
    assert (foreign.status_code, numbers_in(foreign)) == (200, set())
    with time_machine.travel(current_time() + timedelta(hours=25), tick=True):
        assert unseal(submitted["Location"].split("sealed=")[1]) == ""


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("محمد العربي", "محم"),
        ("أحمد", "احم"),
        ("Γιώργος Παπαδόπουλος", "παπ"),
        ("Siobhán O’Brien", "o'br"),
        ("Zoë Müller", "mul"),
        ("Ng", "ng"),
    ],
)
def test_x165_a_name_is_found_by_the_first_letters_of_any_word(
    staff_client: Client, name: str, typed: str
) -> None:
    order = make_order_with_events(now=current_time(), name=name)
    assert order.number in numbers_in(ask(staff_client, typed))
    assert order.number in numbers_in(ask(staff_client, name))
    assert order.number not in numbers_in(ask(staff_client, f"{typed} xyzzy"))
    assert order.number not in numbers_in(ask(staff_client, f"{name} q")), "a shorter word counts"


def test_x278_a_name_is_found_however_its_parts_are_written(client: Client) -> None:
    sign_in_staff(client, make_user(role="admin"))
    word = "".join(choices("bcdfghklmn", k=9))
    spellings = (
        f"O'{word}",
        f"O {word}",
        f"O’{word}",
        f"O{word}",
        f"o'{word[:5]}",
        f"o {word[:5]}",
    )
    wrong = []
    for name in (f"Siobhan O'{word}", f"Siobhan O’{word.title()}", f"Siobhan O {word}"):
        order = make_order_with_events(now=current_time(), name=name)
        person = reverse("adminpanel:customer", args=[make_user(name).pk])
        for typed in (*spellings, f"siobhan {word}"):
            answer = ask(client, typed)
            if order.number not in numbers_in(answer) or person not in answer.content.decode():
                wrong.append(f"{name} by {typed}")
        assert order.number not in numbers_in(ask(client, f"o {word}x"))
    assert wrong == []


def test_x166_a_search_is_one_round_whatever_was_found(staff_client: Client) -> None:
    order = make_order_with_events(now=current_time(), name="Quentin Zarathustra")
    with count_statements() as meter:
        found = found_orders(prefetch_order_search("zarath", "", (order.placed_at.year, 2025)))
    assert {each.number for group in found for each in group.orders} >= {order.number}
    assert (meter.round_count, meter.read_count) == (1, 10)


def test_x164_former_years_are_looked_through_when_asked(staff_client: Client) -> None:
    name = f"Z{uuid4().hex}"
    order = make_order_with_events(now=current_time().replace(year=2023, day=1), name=name)
    assert not numbers_in(ask(staff_client, name))
    assert numbers_in(ask(staff_client, name, year="2024")) == {order.number}


def test_x196_an_address_leads_to_its_orders_of_all_years_until_its_person_is_erased(
    staff_client: Client,
) -> None:
    email = f"{uuid4().hex}@example.com"
    may = current_time().replace(year=2024, month=5)
    orders = [
        make_order_with_events(now=each, email=email)
        for each in (may.replace(month=6), may, may.replace(year=2022))
    ]
    assert numbers_in(ask(staff_client, email)) == {each.number for each in orders}
    assert list_order_ids_by_email(email.upper()) == [each.order_id for each in orders]
    for order, years in zip(orders, ([2024, 2022], [2022], []), strict=True):
        anonymize_order(order, current_time())
        # A copy of the order as it was, written late, changes nothing.
        write_copies(order)
        assert list_order_years_by_email(email) == years
        assert check(order.order_id, "I3").is_clean


def test_x199_customers_are_found_by_any_word_of_their_name_as_it_is_now(client: Client) -> None:
    word, other = (f"q{uuid4().hex[:12]}" for _ in range(2))
    mia = make_user(f"Mia de {word.title()}")

    def is_found(typed: str, role: str = "support") -> bool:
        sign_in_staff(client, make_user(password=None, role=role))
        return reverse("adminpanel:customer", args=[mia.pk]) in ask(client, typed).content.decode()

    assert [is_found(each) for each in (word[:6], f"mi {word}", f"mo {word}")] == [
        True,
        True,
        False,
    ]
    assert not is_found(word, "warehouse")
    assert check_user(mia.pk).is_clean
    # The request dies after the name was written: the worker finishes it.
    with (
        patch.object(search_terms, "save_search_terms", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        save_name(mia.pk, f"Mia {other}")
    assert not is_found(other)
    later = current_time() + search_terms.NAMES_UNDER_WAY.wait + MINUTE
    with (
        hold_lease(search_terms.NAMES_UNDER_WAY.job),
        patch.object(search_terms, "save_search_terms") as saved,
    ):
        saved.side_effect = lambda each: save_search_terms(each) if each == mia.pk else None
        jobs.follow_names(later)
    notes = search_terms.NAMES_UNDER_WAY.list_between(later, later)
    assert mia.pk not in {row.user_id for row in notes}
    assert [is_found(word), is_found(other)] == [False, True]
    # A word that is not theirs is named and taken out; one who is erased is found no more.
    INSERT_TERM.run(user_id=mia.pk, term="zzz", name="zzz", at=current_microseconds())
    with patch.object(DueRows, "list_between", return_value=[]):
        assert len(check_user(mia.pk).violations) == 1
        assert check_user(mia.pk, repair=True).is_clean
    request_erasure(mia.pk, current_time())
    save_search_terms(mia.pk)
    assert not is_found(other)
    assert TERMS.all(user_id=mia.pk) == []


def check_user(user_id: UUID, *, repair: bool = False) -> Report:
    only = Scope(users=frozenset({user_id}))
    return check_consistency(only, ("I32",), repair=repair, recheck_after=())


def test_s92_each_role_finds_what_it_may_open(client: Client) -> None:
    member = make_user("Mia")
    order = make_order_with_events(now=current_time(), name="Wilhelmina Quux")
    for role in ROLES:
        sign_in_staff(client, make_user(password=None, role=role))
        by_name, by_email = ask(client, "Wilhelmina"), ask(client, member.email)
        if role == "analyst":
            assert by_name.status_code == 403
            continue
        sees_orders = role in ("support", "warehouse", "admin")
        assert (order.number in numbers_in(by_name)) is sees_orders
        assert (ask(client, order.number).status_code == 302) is sees_orders
        customer = reverse("adminpanel:customer", args=[member.pk])
        assert (customer in by_email.content.decode()) is (role in ("support", "admin"))


def test_x167_i32_an_erased_person_is_found_no_more(staff_client: Client) -> None:
    name = f"Q{uuid4().hex}"
    order = make_order_with_events("paid", now=current_time(), name=name)
    assert numbers_in(ask(staff_client, name)) == {order.number}
    anonymize_order(order, current_time())
    # A copy of the order as it was, written late, changes nothing.
    write_copies(order)
    assert not numbers_in(ask(staff_client, name))
    assert not numbers_in(ask(staff_client, order.email))
    assert order.number in numbers_in(ask(staff_client, order.number[:6]))
    assert check(order.order_id).is_clean


def test_i32_rows_that_are_missing_or_stray_are_named_and_mended() -> None:
    order = make_order_with_events(now=current_time(), name=f"Y{uuid4().hex}")
    ((kind, term),) = (each for each in list_terms(order) if each[0] == NAME)
    write_batch([off_search_statement(order, kind, term, copy_timestamp(order))])
    named = check(order.order_id).violations
    assert {each.fault for each in named} == {"is not found by its name"}
    gone = uuid4()
    TERM.run(order_id=gone, kind=kind, term=term, number="NONE-NONE", at=copy_timestamp(order))
    assert len(check(gone).violations) == 1
    assert check(gone, repair=True).is_clean
    assert check(gone).is_clean


def check(order_id: UUID, rule: str = "I32", *, repair: bool = False) -> Report:
    only = Scope(orders=frozenset({order_id}))
    return check_consistency(only, (rule,), repair=repair, recheck_after=())
