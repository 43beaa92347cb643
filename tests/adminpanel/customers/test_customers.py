"""A customer's page for the staff: sums, notes, a block, their data on request; and who has looked is known."""

import json
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock, patch
from uuid import uuid4

import pytest
import time_machine
from cassandra.util import uuid_from_time
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from accounts import looks, queries
from accounts.audit_log import mailbox_pseudonym, words_pseudonym
from accounts.errors import BlockChanged, BlockRefused, TooManyNotes
from accounts.models import User
from accounts.operations import (
    add_customer_note,
    block_customer,
    erase_account,
    person_from_user,
    request_erasure,
    set_role,
    unblock_customer,
)
from accounts.operations import customers as operations
from accounts.operations.search_terms import save_search_terms
from cassandra_db import CassandraUnavailable
from consistency.findings import Scope
from consistency.runner import check_consistency
from drafts.entities import DraftOrder
from drafts.operations import save_draft
from jobs.due_rows import Sweep
from jobs.minutes import MINUTE, floor_to_minute
from mail.queries import derive_mail_id
from orders import queries as orders
from orders.jobs import count_due_user_stats
from orders.lifecycle.transitions import Transition
from orders.operations import count_user_stats, transition_order, user_stats
from orders.operations.returns import decide_refund
from orders.operations.user_stats import DUE_USER_STATS
from shop_settings.terms import get_terms
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.checkout.shopper import Shopper, text
from tests.factories import make_order, make_stocked_product, make_user, sign_in_staff
from web import personal_data

NOW = datetime.now(UTC)
SEARCH = reverse("adminpanel:search")


@pytest.fixture
def bea() -> User:
    return make_user("Bea", role="support")


@pytest.fixture
def desk(client: Client, bea: User) -> Client:
    """Bea's browser: customers are hers."""
    return sign_in_staff(client, bea)


@pytest.fixture
def sam() -> User:
    return make_user("Sam")


def of(user: User, act: str = "customer") -> str:
    return reverse(f"adminpanel:{act}", args=[user.pk])


def get(user: User) -> User:
    return queries.get_users([user.pk])[user.pk]


def sums_of(user: User) -> list[orders.UserStats]:
    return orders.stats_from_rows(orders.prefetch_user_stats(user.pk).rows())


def is_noted(user: User) -> bool:
    """Return whether the worker has been told to count a person's sums."""
    rows = DUE_USER_STATS.list_between(NOW - MINUTE, datetime.now(UTC))
    return user.pk in {row.user_id for row in rows}


def find_sums_violations(user: User, *, repair: bool = False) -> list[str]:
    report = check_consistency(
        Scope(users=frozenset({user.pk})), ["I35"], repair=repair, recheck_after=(0.1,)
    )
    return [str(each) for each in report.violations]


# ---- Orders and sums


def test_x184_i35_sums_are_what_was_paid_less_what_went_back(desk: Client, sam: User) -> None:
    unpaid = make_order(user_id=sam.pk, email=sam.email)
    assert not is_noted(sam), "no money has moved"
    kept, given_back = (make_order(paid=True, user_id=sam.pk, email=sam.email) for _ in range(2))
    assert is_noted(sam)
    assert not find_sums_violations(sam), "the worker is about to count"
    refunded = decide_refund(kept, Money(5, EUR), {}, "Scratched", actor="staff:0:Bea", now=NOW)
    transition_order(given_back, Transition("cancelled", actor="staff:0:Bea", at=NOW))
    assert refunded.refunded == Money(5, EUR)

    # A minute of their own: what other tests have noted is not counted here.
    minute = floor_to_minute(datetime(2001, 1, 1, tzinfo=UTC) + MINUTE * (uuid4().int % 10**6))
    DUE_USER_STATS.note(minute, user_id=sam.pk)
    sweep = Sweep(DUE_USER_STATS, [minute], NOW)
    count_due_user_stats(sweep)
    assert sweep.count == 1
    assert DUE_USER_STATS.list_rows([minute]) == []
    spent = kept.total - Money(5, EUR)
    assert sums_of(sam) == [orders.UserStats(1, spent)]

    page = text(desk.get(of(sam)))
    assert f"€{spent.amount:.2f} in 1 order" in page
    assert all(each.number in page for each in (unpaid, kept, given_back))
    assert unpaid.number not in text(desk.get(of(sam) + f"?year={NOW.year - 3}"))


