"""The audit log: every act of the staff is logged before it is done, and nothing removes an entry again."""

import logging
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.module_loading import import_string
from lxml import html

from accounts import audit_log, operations
from accounts.models import User
from adminpanel.people import audit_labels
from adminpanel.people.urls import urlpatterns
from cassandra_db import REGISTRY, CassandraUnavailable, read
from cassandra_db.configuration import READ
from orders import queries
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.architecture.apps import ROOT
from tests.factories import PASSWORD, make_product, make_user, sign_in_staff
from tests.reads import existing
from web.logs import (
    OneLineFormatter,
    RequestIdFilter,
    clear_request_id,
    escape_control_characters,
    start_request_id,
)
from web.origin import Origin

ORIGIN_TTL = read(
    "test",
    """SELECT TTL(address) AS left, TTL(act) AS kept FROM audit_log_by_actor
       WHERE actor_id = :actor_id AND month = :month AND at = :at AND part = :part""",
)
LOG = "/staff/log/"


def today() -> date:
    return datetime.now(UTC).date()


@pytest.fixture
def admin(client: Client) -> Client:
    return sign_in_staff(client, make_user("Ada", password=None, role="admin"))


def note_of(number: str) -> str:
    return reverse("adminpanel:note", args=[number])


# ---- What is logged


def test_s50_an_act_is_entered_with_who_what_on_what_and_how_it_ended(
    staff_client: Client, ann: User
) -> None:
    order = make_order_with_events("paid")
    secrets = dict.fromkeys(("password", "code", "token", "secret", "card", "cvc", "key"), "123456")
    answer = staff_client.post(
        note_of(order.number), {"note": "Called", "csrfmiddlewaretoken": "x", **secrets}
    )
    (entry,) = list_entries_this_month(ann)
    assert (entry.actor, entry.act, entry.subject, entry.outcome) == (
        "Ann",
        "adminpanel:note",
        order.number,
        "done (302)",
    )
    assert entry.fields == {
        "note": "(in the order's history)",
        **dict.fromkeys(secrets, "(not kept)"),
    }
    assert str(entry.request_id) == answer["X-Request-Id"]
    assert abs(datetime.now(UTC) - entry.moment) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("name", "sent", "outcome"),
    [
        ("note", {"note": ""}, "refused (422)"),
        ("move", {"event": "packed", "version": "99"}, "refused (409)"),
    ],
)
def test_s50_what_was_refused_is_entered_too(
    staff_client: Client, ann: User, name: str, sent: dict[str, str], outcome: str
) -> None:
    staff_client.post(
        reverse(f"adminpanel:{name}", args=[make_order_with_events("paid").number]), sent
    )
    assert [entry.outcome for entry in list_entries_this_month(ann)] == [outcome]
    staff_client.post(reverse(f"adminpanel:{name}", args=["AAAA-BBBB"]), sent)
    assert list_entries_this_month(ann)[0].outcome == "refused (404)"