def test_i35_sums_that_are_wrong_are_named_and_counted_again(sam: User) -> None:
    with patch("orders.operations.copies.mark_statement", wraps=user_stats.mark_statement) as mark:
        mark.side_effect = lambda user_id: user_stats.MARKED.bind(
            **DUE_USER_STATS.date_row({"user_id": user_id}, NOW - timedelta(hours=1))
        )
        order = make_order(paid=True, user_id=sam.pk, email=sam.email)
    (named,) = find_sums_violations(sam)
    assert "the sums are not those of the orders" in named
    assert find_sums_violations(sam, repair=True) == []
    assert sums_of(sam) == [orders.UserStats(1, order.total)]


# ---- Who looks


def test_s94_customers_are_for_support_and_admins(sam: User) -> None:
    answers = {}
    for role in ("support", "warehouse", "catalogue", "analyst", "admin"):
        browser = sign_in_staff(Client(), make_user(role.title(), password=None, role=role))
        answers[role] = (
            browser.get(reverse("adminpanel:customers")).status_code,
            browser.get(of(sam)).status_code,
            browser.post(of(sam, "customer_export")).status_code,
        )
    refused, let_in = (403, 403, 403), (200, 200, 200)
    assert answers == dict.fromkeys(("warehouse", "catalogue", "analyst"), refused) | {
        "support": let_in,
        "admin": let_in,
    }
    order = make_order(user_id=sam.pk, email=sam.email)
    packer = sign_in_staff(Client(), make_user("Ann", role="warehouse"))
    page = packer.get(reverse("adminpanel:order", args=[order.number])).content.decode()
    assert of(sam) not in page


def test_s94_each_look_stands_in_the_audit_log_once(
    desk: Client, bea: User, sam: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_looks() -> int:
        entries = list_entries_this_month(bea, "staff")
        return sum(
            (each.act, each.subject) == ("customer_looked_at", str(sam.pk)) for each in entries
        )

    found = desk.post(reverse("adminpanel:customer_find"), {"email": f" {sam.email.upper()} "})
    assert (found.status_code, found["Location"]) == (303, of(sam))
    for _ in range(3):
        assert desk.get(of(sam)).status_code == 200
    assert count_looks() == 1
    assert sam.email in desk.get(reverse("adminpanel:customers")).content.decode()
    monkeypatch.setattr(looks, "LOGGED_AGAIN_AFTER", timedelta(0))
    desk.get(of(sam))
    assert count_looks() == 2
    ada = make_user("Ada", password=None, role="admin")
    admin = sign_in_staff(Client(), ada)
    assert "Viewed a customer" in text(admin.get(f"/staff/log/?who={bea.pk}"))
    # Nor does an admin see an account on the page of its access without a trace.
    for user in (sam, sam, bea):
        assert admin.get(reverse("adminpanel:person", args=[user.pk])).status_code == 200
    assert {each.subject for each in list_entries_this_month(ada, "staff")} == {str(sam.pk)}
    monkeypatch.setattr(
        "accounts.audit_log.add_entry", Mock(side_effect=CassandraUnavailable("the log is away"))
    )
    assert desk.get(of(sam)).status_code == 503, "what cannot be logged is not shown"


def test_s107_who_sees_orders_drafts_and_names_stands_in_the_audit_log_once(
    desk: Client, bea: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = f"zed{uuid4().hex[:12]}"
    member = make_user(f"Zoe {word}")
    save_search_terms(member.pk)
    order = make_order(user_id=member.pk, email=f"{word}@example.com", paid=True)
    draft = DraftOrder(uuid_from_time(NOW), order.email, order.delivery_address, (), "")
    save_draft(draft, None, "staff:x:Bea", NOW)
    mail_id = derive_mail_id(order.order_id, "confirmed")
    pages = (
        (reverse("adminpanel:order", args=[order.number]), "order_looked_at", order.number),
        (reverse("adminpanel:draft", args=[draft.draft_id]), "draft_looked_at", draft.draft_id),
        (f"{SEARCH}?q=ZOE+{word}", "person_searched", words_pseudonym(f"zoe {word}")),
        (f"{SEARCH}?q={order.email}", "person_searched", mailbox_pseudonym(order.email)),
        (f"{reverse('adminpanel:draft_new')}?order={order.number}", "order_looked_at", ""),
        (f"{reverse('adminpanel:draft_new')}?copy={draft.draft_id}", "draft_looked_at", ""),
        (reverse("adminpanel:order_mail", args=[order.number, mail_id]), "order_looked_at", ""),
    )
    for address, *_ in pages[::-1]:
        for _twice in range(2):
            assert word in desk.get(address, follow=True).content.decode(), address
    # What finds nobody is no look; nor is what was looked for told by its entry.
    desk.get(SEARCH, {"q": uuid4().hex})
    entries = list_entries_this_month(bea, "staff")
    assert sorted((each.act, each.subject) for each in entries) == sorted(
        (act, str(subject)) for _, act, subject in pages if subject
    )
    assert word not in str(entries)
    with monkeypatch.context() as away:
        away.setattr(
            "accounts.audit_log.add_entry",
            Mock(side_effect=CassandraUnavailable("the log is away")),
        )
        away.setattr(looks, "LOGGED_AGAIN_AFTER", timedelta(0))
        answers = {address: desk.get(address, follow=True) for address, *_ in pages}
    shown = [address for address, answer in answers.items() if answer.status_code != 503]
    assert not shown, "what cannot be logged is not shown"
    later = datetime.now(UTC) + looks.LOGGED_AGAIN_AFTER + MINUTE
    with time_machine.travel(later, tick=False):
        desk.get(pages[0][0])
    assert len(list_entries_this_month(bea, "staff")) == len(entries) + 1


def test_x184_a_guest_is_found_by_their_orders_and_nobody_is_said_to_be_nobody(
    desk: Client,
) -> None:
    email = f"guest-{uuid4().hex}@example.com"
    order = make_order(email=email)
    page = desk.post(reverse("adminpanel:customer_find"), {"email": email})
    assert (page.status_code, order.number in text(page)) == (200, True)
    unknown = desk.post(reverse("adminpanel:customer_find"), {"email": f"no-{email}"})
    assert (unknown.status_code, "No account and no order" in text(unknown)) == (422, True)
    assert desk.get(reverse("adminpanel:customer", args=[uuid4()])).status_code == 404


# ---- Notes


def test_x185_a_note_sent_twice_is_one_and_two_at_once_are_two(desk: Client, sam: User) -> None:
    first = html.fromstring(desk.get(of(sam)).content)
    key = first.xpath("//input[@name='note_id']/@value")[0]
    sent = {"note_id": key, "customer_note": "Rings twice\n<b>always</b>"}
    for _ in range(2):
        assert desk.post(of(sam, "customer_note"), sent)["Location"] == of(sam)
    add_customer_note(sam.pk, uuid4(), "Second", author="Ada", now=NOW + timedelta(hours=1))
    page = desk.get(of(sam))
    notes = html.fromstring(page.content).xpath("//ol[@class='timeline']/li")
    assert [text(note).split(",")[0][:6] for note in notes] == ["Second", "Rings "]
    assert "Bea" in text(notes[1])
    assert "<b>always" not in page.content.decode()
    empty = desk.post(of(sam, "customer_note"), sent | {"customer_note": " "})
    assert (empty.status_code, "Enter a note" in text(empty)) == (422, True)


def test_x185_notes_are_bounded(sam: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "MAX_NOTES", 1)
    key = uuid4()
    add_customer_note(sam.pk, key, "One", author="Bea", now=NOW)
    with pytest.raises(TooManyNotes):
        add_customer_note(sam.pk, uuid4(), "Two", author="Bea", now=NOW)
    add_customer_note(sam.pk, key, "One", author="Bea", now=NOW)  # it was sent again


# ---- A block


def test_x186_a_block_stops_an_order_in_the_middle_of_a_checkout(desk: Client, sam: User) -> None:
    browser = Client()
    browser.force_login(sam)
    shopper = Shopper((make_stocked_product(), 1), client=browser)
    typed = {"email": sam.email}
    token = shopper.token(**typed)
    sent = {"block_reason": "Never pays"}
    assert desk.post(of(sam, "customer_block"), sent).status_code == 303
    refused = shopper.send(token, **typed)
    assert refused.status_code == 409
    assert f"Please write to {get_terms().email}" in text(refused)
    assert "Never pays" not in text(refused)
    assert orders.list_order_ids_by_email(sam.email) == []
    page = html.fromstring(desk.get(of(sam)).content)
    seen = {"seen": page.xpath("//input[@name='seen']/@value")[0]}
    assert "Never pays" in text(page)
    for _ in range(2):
        assert desk.post(of(sam, "customer_unblock"), seen).status_code == 303
    assert shopper.send(shopper.token(**typed), **typed).status_code == 303


def test_x186_an_order_says_that_its_customer_is_blocked(desk: Client, sam: User) -> None:
    block_customer(sam.pk, "Never pays", by="Ada", now=NOW)
    own = make_order(user_id=sam.pk, email=sam.email)
    as_guest, of_another = make_order(email=sam.email), make_order()
    for order, is_blocked in ((own, True), (as_guest, True), (of_another, False)):
        page = desk.get(reverse("adminpanel:order", args=[order.number]))
        assert (of(sam) in page.content.decode()) is is_blocked
        assert ("Never pays" in text(page)) is is_blocked


def test_x186_of_two_who_block_at_once_the_later_is_told(desk: Client, sam: User) -> None:
    block_customer(sam.pk, "Never pays", by="Ada", now=NOW)
    answer = desk.post(of(sam, "customer_block"), {"block_reason": "Sends all back"})
    assert answer.status_code == 409
    assert "Someone else has changed this customer" in text(answer)
    assert "Sends all back" in text(answer)
    assert get(sam).block_reason == "Never pays"
    block_customer(sam.pk, "Never pays", by="Ada", now=datetime.now(UTC))  # sent twice
    with pytest.raises(BlockChanged):
        unblock_customer(sam.pk, NOW - timedelta(hours=1))
    assert get(sam).blocked_at
    for user in (make_user("Ann", role="warehouse"), make_user("Demo", demo=True)):
        with pytest.raises(BlockRefused):
            block_customer(user.pk, "No", by="Ada", now=NOW)


# ---- Their data


def test_x187_their_data_has_what_the_staff_keep_and_erasure_takes_it(
    desk: Client, sam: User
) -> None:
    order = make_order(paid=True, user_id=sam.pk, email=sam.email)
    count_user_stats(sam.pk)
    add_customer_note(sam.pk, uuid4(), "Rings twice", author="Ada", now=NOW)
    block_customer(sam.pk, "Never pays", by="Ada", now=NOW)
    answer = desk.post(of(sam, "customer_export"))
    data = json.loads(answer.getvalue())
    assert data["accounts"]["notes_of_the_staff"][0]["text"] == "Rings twice"
    assert data["accounts"]["blocked"]["why"] == "Never pays"
    assert data["orders"]["sums"][0]["orders"] == 1

    wrong = desk.post(of(sam, "customer_erase"), {"email": "bob@example.com"})
    assert (wrong.status_code, "as shown above" in text(wrong)) == (422, True)
    under_way = desk.post(of(sam, "customer_erase"), {"email": sam.email})
    assert (under_way.status_code, order.number in text(under_way)) == (422, True)
    transition_order(order, Transition("cancelled", actor="staff:0:Bea", at=NOW))
    assert desk.post(of(sam, "customer_erase"), {"email": sam.email.upper()}).status_code == 303
    assert "Being deleted" in text(desk.get(of(sam)))
    late = {"note_id": str(uuid4()), "customer_note": "Too late"}
    assert desk.post(of(sam, "customer_note"), late).status_code == 404

    assert erase_account(sam.pk, datetime.now(UTC))
    assert desk.get(of(sam)).status_code == 404
    assert queries.prefetch_customer_notes(sam.pk).rows() == []
    assert sums_of(sam) == []
    count_user_stats(sam.pk)  # a note for the worker that is older than the erasure
    assert sums_of(sam) == []
    assert desk.get(reverse("adminpanel:customers")).status_code == 200


def test_x187_what_hands_out_or_deletes_asks_for_a_code_again(desk: Client, sam: User) -> None:
    with patch("adminpanel.code_again.has_fresh_code", return_value=False):
        for act, sent in (("customer_export", {}), ("customer_erase", {"email": sam.email})):
            answer = desk.post(of(sam, act), sent)
            (field,) = html.fromstring(answer.content).xpath("//main//input[@name='code']")
            form = field.xpath("ancestor::form")[0]
            assert (answer.status_code, form.get("action")) == (422, of(sam, act))
    assert get(sam).active
    set_role(sam.pk, "warehouse", NOW)
    refused = desk.post(of(sam, "customer_export"))
    assert (refused.status_code, "download their data themselves" in text(refused)) == (422, True)


def test_x187_an_erasure_that_died_takes_the_notes_at_its_next_turn(sam: User) -> None:
    for number in range(3):
        add_customer_note(sam.pk, uuid4(), f"Note {number}", author="Ada", now=NOW)
    request_erasure(sam.pk, NOW)
    for _ in range(2):
        personal_data.erase_personal_data(person_from_user(get(sam)), NOW)
    assert queries.prefetch_customer_notes(sam.pk).rows() == []