def test_s50_what_cannot_be_entered_is_not_done(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_order_with_events("paid")
    monkeypatch.setattr(audit_log, "write_batch", Mock(side_effect=CassandraUnavailable("away")))
    assert staff_client.post(note_of(order.number), {"note": "Called"}).status_code == 503
    found = existing(queries.get_order(order.order_id))
    assert not [event for event in found.events if event.kind == "note"]


def test_s50_what_would_be_left_out_of_the_log_is_not_done(staff_client: Client, ann: User) -> None:
    """A field that is sent twice, and one field too many, whatever they are called."""
    order, answered, noted = make_order_with_events("paid"), [], []
    for sent in (
        {"note": ["x" * 300, "Called"]},
        {**{f"a{n}": "x" for n in range(40)}, "note": "Called"},
        {**{f"variant-{n}-price": "x" for n in range(40)}, "note": "Called"},
    ):
        answered.append(staff_client.post(note_of(order.number), sent).status_code)
        found = existing(queries.get_order(order.order_id))
        noted.append([event.kind for event in found.events].count("note"))
    assert answered == [400] * 3
    assert [entry.outcome for entry in list_entries_this_month(ann)] == ["refused (400)"] * 3
    assert noted == [0] * 3


def test_s53_no_entry_keeps_what_says_who_a_customer_is(admin: Client) -> None:
    """A customer may be erased, and the log stays for 400 days."""
    sam = make_user("Sam")
    admin.post(reverse("adminpanel:person_find"), {"email": sam.email})
    entries, _ = audit_log.list_day_entries(audit_log.STAFF, today(), "", 20)
    found = next(entry for entry in entries if entry.act == "adminpanel:person_find")
    assert found.fields == {"email": audit_log.mailbox_pseudonym(sam.email)}


def test_s50_an_act_that_was_cut_off_stands_there_without_an_end(admin: Client) -> None:
    who = uuid4()
    audit_log.open_entry(
        "adminpanel:move", datetime.now(UTC), by=who, name="Ben", subject="7KQF-3M9X"
    )
    assert "No outcome: interrupted" in admin.get(f"{LOG}?who={who}").content.decode()


def test_s50_logins_are_entered_and_no_address_that_nobody_has_proved(client: Client) -> None:
    sam = make_user("Sam")
    client.post(reverse("accounts:login"), {"email": sam.email, "password": PASSWORD})
    client.post(reverse("accounts:logout"))
    assert [entry.act for entry in list_entries_this_month(sam)] == ["logout", "login"]
    client.post(reverse("accounts:login"), {"email": sam.email, "password": "wrong and long"})
    entries, _ = audit_log.list_day_entries(audit_log.ACCOUNTS, today(), "", 200)
    failed = next(entry for entry in entries if entry.act == "login_failed")
    assert (failed.actor_id, failed.subject) == (None, audit_log.mailbox_pseudonym(sam.email))
    assert "@" not in repr(failed)


def test_a_get_enters_nothing_but_looks(staff_client: Client, ann: User) -> None:
    for address in ("/staff/", "/staff/second-factor/", "/staff/orders/papers/"):
        staff_client.get(address)
    assert list_entries_this_month(ann) == []


def test_everything_that_is_entered_has_words_for_its_reader() -> None:
    submits = {f"adminpanel:{name}" for name in ("move", "note", "second_factor", "recovery_codes")}
    submits |= {
        f"adminpanel:{each.name}" for each in urlpatterns if str(each.name).startswith("person_")
    }
    code = "\n".join(path.read_text() for path in (ROOT / "accounts").rglob("*.py"))
    noted = set(re.findall(r"audit_log\.add_entry\(\s*\"([a-z_]+)\"", code))
    assert len(noted) >= 6
    assert submits | noted <= set(audit_labels.ACTS)


# ---- Nothing takes an entry out


def test_s50_no_statement_of_the_shop_changes_or_deletes_an_entry() -> None:
    writes = [
        each.cql
        for each in REGISTRY
        if each.profile != READ and each.question != "test" and re.search(r"\baudit_log", each.cql)
    ]
    assert len(writes) == 5
    for cql in writes:
        assert cql.startswith("INSERT INTO audit_log"), cql
        assert not re.search(r"\b(UPDATE|DELETE|TRUNCATE|TIMESTAMP)\b", cql), cql
        # From where it was done, and how much it gave back, goes before the entry does: these columns, and nothing else.
        short = ("at, part, address, device)", "at, part, given_back)")
        assert not re.search(r"\bTTL\b", cql) or any(each in cql for each in short), cql


def test_s76_an_entry_says_from_where_it_was_done_and_that_goes_after_90_days(
    staff_client: Client, ann: User
) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    staff_client.post(note_of("AAAA-BBBB"), headers={"User-Agent": agent})
    (entry,) = list_entries_this_month(ann)
    assert entry.origin == Origin("127.0.0.1", "Firefox on Linux")
    (row,) = ORIGIN_TTL.all(actor_id=ann.pk, month=today().replace(day=1), at=entry.at, part=0)
    assert 0 < row.left <= 90 * 24 * 3600 < row.kept
    reader = sign_in_staff(Client(), make_user("Ada", role="admin"))
    assert "127.0.0.1, Firefox on Linux" in reader.get(f"{LOG}?who={ann.pk}").content.decode()
    # What calls itself otherwise is shortened, and cannot break a line.
    staff_client.post(note_of("AAAA-BBBB"), headers={"User-Agent": "robot\x1b[31m" + "x" * 500})
    device = list_entries_this_month(ann)[0].origin.device
    assert device.startswith("robot\\x1b[31mx")
    assert len(device) < 70


def test_s76_an_entry_says_what_was_before_and_after_and_of_a_person_only_what(
    support_client: Client, admin: Client
) -> None:
    order = make_order_with_events("paid")
    about = make_user("Sam")
    support_client.post(
        reverse("adminpanel:move", args=[order.number]),
        {"event": "packed", "version": order.version},
    )
    address = {
        "name": "Sam Shopper",
        "street": "Nebenstraße 2",
        "postal_code": "10115",
        "city": "Berlin",
        "country": "DE",
    }
    second = make_order_with_events("paid")
    admin.post(
        reverse("adminpanel:door", args=[second.number]), {"version": second.version, **address}
    )
    admin.post(reverse("adminpanel:person_role", args=[about.pk]), {"role": "support"})
    entries, _ = audit_log.list_day_entries(audit_log.STAFF, today(), "", 20)
    changes = {entry.act: entry.changes for entry in entries[::-1] if entry.changes}
    assert changes["adminpanel:move"]["parcels"] == "none → 1: packed"
    assert changes["adminpanel:person_role"] == {"role": "none → support"}
    assert changes["adminpanel:door"] == {"delivery_address": "changed"}
    assert "Nebenstraße" not in repr(entries)
    assert "none → support" in admin.get(LOG).content.decode()


def test_s50_the_log_is_read_and_nothing_else(admin: Client) -> None:
    for method in ("post", "put", "patch", "delete"):
        assert getattr(admin, method)(LOG).status_code == 405


# ---- The page


def test_x133_the_log_and_an_orders_history_speak_in_words(staff_client: Client, ann: User) -> None:
    ada, bea = make_user("Ada", role="admin"), make_user("Bea", role="support")
    admin, support_client = sign_in_staff(Client(), ada), sign_in_staff(Client(), bea)
    order, product = make_order_with_events("paid"), make_product("Teapot")
    about = make_user("Sam")
    support_client.post(
        reverse("adminpanel:move", args=[order.number]),
        {"event": "packed", "version": order.version},
    )
    staff_client.post(note_of(order.number), {"note": ""})
    admin.post(reverse("adminpanel:product_status", args=[product.product_id]), {"status": "lost"})
    admin.post(reverse("adminpanel:person_role", args=[about.pk]), {"role": "support"})
    staff_client.get(reverse("adminpanel:people"))

    def rows_of(who: User) -> list[tuple[str, str, str]]:
        page = html.fromstring(admin.get(f"{LOG}?who={who.pk}").content.decode())
        cells = (
            [" ".join(cell.text_content().split()) for cell in row.cssselect("td")]
            for row in page.cssselect("tbody tr")
        )
        return [(what.split("127.")[0], details, outcome) for what, details, outcome in cells]

    rows = [row for who in (ada, bea, ann) for row in rows_of(who)]
    assert ("Asked for people", "–", "Refused: not for warehouse") in rows
    (role,) = (row for row in rows if row[0] == "Changed a role")
    (status,) = (row for row in rows if row[1].startswith("Teapot"))
    (note,) = (row for row in rows if row[2] == "Refused: corrections were needed")
    (move,) = (row for row in rows if "Packed" in row[1])
    assert role[1] == f"Sam, {about.email}Role: none → support"
    assert role[2] == "Done"
    assert status[1:] == ("TeapotStatus: lost", "Refused: not found")
    assert note[1:] == (order.number, "Refused: corrections were needed")
    assert move[1] == f"{order.number}Step: PackedParcels: none → 1: packed"
    assert move[2] == "Done"
    text = repr((role, status, note, move))
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}|\([1-5][0-9]{2}\)|[a-z]_[a-z]|version", text)
    shown = admin.get(reverse("adminpanel:order", args=[order.number])).content.decode()
    found = existing(queries.get_order(order.order_id))
    (packed,) = (each for each in found.events if each.kind == "packed")
    assert packed.request_id
    assert packed.request_id.hex[:8] not in shown
    outcomes = ("failed: TypeError", "failed (503)", "done: all others", "refused", "as it was")
    assert [audit_labels.describe_outcome(each) for each in outcomes] == [
        "Failed: an error in the shop",
        "Failed: the database was unavailable",
        "Done: all others",
        "Refused",
        "as it was",
    ]


def test_it_shows_a_day_by_pages_and_one_persons_month(admin: Client) -> None:
    who = uuid4()
    for number in range(45):
        audit_log.add_entry(
            f"act {number}",
            datetime.now(UTC),
            by=who,
            name="Ben",
            subject=f"thing {number}",
            book=audit_log.STAFF,
        )
    first = admin.get(f"{LOG}?who={who}").content.decode()
    assert first.count("<tr>") == 41
    assert "act 44" in first
    older = existing(re.search(r'href="([^"]+after=[^"]+)"', first))
    following = admin.get(older[1].replace("&amp;", "&")).content.decode()
    assert following.count("<tr>") == 6
    assert "act 0" in following
    assert "act 44" not in following
    assert admin.get(f"{LOG}?book=staff&day={today()}").status_code == 200
    assert "No entries" in admin.get(f"{LOG}?day=2001-01-01").content.decode()


def test_whatever_is_asked_for_it_answers(admin: Client) -> None:
    queries = ("after=forged", "day=0001-01-01", "day=9999-12-31")
    answered = {each: admin.get(f"{LOG}?{each}").status_code for each in queries}
    assert {each: status for each, status in answered.items() if status not in (200, 302)} == {}


def test_s27_what_was_typed_is_shown_as_text(admin: Client) -> None:
    who = uuid4()
    evil = '<img src=x onerror=alert(1)><a hx-get="/staff/">'
    audit_log.open_entry(
        "adminpanel:note", datetime.now(UTC), by=who, name=evil, subject=evil, fields={evil: [evil]}
    )
    page = admin.get(f"{LOG}?who={who}").content.decode()
    assert "<img src=x" not in page
    assert "<a hx-get" not in page
    assert "&lt;img src=x" in page


# ---- Lines that no visitor can make up


def test_s45_a_line_break_or_a_colour_in_what_was_sent_is_written_out(
    staff_client: Client, ann: User
) -> None:
    staff_client.post(note_of("AAAA-BBBB"), {"event": "a\r\n12:00 INFO forged\x1b[31m\u202e"})
    (entry,) = list_entries_this_month(ann)
    assert entry.fields["event"] == "a\\x0d\\x0a12:00 INFO forged\\x1b[31m\\u202e"


def test_s45_no_line_of_the_log_can_be_made_up() -> None:
    record = logging.LogRecord(
        "shop", logging.WARNING, "", 1, "said %s", ("x\n12:00 ERROR forged\x1b[2J",), None
    )
    made = start_request_id()
    try:
        RequestIdFilter().filter(record)
    finally:
        clear_request_id()
    assert OneLineFormatter("%(levelname)s %(request_id)s %(message)s").format(record) == (
        f"WARNING {made.hex[:8]} said x\\x0a12:00 ERROR forged\\x1b[2J"
    )
    try:
        raise ValueError("first\n12:00 ERROR forged")
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    lines = OneLineFormatter("%(message)s").format(record).split("\n")
    assert all(line.startswith("    ") for line in lines[1:])
    assert escape_control_characters("plain ünïcode €") == "plain ünïcode €"


def test_s48_the_log_shows_no_address_that_opens_something(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Cassandra is away while a user follows a mailed link, and as a form on its page was open for too long."""
    monkeypatch.setattr(
        operations, "get_user_by_reset_token", Mock(side_effect=CassandraUnavailable("away"))
    )
    address = reverse("accounts:reset_finish", args=["tokentokentoken"])
    assert Client().get(address).status_code == 503
    assert Client(enforce_csrf_checks=True).post(address).status_code == 403
    logs: Any = settings.LOGGING
    (handler,) = logs["handlers"].values()
    filters = [logs["filters"][name]["()"] for name in handler["filters"]]
    records = [record for record in caplog.records if hasattr(record, "request")]
    assert len(records) == 2
    for record in records:
        for name in filters:
            import_string(name)().filter(record)
        assert "tokentokentoken" not in OneLineFormatter("%(message)s").format(record)
        assert "accounts:reset_finish" in record.getMessage()


def test_each_answer_has_a_request_id_of_our_own(client: Client) -> None:
    sent_id = str(uuid4())
    ids = {
        client.get("/healthz", headers={"X-Request-Id": sent_id})["X-Request-Id"] for _ in range(2)
    }
    assert len(ids) == 2
    assert sent_id not in ids
    assert all(UUID(each) for each in ids)
